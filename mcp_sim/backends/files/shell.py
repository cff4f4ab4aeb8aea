"""Run command lines on a tree of files, with pipes, redirections and `&&`, `||`, `;`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TypeAlias

from mcp_sim.backends.files.paths import parent, resolve_path
from mcp_sim.backends.files.tree import Entry, Tree
from mcp_sim.backends.refusal import Refused

_LONGEST = 20_000
_ERRORS = re.compile(r"(?<=\s)(?:2>\s*(?:&1|/dev/null)|&>\s*/dev/null)")
_SUBSTITUTES = re.compile(r"\$\(|`|<<")


@dataclass(frozen=True, slots=True)
class Command:
    """The words of one command, the file it writes to (`appends`: at its end), and the file it reads."""

    words: tuple[str, ...] = ()
    into: str | None = None
    appends: bool = False
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Pipe:
    """Commands that each read the output of the one before. `when` is `&&` after a success, `||` after a failure."""

    when: str
    commands: tuple[Command, ...]


def parse_command_line(line: str) -> list[Pipe]:
    """Parse a command line. Raises `Refused` for unsupported syntax: substitutions, here-documents."""
    if len(line) > _LONGEST or _SUBSTITUTES.search(line):
        raise Refused("invalid", "Substitutions, here-documents and very long lines are not understood")
    lexer = shlex.shlex(_ERRORS.sub(" ", line).replace("\n", ";"), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise Refused("invalid", f"Syntax error in the command: {error}") from None
    return list(_pipes(words))


def parse_words(words: Sequence[str]) -> list[Pipe]:
    """Parse a command line that is given as a list of words."""
    return list(_pipes(words))


def _pipes(words: Sequence[str]) -> Iterator[Pipe]:
    when, commands, current = "", list[Command](), Command()
    rest = iter(words)
    for word in rest:
        if word in {";", "&&", "||", "&"}:
            if current.words or commands:
                yield Pipe(when, (*commands, current))
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
    if current.words or commands:
        yield Pipe(when, (*commands, current))


def _file(rest: Iterator[str], sign: str) -> str:
    found = next(rest, None)
    if found is None:
        raise Refused("invalid", f"Syntax error: a file is missing behind {sign!r}")
    return found


MISSING = "No such file or directory"
_MAX_OUTPUT = 1_000_000
_MAX_INPUT = 10_000_000


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a command line: output, errors and exit code."""

    output: str = ""
    errors: str = ""
    code: int = 0


class Failed(Exception):
    """A command that failed, with its error message."""


