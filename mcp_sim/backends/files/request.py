"""Arguments of one call on files, by role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from posixpath import relpath

from mcp_sim.backends.files.paths import ROOT, is_absolute
from mcp_sim.backends.files.tree import Entry, Tree
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, properties
from mcp_sim.types.lexicon.english import singular, vocabulary, words

_OF_FILES = vocabulary("file filename filesystem directory dir folder subdirectory tree path ls cat grep find rg")
_ESSENTIAL = ("name", "path", "type", "size", "modified")
_NOTHING = ("", "None", "null")


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `roles` maps roles to arguments; `peers` are the operations of all tools for files in this world."""

    tool: Tool
    given: Mapping[str, Json]
    roles: Mapping[str, str]
    tree: Tree
    peers: frozenset[str]

    def get(self, role: str) -> Json:
        """Return the argument with this role; None if it is not given."""
        value = self.given.get(self.roles.get(role, ""))
        return None if isinstance(value, str) and value in _NOTHING and role in {"path", "pattern"} else value

    def text(self, role: str, default: str = "") -> str:
        value = self.get(role)
        return default if value is None else str(value)

    def texts(self, role: str) -> list[str]:
        value = self.get(role)
        return [value] if isinstance(value, str) else [str(one) for one in as_list(value)]

    def flag(self, role: str) -> bool:
        """Return whether a flag is set, by the call or by default."""
        value = self.get(role)
        return (self._usual(role) if value is None else value) is True

    def _usual(self, role: str) -> Json:
        """Return the default of the argument with this role in its schema."""
        return properties(expanded(self.tool.input_schema)).get(self.roles.get(role, ""), {}).get("default")

    def number(self, role: str) -> int | None:
        value = self.get(role)
        if isinstance(value, str) and value.strip().lstrip("-").isdigit():
            return int(value)
        return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def levels(self) -> int | None:
        """Number of directory levels to show; None for all."""
        given, usual = self.number("depth"), self._usual("depth")
        return given if given is not None else usual if isinstance(usual, int) else None

    @property
    def path(self) -> str:
        """The requested path, by default the working directory."""
        path = self.text("path", "." if self.tree.working != ROOT else ROOT)
        return path.rstrip("/") or path

    def mentions(self, *phrases: str) -> bool:
        """Return whether the tool's description contains one of these phrases."""
        description = self.tool.description.lower()
        return any(phrase in description for phrase in phrases)

    def entry_facts(self, entry: Entry) -> Record:
        """Return the facts of an entry; each once if the tool has no output schema for more."""
        facts = entry_facts(entry)
        return {name: facts[name] for name in facts if name in _ESSENTIAL} if self.is_open else facts

    @property
    def is_open(self) -> bool:
        """Whether the tool has no output schema that lists the parts of a result."""
        return not properties(expanded(self.tool.output_schema or {})).keys() - {"result"}

    @property
    def is_of_notes(self) -> bool:
        """Whether the tool calls files notes, pages or the like, and does not mention directories."""
        return not (_OF_FILES & {*map(singular, words(self.tool.name))} or "space" in self.roles)

    def named(self, path: str) -> str:
        """Return the path of a note as a client writes it: below the working directory, unless the call uses absolute
        paths.
        """
        return self.tree.display_path(path) if is_absolute(self.text("path")) else relpath(path, self.tree.working)

    def is_left_out(self, entry: Entry, base: str) -> bool:
        """Return whether a pattern of the call excludes an entry."""
        place = entry.path[len(base.rstrip("/")) + 1 :]
        return any(matches_name(one, entry.name) or fnmatchcase(place, one) for one in self.texts("exclude"))


def matches_name(pattern: str, name: str) -> bool:
    """Return whether a name matches, ignoring case: as a whole if the pattern has wildcards, else any part of it."""
    bare = pattern.removeprefix("**/")
    if any(sign in bare for sign in "*?["):
        return fnmatchcase(name.lower(), bare.lower())
    return bare.lower() in name.lower()


def entry_facts(entry: Entry) -> Record:
    """Return all facts of an entry."""
    facts: Record = {
        "name": entry.name,
        "path": entry.path,
        "type": "file" if entry.is_file else "directory",
        "is_directory": not entry.is_file,
        "is_file": entry.is_file,
        "created": entry.record.get("created_at"),
        "modified": entry.record.get("modified_at"),
        "permissions": "644" if entry.is_file else "755",
    }
    return {**facts, "size": entry.size} if entry.is_file else facts


def already_exists(what: str, path: str) -> Refused:
    """Return the failure for a path that is taken."""
    return Refused("conflict", f"{what} already exists: {path}", path=path, key=path, entity="file")


_PLACES = ("path", "source", "destination")


def resolve_spaces(
    given: Mapping[str, Json], roles: Mapping[str, str], tree: Tree
) -> tuple[Mapping[str, Json], Mapping[str, str]]:
    """Return the arguments and roles of a call, with the space and folder joined into each path."""
    if "space" in roles and _is_one_space(tree, str(given.get(roles["space"]))):
        given = {name: value for name, value in given.items() if name != roles["space"]}
    above = [str(given[roles[role]]) for role in ("space", "folder") if given.get(roles.get(role, ""))]
    if not above:
        return given, roles
    places = {role: roles[role] for role in _PLACES if role in roles} or {"path": roles["space"]}
    own = {name: given.get(name) for name in places.values() if name != roles["space"]}
    paths = {name: "/".join([*above, *([str(path)] if path not in (None, "") else [])]) for name, path in own.items()}
    return {**given, **paths}, {**roles, **places}


def _is_one_space(tree: Tree, name: str) -> bool:
    """Return whether the given files are those of one space without a name in the state."""
    has_files = any(entry.is_file for entry in tree.inside(ROOT))
    return "above" in tree.shell and has_files and tree.find(ROOT + name) is None
