"""One run of git."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from getopt import GetoptError
from typing import TypeAlias

from mcp_sim.libraries.files import below, normalize
from mcp_sim.libraries.git import Git, NotARepository, Repository
from mcp_sim.libraries.shell.commands.invocation import Failed, Invocation, split_options

Options: TypeAlias = Mapping[str, str]
_NO_REPOSITORY = "fatal: not a git repository (or any of the parent directories): .git\n"


class GitRun:
    """One run of git in a directory."""

    def __init__(self, run: Invocation, directory: str, settings: Options) -> None:
        self.run, self.directory, self.settings = run, directory, settings

    @property
    def repository(self) -> Repository:
        try:
            return Git(self.run.store).at(self.directory)
        except NotARepository:
            raise Failed(_NO_REPOSITORY, 128) from None

    def say(self, *lines: str) -> None:
        self.run.out += [f"{line}\n" for line in lines]

    def path(self, repository: Repository, given: str) -> str:
        """Return an argument as a path below the root of the repository; `.` for the root itself."""
        place = normalize(given, self.directory)
        if place != repository.root and not place.startswith(f"{repository.root.rstrip('/')}/"):
            problem = f"'{given}' is outside repository at '{repository.root}'"
            raise Failed(f"fatal: {given}: {problem}\n", 128)
        return below(place, repository.root) or "."

    def options(self, words: Sequence[str], short: str, long: str = "") -> tuple[dict[str, str], list[str]]:
        try:
            pairs, rest = split_options(words, short, long)
        except GetoptError as error:
            kind = f"option `{error.opt}'" if len(error.opt) > 1 else f"switch `{error.opt}'"
            raise Failed(f"error: unknown {kind}\n", 129) from None
        return dict(pairs), rest

    def split(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the words before and after `--`."""
        if "--" not in words:
            return [*words], []
        at = [*words].index("--")
        return [*words[:at]], [*words[at + 1 :]]
