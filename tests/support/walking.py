"""A random agent that makes plausible calls from tools/list and earlier answers alone."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from random import Random
from typing import Any, cast
from uuid import UUID

import jsonschema_rs

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.texts import matching_text
from mcp_sim.types import Observation, Tool, ToolResult
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    is_nullable,
    items,
    main_type,
    properties,
    required,
    types_of,
)
from mcp_sim.types.lexicon.english import singular_phrase, snake, words
from mcp_sim.world.world import World

Json = Any

NAMING = ("id", "ids", "key", "path")
"""Endings of names of arguments and fields that identify a record."""

REMOVING = frozenset({"delete", "remove", "revoke"})
"""Words in the names of tools that delete a record."""

MAKING = frozenset({"create", "add", "insert", "new", "post", "register", "write", "save"})
"""Words in the names of tools that create a record."""

PLACES = frozenset({"index", "position", "row", "col", "column"})
"""Endings of names of arguments that count from the first: an agent begins there."""

MISTAKEN = 0.06
"""The probability that an agent asks for a removed record."""

PAGING = ("cursor", "token")
"""Endings of names of arguments that continue a list."""


class Walker:
    """Chooses calls by schema; ids come from earlier answers, by the name of the field or tool that showed them.

    With a `world`, ids come from its records too, as an agent knows them from its task: `domain` shows which argument
    names which of them.
    """

    def __init__(self, tools: Sequence[Tool], seed: int, world: World | None = None) -> None:
        self.tools = tools
        self.random = Random(seed)
        self.seen: defaultdict[str, list[Json]] = defaultdict(list)
        self.removed: defaultdict[str, list[Json]] = defaultdict(list)
        self.world = world
        self.schemas = {tool.id: expanded(tool.input_schema) for tool in tools}

    def call(self) -> tuple[Tool, dict[str, Json]]:
        """Return the next call: a tool, and arguments that its schema allows."""
        tool = self.random.choice(self.tools)
        return tool, in_order(self._object(self.schemas[tool.id], tool, ""))

    def needed(self, tool: Tool) -> dict[str, Json]:
        """Return arguments that a tool declares."""
        schema = self.schemas[tool.id]
        parts = {name: inner for name, inner in properties(schema).items() if name in required(schema)}
        return in_order(self._object({**schema, "properties": parts}, tool, ""))

    def learn(self, tool: Tool, arguments: dict[str, Json], observation: Observation) -> None:
        """Remember the ids in an answer; forget those that were refused or deleted."""
        body = observation.body
        if not isinstance(body, ToolResult) or body.is_error or REMOVING.intersection(words(tool.name)):
            for name, value in _pairs(arguments, "") if observation.ok else ():
                self.removed[snake(name)].append(value)
            self._forget([value for name, value in _pairs(arguments, "") if snake(name).endswith(NAMING)])
            return
        for path, value in _pairs(body.value, ""):
            parent, _, name = path.rpartition(".")
            self.seen[snake(name)].append(value)
            if snake(name) in {"id", "key"}:
                for source in (parent.rpartition(".")[2], tool.name):
                    self.seen[singular_phrase(words(source))].append(value)

    def _forget(self, values: list[Json]) -> None:
        for known in self.seen.values() if values else ():
            known[:] = [value for value in known if value not in values]

    def _object(self, schema: dict[str, Json], tool: Tool, path: str) -> dict[str, Json]:
        needed, parts = required(schema), properties(schema)
        asked = [name for name in parts if name in needed or self._is_given(name, tool, path)]
        named = self._named(tool) if path == "" else {}
        values = {name: named[name] if name in named else self._value(name, parts[name], tool, path) for name in asked}
        kept = {name: value for name, value in values.items() if name in needed or valid(parts[name], value)}
        for branch in as_list(schema.get("anyOf")) or as_list(schema.get("oneOf")):
            missing = required(as_object(branch)) - set(kept)
            if not missing <= set(parts):
                continue
            return kept | {name: self._value(name, parts[name], tool, path) for name in missing}
        return kept if kept or parts or path == "" else {"name": self._text("name")}

    def _named(self, tool: Tool) -> dict[str, Json]:
        """Return values that identify a record without its key, mostly those of an existing record."""
        plan = self.world.scenario.domain.plans[tool.id] if self.world is not None else None
        if self.world is None or plan is None or plan.key is not None or plan.verb not in {"get", "update", "delete"}:
            return {}
        rows = list(islice(self.world.view.rows(plan.entity or ""), 60)) if plan.filters else []
        if not rows or self.random.random() > 0.9:
            return {}
        _, record = self.random.choice(rows)
        asked = {name: record.get(rule.field) for name, rule in plan.filters.items() if rule.op == "equals"}
        return {name: value for name, value in asked.items() if value is not None}

    def _is_given(self, name: str, tool: Tool, path: str) -> bool:
        """Whether to pass an optional argument: the key of the record always, unknown ids and cursors never."""
        plan = self.world.scenario.domain.plans[tool.id] if self.world is not None else None
        if plan is not None and plan.key == (f"{path}.{name}" if path else name):
            return True
        names_one = snake(name).endswith((*NAMING, *PAGING))
        return self.random.random() < 0.35 and (
            not names_one or bool(self._known(name) or self._held(tool, path, name))
        )

    def _value(self, name: str, spec: dict[str, Json], tool: Tool, path: str) -> Json:
        if constants(spec):
            return self.random.choice(constants(spec))
        spec = self._branch(spec)
        many = "array" in types_of(spec) and "string" not in types_of(spec)
        mistaken = self._mistaken(name)
        if mistaken is not None:
            return [mistaken] if many else mistaken
        is_valid = compiled(json.dumps(spec)).is_valid
        held = [value for value in self._held(tool, path, name) if is_valid([value] if many else value)]
        if held and (self.random.random() < 0.9 or not self._known(name)):
            value = self.random.choice(held)
            return [value] if many else value
        known = [value for value in self._known(name) if is_valid([value] if many else value)]
        names_one, continues = snake(name).endswith(NAMING), snake(name).endswith(PAGING)
        is_new = snake(name) in NAMING and not MAKING.isdisjoint(words(tool.name))
        if known and not is_new and (names_one or continues or self.random.random() < 0.3):
            value = self.random.choice(known[-200:])
            return [value] if many else value
        return None if continues and is_nullable(spec) else self._fresh(name, spec, tool, path)

    def _mistaken(self, name: str) -> Json:
        """Return now and then the id of a removed record, else None."""
        gone = self.removed[snake(name)] if snake(name).endswith(NAMING) else []
        return self.random.choice(gone) if gone and self.random.random() < MISTAKEN else None

    def _branch(self, spec: dict[str, Json]) -> dict[str, Json]:
        """Return one of the alternatives of a schema, if it has any."""
        branches = [as_object(branch) for branch in as_list(spec.get("anyOf")) or as_list(spec.get("oneOf"))]
        branches = [branch for branch in branches if branch.get("type") != "null"]
        return {**spec, **self.random.choice(branches)} if branches and not types_of(spec) else spec

    def _held(self, tool: Tool, path: str, name: str) -> list[Json]:
        """Return the current keys of the records that an argument identifies."""
        if self.world is None:
            return []
        domain, place = self.world.scenario.domain, f"{path}.{name}" if path else name
        plan = domain.plans[tool.id]
        entity = domain.entities.get(plan.entity or "")
        if entity is None:
            return []
        rule = plan.filters.get(place)
        field = entity.fields.get(rule.field if rule is not None else plan.sets.get(place, ""))
        if field is not None and field.link is not None:
            return self._keys(field.link)
        if place == plan.key or (rule is not None and rule.field == entity.key):
            return self._keys(entity.name)
        return []

    def _keys(self, entity: str) -> list[Json]:
        """Return the oldest and the newest keys of an entity."""
        keys: list[Json] = [key for key, _ in self.world.view.rows(entity)] if self.world is not None else []
        return keys if len(keys) < 60 else [*keys[:30], *keys[-30:]]

    def _known(self, name: str) -> list[Json]:
        """Return the values that answers showed under a name, or as ids of its entity (`company_id`)."""
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

    def _fresh(self, name: str, spec: dict[str, Json], tool: Tool, path: str) -> Json:
        kind = main_type(spec) or "string"
        inner = f"{path}.{name}" if path else name
        if kind == "object":
            return self._object(spec, tool, inner)
        if kind == "array":
            many = max(1, spec.get("minItems", 1))
            return [self._value(name, items(spec), tool, path) for _ in range(many)]
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind in ("integer", "number"):
            is_place = (words(name) or ("",))[-1] in PLACES
            low = int(spec.get("minimum", spec.get("exclusiveMinimum", -1 if is_place else 0) + 1))
            if is_place:
                return self.random.randint(low, int(min(spec.get("maximum", low + 2), low + 2)))
            return self.random.randint(low, int(min(spec.get("maximum", low + 100), low + 1000)))
        return self._string(name, spec)

    def _string(self, name: str, spec: dict[str, Json]) -> str:
        number = self.random.randint(1, 28)
        formats = {
            "date": f"2029-02-{number:02d}",
            "date-time": f"2029-02-{number:02d}T10:00:00Z",
            "email": f"someone{number}@example.com",
            "uri": f"https://example.com/{number}",
            "uuid": str(UUID(bytes=self.random.randbytes(16), version=4)),
        }
        if "pattern" in spec:
            return matching_text(spec, Chance(self.random.randbytes(8))) or "x"
        by_name = {
            "url": formats["uri"],
            "email": formats["email"],
            "date": formats["date"],
            "path": self._path(),
            "filename": self._path().rpartition("/")[2],
            "cell": f"B{number}",
            "range": f"A1:B{number}",
            "formula": f"={number}+B1",
        }
        ending = (words(name) or ("",))[-1]
        text = formats.get(spec.get("format", ""), by_name.get(ending, self._text(name)))
        return text[: spec.get("maxLength", 200)].ljust(spec.get("minLength", 0), "x")

    def _path(self) -> str:
        """Return a new name next to a known one."""
        known = [value for value in self.seen["path"] if isinstance(value, str) and "/" in value] or ["/notes/a"]
        return f"{self.random.choice(known).rpartition('/')[0]}/{self._text('page').replace(' ', '_')}.txt"

    def _text(self, name: str) -> str:
        """Return a plausible text."""
        return f"{name} {self.random.choice('abcdefgh')}{self.random.randint(1, 280)}"


def in_order(arguments: dict[str, Json]) -> dict[str, Json]:
    """Return the arguments with no end before its start: no agent asks for that."""
    for start in [name for name in arguments if "start" in name]:
        end = start.replace("start", "end")
        first, last = arguments[start], arguments.get(end)
        if isinstance(first, str) and isinstance(last, str) and last < first:
            arguments |= {start: last, end: first}
    return arguments


def valid(schema: dict[str, Json], value: Json) -> bool:
    """Whether the schema of an argument allows a value."""
    return compiled(json.dumps(schema)).is_valid(value)


@cache
def compiled(schema: str) -> jsonschema_rs.Validator:
    """Return the validator of a schema, which is JSON. Compiling it takes ten times as long as using it."""
    return jsonschema_rs.validator_for(json.loads(schema))


def _pairs(value: Json, path: str) -> Iterator[tuple[str, Json]]:
    """Yield every scalar in a value, with the names that lead to it."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Json]", value).items():
            yield from _pairs(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in cast("list[Json]", value):
            yield from _pairs(inner, path)
    else:
        yield path, value
