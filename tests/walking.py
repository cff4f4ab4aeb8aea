"""A random agent that knows nothing but tools/list and what it was answered: who calls anything, plausibly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, cast

import jsonschema_rs

from mcp_sim.records.chance import Chance
from mcp_sim.records.patterns import matching
from mcp_sim.schemas import expanded
from mcp_sim.types import Observation, Tool, ToolResult
from mcp_sim.words import singular_phrase, snake, words

Json = Any

NAMING = ("id", "ids", "key", "path")
"""How the names of arguments and fields end that name a record."""

REMOVING = frozenset({"delete", "remove", "revoke"})
"""Words in the names of tools after which a record is gone."""

PAGING = ("cursor", "token")
"""How the names of arguments end that continue a list."""


class Walker:
    """Chooses calls by schema; ids come from earlier answers, by the name of the field or tool that told them."""

    def __init__(self, tools: Sequence[Tool], seed: int) -> None:
        self.tools = tools
        self.random = Random(seed)
        self.seen: defaultdict[str, list[Json]] = defaultdict(list)

    def call(self) -> tuple[Tool, dict[str, Json]]:
        """The next call: a tool, and arguments that its schema allows."""
        tool = self.random.choice(self.tools)
        return tool, self._object(expanded(tool.input_schema), tool.name)

    def learn(self, tool: Tool, arguments: dict[str, Json], observation: Observation) -> None:
        """Remember the ids that an answer holds; forget those that the service did not like, or does not have now."""
        body = observation.body
        if not isinstance(body, ToolResult) or body.is_error or REMOVING.intersection(words(tool.name)):
            self._forget([value for name, value in _pairs(arguments, "") if snake(name).endswith(NAMING)])
            return
        for path, value in _pairs(body.value, ""):
            parent, _, name = path.rpartition(".")
            self.seen[snake(name)].append(value)
            if snake(name) in {"id", "key"}:
                for source in (parent.rpartition(".")[2], tool.name):
                    self.seen[singular_phrase(words(source))].append(value)

    def _forget(self, values: list[Json]) -> None:
        for known in self.seen.values():
            known[:] = [value for value in known if value not in values]

    def _object(self, schema: dict[str, Json], about: str) -> dict[str, Json]:
        required = set(schema.get("required", ()))
        properties = cast("dict[str, dict[str, Json]]", schema.get("properties", {}))
        asked = [name for name in properties if name in required or self._is_given(name)]
        values = {name: self._value(name, properties[name], about) for name in asked}
        return {name: value for name, value in values.items() if name in required or valid(properties[name], value)}

    def _is_given(self, name: str) -> bool:
        """Is this optional argument given? No id is, of which nothing is known."""
        return self.random.random() < 0.35 and (not snake(name).endswith(NAMING) or bool(self._known(name)))

    def _value(self, name: str, spec: dict[str, Json], about: str) -> Json:
        if "enum" in spec:
            return self.random.choice(spec["enum"])
        is_many = spec.get("type") == "array"
        known = [value for value in self._known(name) if valid(spec, [value] if is_many else value)]
        names_one, continues = snake(name).endswith(NAMING), snake(name).endswith(PAGING)
        is_new = snake(name) in NAMING and "create" in words(about)
        if known and not is_new and (names_one or continues or self.random.random() < 0.3):
            value = self.random.choice(known[-200:])
            return [value] if is_many else value
        return None if continues else self._fresh(name, spec, about)

    def _known(self, name: str) -> list[Json]:
        """What answers told under this name, or as the ids of what it names: `company_id`, of `list_companies`."""
        field = snake(name)
        noun, _, ending = field.rpartition("_")
        names_one = noun and ending in NAMING
        return [
            value
            for source, values in self.seen.items()
            if source == field or (names_one and f"_{source}".endswith(f"_{noun}"))
            for value in values[-50:]
            if isinstance(value, str | int) and not isinstance(value, bool)
        ]

    def _fresh(self, name: str, spec: dict[str, Json], about: str) -> Json:
        kinds = spec.get("type", "string")
        kind = kinds if isinstance(kinds, str) else kinds[0]
        if kind == "object":
            return self._object(spec, about)
        if kind == "array":
            return [self._value(name, spec.get("items", {}), about) for _ in range(max(1, spec.get("minItems", 1)))]
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind in ("integer", "number"):
            low = int(spec.get("minimum", spec.get("exclusiveMinimum", 0) + 1))
            return self.random.randint(low, int(min(spec.get("maximum", low + 100), low + 1000)))
        return self._string(name, spec)

    def _string(self, name: str, spec: dict[str, Json]) -> str:
        number = self.random.randint(1, 28)
        formats = {
            "date": f"2029-02-{number:02d}",
            "date-time": f"2029-02-{number:02d}T10:00:00Z",
            "email": f"someone{number}@example.com",
            "uri": f"https://example.com/{number}",
        }
        if "pattern" in spec:
            return matching(spec["pattern"], Chance(self.random.randbytes(8))) or "x"
        text = formats.get(spec.get("format", ""), f"{name} {self.random.choice('abcdefgh')}{number}")
        return text[: spec.get("maxLength", 200)].ljust(spec.get("minLength", 0), "x")


def valid(schema: dict[str, Json], value: Json) -> bool:
    """Does the schema of an argument allow this value?"""
    return jsonschema_rs.is_valid(schema, value)


def _pairs(value: Json, path: str) -> Iterator[tuple[str, Json]]:
    """Every scalar in a value, by the names that lead to it."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Json]", value).items():
            yield from _pairs(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in cast("list[Json]", value):
            yield from _pairs(inner, path)
    else:
        yield path, value
