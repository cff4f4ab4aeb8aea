"""What becomes of a command line: each command does its part on a tree of files, and what it tells goes on?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TypeAlias

from mcp_sim.backends.files.command_lines import Command, Pipe
from mcp_sim.backends.files.paths import parent, resolved
from mcp_sim.backends.files.tree import Entry, Tree
from mcp_sim.backends.refusal import Refused

MISSING = "No such file or directory"
_MOST_TOLD = 1_000_000
_MOST_SEEN = 10_000_000


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command: what it told, what went wrong, and the code that it ended with."""

    told: str = ""
    wrong: str = ""
    code: int = 0


class Failed(Exception):
    """A command that cannot be done, with what it says."""


@dataclass(slots=True)
class Shell:
    """One command line under way, over a tree. `name` is that of the command that is done, `wrong` what went wrong."""

    tree: Tree
    here: str
    commands: Mapping[str, Does]
    name: str = ""
    wrong: list[str] = field(default_factory=list[str])
    seen: int = 0

    def run(self, pipes: Sequence[Pipe], given: str = "") -> Ran:
        """All of it; the code is that of the last command."""
        told: list[str] = []
        code = 0
        for pipe in pipes:
            if (pipe.when == "&&" and code) or (pipe.when == "||" and not code):
                continue
            text = given
            for command in pipe.commands:
                text, code = self._one(command, text)
            told.append(text)
        whole = "".join(told)
        if len(whole) > _MOST_TOLD:
            raise Refused("invalid", f"The command tells more than {_MOST_TOLD:,} characters")
        return Ran(whole, "\n".join(self.wrong), code)

    def _one(self, command: Command, given: str) -> tuple[str, int]:
        name, *args = command.words or ("true",)
        self.name, before = name, len(self.wrong)
        try:
            text = given if command.source is None else self.content(command.source)
            told = self._does(name)(self, self._spread(name, args), text)
            if command.into is not None:
                self.write(command.into, told, appends=command.appends)
                told = ""
        except Failed as failed:
            self.wrong += [f"{name}: {failed}"] if str(failed) else []
            return "", 127 if name not in self.commands else 1
        return told, int(len(self.wrong) > before)

    def _does(self, name: str) -> Does:
        if name not in self.commands:
            raise Failed("command not found")
        return self.commands[name]

    def _spread(self, name: str, args: list[str]) -> list[str]:
        """The words with wildcards replaced by what they match in this directory."""
        first = next((at for at, one in enumerate(args) if not one.startswith("-")), 0) if name == "grep" else -1
        return [
            path
            for at, one in enumerate(args)
            for path in ([one] if name == "find" or at == first else self._matching(one))
        ]

    def _matching(self, word: str) -> list[str]:
        if not any(sign in word for sign in "*?[") or "/" in word or self.tree.find(self.here) is None:
            return [word]
        return [one.name for one in self.tree.inside(self.here) if fnmatchcase(one.name, word)] or [word]

    # what commands need

    def at(self, path: str) -> str:
        try:
            return self.tree.at(resolved(path, self.here))
        except Refused as refused:
            raise Failed(str(refused)) from None

    def find(self, path: str) -> Entry:
        found = self.tree.find(self.at(path))
        if found is None:
            raise Failed(f"{path}: {MISSING}")
        return found

    def content(self, path: str) -> str:
        found = self.find(path)
        if found.content is None:
            raise Failed(f"{path}: Is a directory")
        self.seen += len(found.content)
        if self.seen > _MOST_SEEN:
            raise Refused("invalid", f"The command reads more than {_MOST_SEEN:,} characters")
        return found.content

    def write(self, path: str, content: str, *, appends: bool = False) -> None:
        place = self.at(path)
        found = self.tree.find(place)
        if found is not None and not found.is_file:
            raise Failed(f"{path}: Is a directory")
        self.above(path)
        old = found.content or "" if found is not None and appends else ""
        if place != "/dev/null":
            self.tree.write(place, old + content)

    def above(self, path: str) -> None:
        """The directory that something is to be in must be there."""
        place = parent(self.at(path))
        found = self.tree.find(place)
        if place != "/dev" and (found is None or found.is_file):
            raise Failed(f"{path}: {MISSING}")

    def texts(self, paths: list[str], given: str) -> Iterator[tuple[str, str]]:
        """The files of these names with what is in them; what is given where there is no name."""
        if not paths:
            yield "", given
        for path in paths:
            try:
                yield path, self.content(path)
            except Failed as failed:
                self.wrong.append(f"{self.name}: {failed}")


Does: TypeAlias = Callable[[Shell, list[str], str], str]
"""What a command does: of the shell, its words, and what it reads; returns what it tells."""
