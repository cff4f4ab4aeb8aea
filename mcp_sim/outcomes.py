"""How does a tool tell what came of a call: under its outputSchema, in the form of an example, or in the plainest form?

A behaviour says what there is to tell, as facts under names of its own. Which property of a result shows which fact is
found by name, by the other names that the behaviour knows for it, and at last by type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from mcp_sim.domain import Domain
from mcp_sim.extensions import Answer, Invent
from mcp_sim.json_text import encode
from mcp_sim.records.timeline import Moment
from mcp_sim.records.values import chance_of, value_maker
from mcp_sim.schemas import (
    as_list,
    as_object,
    constants,
    expanded,
    is_nullable,
    items,
    main_type,
    properties,
    required,
    schema_of,
)
from mcp_sim.types import Change, Json, Observation, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.words import snake

ABSENT: Any = object()
Names: TypeAlias = Mapping[str, tuple[str, ...]]
"""Fact -> what else a result may call it."""

_YES = frozenset({"success", "ok", "successful", "succeeded", "acknowledged", "done", "valid", "status"})
_PROSE = frozenset({"message", "result", "text", "output", "detail", "details", "summary", "confirmation", "status"})
_COUNTS = frozenset({"count", "total", "total_count", "num_results", "length", "returned", "size"})
_CALLED = frozenset({"path", "name", "key", "text", "id", "title"})


class Refused(Exception):
    """A call that fails, told in the tool's own style: `kind` is the failure kind of the vendor's wording."""

    def __init__(self, kind: str, message: str, **slots: Json) -> None:
        super().__init__(message)
        self.kind = kind
        self.slots = slots


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call. `main` names the fact that is the answer proper, `text` tells it to people.

    `is_json`: where nothing says in which form, the main fact (all facts, where there is no main one) goes out as JSON.
    """

    text: str
    facts: Mapping[str, Json] = field(default_factory=dict[str, Any])
    main: str = ""
    is_json: bool = False
    changes: tuple[Change, ...] = ()

    @property
    def value(self) -> Json:
        """What goes out as JSON where nothing says in which form."""
        return self.facts[self.main] if self.main else dict(self.facts)


def answering(tool: Tool, domain: Domain, operate: Callable[[Turn], Outcome], names: Names) -> Answer:
    """The answer of a tool that does this; what is refused fails in the tool's own style."""
    tell = teller(tool, domain, names)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        try:
            outcome = operate(turn)
        except Refused as refused:
            return Transition(tool.failure(refused.kind, str(refused), **{**turn.call.arguments, **refused.slots}))
        return Transition(tell(turn, outcome), outcome.changes)

    return answer


def teller(tool: Tool, domain: Domain, names: Names) -> Callable[[Turn, Outcome], Observation]:
    """What makes a result of an outcome."""
    schema = expanded(tool.output_schema) if tool.output_schema is not None else None
    example = next((one for one in domain.examples if one.tool in {tool.id, tool.name} and not one.is_blocks), None)
    shown: Json = None if example is None else example.result
    shape = schema_of(shown) if as_object(shown) or as_list(shown) else None

    def tell(turn: Turn, outcome: Outcome) -> Observation:
        if schema is not None:
            return Observation(ToolResult(_Fit(turn, outcome, names).whole(schema)))
        if shape is not None:
            return Observation(ToolResult(_Fit(turn, outcome, names).whole(shape), form="json"))
        if outcome.is_json and example is None:
            return Observation(ToolResult(outcome.value, form="json"))
        return Observation(ToolResult(outcome.text, form="text"))

    return tell


