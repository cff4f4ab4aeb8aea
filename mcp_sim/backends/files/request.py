"""What does one call ask of a tree of files: the arguments by what they are for, and the tree as it stands?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import relpath

from mcp_sim.backends.files.paths import ROOT, is_absolute
from mcp_sim.backends.files.tree import Entry, Tree
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.shapes import as_list, expanded, properties
from mcp_sim.types.lexicon.words import singular, vocabulary, words

_OF_FILES = vocabulary("file filename filesystem directory dir folder subdirectory tree path ls cat grep find rg")
_TOLD_ONCE = ("name", "path", "type", "size", "modified")
_NOTHING = ("", "None", "null")


@dataclass(frozen=True, slots=True)
class Asked:
    """One call. `roles` says which argument is for what; `peers` are the operations that tools of this world have."""

    tool: Tool
    given: Mapping[str, Json]
    roles: Mapping[str, str]
    tree: Tree
    peers: frozenset[str]

    def get(self, role: str) -> Json:
        """The argument for this; None where it is not given."""
        value = self.given.get(self.roles.get(role, ""))
        return None if isinstance(value, str) and value in _NOTHING and role in {"path", "pattern"} else value

    def text(self, role: str, default: str = "") -> str:
        value = self.get(role)
        return default if value is None else str(value)

    def texts(self, role: str) -> list[str]:
        value = self.get(role)
        return [value] if isinstance(value, str) else [str(one) for one in as_list(value)]

    def flag(self, role: str) -> bool:
        """Is it asked for, or so by default?"""
        value = self.get(role)
        return (self._usual(role) if value is None else value) is True

    def _usual(self, role: str) -> Json:
        """What the argument for this is where it is not given, as its schema says."""
        return properties(expanded(self.tool.input_schema)).get(self.roles.get(role, ""), {}).get("default")

    def number(self, role: str) -> int | None:
        value = self.get(role)
        if isinstance(value, str) and value.strip().lstrip("-").isdigit():
            return int(value)
        return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def levels(self) -> int | None:
        """How many levels of directories are asked for; None where nothing says so, and all of them are."""
        said, usual = self.number("depth"), self._usual("depth")
        return said if said is not None else usual if isinstance(usual, int) else None

    @property
    def path(self) -> str:
        """The path that is asked for; the working directory where there is none."""
        told = self.text("path", "." if self.tree.working != ROOT else ROOT)
        return told.rstrip("/") or told

    def says(self, *phrases: str) -> bool:
        """Does the tool's description hold one of these?"""
        told = self.tool.description.lower()
        return any(phrase in told for phrase in phrases)

    def shown(self, entry: Entry) -> Record:
        """What is told of an entry; once, where the tool has no places for more."""
        told = shown(entry)
        return {name: told[name] for name in told if name in _TOLD_ONCE} if self.is_open else told

    @property
    def is_open(self) -> bool:
        """Does nothing say which parts a result has?"""
        return not properties(expanded(self.tool.output_schema or {})).keys() - {"result"}

    @property
    def is_of_notes(self) -> bool:
        """Does the tool call files notes, pages or the like, and say nothing of directories?"""
        return not (_OF_FILES & {*map(singular, words(self.tool.name))} or "space" in self.roles)

    def named(self, path: str) -> str:
        """A path of the tree as a caller writes those of notes: below the working directory, unless by the whole."""
        return self.tree.told(path) if is_absolute(self.text("path")) else relpath(path, self.tree.working)

    def is_left_out(self, entry: Entry, base: str) -> bool:
        """Is it excluded by a pattern?"""
        place = entry.path[len(base.rstrip("/")) + 1 :]
        return any(matches_name(one, entry.name) or fnmatchcase(place, one) for one in self.texts("exclude"))


def matches_name(pattern: str, name: str) -> bool:
    """Does a name match: as a whole where the pattern has wildcards, else by a part of it, in any case?"""
    bare = pattern.removeprefix("**/")
    if any(sign in bare for sign in "*?["):
        return fnmatchcase(name.lower(), bare.lower())
    return bare.lower() in name.lower()


def shown(entry: Entry) -> Record:
    """What can be told of an entry, under the names that facts have."""
    told: Record = {
        "name": entry.name,
        "path": entry.path,
        "type": "file" if entry.is_file else "directory",
        "is_directory": not entry.is_file,
        "is_file": entry.is_file,
        "created": entry.record.get("created_at"),
        "modified": entry.record.get("modified_at"),
        "permissions": "644" if entry.is_file else "755",
    }
    return {**told, "size": entry.size} if entry.is_file else told


def refuse_to_take(what: str, path: str) -> Refused:
    """The failure that something stands at a path already."""
    return Refused("conflict", f"{what} already exists: {path}", path=path, key=path, entity="file")


_PLACES = ("path", "source", "destination")


def located(
    given: Mapping[str, Json], roles: Mapping[str, str], tree: Tree
) -> tuple[Mapping[str, Json], Mapping[str, str]]:
    """The arguments of a call and their roles, each path with the space and the folder that it is in."""
    if "space" in roles and _is_one_space(tree, str(given.get(roles["space"]))):
        given = {name: value for name, value in given.items() if name != roles["space"]}
    above = [str(given[roles[role]]) for role in ("space", "folder") if given.get(roles.get(role, ""))]
    if not above:
        return given, roles
    places = {role: roles[role] for role in _PLACES if role in roles} or {"path": roles["space"]}
    own = {name: given.get(name) for name in places.values() if name != roles["space"]}
    told = {name: "/".join([*above, *([str(path)] if path not in (None, "") else [])]) for name, path in own.items()}
    return {**given, **told}, {**roles, **places}


def _is_one_space(tree: Tree, name: str) -> bool:
    """Are the given files those of one space, whose name no state says?"""
    has_files = any(entry.is_file for entry in tree.inside(ROOT))
    return "above" in tree.shell and has_files and tree.find(ROOT + name) is None