@dataclass(slots=True)
class Shell:
    """The execution of one command line. `name` is the current command, `errors` holds error messages."""

    tree: Tree
    cwd: str
    commands: Mapping[str, CommandFunction]
    now: datetime
    name: str = ""
    errors: list[str] = field(default_factory=list[str])
    seen: int = 0

    def run(self, pipes: Sequence[Pipe], given: str = "") -> Result:
        """Run all pipes. The exit code is that of the last command. Raises `Refused` if they read or print too much."""
        outputs: list[str] = []
        code = 0
        for pipe in pipes:
            if (pipe.when == "&&" and code) or (pipe.when == "||" and not code):
                continue
            text = given
            for command in pipe.commands:
                text, code = self._one(command, text)
            outputs.append(text)
        output = "".join(outputs)
        if len(output) > _MAX_OUTPUT:
            raise Refused("invalid", f"The command tells more than {_MAX_OUTPUT:,} characters")  # prose: data
        return Result(output, "\n".join(self.errors), code)

    def _one(self, command: Command, given: str) -> tuple[str, int]:
        name, *args = command.words or ("true",)
        self.name, before = name, len(self.errors)
        try:
            text = given if command.source is None else self.content(command.source)
            output = self._does(name)(self, self._spread(name, args), text)
            if command.into is not None:
                self.write(command.into, output, appends=command.appends)
                output = ""
        except Failed as failed:
            self.errors += [f"{name}: {failed}"] if str(failed) else []
            return "", 127 if name not in self.commands else 1
        return output, int(len(self.errors) > before)

    def _does(self, name: str) -> CommandFunction:
        if name not in self.commands:
            raise Failed("command not found")
        return self.commands[name]

    def _spread(self, name: str, args: list[str]) -> list[str]:
        """Return the words with wildcards replaced by matching names in this directory."""
        first = next((at for at, one in enumerate(args) if not one.startswith("-")), 0) if name == "grep" else -1
        return [
            path
            for at, one in enumerate(args)
            for path in ([one] if name == "find" or at == first else self._matching(one))
        ]

    def _matching(self, word: str) -> list[str]:
        if not any(sign in word for sign in "*?[") or "/" in word or self.tree.find(self.cwd) is None:
            return [word]
        return [one.name for one in self.tree.inside(self.cwd) if fnmatchcase(one.name, word)] or [word]

    # used by commands

    def at(self, path: str) -> str:
        """Return the absolute path. Raises `Failed` if it is invalid or outside the allowed directories."""
        try:
            return self.tree.at(resolve_path(path, self.cwd))
        except Refused as refused:
            raise Failed(str(refused)) from None

    def find(self, path: str) -> Entry:
        """Return the file or directory at a path. Raises `Failed` if there is none."""
        found = self.tree.find(self.at(path))
        if found is None:
            raise Failed(f"{path}: {MISSING}")
        return found

    def content(self, path: str) -> str:
        """Return the content of a file.

        Raises `Failed` if there is no such file, `Refused` if the command reads too much.
        """
        found = self.find(path)
        if found.content is None:
            raise Failed(f"{path}: Is a directory")
        self.seen += len(found.content)
        if self.seen > _MAX_INPUT:
            raise Refused("invalid", f"The command reads more than {_MAX_INPUT:,} characters")
        return found.content

    def write(self, path: str, content: str, *, appends: bool = False) -> None:
        """Write or append to a file. Raises `Failed` if the path is a directory, or has no parent directory."""
        place = self.at(path)
        found = self.tree.find(place)
        if found is not None and not found.is_file:
            raise Failed(f"{path}: Is a directory")
        self.above(path)
        old = found.content or "" if found is not None and appends else ""
        if place != "/dev/null":
            self.tree.write(place, old + content)

    def above(self, path: str) -> None:
        """Raise `Failed` if the parent directory does not exist."""
        place = parent(self.at(path))
        found = self.tree.find(place)
        if place != "/dev" and (found is None or found.is_file):
            raise Failed(f"{path}: {MISSING}")

    def texts(self, paths: list[str], given: str) -> Iterator[tuple[str, str]]:
        """Yield the names and contents of files; the input if there are no names."""
        if not paths:
            yield "", given
        for path in paths:
            try:
                yield path, self.content(path)
            except Failed as failed:
                self.errors.append(f"{self.name}: {failed}")


CommandFunction: TypeAlias = Callable[[Shell, list[str], str], str]
"""A command: takes the shell, its arguments and its input, and returns its output."""


# arguments of commands ----------------------------------------------------------------------------------------------


def split_flags(args: list[str]) -> tuple[set[str], list[str]]:
    """Return the flags, each letter separately, and the other words."""
    flags = {letter for one in args if one.startswith("-") and not one.startswith("--") for letter in one[1:]}
    return flags | {one for one in args if one.startswith("--")}, [one for one in args if not one.startswith("-")]


def join_lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def operands(paths: list[str], least: int = 1) -> list[str]:
    """Return the operands of a command. Raises `Failed` if there are fewer than `least`."""
    if len(paths) < least:
        raise Failed("missing operand")
    return paths


def line_count(args: list[str]) -> tuple[int, list[str]]:
    """Parse `-n 3`, `-n3` and `-3`. Return the number of lines, and the other words.

    Raises `Failed` if the number is invalid.
    """
    many, rest, words = 10, list[str](), iter(args)
    for word in words:
        number = next(words, "") if word == "-n" else word.removeprefix("-n").lstrip("-") if word[:1] == "-" else None
        if number is None:
            rest.append(word)
        elif number.isdigit():
            many = int(number)
        else:
            raise Failed(f"invalid number of lines: '{number}'")
    return many, rest
