"""Generate plausible results of tools that compute or look something up, from what their descriptions promise.

A promise is inferred for tools that declare no result. The same arguments give the same result. It repeats short
arguments, and its texts mention what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice, product
from typing import TypeAlias, cast

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.places import asked_place
from mcp_sim.generate.schema_constraints import Make
from mcp_sim.generate.shipped_data import word_list
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.plans.acknowledgements import is_repeated, label, verb_place
from mcp_sim.plans.infer.arguments import QUERIES
from mcp_sim.plans.infer.names import last_segment
from mcp_sim.plans.infer.verbs import INSPECTION_VERBS, classify_verb, find_described_verb
from mcp_sim.plans.schema_only.computed_values import computation_of
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties
from mcp_sim.types.lexicon.english import is_plural, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import ordered
from mcp_sim.types.record_kinds.usual_fields import (
    acts,
    described_fields,
    field_schema,
    is_text,
    kind_fields,
    kind_of_result,
    schemas_of,
    verb_fields,
)

Result: TypeAlias = Callable[[Turn], Record]

_ROWS = 3  # enough to look like a list, few enough to read
_MOST_ROWS = 12  # combinations of list arguments multiply
_MOST_ECHOED = 10  # longer lists are contents, which real answers do not repeat
_LONGEST_TOPIC = 80  # longer texts are contents, not a topic or a title
_FAILED = ordered("states.failed")
_TRIES = 12  # how often a state is drawn until it is not a failure, which at most half of the usual states are
_TITLES = frozenset({"title", "name", "headline", "subject"})


_READS = frozenset({"get", "list", "search"})
_WRITES = frozenset({"create", "update", "delete"})
_RETURNS = re.compile(r"\breturn(?:s|ing)?\b", re.IGNORECASE)
_LONGEST = 3
"""The most words of the name of a field."""


def plausible_result(tool: Tool) -> Result | None:
    """Return a function that makes results of a tool, or None if the tool promises no data."""
    promise, compute = _promise_of(tool), computation_of(tool)
    if promise is None:
        return None
    makers = {name: value_maker(tool.name, name, schema) for name, schema in promise.fields.items()}
    subject = " ".join(words(last_segment(tool.name))[1:]) or tool.name

    def result(turn: Turn) -> Record:
        arguments = turn.call.arguments
        shown = _About(promise, makers, arguments, main_argument(arguments) or subject, turn).result()
        number = compute(arguments) if compute is not None and "result" in shown else None
        return shown if number is None else {**shown, "result": number}

    return result


def main_argument(arguments: Record) -> str:
    """Return the text that a call is about: its query or its first text, else its first value."""
    texts = {name: value for name, value in arguments.items() if isinstance(value, str) and is_repeated(name, "")}
    asked = next((value for name, value in texts.items() if snake(name) in QUERIES), next(iter(texts.values()), ""))
    values = (str(value) for name, value in arguments.items() if is_repeated(name, value))
    return " ".join((asked or next(values, "")).split())[:_LONGEST_TOPIC]


class _About:
    """The result of one call."""

    def __init__(
        self,
        promise: _Promise,
        makers: Mapping[str, Make],
        arguments: Record,
        topic: str,
        turn: Turn,
    ) -> None:
        self._promise, self._makers, self._turn = promise, makers, turn
        self._arguments, self._topic = arguments, topic
        self._moment = Moment(turn.start, turn.start)
        self._known = {snake(name): value for name, value in arguments.items()} | asked_place(arguments)

    def result(self) -> Record:
        """Return one result, or one for each of several things that the call asks about."""
        echoed = dict([pair for pair in self._arguments.items() if _is_echoed(*pair)][:_MOST_ECHOED])
        asked = asked_items(self._arguments) if self._promise.rows is not None or self._promise.of_each else []
        if asked:
            rows = [{**row, **self._fields(f"row {at}", None, row)} for at, row in enumerate(asked)]
            plain = {name: value for name, value in echoed.items() if not isinstance(value, list)}
            return {**plain, self._promise.rows or "results": rows, "count": len(rows)}
        if self._promise.rows is not None:
            rows = [self._fields(f"row {at}", self._title(at), {}) for at in range(_ROWS)]
            return {**echoed, self._promise.rows: rows, "count": len(rows)}
        given = {snake(name) for name in self._arguments}
        fields = self._fields("result", None, {})
        left = {name: value for name, value in fields.items() if not _repeats(name, given)}
        return {**echoed, **(left or fields)}

    def _fields(self, scope: str, title: str | None, row: Record) -> Record:
        """Return the promised fields. They fit the arguments, or the `one` of several things that is asked about."""
        chance = chance_of(self._turn.draws.seed, self._turn.draws.scope, scope)
        record: Record = {**self._known, **row, **asked_place(row)}
        for name in self._makers:
            record[name] = title if title is not None and name in _TITLES else self._value(name, chance, record)
        return {name: record[name] for name in self._makers}

    def _value(self, name: str, chance: Chance, record: Record) -> Json:
        schema = self._promise.fields[name]
        match main_type(schema):
            case "string" if is_text(name):
                return self._text(chance)
            case "array" if schema.get("maxItems") == 0:
                return []
            case "array" if items(schema) == {"type": "string"}:
                return [self._title(at) for at in range(_ROWS)]
            case _:
                values = (self._makers[name](chance, record, self._moment) for _ in range(_TRIES))
                return next((value for value in values if value not in _FAILED), None)

    def _text(self, chance: Chance) -> str:
        sentences = [sentence for sentence in word_list("pages", "sentences") if "{}" in sentence]
        topic = f'The answer to "{self._topic}"' if self._topic.endswith("?") else self._topic
        return sentences[chance.below(len(sentences))].format(topic[:1].upper() + topic[1:])

    def _title(self, at: int) -> str:
        titles = word_list("pages", "titles")
        first = chance_of(self._turn.draws.seed, self._turn.draws.scope, "titles").below(len(titles))
        topic = self._topic[:1].upper() + self._topic[1:]
        return titles[(first + at) % len(titles)].format(topic)


def asked_items(arguments: Record) -> list[Record]:
    """Return the things that a call asks about, if its arguments list several: each combination, as arguments."""
    lists = {name: as_list(value) for name, value in arguments.items() if isinstance(value, list)}
    asked = {
        singular(snake(name)): value
        for name, value in lists.items()
        if all(isinstance(item, str | dict) for item in value)
    }
    if not asked or not all(asked.values()):
        return []
    ways = product(*([as_object(item) or {name: item} for item in value] for name, value in asked.items()))
    return [{name: value for row in way for name, value in row.items()} for way in islice(ways, _MOST_ROWS)]


def _is_echoed(name: str, value: Json) -> bool:
    if isinstance(value, list):
        listed = cast("list[Json]", value)
        return len(listed) <= _MOST_ECHOED and all(is_repeated(name, item) for item in listed)
    return is_repeated(name, value)


def _repeats(name: str, given: set[str]) -> bool:
    """Return whether a field holds what an argument gives: `formatted_address` beside `address`."""
    return name in given or any(name.endswith(f"_{word}") for word in given if len(word) > len("id"))


def as_sentences(value: Record) -> str:
    """Return a result as text for people: a single text as it is, else a line for each value."""
    texts = [text for text in value.values() if isinstance(text, str) and len(text) > _LONGEST_TOPIC]
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"{label(name)}: {_line(inner)}" for name, inner in value.items())


def _line(value: Json) -> str:
    if isinstance(value, list):
        return "; ".join(_line(item) for item in cast("list[Json]", value))
    if isinstance(value, dict):
        return ", ".join(f"{label(name).lower()} {_line(inner)}" for name, inner in cast("Record", value).items())
    return str(value).lower() if isinstance(value, bool) else str(value)


@frozen
class _Promise:
    """What a result holds: fields with their schemas; `rows` is the field with a list of objects with these fields.

    `of_each`: the fields describe a thing that is looked up, so that a call with several things gets them of each.
    """

    fields: Record
    rows: str | None = None
    of_each: bool = False


def _promise_of(tool: Tool) -> _Promise | None:
    """Return what the result of a tool holds; None if the tool acts on something and promises no data."""
    parts, described_verb = words(last_segment(tool.name)), find_described_verb(tool.description)
    place = 0 if parts and verb_fields(parts[0]) else verb_place(parts, described_verb)
    verb = "" if place is None else parts[place]
    nouns = parts if place is None else parts[place + 1 :] or parts[:place]
    returned = described_fields(tool.description) if _RETURNS.search(tool.description) else ()
    acted = verb or described_verb
    if not verb_fields(acted) and (acted in acts() or classify_verb(acted) in _WRITES):
        return _Promise(schemas_of(returned)) if returned else None
    listed = described_fields(tool.description)
    if listed:
        return _Promise(schemas_of(listed))
    kind = kind_of_result(nouns or parts, tool.description)
    usual = verb_fields(verb) or (() if kind else verb_fields(described_verb))
    if usual:
        return _computed(usual, nouns, {snake(name) for name in properties(tool.input_schema)})
    return _looked_up(verb or described_verb, nouns or parts, kind)


def _computed(usual: Sequence[str], nouns: Sequence[str], asked: Collection[str]) -> _Promise:
    """Return the promise of a verb that computes something. Its result is named after the noun, unless that is asked.

    `calculate_expression(expr)` has a `result`.
    """
    is_asked = any(name.startswith(noun) or noun.startswith(name) for noun in nouns for name in asked if len(name) > 2)
    kind = schemas_of(kind_fields(nouns))
    match usual:
        case ("results",):
            return _rows(nouns, (*kind,) or ("title", "url", "snippet"))
        case ("label" | "artifact", *others) if nouns:
            return _Promise(kind or schemas_of(("_".join(nouns[-_LONGEST:]), *others)))
        case ("valid", *_) if kind:
            return _Promise(kind)
        case ("result",) if _is_computable(kind):
            return _Promise(kind, of_each=True)
        case ("result",):
            return _Promise(_named_result(() if is_asked else nouns))
        case _:
            return _Promise(schemas_of(usual))


def _is_computable(fields: Record) -> bool:
    """Return whether the first field holds a number or a list of numbers."""
    return bool(fields) and main_type(next(iter(fields.values()))) in {"number", "integer", "array"}


def _named_result(nouns: Sequence[str]) -> Record:
    name = "_".join(nouns) if 0 < len(nouns) <= _LONGEST and not is_plural(nouns[-1]) else "result"
    schema = field_schema(name)
    if schema == {"type": "string"}:
        return {name: {"type": "number"}}
    return {name: schema} if _is_computable({name: schema}) else {"result": {"type": "number"}}


def _looked_up(verb: str, nouns: Sequence[str], usual: Sequence[str]) -> _Promise | None:
    """Return the promise of a tool that looks something up, or of a name without a verb."""
    is_read = classify_verb(verb) in _READS or verb in INSPECTION_VERBS or verb_fields(verb)
    if not usual and not is_read:
        return None
    if nouns and (is_plural(nouns[-1]) or classify_verb(verb) in {"list", "search"}):
        return _rows(nouns, usual or ("name", "description"))
    name = "_".join(nouns[-_LONGEST:]) or "result"
    return _Promise(schemas_of(usual or (name,)), of_each=bool(usual))


def _rows(nouns: Sequence[str], fields: Sequence[str]) -> _Promise:
    name = plural(singular("_".join(nouns[-_LONGEST:]))) if nouns else "results"
    return _Promise(schemas_of(fields), name)
