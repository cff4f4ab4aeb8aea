"""One call of an operation on files."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import field, replace
from functools import cached_property
from posixpath import relpath

from mcp_sim.plans.files.paths import ROOT, is_absolute
from mcp_sim.plans.files.tree import Entry, Tree
from mcp_sim.plans.matching.matched_tools import MatchedTool
from mcp_sim.plans.operation import Operation, read_names
from mcp_sim.plans.patterns import matches_wildcards
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.lexicon.english import singular, words

_WORDS = read_names(__name__)
_OF_FILES = _WORDS.terms("of_files")
_ESSENTIAL = ("name", "path", "type", "size", "modified")
_NOTHING = ("", "None", "null")


@frozen
class Setting:
    """What all calls of a tool share: whether a repository locates the files, and what items of a batch may select."""

    has_repository: bool = False
    choices: Mapping[str, MatchedTool] = field(default_factory=dict[str, MatchedTool])


class FilesRequest(Request):
    """One call on a tree of files."""

    @cached_property
    def tree(self) -> Tree:
        """The files and directories."""
        return Tree(self, self.text("space"), self.text("folder"), is_located=self.setting.has_repository)

    @property
    def setting(self) -> Setting:
        """What all calls of the tool share."""
        return self.binding.shared or Setting()

    def part(self, operation: Operation, arguments: Mapping[str, str], given: Mapping[str, Json]) -> FilesRequest:
        """Return the request of one operation of a batch, on the same tree."""
        narrowed = copy(self)
        narrowed.__dict__.pop("tree", None)
        narrowed.binding = replace(self.binding, operation=operation, arguments=arguments)
        narrowed.given = {role: given[name] for role, name in arguments.items() if name in given}
        return narrowed

    def get(self, role: str, default: Json = None) -> Json:
        """Return the argument with a role. Paths and patterns may be missing in several ways."""
        value = super().get(role, default)
        return default if role in {"path", "pattern"} and value in _NOTHING else value

    @property
    def path(self) -> str:
        """The requested path, by default the working directory."""
        path = self.text("path", "." if self.tree.working != ROOT else ROOT)
        return path.rstrip("/") or path

    @property
    def file(self) -> Entry:
        """The file at the requested path. Raises `Refused` if it does not exist."""
        return self.tree.file(self.path)

    def flag_or(self, role: str, default: bool) -> bool:
        """Return a flag, or the default if the tool has no argument for it."""
        return self.flag(role) if self.has(role) else default

    @cached_property
    def tool_words(self) -> frozenset[str]:
        """The words of the tool's name; none for a call from Python."""
        return frozenset() if self.tool is None else frozenset(words(self.tool.name))

    @property
    def is_of_notes(self) -> bool:
        """Whether the tool calls files notes, pages or the like, and does not mention directories."""
        is_of_files = self.tool is None or self.has("space")
        return not is_of_files and _OF_FILES.isdisjoint(map(singular, self.tool_words))

    def facts_of(self, entry: Entry, path: str) -> Record:
        """Return the facts of an entry with this path; those that differ if the tool has no output schema."""
        facts = {**entry.facts, "path": path}
        return {name: facts[name] for name in facts if name in _ESSENTIAL} if self.binding.is_open else facts

    def shown_path(self, entry: Entry, base: Entry) -> str:
        """Return the path of an entry below `base` as the client writes it; of a note, below the working directory."""
        if self.text("space") or (self.is_of_notes and is_absolute(self.text("path"))):
            return self.tree.display_path(entry.path)
        return relpath(entry.path, self.tree.working) if self.is_of_notes else self.path.rstrip("/") + entry.after(base)

    def is_included(self, entry: Entry, base: Entry) -> bool:
        """Return whether an entry passes the include and exclude filters of the call."""
        among, place = self.text("among"), entry.after(base)[1:]
        is_out = any(matches_name(text, entry.name) or matches_wildcards(place, text) for text in self.texts("exclude"))
        return not is_out and (not among or matches_name(among, entry.name))


def matches_name(pattern: str, name: str) -> bool:
    """Return whether a name matches, ignoring case: as a whole if the pattern has wildcards, else any part of it."""
    bare = pattern.removeprefix("**/")
    if any(sign in bare for sign in "*?["):
        return matches_wildcards(name.lower(), bare.lower())
    return bare.lower() in name.lower()


def already_exists(what: str, path: str) -> Refused:
    """Return the failure for a path that is taken."""
    return Refused("conflict", f"{what} already exists: {path}", path=path, key=path, entity="file")
