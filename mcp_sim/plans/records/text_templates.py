"""Turn a recorded text into a template with slots, and render it for other records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.projection import Show
from mcp_sim.plans.records.recorded_texts import Sample, result_text
from mcp_sim.plans.records.result_values import Facts
from mcp_sim.plans.records.sentences import name_field, written
from mcp_sim.plans.refusal import noun
from mcp_sim.types import Json, Key, Record, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity, Example, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object, constants, main_type
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.plans import Plan

Sort: TypeAlias = Literal["key", "field", "argument", "count", "total", "number"]

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TIME = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
ROW_START = re.compile(r"^(\s*)(?:(?:([-*•]|#{2,4})|(\d+)[.)]|\[[ xX✓]\])\s+|(\*\*))")
_JOINTS = re.compile(
    r"(^\s*(?:[-*•]|\d+[.)])\s+|\s+[-–—|→]\s+|:\s+|,\s+|;\s+|\s*[()\[\]{}]+\s*|\*{1,2}|\s*\n\s*|\t|(?<!\w)[\"'`#]+|[\"'`]+(?!\w))"
)


@frozen
class Slot:
    """A slot of a template: what fills it, and how the example spells it."""

    sort: Sort
    name: str = ""
    sample: str = ""


Piece: TypeAlias = str | Slot


def fill_slots(pieces: Sequence[Piece], facts: Facts, record: Record, key: Key | None, show: Show, view: View) -> str:
    """Render a template for a record."""
    fields: Record | None = None
    text: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            text.append(piece)
            continue
        if piece.sort == "field" and fields is None:
            fields = as_object(show(record, view)) if record else {}
        text.append(_spelt(_value(piece, facts, fields or {}, key), piece.sample))
    return "".join(text)


def _value(slot: Slot, facts: Facts, fields: Record, key: Key | None) -> Json:
    values: dict[Sort, Callable[[], Json]] = {
        "key": lambda: key,
        "field": lambda: fields.get(slot.name),
        "argument": lambda: facts.turn.call.arguments.get(slot.name),
        "count": lambda: len(facts.page.rows),
        "total": lambda: facts.page.total,
        "number": lambda: 1,
    }
    return values[slot.sort]()


def _spelt(value: Json, sample: str) -> str:
    """Return a value in the spelling of the example."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        yes, no = ("Yes", "No") if sample.lower() in {"yes", "no"} else ("True", "False")
        spelling = yes if value else no
        return spelling if sample[:1].isupper() or not sample else spelling.lower()
    is_name = sample[:1].isupper() and sample[1:].islower()
    if isinstance(value, str) and is_name and value.islower() and not {" ", "_"} & {*value}:
        return value.capitalize()
    return written(value)


def recorded_fields(domain: Domain, entity: Entity) -> dict[str, Record]:
    """Collect the fields of each record from all examples, by its key as a text."""
    known: dict[str, Record] = {}
    for example in domain.examples:
        plan = domain.plans.get(example.tool)
        if plan is None or plan.entity != entity.name or plan.backend != "records":
            continue
        given = {field: argument(path)(example.arguments) for path, field in plan.sets.items() if field != "*"}
        named = _recorded_key(example, plan, entity)
        if named is not None:
            known.setdefault(named, {}).update({name: value for name, value in given.items() if value is not ABSENT})
    return known


def _recorded_key(example: Example, plan: Plan, entity: Entity) -> str | None:
    """Return the key of the record of an example: its argument, or what the result shows."""
    key: Json = argument(plan.key or "")(example.arguments)
    if key is not ABSENT:
        return str(key)
    match = re.search(key_pattern(entity), result_text(example.result) or "")
    return match[0] if match else None


def key_pattern(entity: Entity) -> str:
    """Return a pattern of the entity's keys. It matches nothing if keys look like any word."""
    like = entity.key_like
    if isinstance(like, str) and re.fullmatch(_UUID, like):
        return _UUID
    match = re.fullmatch(r"(\D+)\d+(\D{0,2})", like) if isinstance(like, str) else None
    if match is not None:
        return rf"{re.escape(match[1])}\d+{re.escape(match[2])}"
    if (
        isinstance(like, int)
        or main_type(entity.fields[entity.key].schema if entity.key in entity.fields else {}) == "integer"
    ):
        return rf"(?i:(?<=\b{re.escape(noun(entity.name))} )|(?<=#)|(?<=\bid: )|(?<=\bid ))\d+\b"
    return r"(?!)"


