"""How does a vendor word a result, judged by recorded ones? A text with slots, into which other records fit as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from mcp_sim.domain import Domain, Entity, Example, Field, Plan
from mcp_sim.records.facts import Facts
from mcp_sim.records.queries import ABSENT, argument
from mcp_sim.records.refusals import noun
from mcp_sim.records.sentences import TEXTS, Say, name_field, nothing_found, written
from mcp_sim.records.showing import Show, shown
from mcp_sim.records.times import sense
from mcp_sim.schemas import as_object, constants, main_type
from mcp_sim.types import Json, Key, Record, Tool, View, plain_failure
from mcp_sim.wording import DEFAULT, Template, VendorWording
from mcp_sim.words import plural, snake, words

Sort: TypeAlias = Literal["key", "field", "argument", "count", "total", "number"]

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TIME = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_START = re.compile(r"^(\s*)(?:(?:([-*•]|#{2,4})|(\d+)[.)]|\[[ xX✓]\])\s+|(\*\*))")
_JOINTS = re.compile(
    r"(^\s*(?:[-*•]|\d+[.)])\s+|\s+[-–—|→]\s+|:\s+|,\s+|;\s+|\s*[()\[\]{}]+\s*|\*{1,2}|\s*\n\s*|\t|(?<!\w)[\"'`#]+|[\"'`]+(?!\w))"
)
_FAILS = re.compile(
    r"^\W*(error|failed|failure|invalid|cannot|could not|unable)\b|not found|does not exist|doesn't exist|no such|"
    r"already exists",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a text, what stands there, and how the example spells it."""

    sort: Sort
    name: str = ""
    sample: str = ""


Piece: TypeAlias = str | Slot


@dataclass(frozen=True, slots=True)
class Sample:
    """A recorded text, and what the call was given."""

    arguments: Record
    text: str


def text_of(result: Json) -> str | None:
    """The text that a recorded result is, or that it only wraps; None for data."""
    if isinstance(result, str):
        return result
    body = as_object(result)
    inner: Json = next(iter(body.values())) if len(body) == 1 else None
    return inner if isinstance(inner, str) and snake(next(iter(body))) in {*TEXTS, "message"} else None


def samples(examples: Iterable[Example], tool: Tool) -> Iterator[Sample]:
    """The recorded texts of a tool."""
    for example in examples:
        result: Json = example.result
        if example.is_blocks and len(result) == 1:
            result = as_object(result[0]).get("text")
        text = text_of(result)
        if example.tool in {tool.id, tool.name} and text is not None:
            yield Sample(example.arguments, text)


def fails(text: str) -> bool:
    """Does a text tell of a failure?"""
    return _FAILS.search(text) is not None


def learnt(tool: Tool, plan: Plan, domain: Domain) -> Say | None:
    """How the tool words its results, as its examples show; None where there is none."""
    found = [sample for sample in samples(domain.examples, tool) if not fails(sample.text)]
    entity = domain.entities[plan.entity or ""]
    if not found:
        return None
    reader = _Reader(plan, entity, _known(domain, entity))
    if plan.verb in {"list", "search"}:
        return _listing(found, reader, entity, domain)
    pieces = reader.pieces(max(found, key=lambda sample: len(sample.text)))
    show = shown(entity, {}, domain.entities)
    return lambda facts: _rendered(pieces, facts, facts.record or {}, facts.key, show, facts.view)


def failing(tool: Tool, plan: Plan, domain: Domain) -> Tool:
    """The tool with failures worded as recorded ones are, where the spec has no words for them."""
    if not isinstance(tool.wording, VendorWording) and tool.wording is not plain_failure:
        return tool
    own: Mapping[str, Template] = tool.wording.templates if isinstance(tool.wording, VendorWording) else {}
    found: dict[str, Template] = {}
    for sample in samples(domain.examples, tool):
        kind = _kind_of_failure(sample.text)
        if kind is not None and kind not in own and DEFAULT not in own:
            found.setdefault(kind, Template("text", _template(sample, plan)))
    return replace(tool, wording=VendorWording({**found, **own})) if found else tool


def _kind_of_failure(text: str) -> str | None:
    if not fails(text):
        return None
    return (
        "conflict"
        if re.search(r"\balready\b|\bexists\b", text, re.IGNORECASE) and "not" not in text.lower()
        else ("not_found" if re.search(r"not found|not exist|doesn't exist|no such", text, re.IGNORECASE) else None)
    )


