"""Arguments of one call on a repository, by role."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.repository import Repository
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_EVERYTHING = (".", "./", "*", "-A", "--all", ":/")


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `roles` maps roles to arguments."""

    given: Mapping[str, Json]
    roles: Mapping[str, str]
    repository: Repository

    def get(self, role: str) -> Json:
        value = self.given.get(self.roles.get(role, ""))
        return None if value == "" else value

    def text(self, role: str) -> str | None:
        value = self.get(role)
        return None if value is None or isinstance(value, dict | list) else str(value)

    def required_text(self, role: str) -> str:
        """Return the argument with this role. Raises `Refused` if it is missing."""
        value = self.text(role)
        if value is None or not value.strip():
            raise Refused("invalid", f"Missing required argument: {self.roles.get(role, role)}")
        return value

    def flag(self, role: str) -> bool:
        return self.get(role) is True

    def number(self, role: str) -> int | None:
        """Return a non-negative integer. Raises `Refused` for anything else."""
        value = self.text(role)
        if value is None:
            return None
        if not re.fullmatch(r"\s*\d{1,9}(\.0+)?\s*", value):
            raise Refused("invalid", f"Invalid {self.roles[role]}: {value}")
        return int(float(value))

    @property
    def named(self) -> list[str]:
        """The named files, as written."""
        value = self.get("files")
        found = [str(one) for one in as_list(value)] if isinstance(value, list) else [] if value is None else [value]
        return [one for one in found if one not in _EVERYTHING]

    @property
    def is_everything(self) -> bool:
        """Whether no file is named, so that all are meant."""
        return not self.named

    def paths(self, known: Mapping[str, Json]) -> list[str]:
        """Return the absolute paths of the named files among `known`: files, directories and patterns.

        Raises `Refused` if one of them matches nothing.
        """
        if self.is_everything:
            return [*known]
        found: dict[str, None] = {}
        for one in self.named:
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
        given, known = self.get("author"), self.repository.record
        body = as_object(given) if isinstance(given, dict) else parse_author(given)
        found = {**body, "email": self.text("email") or body.get("email")}
        name = str(found.get("name") or known.get("author") or "")
        return {"author": name, "email": str(found.get("email") or known.get("email") or "")}


def parse_author(value: Json) -> Record:
    """Return name and e-mail of `Ann Vos <ann@example.com>`, either alone, or an object with both."""
    if isinstance(value, dict):
        body = as_object(value)
        return {"name": body.get("name", body.get("username")), "email": body.get("email")}
    name, mark, rest = str(value or "").partition("<")
    return {"name": name.strip() or None, "email": rest.rstrip("> ") if mark else None}
