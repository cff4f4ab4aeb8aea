"""How is a value told in a tool's own form: under its outputSchema, else as servers tell such things?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from mcp_sim.domain import Domain
from mcp_sim.json_text import encode
from mcp_sim.records.timeline import Moment
from mcp_sim.records.values import chance_of, value_maker
from mcp_sim.schemas import (
    IMPOSSIBLE,
    as_list,
    as_object,
    constants,
    expanded,
    fitting_type,
    is_nullable,
    items,
    main_type,
    properties,
    required,
    type_name,
    types_of,
)
from mcp_sim.types import Json, Observation, Record, Tool, ToolResult, Turn
from mcp_sim.words import snake, vocabulary

Facts: TypeAlias = Mapping[str, Any]
Tell: TypeAlias = Callable[[Turn, Json, Facts], Observation]
"""The observation of a value, and of what else may be told, by name."""

_CONFIRMING = vocabulary("success ok successful status result_status valid acknowledged done")
_SENTENCES = vocabulary("message status detail details summary confirmation description text msg info result")
_COUNTS = vocabulary("count total total_count num_results result_count results_count length size")
_MISSING = object()


def telling(tool: Tool, domain: Domain, places: Sequence[str] = ()) -> Tell:
    """How this tool tells a value; `places` are the names of properties where such a value stands."""
    if tool.output_schema is None:
        shown = _example(tool, domain)
        return lambda _turn, value, facts: Observation(_unstructured(value, facts, shown))
    schema = expanded(tool.output_schema)
    fill = _filler(schema, {snake(name) for name in places})
    return lambda turn, value, facts: Observation(ToolResult(fill(turn, value, {**_given(turn), **facts})))


def plain(value: Json) -> str:
    """A value as a text that stands alone."""
    return value if isinstance(value, str) else encode(value).decode()


def _given(turn: Turn) -> Record:
    return {snake(name): value for name, value in turn.call.arguments.items()}


def _example(tool: Tool, domain: Domain) -> Json:
    shown = [example.result for example in domain.examples if example.tool in {tool.id, tool.name}]
    return next((value for value in shown if as_object(value)), None)


def _unstructured(value: Json, facts: Facts, shown: Json) -> ToolResult:
    """Text for what is one value or a sentence, JSON for what has parts; in the places that an example shows."""
    names = [*as_object(shown)]
    if names:
        known = {**as_object(value), **facts}
        told = {name: known[snake(name)] for name in names if snake(name) in known}
        if len(told) == len(names):
            return ToolResult(told, form="json")
    if isinstance(value, dict | list):
        return ToolResult(value, form="json")
    sentence = facts.get("message")
    return ToolResult(sentence if isinstance(sentence, str) else plain(value), form="text")


Fill: TypeAlias = Callable[[Turn, Json, Facts], Json]


@dataclass(frozen=True, slots=True)
class _Telling:
    """What is told of a call: facts by name, and a value with the path to its place (None where it has none)."""

    turn: Turn
    facts: Facts
    value: Json = None
    path: tuple[str, ...] | None = None

    def within(self, name: str) -> _Telling:
        """What is told inside of a property."""
        inner = self.path[1:] if self.path is not None and self.path[:1] == (name,) else None
        return replace(self, path=inner)


def _filler(schema: Record, places: set[str]) -> Fill:
    parts = properties(schema)
    if not parts:
        return lambda _turn, value, _facts: fitted(value, schema)
    is_whole = _whole_fits(parts)

    def fill(turn: Turn, value: Json, facts: Facts) -> Json:
        known = as_object(value)
        if known and is_whole(known):
            return _object(schema, _Telling(turn, {**facts, **_by_snake(known)}))
        return _object(schema, _Telling(turn, facts, value, _place(schema, value, places, facts)))

    return fill


def _by_snake(record: Record) -> Record:
    return {snake(name): value for name, value in record.items()}


def _whole_fits(parts: Mapping[str, Record]) -> Callable[[Record], bool]:
    """Is an object told part by part, or does it stand in one place as it is?"""
    names = {snake(name) for name in parts}

    def fits(known: Record) -> bool:
        shared = len(names & {snake(name) for name in known})
        return shared * 2 >= min(len(names), len(known)) and shared > 0

    return fits


def _place(schema: Record, value: Json, places: set[str], facts: Facts) -> tuple[str, ...]:
    """Where the value goes: by the name of the place, else the only one, else the first whose type fits."""
    found = [*_possible(schema, value, ())]
    by_name = [path for path in found if snake(path[-1]) in places]
    free = [path for path in found if snake(path[-1]) not in facts]
    for candidates in (by_name, free, found):
        if candidates:
            return candidates[0]
    return ()


def _possible(schema: Record, value: Json, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The paths of properties that could hold the value: of exactly its type first, then by way of a text."""
    exact: list[tuple[str, ...]] = []
    loose: list[tuple[str, ...]] = []
    for name, part in properties(schema).items():
        if properties(part) and not isinstance(value, dict):
            exact += _possible(part, value, (*path, name))
        elif types_of(part) and fitting_type(value, part):
            exact.append((*path, name))
        elif not isinstance(value, bool) and _as_text(value, part):
            loose.append((*path, name))
    return exact + loose