def _template(sample: Sample, plan: Plan) -> str:
    """A failure with its value as a slot."""
    value: Json = argument(plan.key or "")(sample.arguments)
    values = (
        [value] if value is not ABSENT else [one for one in sample.arguments.values() if isinstance(one, str | int)]
    )
    text = sample.text.replace("{", "").replace("}", "")
    for one in values[:1]:
        text = re.sub(rf"(?<!\w){re.escape(str(one))}(?!\w)", "{value}", text)
    return text


def _known(domain: Domain, entity: Entity) -> dict[str, Record]:
    """What the examples together tell of each record: its key as a text -> its fields."""
    known: dict[str, Record] = {}
    for example in domain.examples:
        plan = domain.plans.get(example.tool)
        if plan is None or plan.entity != entity.name or plan.behaviour != "records":
            continue
        given = {field: argument(path)(example.arguments) for path, field in plan.sets.items()}
        given = {field: value for field, value in given.items() if value is not ABSENT and field != "*"}
        key: Json = argument(plan.key or "")(example.arguments)
        found = re.search(_key_pattern(entity), text_of(example.result) or "") if key is ABSENT else None
        named = found[0] if found else None if key is ABSENT else str(key)
        if named is not None:
            known.setdefault(named, {}).update(given)
    return known


def _key_pattern(entity: Entity) -> str:
    """What a key of this entity looks like; a pattern that nothing matches, where it looks like any word."""
    like = entity.key_like
    if isinstance(like, str) and re.fullmatch(_UUID, like):
        return _UUID
    found = re.fullmatch(r"(\D+)\d+(\D{0,2})", like) if isinstance(like, str) else None
    if found is not None:
        return rf"{re.escape(found[1])}\d+{re.escape(found[2])}"
    if (
        isinstance(like, int)
        or main_type(entity.fields[entity.key].schema if entity.key in entity.fields else {}) == "integer"
    ):
        return rf"(?i:(?<=\b{re.escape(noun(entity.name))} )|(?<=#)|(?<=\bid: )|(?<=\bid ))\d+\b"
    return r"(?!)"


