"""One call of an operation on a repository."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cached_property

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.repository import Repository
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object

_EVERYTHING = (".", "./", "*", "-A", "--all", ":/")


class GitRequest(Request):
    """One call on the repository at the path that it names. Empty arguments count as missing."""

    missing = (None, "")

    @cached_property
    def repository(self) -> Repository:
        """The repository. Raises `Refused` if there is none at the path of the call."""
        found = Repository(self)
        if not found.is_here:
            raise Refused("not_found", f"Not a git repository: {found.place}", path=found.place, key=found.place)
        return found

    def number(self, role: str) -> int | None:
        """Return a non-negative integer, None if it is missing. Raises `Refused` for anything else."""
        value = self.text(role)
        if not value:
            return None
        if not re.fullmatch(r"\s*\d{1,9}(\.0+)?\s*", value):
            raise Refused("invalid", f"Invalid {self.named(role)}: {value}")
        return int(float(value))

    @cached_property
    def files(self) -> list[str]:
        """The named files, as written; empty if all files are meant."""
        return [one for one in self.texts("files") if one not in _EVERYTHING]

    def paths(self, known: Mapping[str, Json]) -> list[str]:
        """Return the absolute paths of the named files among `known`: files, directories and patterns.

        Raises `Refused` if one of them matches nothing.
        """
        if not self.files:
            return [*known]
        found: dict[str, None] = {}
        for one in self.files:
            here = self._matching(one, known)
            if not here:
                raise Refused("not_found", f"pathspec '{one}' did not match any files", path=one, key=one)
            found |= dict.fromkeys(here)
        return list(found)

    def _matching(self, pattern: str, known: Mapping[str, Json]) -> list[str]:
        path = self.repository.at(pattern)
        inside = [one for one in known if is_within(one, [path])]
        return inside or [one for one in known if fnmatchcase(self.repository.shown(one), pattern)]

    def author(self) -> Record:
        """Return the author of a commit: from the call, else the owner of the repository."""
        given, known = parse_author(self.get("author")), self.repository.record
        name = str(given.get("name") or known.get("author") or "")
        email = str(self.text("email") or given.get("email") or known.get("email") or "")
        return {"author": name, "email": email}


def parse_author(value: Json) -> Record:
    """Return name and e-mail of `Ann Vos <ann@example.com>`, either alone, or an object with both."""
    if isinstance(value, dict):
        body = as_object(value)
        return {"name": body.get("name", body.get("username")), "email": body.get("email")}
    name, mark, rest = str(value or "").partition("<")
    return {"name": name.strip() or None, "email": rest.rstrip("> ") if mark else None}