def _as_text(value: Json, schema: Record) -> bool:
    """Could the value stand there in another form: as a text, or rounded?"""
    kind = main_type(schema)
    return kind in {"string", ""} or (kind == "integer" and isinstance(value, float))


def _object(schema: Record, telling: _Telling) -> Record:
    names = properties(schema)
    told = {name: _part(name, names[name], telling, needed=name in required(schema)) for name in names}
    return {name: value for name, value in told.items() if value is not _MISSING}


def _part(name: str, schema: Record, telling: _Telling, *, needed: bool) -> Json:
    if schema == IMPOSSIBLE:
        return _MISSING
    if telling.path == (name,):
        return fitted(telling.value, schema)
    inner, known = telling.within(name), telling.facts.get(snake(name), _MISSING)
    if properties(schema) and (inner.path is not None or known is _MISSING):
        body = _object(schema, inner)
        return body if body or needed else _MISSING
    if known is not _MISSING and (known is not None or is_nullable(schema)):
        value = fitted(known, schema)
        if fitting_type(value, schema):
            return value
    return _by_kind(name, schema, telling, needed=needed)


def _by_kind(name: str, schema: Record, telling: _Telling, *, needed: bool) -> Json:
    """What a property's name and type ask for, where nothing is known under its name."""
    chosen = constants(schema)
    if len(chosen) == 1:
        return chosen[0]
    told = _MISSING if chosen else _told(snake(name), main_type(schema), telling)
    if told is not _MISSING or not needed:
        return told
    if is_nullable(schema):
        return None
    turn = telling.turn
    make = value_maker("result", name, schema)
    return make(chance_of(turn.draws.seed, turn.draws.scope, name), {}, Moment(turn.now, turn.now))


def _told(name: str, kind: str, telling: _Telling) -> Json:
    """A confirmation, a sentence, a count."""
    if kind == "boolean" and (name in _CONFIRMING or name.endswith(("_status", "_success"))):
        return True
    if kind == "string" and name in _SENTENCES and isinstance(telling.facts.get("message"), str):
        return telling.facts["message"]
    if kind == "integer" and name in _COUNTS and type_name(telling.value) == "array":
        return len(as_list(telling.value))
    return _MISSING


def fitted(value: Any, schema: Record) -> Json:
    """The value in the form that the place asks for: a whole number, a text, rows of the declared properties."""
    kind = main_type(schema)
    if isinstance(value, float) and "integer" in types_of(schema) and "number" not in types_of(schema):
        return round(value)
    if kind == "number" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind == "string" and value is not None and not isinstance(value, str):
        return plain(value)
    if kind == "array" and isinstance(value, list) and properties(items(schema)):
        return [_row(row, items(schema)) for row in as_list(value)]
    return cast("Json", value)


def _row(row: Json, schema: Record) -> Json:
    """A row with what its schema declares; what is declared as needed and unknown is empty."""
    known = _by_snake(as_object(row))
    names = properties(schema)
    told = {name: fitted(known[snake(name)], part) for name, part in names.items() if snake(name) in known}
    lacking = {name: _empty(names[name]) for name in required(schema) - told.keys() if name in names}
    return {**told, **lacking} if told else row


def _empty(schema: Record) -> Json:
    empty: dict[str, Json] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
    return None if is_nullable(schema) else next(iter(constants(schema)), empty.get(main_type(schema)))