# reading --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reader:
    """Finds in a recorded text what will be another for another record."""

    plan: Plan
    entity: Entity
    known: Mapping[str, Record]

    def pieces(self, sample: Sample, extra: Sequence[tuple[str, Slot]] = ()) -> list[Piece]:
        """The text in pieces: words as they are, and slots."""
        text = sample.text
        spans = [*self._labelled(text), *self._values(sample, extra), *self._patterns(text)]
        return _cut(text, spans)

    def _labelled(self, text: str) -> Iterator[tuple[int, int, Slot]]:
        """`Status: open`: what follows the name of a field."""
        for name, field in self.entity.fields.items():
            spelt = r"[ _-]?".join(re.escape(word) for word in words(name))
            sort: Sort = "key" if name == self.entity.key else "field"
            for found in re.finditer(rf"(?im)(^\W*|\b)(?:{spelt})\W{{0,3}}:\W{{0,3}}?[ \t]*(?P<v>[^\n]+)", text):
                value = found["v"] if found[1] or found.start() == 0 else re.split(r"[,;)\]|]", found["v"])[0]
                value = value.strip().rstrip("*") if main_type(field.schema) != "string" or value else value
                if value.strip():
                    start = found.start("v")
                    yield start, start + len(value.rstrip()), Slot(sort, name, value.strip())

    def _values(self, sample: Sample, extra: Sequence[tuple[str, Slot]]) -> Iterator[tuple[int, int, Slot]]:
        """What the call was given, and what other examples tell of the same record."""
        spoken = [*extra]
        taken = {*self.plan.sets, self.plan.key}
        for path, field in self.plan.sets.items():
            spoken += _spoken(argument(path)(sample.arguments), self._slot(field))
        if self.plan.key is not None:
            spoken += _spoken(argument(self.plan.key)(sample.arguments), Slot("key"))
        for name, value in sample.arguments.items():
            spoken += _spoken(value, Slot("argument", name)) if name not in taken else []
        for key, record in self.known.items():
            if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", sample.text):
                spoken += [one for name, value in record.items() for one in _spoken(value, self._slot(name))]
        for value, slot in sorted(spoken, key=lambda one: -len(one[0])):
            for found in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", sample.text):
                yield found.start(), found.end(), replace(slot, sample=value)

    def _slot(self, field: str) -> Slot:
        return Slot("key") if field == self.entity.key else Slot("field", field)

    def _patterns(self, text: str) -> Iterator[tuple[int, int, Slot]]:
        """Keys, states in brackets, times."""
        for found in re.finditer(_key_pattern(self.entity), text):
            yield found.start(), found.end(), Slot("key")
        for name, field in self.entity.fields.items():
            for value in constants(field.schema):
                if isinstance(value, str):
                    for found in re.finditer(rf"(?i)(?<=[\[(]){re.escape(value)}(?=[\])])", text):
                        yield found.start(), found.end(), Slot("field", name, found[0])
        times = [name for name, field in self.entity.fields.items() if sense(name, field.schema) is not None]
        changed = self.plan.verb == "update"
        times.sort(
            key=lambda name: sense(name, self.entity.fields[name].schema) != ("updated" if changed else "created")
        )
        for found in re.finditer(_TIME, text) if times else ():
            yield found.start(), found.end(), Slot("field", times[0], found[0])

    # rows

    def row(self, blocks: Sequence[str]) -> list[Piece]:
        """The pieces of a row: what differs between the rows is something of the record."""
        segments = [_JOINTS.split(block) for block in blocks]
        first, others = segments[0], segments[1:]
        taken: set[str] = set()
        pieces: list[Piece] = []
        expected: str | None = None
        for place, segment in enumerate(first):
            is_joint = place % 2 == 1
            same = bool(others) and all(place < len(other) and other[place] == segment for other in others)
            slot = None if is_joint else self._meant(segment, expected, same, has_others=bool(others), taken=taken)
            expected = self._field_named(segment) if not is_joint else expected
            if is_joint and _START.match(segment) and (number := re.search(r"\d+", segment)):
                pieces += [segment[: number.start()], Slot("number"), segment[number.end() :]]
            else:
                pieces.append(segment if slot is None else slot)
            if slot is not None:
                taken.add(slot.name)
        return pieces

    def _meant(
        self, segment: str, expected: str | None, same: bool, *, has_others: bool, taken: set[str]
    ) -> Slot | None:
        """The slot that a segment of a row is; None where it is always the same words."""
        text = segment.strip()
        if not text:
            return None
        if expected is not None:
            return Slot("key" if expected == self.entity.key else "field", expected, text)
        if re.fullmatch(_key_pattern(self.entity).replace("(?!)", r"(?!)x"), text) or text in self.known:
            return Slot("key")
        field = self._field_of(text, taken)
        if field is not None:
            return Slot("field", field, text)
        if self._field_named(text) is not None or same or not re.search(r"\w", text):
            return None
        return self._text_slot(text, taken) if has_others or name_field(self.entity) not in taken else None

    def _field_of(self, text: str, taken: set[str]) -> str | None:
        """The field that a value can only be of: one of its choices, a time, a number, yes or no."""
        for name, field in self.entity.fields.items():
            if name in taken or name == self.entity.key:
                continue
            if text.lower() in {str(value).lower() for value in constants(field.schema)}:
                return name
            if any(str(record.get(name)) == text for record in self.known.values() if name in record):
                return name
            kind = main_type(field.schema)
            if re.fullmatch(_TIME, text) and sense(name, field.schema) is not None:
                return name
            if re.fullmatch(r"-?[\d,]+(\.\d+)?", text) and kind in {"number", "integer"}:
                return name
            if text.lower() in {"true", "false", "yes", "no"} and kind == "boolean":
                return name
        return None

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
        """May the field hold any text?"""
        plain = main_type(field.schema) == "string" and sense(name, field.schema) is None
        return plain and name != self.entity.key and not constants(field.schema)


def _spoken(value: Json, slot: Slot) -> list[tuple[str, Slot]]:
    """How a value may stand in a text; too little to be recognised is left out."""
    if value is ABSENT or value is None or isinstance(value, dict | bool):
        return []
    text = written(value)
    return [(text, slot)] if len(text) > 1 or text.isdecimal() else []


def _cut(text: str, spans: Iterable[tuple[int, int, Slot]]) -> list[Piece]:
    """The text with the spans as slots; where two overlap, the first one told counts."""
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