@dataclass(frozen=True, slots=True)
class _Fit:
    """One outcome, being brought under a schema."""

    turn: Turn
    outcome: Outcome
    names: Names

    def whole(self, schema: Record) -> Json:
        if main_type(schema) != "object" and not properties(schema):
            main = self.outcome.facts.get(self.outcome.main, self.outcome.text)
            value = self._as(main, schema)
            return self._made("result", schema) if value is ABSENT else value
        if not properties(schema):
            is_silent = "properties" in schema and bool(self.outcome.changes)
            return {} if is_silent else as_object(self.outcome.value) or {"result": self.outcome.value}
        return self._object(schema, self.outcome.facts, is_whole=True)

    def _object(self, schema: Record, facts: Mapping[str, Json], *, is_whole: bool = False) -> Record:
        parts, needed = properties(schema), required(schema)
        body = {name: self._known(name, part, facts) for name, part in parts.items()}
        if is_whole:
            self._place_main(parts, body)
        for name, part in parts.items():
            if body[name] is ABSENT and is_whole:
                body[name] = self._guess(name, part)
            if body[name] is ABSENT and name in needed:
                body[name] = self._made(name, part)
        return {name: value for name, value in body.items() if value is not ABSENT}

    def _known(self, name: str, schema: Record, facts: Mapping[str, Json]) -> Json:
        """The fact that a property shows by its name."""
        chosen = constants(schema)
        if len(chosen) == 1:
            return chosen[0]
        fact = self._fact(snake(name), facts)
        return ABSENT if fact is None else self._as(facts[fact], schema)

    def _fact(self, name: str, facts: Mapping[str, Json]) -> str | None:
        if name in facts:
            return name
        return next((fact for fact in facts if name in self.names.get(fact, ())), None)

    def _place_main(self, parts: Mapping[str, Record], body: Record) -> None:
        """Where no property bears the name of the answer proper, the first that can hold it does."""
        main = self.outcome.main
        if not main or any(self._fact(snake(name), {main: 0}) for name in parts if body[name] is not ABSENT):
            return
        for name in sorted(parts, key=lambda name: main_type(parts[name]) == "string"):
            holds = body[name] is ABSENT and main_type(parts[name]) in {"array", "object", "string", ""}
            value = self._as(self.outcome.facts[main], parts[name]) if holds else ABSENT
            if value is not ABSENT and not self._is_prose(name, value, len(parts)):
                body[name] = value
                return

    def _is_prose(self, name: str, value: Json, beside: int) -> bool:
        """Is this the place of a sentence, rather than of the answer proper?"""
        return isinstance(value, str) and (snake(name) in {"message", "error", "status"} or self._is_sole(name, beside))

    @staticmethod
    def _is_sole(name: str, beside: int) -> bool:
        return beside == 1 and snake(name) == "result"

    def _guess(self, name: str, schema: Record) -> Json:
        """What a property that no fact goes by holds, judged by its name."""
        kind, name = main_type(schema), snake(name)
        main = self.outcome.facts.get(self.outcome.main)
        if kind == "boolean" and name in _YES:
            return True
        if kind == "string" and constants(schema) and name in _YES:
            good = [one for one in constants(schema) if str(one).lower() in {"ok", "success", "successful", "done"}]
            return good[0] if good else constants(schema)[0]
        if kind in {"string", ""} and name in _PROSE:
            return self.outcome.text
        if kind in {"integer", "number"} and name in _COUNTS and isinstance(main, list):
            return len(as_list(main))
        given: Json = next((value for key, value in self.turn.call.arguments.items() if snake(key) == name), ABSENT)
        return ABSENT if given is ABSENT else self._as(given, schema)

    def _as(self, value: Json, schema: Record) -> Json:
        """The value as this schema has it, ABSENT where it cannot be."""
        if value is None:
            return None if is_nullable(schema) or not main_type(schema) else ABSENT
        found = self._typed(value, schema)
        choices = constants(schema)
        if found is ABSENT or not choices or found in choices:
            return found
        alike = [one for one in choices if isinstance(found, str) and str(one)[:1].lower() == found[:1].lower()]
        return alike[0] if alike else ABSENT

    def _typed(self, value: Json, schema: Record) -> Json:
        match main_type(schema):
            case "string":
                return _as_text(value)
            case "integer":
                return value if isinstance(value, int) and not isinstance(value, bool) else ABSENT
            case "number":
                return value if isinstance(value, int | float) and not isinstance(value, bool) else ABSENT
            case "boolean":
                return value if isinstance(value, bool) else ABSENT
            case "array":
                return self._list(value, items(schema))
            case "object":
                return self._nested(value, schema)
            case _:
                return value

    def _list(self, value: Json, schema: Record) -> Json:
        found: list[Json] = value.splitlines() if isinstance(value, str) else as_list(value)
        if not isinstance(value, str | list):
            return ABSENT
        made = [self._as(_named(one) if main_type(schema) == "string" else one, schema) for one in found]
        return ABSENT if any(one is ABSENT for one in made) else made

    def _nested(self, value: Json, schema: Record) -> Json:
        if not isinstance(value, dict):
            return ABSENT
        facts = cast("Record", value)
        return self._object(schema, facts) if properties(schema) else facts

    def _made(self, name: str, schema: Record) -> Json:
        """What must be there and nobody knows: null, nothing, or the same value for the same call."""
        if is_nullable(schema):
            return None
        if main_type(schema) == "array" and not schema.get("minItems"):
            return []
        if main_type(schema) == "boolean":
            return False
        if main_type(schema) == "object" and properties(schema):
            return self._object(schema, {})
        if main_type(schema) in {"integer", "number"} and schema.get("minimum", 0) <= 0:
            return 0
        make = value_maker("", name, schema)
        return make(chance_of(self.turn.draws.scope, name), {}, Moment(self.turn.now, self.turn.now))


def _as_text(value: Json) -> Json:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in as_list(value)):
        return "\n".join(cast("list[str]", value))
    return ABSENT if isinstance(value, bool) else encode(value).decode()


def _named(value: Json) -> Json:
    """A row where only a text is asked for: what stands first in it of what it may be called."""
    return next((told for name, told in as_object(value).items() if name in _CALLED), value)
