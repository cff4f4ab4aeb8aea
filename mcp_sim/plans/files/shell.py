"""Run command lines on a tree of files, with pipes, redirections and `&&`, `||`, `;`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NoReturn, TypeAlias

from mcp_sim.plans.files.paths import parent, resolve_path
from mcp_sim.plans.files.tree import Entry, Tree
from mcp_sim.plans.patterns import matches_wildcards
from mcp_sim.plans.refusal import Refused
from mcp_sim.types.frozen import frozen

_LONGEST = 20_000  # the parser copies the line: bounds the work for one call
_ERRORS = re.compile(r"(?<=\s)(?:2>\s*(?:&1|/dev/null)|&>\s*/dev/null)")
_SUBSTITUTES = re.compile(r"\$\(|`|<<")
_MAX_OUTPUT = 1_000_000  # an answer is one text in memory, copied to the ledger
_MAX_INPUT = 10_000_000  # bounds what pipes between commands may copy
MISSING = "No such file or directory"


@frozen
class Command:
    """The words of one command, the file it writes to (`appends`: at its end), and the file it reads."""

    words: tuple[str, ...] = ()
    into: str | None = None
    appends: bool = False
    source: str | None = None


Pipe: TypeAlias = "tuple[str, tuple[Command, ...]]"
"""Commands that each read the output of the one before, to run after a success (`&&`) or a failure (`||`) only."""


def parse_command_line(line: str) -> list[Pipe]:
    """Parse a command line. Raises `Refused` for unsupported syntax: substitutions, here-documents."""
    if len(line) > _LONGEST or _SUBSTITUTES.search(line):
        raise Refused("invalid", "Substitutions, here-documents and very long lines are not understood")
    lexer = shlex.shlex(_ERRORS.sub(" ", line).replace("\n", ";"), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return parse_words(list(lexer))
    except ValueError:
        raise Refused("invalid", "Syntax error in the command: unexpected end while looking for a quote") from None


def parse_words(words: Sequence[str]) -> list[Pipe]:
    """Parse a command line that is given as a list of words."""
    pipes: list[Pipe] = []
    when, commands, current = "", list[Command](), Command()
    rest = iter([*words, ";"])
    for word in rest:
        if word in {";", "&&", "||", "&"}:
            if current.words or commands:
                pipes.append((when, (*commands, current)))
            when, commands, current = word, [], Command()
        elif word == "|":
            commands, current = [*commands, current], Command()
        elif word in {">", ">>"}:
            current = replace(current, into=_file(rest, word), appends=word == ">>")
        elif word == "<":
            current = replace(current, source=_file(rest, word))
        elif set(word) <= set("|&;<>"):
            raise Refused("invalid", f"Syntax error near {word!r}")
        else:
            current = replace(current, words=(*current.words, word))
    return pipes


def _file(rest: Iterator[str], sign: str) -> str:
    path = next(rest)
    if path == ";":
        raise Refused("invalid", f"Syntax error: a file is missing behind {sign!r}")
    return path


class Failed(Exception):
    """A command that failed, with its error message."""


def fail(message: str = "") -> NoReturn:
    """Raise `Failed`."""
    raise Failed(message)


@dataclass(slots=True)
class Shell:
    """The execution of one command line. `errors` holds error messages."""

    tree: Tree
    cwd: str
    commands: Mapping[str, CommandFunction]
    now: datetime
    errors: list[str] = field(default_factory=list[str])
    seen: int = 0
    name: str = ""
    """The current command."""
    args: Sequence[str] = ()
    given: str = ""
    """What it reads if it names no files."""

    def run(self, pipes: Sequence[Pipe], given: str = "") -> tuple[str, int]:
        """Return the output, and the exit code of the last command. Raises `Refused` for too much output."""
        outputs: list[str] = []
        code = 0
        for when, commands in pipes:
            if code if when == "&&" else when == "||" and not code:
                continue
            text = given
            for command in commands:
                text, code = self._run_one(command, text)
            outputs.append(text)
        output = "".join(outputs)
        if len(output) > _MAX_OUTPUT:
            raise Refused("invalid", f"The command tells more than {_MAX_OUTPUT:,} characters")  # prose: data
        return output, code

    def _run_one(self, command: Command, given: str) -> tuple[str, int]:
        name, *args = command.words or ("true",)
        self.name, before = name, len(self.errors)
        try:
            self.given = given if command.source is None else self.content(command.source)
            self.args = self._spread(args)
            output = self.commands.get(name, lambda _: fail("command not found"))(self)
            if command.into is not None:
                self.write(command.into, output, appends=command.appends)
                output = ""
        except Failed as failed:
            self.errors += [f"{name}: {failed}"] if str(failed) else []
            return "", 127 if name not in self.commands else 1
        return output, int(len(self.errors) > before)

    def _spread(self, args: list[str]) -> list[str]:
        """Return the words with wildcards replaced by matching names in this directory, except in patterns."""
        first = next((at for at, word in enumerate(args) if not word.startswith("-")), 0)
        paths: list[str] = []
        for at, word in enumerate(args):
            is_pattern = self.name == "find" or (self.name == "grep" and at == first)
            has_wildcards = not is_pattern and "/" not in word and not set(word).isdisjoint("*?[")
            inside = self.tree.inside(self.cwd) if has_wildcards else ()
            paths += [entry.name for entry in inside if matches_wildcards(entry.name, word)] or [word]
        return paths

    @property
    def flags(self) -> set[str]:
        """The flags of the current command, each letter separately."""
        words = {word for word in self.args if word.startswith("--")}
        return words.union(*(word[1:] for word in self.args if word.startswith("-") and word not in words))

    @property
    def operands(self) -> list[str]:
        """The words of the current command without its flags."""
        return [word for word in self.args if not word.startswith("-")]

    def required(self, least: int = 1) -> list[str]:
        """Return the operands of the current command. Raises `Failed` if there are fewer than `least`."""
        return self.operands if len(self.operands) >= least else fail("missing operand")

    def at(self, path: str) -> str:
        """Return the absolute path. Raises `Failed` if it is invalid or outside the allowed directories."""
        try:
            return self.tree.at(resolve_path(path, self.cwd))
        except Refused as refused:
            raise Failed(str(refused)) from None

    def find(self, path: str, message: str = f"{{path}}: {MISSING}") -> Entry:
        """Return the file or directory at a path. Raises `Failed` with the message if it does not exist."""
        entry = self.tree.find(self.at(path))
        return entry if entry is not None else fail(message.format(path=path))

    def content(self, path: str) -> str:
        """Return the content of a file. Raises `Refused` if the command reads too much."""
        entry = self.find(path)
        if entry.content is None:
            raise Failed(f"{path}: Is a directory")
        self.seen += len(entry.content)
        if self.seen > _MAX_INPUT:
            raise Refused("invalid", f"The command reads more than {_MAX_INPUT:,} characters")
        return entry.content

    def texts(self, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the names and contents of files; the input if there are no names."""
        if not paths:
            yield "", self.given
        for path in paths:
            try:
                yield path, self.content(path)
            except Failed as failed:
                self.errors.append(f"{self.name}: {failed}")

    def lines(self) -> list[str]:
        """Return the lines of all files that are operands, or of the input."""
        return [line for _, text in self.texts(self.operands) for line in text.splitlines()]

    def write(self, path: str, content: str, *, appends: bool = False) -> None:
        """Write or append to a file. Raises `Failed` if the path is a directory, or has no parent directory."""
        place = self.at(path)
        entry = self.tree.find(place)
        if entry is not None and not entry.is_file:
            raise Failed(f"{path}: Is a directory")
        self.need_parent(path)
        old = entry.content or "" if entry is not None and appends else ""
        if place != "/dev/null":
            self.tree.write(place, old + content)

    def need_parent(self, path: str) -> None:
        """Raise `Failed` if the parent directory does not exist."""
        place = parent(self.at(path))
        entry = self.tree.find(place)
        if place != "/dev" and (entry is None or entry.is_file):
            raise Failed(f"{path}: {MISSING}")


CommandFunction: TypeAlias = Callable[[Shell], str]
"""A command: takes the shell, with the arguments and the input of the command, and returns its output."""