# lists ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Parts:
    """A recorded list: what stands before its rows, the rows, and what stands after."""

    head: str
    rows: list[str]
    tail: str
    joint: str


def _parts(text: str, key: str) -> _Parts | None:
    """The rows of a text: lines that begin alike, each with what is indented below it."""
    lines = text.split("\n")
    kinds = [_kind(line, key) for line in lines]
    first = next(
        (at for at, kind in enumerate(kinds) if kind is not None and (kind != "key" or at > 0 or len(lines) > 1)), None
    )
    if first is None:
        return None
    starts = [at for at, kind in enumerate(kinds) if at >= first and kind == kinds[first]]
    size = starts[1] - starts[0] if len(starts) > 1 else _below(lines, first)
    last = min(starts[-1] + size, len(lines))
    while last > starts[-1] + 1 and not lines[last - 1].strip():
        last -= 1
    ends = [*starts[1:], last]
    blocks = ["\n".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)]
    rows = [block.rstrip("\n") for block in blocks]
    joint = "\n" + "\n" * (len(blocks[0]) - len(rows[0])) if len(rows) > 1 else "\n"
    return _Parts("\n".join(lines[:first]), rows, "\n".join(lines[last:]), joint)


def _kind(line: str, key: str) -> str | None:
    found = _START.match(line)
    if found is not None:
        return f"{len(found[1])}{found[2] or found[4] or 'number'}"
    return "key" if re.search(key, line) else None


def _below(lines: Sequence[str], first: int) -> int:
    indent = len(lines[first]) - len(lines[first].lstrip())
    size = 1
    while first + size < len(lines) and len(lines[first + size]) - len(lines[first + size].lstrip()) > indent:
        size += 1
    return size


def _listing(found: Sequence[Sample], reader: _Reader, entity: Entity, domain: Domain) -> Say | None:
    key = _key_pattern(entity)
    full = [(sample, parts) for sample in found if (parts := _parts(sample.text, key)) is not None]
    if not full:
        return None
    sample, parts = max(full, key=lambda one: len(one[1].rows))
    row, count = reader.row(parts.rows), [(str(len(parts.rows)), Slot("count"))]
    head, tail = (reader.pieces(Sample(sample.arguments, text), count) for text in (parts.head, parts.tail))
    empty = next((one for one in found if _parts(one.text, key) is None), None)
    none = reader.pieces(empty) if empty is not None else [nothing_found(entity)]
    show, joint = shown(entity, {}, domain.entities), parts.joint

    def listed(facts: Facts) -> str:
        if not facts.page.rows:
            return _rendered(none, facts, {}, None, show, facts.view)
        rows = [
            _rendered(_numbered(row, facts.page.offset + at), facts, record, own, show, facts.view)
            for at, (own, record) in enumerate(facts.page.rows, 1)
        ]
        around = [_agreeing(_rendered(part, facts, {}, None, show, facts.view), facts, entity) for part in (head, tail)]
        return "\n".join(part for part in (around[0], joint.join(rows), around[1]) if part)

    return listed


def _numbered(row: Sequence[Piece], number: int) -> list[Piece]:
    return [str(number) if isinstance(piece, Slot) and piece.sort == "number" else piece for piece in row]


def _agreeing(text: str, facts: Facts, entity: Entity) -> str:
    """`1 task` and `2 tasks`, whichever the example had."""
    one = noun(entity.name)
    many = plural(one.replace(" ", "_")).replace("_", " ")
    count = len(facts.page.rows)
    return re.sub(
        rf"(?i)\b({count} (?:\w+ )?)(?:{many}|{one})\b(?!\()", lambda f: f[1] + (one if count == 1 else many), text
    )


# writing --------------------------------------------------------------------------------------------------------------


def _rendered(pieces: Sequence[Piece], facts: Facts, record: Record, key: Key | None, show: Show, view: View) -> str:
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
    """A value as the example spells such values."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        yes, no = ("Yes", "No") if sample.lower() in {"yes", "no"} else ("True", "False")
        said = yes if value else no
        return said if sample[:1].isupper() or not sample else said.lower()
    if (
        isinstance(value, str)
        and sample[:1].isupper()
        and sample[1:].islower()
        and value.islower()
        and " " not in value
    ):
        return value.capitalize() if "_" not in value else value
    return written(value)