@frozen
class SlotFinder:
    """Finds the parts of a recorded text that differ for another record."""

    plan: Plan
    entity: Entity
    known: Mapping[str, Record]

    def pieces(self, sample: Sample, extra: Sequence[tuple[str, Slot]] = ()) -> list[Piece]:
        """Split the text into fixed texts and slots."""
        text = sample.text
        spans = [*self._labelled(text), *self._values(sample, extra), *self._patterns(text)]
        return _cut(text, spans)

    def _labelled(self, text: str) -> Iterator[tuple[int, int, Slot]]:
        """Yield the values after names of fields: `Status: open`."""
        for name, field in self.entity.fields.items():
            spelt = r"[ _-]?".join(re.escape(word) for word in words(name))
            sort: Sort = "key" if name == self.entity.key else "field"
            for match in re.finditer(rf"(?im)(^\W*|\b)(?:{spelt})\W{{0,3}}:\W{{0,3}}?[ \t]*(?P<v>[^\n]+)", text):
                value = match["v"] if match[1] or match.start() == 0 else re.split(r"[,;)\]|]", match["v"])[0]
                value = value.strip().rstrip("*") if main_type(field.schema) != "string" or value else value
                if value.strip():
                    start = match.start("v")
                    yield start, start + len(value.rstrip()), Slot(sort, name, value.strip())

    def _values(self, sample: Sample, extra: Sequence[tuple[str, Slot]]) -> Iterator[tuple[int, int, Slot]]:
        """Yield the arguments of the call, and the values that other examples show of the same record."""
        occurrences = [*extra]
        taken = {*self.plan.sets, self.plan.key}
        for path, field in self.plan.sets.items():
            occurrences += _occurrences(argument(path)(sample.arguments), self._slot(field))
        if self.plan.key is not None:
            occurrences += _occurrences(argument(self.plan.key)(sample.arguments), Slot("key"))
        for name, value in sample.arguments.items():
            occurrences += _occurrences(value, Slot("argument", name)) if name not in taken else []
        for key, record in self.known.items():
            if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", sample.text):
                occurrences += [
                    occurrence for name, value in record.items() for occurrence in _occurrences(value, self._slot(name))
                ]
        for value, slot in sorted(occurrences, key=lambda pair: -len(pair[0])):
            for match in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", sample.text):
                yield match.start(), match.end(), replace(slot, sample=value)

    def _slot(self, field: str) -> Slot:
        return Slot("key") if field == self.entity.key else Slot("field", field)

    def _patterns(self, text: str) -> Iterator[tuple[int, int, Slot]]:
        """Yield keys, states in brackets, and times."""
        for match in re.finditer(key_pattern(self.entity), text):
            yield match.start(), match.end(), Slot("key")
        for name, field in self.entity.fields.items():
            for value in constants(field.schema):
                if isinstance(value, str):
                    for match in re.finditer(rf"(?i)(?<=[\[(]){re.escape(value)}(?=[\])])", text):
                        yield match.start(), match.end(), Slot("field", name, match[0])
        times = [name for name, field in self.entity.fields.items() if time_meaning(name, field.schema) is not None]
        changed = self.plan.verb == "update"
        times.sort(
            key=lambda name: (
                time_meaning(name, self.entity.fields[name].schema) != ("updated" if changed else "created")
            )
        )
        for match in re.finditer(_TIME, text) if times else ():
            yield match.start(), match.end(), Slot("field", times[0], match[0])

    # rows

    def row(self, blocks: Sequence[str]) -> list[Piece]:
        """Split a row into pieces. The parts that differ between rows are slots."""
        first, *others = (_JOINTS.split(block) for block in blocks)
        taken: set[str] = set()
        pieces: list[Piece] = []
        expected: str | None = None
        for place, segment in enumerate(first):
            if place % 2 == 1:
                pieces += _joint(segment)
                continue
            same = bool(others) and all(place < len(other) and other[place] == segment for other in others)
            slot = self._slot_of(segment, expected, same, has_others=bool(others), taken=taken)
            expected = self._field_named(segment)
            pieces.append(segment if slot is None else slot)
            taken |= {slot.name} if slot is not None else set()
        return pieces

    def _slot_of(
        self, segment: str, expected: str | None, same: bool, *, has_others: bool, taken: set[str]
    ) -> Slot | None:
        """Return the slot for a segment of a row, or None if it is fixed text."""
        text = segment.strip()
        if not text:
            return None
        if expected is not None:
            return Slot("key" if expected == self.entity.key else "field", expected, text)
        if re.fullmatch(key_pattern(self.entity).replace("(?!)", r"(?!)x"), text) or text in self.known:
            return Slot("key")
        field = self._field_of(text, taken)
        if field is not None:
            return Slot("field", field, text)
        if self._field_named(text) is not None or same or not re.search(r"\w", text):
            return None
        return self._text_slot(text, taken) if has_others or name_field(self.entity) not in taken else None

    def _field_of(self, text: str, taken: set[str]) -> str | None:
        """Return the field that a value can only belong to: by its choices, known values or type."""
        free = (name for name in self.entity.fields if name not in taken and name != self.entity.key)
        return next((name for name in free if self._can_only_be(text, name)), None)

    def _can_only_be(self, text: str, name: str) -> bool:
        schema = self.entity.fields[name].schema
        if text.lower() in {str(value).lower() for value in constants(schema)}:
            return True
        if any(str(record.get(name)) == text for record in self.known.values() if name in record):
            return True
        if re.fullmatch(_TIME, text) and time_meaning(name, schema) is not None:
            return True
        kind = main_type(schema)
        is_number = kind in {"number", "integer"} and re.fullmatch(r"-?[\d,]+(\.\d+)?", text) is not None
        return is_number or (kind == "boolean" and text.lower() in {"true", "false", "yes", "no"})

    def _field_named(self, segment: str) -> str | None:
        wanted = snake(segment)
        return next((name for name in self.entity.fields if wanted and snake(name) == wanted), None)

    def _text_slot(self, text: str, taken: set[str]) -> Slot | None:
        named = name_field(self.entity)
        texts = [name for name, field in self.entity.fields.items() if self._is_free(name, field)]
        field = next((name for name in ([named] if named else []) + texts if name not in taken), None)
        if field is not None:
            return Slot("field", field, text)
        return Slot("key") if "" not in taken else None

    def _is_free(self, name: str, field: Field) -> bool:
        """Return whether the field may hold any text."""
        plain = main_type(field.schema) == "string" and time_meaning(name, field.schema) is None
        return plain and name != self.entity.key and not constants(field.schema)


def _joint(segment: str) -> list[Piece]:
    """Return what separates parts of a row; the number at its start is a slot."""
    number = re.search(r"\d+", segment) if ROW_START.match(segment) else None
    return [segment] if number is None else [segment[: number.start()], Slot("number"), segment[number.end() :]]


def _occurrences(value: Json, slot: Slot) -> list[tuple[str, Slot]]:
    """Return a value as it may occur in a text. Values too short to be recognised are left out."""
    if value is ABSENT or value is None or isinstance(value, dict | bool):
        return []
    text = written(value)
    return [(text, slot)] if len(text) > 1 or text.isdecimal() else []


def _cut(text: str, spans: Iterable[tuple[int, int, Slot]]) -> list[Piece]:
    """Return the text with the spans as slots. Of overlapping spans the first counts."""
    chosen: list[tuple[int, int, Slot]] = []
    for start, end, slot in spans:
        if start < end and all(end <= other[0] or start >= other[1] for other in chosen):
            chosen.append((start, end, slot))
    pieces: list[Piece] = []
    at = 0
    for start, end, slot in sorted(chosen, key=lambda span: span[0]):
        pieces += [text[at:start], slot]
        at = end
    return [*pieces, text[at:]]
