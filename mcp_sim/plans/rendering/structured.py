"""Render facts under a schema. Properties are matched by name, by alternative names, and then by type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from mcp_sim.plans.operation import Names
from mcp_sim.plans.outcome import Outcome
from mcp_sim.plans.rendering.conversion import ABSENT, convert_value
from mcp_sim.types import Json, Record, Turn
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    fitting_type,
    is_nullable,
    main_type,
    properties,
    required,
    types_of,
)
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms

_YES = terms("results.succeeded") | {"acknowledged", "valid", "status"}
_DONE = ("_status", "_success", "_successful", "_successfully")
_GOOD = terms("results.succeeded")
_SENTENCES = terms("results.message") | {"details", "confirmation", "info", "msg"}
_PROSE = _SENTENCES | terms("results.text") | {"summary", "description", "status", "result_status"}
_COUNTS = terms("results.total", "results.count")
_NO_PLACE = frozenset({"message", "error", "status"})
_WHOLE = terms("results.text") | {"contents", "message", "answer", "data"}
"""Names of a single property that holds the whole result."""


@frozen
class Content:
    """What to render. `is_json`: the main fact is rendered as JSON in a property that takes only a text."""

    turn: Turn
    outcome: Outcome
    changes: bool
    is_json: bool = False

    @property
    def asked(self) -> Record:
        """The arguments, by name in snake case."""
        return {snake(name): value for name, value in self.turn.call.arguments.items()}


RenderContent: TypeAlias = Callable[[Content], Json]


def schema_renderer(schema: Record, names: Names) -> RenderContent:
    """Return the function that renders content under a schema."""
    declared = [snake(path[-1]) for path in _paths(schema)]
    places = {fact: frozenset(declared).intersection((fact, *others)) for fact, others in names.items()}

    def fit(content: Content) -> Json:
        facts = _with_parts(schema, content.outcome)
        return _SchemaRenderer(content, content.outcome, facts, names, places, content.asked).whole(schema)

    return fit


def _with_parts(schema: Record, outcome: Outcome) -> Record:
    """Return the facts, with the fields of the main fact if the schema has properties for them."""
    facts = {snake(name): value for name, value in outcome.facts.items()}
    parts = {snake(name): value for name, value in as_object(outcome.facts.get(outcome.main)).items()}
    places = {snake(name) for name in properties(schema)}
    shared = len(places & parts.keys())
    is_spread = shared > 0 and shared * 2 >= min(len(places), len(parts)) and snake(outcome.main) not in places
    return {**facts, **parts} if is_spread else facts


@frozen
class _SchemaRenderer:
    """Renders one outcome under a schema."""

    content: Content
    outcome: Outcome
    facts: Mapping[str, Json]
    names: Names
    places: Mapping[str, frozenset[str]]
    asked: Record

    def whole(self, schema: Record) -> Json:
        if main_type(schema) != "object" and not properties(schema):
            answer = self.outcome.value if self.outcome.main in self.outcome.facts else self.outcome.text
            value = convert_value(answer, schema, self.part)
            return self._made("result", schema) if value is ABSENT else value
        if not properties(schema):
            return {} if "properties" in schema and self.content.changes else self._free()
        only = next(iter(properties(schema).items())) if len(properties(schema)) == 1 else None
        return self._object(schema, self._place(schema)) if only is None else self._single(schema, *only)

    def _free(self) -> Json:
        """Return an object without declared properties: the main fact, else all facts, else the text."""
        main: Json = self.outcome.facts.get(self.outcome.main)
        if isinstance(main, dict):
            return as_object(main)
        facts = {name: value for name, value in self.outcome.facts.items() if value is not None}
        if any(value is main for name, value in facts.items() if name != self.outcome.main):
            facts.pop(self.outcome.main)
        return {"message": self.outcome.text, **facts} if self.content.changes or not facts else facts

    def _single(self, schema: Record, name: str, subschema: Record) -> Json:
        """Return a result with one property. A text there, or an object without declared properties, is the whole."""
        kind, is_whole = main_type(subschema), snake(name) in _WHOLE
        if is_whole and kind == "object" and not properties(subschema):
            known = self._known(name, subschema, self.facts)
            return {name: self._free() if known is ABSENT else known}
        is_text = kind == "string" and not constants(subschema) and "format" not in subschema
        if is_whole and is_text and not self.content.is_json and self._fact(snake(name)) is None:
            return {name: self.outcome.text}
        return self._object(schema, self._place(schema))

    def part(self, schema: Record, row: Record) -> Record:
        """Return a row under the schema of rows, with generated values for missing required fields."""
        facts = {snake(name): value for name, value in row.items()}
        body: Record = {}
        for name, subschema in properties(schema).items():
            value = self._known(name, subschema, facts)
            if value is ABSENT and name in required(schema):
                value = self._made(name, subschema)
            body |= {} if value is ABSENT else {name: value}
        return body

    # the main fact

    def _place(self, schema: Record) -> tuple[str, ...]:
        """Return the path to the property that holds the main fact, if none has one of its names."""
        main = snake(self.outcome.main)
        if main not in self.facts or any(self._fact(snake(path[-1])) == main for path in _paths(schema)):
            return ()
        if _is_sentence(schema):
            return ()
        paths = [path for path in _possible(schema, self.facts[main], ()) if not self._is_taken(path)]
        return next(iter(paths), ())

    def _is_taken(self, path: tuple[str, ...]) -> bool:
        """Return whether a property holds another fact, or is for a sentence."""
        name, value = snake(path[-1]), self.facts[snake(self.outcome.main)]
        return self._fact(name) is not None or (isinstance(value, str) and name in _NO_PLACE)

    # the whole

    def _object(self, schema: Record, place: tuple[str, ...]) -> Record:
        """Return an object. `place` is the path to the main fact within it, () if that is elsewhere."""
        body: Record = {}
        for name, subschema in properties(schema).items():
            inner = place[1:] if place[:1] == (name,) else ()
            value = self._property(name, subschema, inner, is_main=place == (name,), needed=name in required(schema))
            body |= {} if value is ABSENT else {name: value}
        return body

    def _property(self, name: str, schema: Record, place: tuple[str, ...], *, is_main: bool, needed: bool) -> Json:
        if schema == IMPOSSIBLE:
            return ABSENT
        value = self._answer(schema) if is_main else self._known(name, schema, self.facts)
        if value is ABSENT and properties(schema) and not is_main:
            inner = self._object(schema, place)
            value = inner if inner and (place or needed) else ABSENT
        value = self._guess(name, schema) if value is ABSENT else value
        return self._made(name, schema) if value is ABSENT and needed else value

    def _answer(self, schema: Record) -> Json:
        if self.content.is_json and main_type(schema) == "string" and self.facts[snake(self.outcome.main)] == []:
            return "[]"
        value = convert_value(self.facts[snake(self.outcome.main)], schema, self.part)
        return self.outcome.text if value is ABSENT and main_type(schema) == "string" else value

    def _known(self, name: str, schema: Record, facts: Mapping[str, Json]) -> Json:
        """Return the fact that a property holds by its name, or `ABSENT`."""
        chosen = constants(schema)
        if len(chosen) == 1:
            return chosen[0]
        fact = self._fact(snake(name), facts)
        return ABSENT if fact is None else convert_value(facts[fact], schema, self.part)

    def _fact(self, name: str, facts: Mapping[str, Json] | None = None) -> str | None:
        among = self.facts if facts is None else facts
        if name in among:
            return name
        called = (fact for fact in among if name in self.names.get(fact, ()) and not self._is_echo(name, fact))
        return next(called, None)

    def _is_echo(self, name: str, fact: str) -> bool:
        """Return whether a property repeats an argument, because the fact has another property of its own."""
        return name in self.asked and not self.places[fact] <= self.asked.keys()

    def _guess(self, name: str, schema: Record) -> Json:
        """Return a value for a property without a fact, by its name, or `ABSENT`."""
        guesses = (self._success, self._count, self._sentence, self._argument)
        guessed = (guess(snake(name), schema) for guess in guesses)
        return next((value for value in guessed if value is not ABSENT), ABSENT)

    def _success(self, name: str, schema: Record) -> Json:
        kind = main_type(schema)
        if kind == "boolean" and (name in _YES or name.endswith(_DONE)):
            return True
        choices = constants(schema) if kind == "string" and name in _YES else []
        good = (choice for choice in choices if str(choice).lower() in _GOOD)
        return next(good, choices[0]) if choices else ABSENT

    def _count(self, name: str, schema: Record) -> Json:
        answer = self.outcome.facts.get(self.outcome.main)
        is_count = name in _COUNTS and main_type(schema) in {"integer", "number"}
        return len(as_list(answer)) if is_count and isinstance(answer, list) else ABSENT

    def _sentence(self, name: str, schema: Record) -> Json:
        is_sentence = name in _SENTENCES or (name in _PROSE and name not in self.asked)
        return self.outcome.text if is_sentence and main_type(schema) in {"string", ""} else ABSENT

    def _argument(self, name: str, schema: Record) -> Json:
        given: Json = self.asked.get(name, ABSENT)
        return ABSENT if given is ABSENT else convert_value(given, schema, self.part)

    def _made(self, name: str, schema: Record) -> Json:
        """Return a value for a required property without a fact: null, empty, or generated from the call."""
        if is_nullable(schema):
            return None
        match main_type(schema):
            case "array" if not schema.get("minItems"):
                return []
            case "boolean" if not constants(schema):
                return False
            case "object" if properties(schema):
                return self.part(schema, {})
            case "object" if not required(schema) and not schema.get("minProperties"):
                return {}
            case "integer" | "number" if schema.get("minimum", 0) <= 0 and not constants(schema):
                return 0
            case _:
                return _generated(self.content.turn, name, schema)


def _generated(turn: Turn, name: str, schema: Record) -> Json:
    from mcp_sim.generate.timeline import Moment  # noqa: PLC0415 (matching tools must not load the generators)
    from mcp_sim.generate.values import chance_of, value_maker  # noqa: PLC0415 (only an answer needs them)

    make = value_maker("result", name, schema)
    return make(chance_of(turn.draws.seed, turn.draws.scope, name), {}, Moment(turn.now, turn.now))


def _is_sentence(schema: Record) -> bool:
    """Return whether the only property is a text named `result`."""
    parts = properties(schema)
    return [*map(snake, parts)] == ["result"] and main_type(*parts.values()) == "string"


def _paths(schema: Record, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths to all properties."""
    for name, subschema in properties(schema).items():
        yield (*path, name)
        yield from _paths(subschema, (*path, name))


def _possible(schema: Record, value: Json, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the paths of properties that could hold a value: first those of its type, then those that convert it."""
    exact: list[tuple[str, ...]] = []
    loose: list[tuple[str, ...]] = []
    for name, subschema in properties(schema).items():
        if properties(subschema) and not isinstance(value, dict):
            exact += _possible(subschema, value, (*path, name))
        elif types_of(subschema) and fitting_type(value, subschema):
            exact.append((*path, name))
        elif _could_hold(subschema, value):
            loose.append((*path, name))
    return exact + loose


def _could_hold(schema: Record, value: Json) -> bool:
    """Return whether the value can be converted to the schema: to a text, to lines, or to an integer."""
    kind = main_type(schema)
    if isinstance(value, str):
        return kind in {"", "array"}
    return kind in {"string", ""} or (kind == "integer" and isinstance(value, float))
