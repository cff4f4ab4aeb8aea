"""What does `${NAME}` stand for in a text, as MCP clients fill it in?"""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLACE = re.compile(r"\$\{(?:(?P<kind>env|input):)?(?P<name>[^}:]+?)(?::-(?P<otherwise>[^}]*))?\}")


class Unfilled(Exception):
    """A placeholder has no value; `variable` is the one of the environment that would give it one."""

    def __init__(self, place: str, variable: str) -> None:
        self.place, self.variable = place, variable
        super().__init__(f"{place} has no value: set the environment variable {variable}")


def filled(text: str, environment: Mapping[str, str], folders: Mapping[str, str] | None = None) -> str:
    """The text with `${NAME}`, `${NAME:-otherwise}`, `${env:NAME}` and `${input:name}` filled in.

    An input is taken from the variable NAME, in capitals. `folders` are further names, as `workspaceFolder` is one.
    Raises Unfilled.
    """

    def value(found: re.Match[str]) -> str:
        name = found["name"]
        if folders is not None and name in folders:
            return folders[name]
        variable = re.sub(r"\W", "_", name).upper() if found["kind"] == "input" else name
        given = environment.get(variable) or found["otherwise"]
        if given is None:
            raise Unfilled(found[0], variable)
        return given

    return _PLACE.sub(value, text)
