"""How arguments filter records by their fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from mcp_sim.infer.fields import KnownFields, Match
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Field
from mcp_sim.types.json_schema.shapes import constants, main_type
from mcp_sim.types.lexicon.english import last_word, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import by_word, ordered, table, terms
from mcp_sim.types.plans import Basis, Filter, Operator

_PERIODS = cast("Mapping[str, Operator]", table("arguments.period"))
_BOUND_PREFIXES = cast("Mapping[str, Operator]", by_word("arguments.bound_prefix"))
_BOUND_SUFFIXES = cast("Mapping[str, Operator]", by_word("arguments.bound_suffix"))
_DAYS = terms("arguments.day")
_TIMES = ordered("fields.time")
"""Usual names of the time of a record, the most usual first."""
_TIME_ENDINGS, _CHANGES = terms("fields.time_ending"), ordered("fields.change_stem")
"""Last words of times, and beginnings of the words of times that no period of a list is about, if there are others."""
_EXACT_ENDINGS = ordered("fields.exact_ending")
"""Endings of fields that are never matched partially."""
_FLAG = re.compile(r"(?:include|show|with)_(?P<also>.+)|(?:only|just)_(?P<only>.+)|(?P<alone>.+)_only")
_PARTIAL = re.compile(r"\b(fuzzy|fuzzily|partial|partially|substring|part of)\b", re.IGNORECASE)
_TIME_WORDS = re.compile(r"\b(date|time|day|timestamp|iso|month|year|hour|yyyy)", re.IGNORECASE)


class FoundFilter(NamedTuple):
    """How an argument filters, and why."""

    rule: Filter
    basis: Basis


def find_filters(arguments: Mapping[str, Record], known: KnownFields, *, partially: bool) -> dict[str, FoundFilter]:
    """Return the filters of those arguments that filter by a known field. `partially`: texts match partially."""
    spans = {name for name, part in arguments.items() if is_time(name, part)}
    found = {
        name: _filter_of(snake(name), part, known, partially=partially, is_span=len(spans) == 2 and name in spans)
        for name, part in arguments.items()
    }
    return {name: one for name, one in found.items() if one is not None}


def _filter_of(
    argument: str, schema: Record, known: KnownFields, *, partially: bool, is_span: bool
) -> FoundFilter | None:
    """Return the filter of an argument. `is_span`: it begins or ends a period, and another one ends or begins it."""
    if is_span:
        return _time_filter(argument, known, known.named.get(argument))
    flag = _flag_filter(argument, known) if main_type(schema) == "boolean" else None
    found = flag or _equal_filter(argument, schema, known, partially=partially) or _bound_filter(argument, known)
    is_day = argument in _DAYS and main_type(schema) in {"string", ""}
    return _time_filter(argument, known) if found is None and (is_day or is_time(argument, schema)) else found


def _time_filter(argument: str, known: KnownFields, own: Field | None = None) -> FoundFilter | None:
    """Return the filter of `since`, `until` or `day`, by a field or the time of the records."""
    field = own or _time_field(known)
    op: Operator = _PERIODS.get(argument, "contains")
    return None if field is None else _found(field, op, f"'{argument}' is about a time")


def _found(field: Field, op: Operator, reason: str, **values: Json) -> FoundFilter:
    return FoundFilter(Filter(field.name, op, **values), Basis("inferred", 0.8, (reason,)))


def _equal_filter(argument: str, schema: Record, known: KnownFields, *, partially: bool) -> FoundFilter | None:
    """Return the filter by the field of the argument's name, or by the key if it names several records."""
    many = main_type(schema) == "array"
    found = known.find(argument) or known.find(singular(argument) if many else plural(argument))
    if found is None:
        names_records = _is_key_list(argument, known.entity, many=many)
        return FoundFilter(Filter(known.key, "in" if many else "equals"), _KEYS) if names_records else None
    is_loose = not many and _PARTIAL.search(str(schema.get("description", "")))
    is_part = bool(is_loose) or (partially and not many and _is_loose(found.field))
    return FoundFilter(Filter(found.field.name, _operator(found, many=many, is_part=is_part)), found.basis)


_KEYS = Basis("inferred", 0.8, ("a list names records",))


def _operator(found: Match, *, many: bool, is_part: bool) -> Operator:
    if is_part or main_type(found.field.schema) == "array":
        return "contains"
    return "in" if many else "equals"


def _is_loose(field: Field) -> bool:
    """Whether a part of the value is enough for a match."""
    is_text = main_type(field.schema) == "string" and not field.schema.keys() & {"enum", "const", "format"}
    return is_text and not snake(field.name).endswith(_EXACT_ENDINGS)


def _is_key_list(argument: str, entity: str, *, many: bool) -> bool:
    """Whether an argument names several records: `task_ids`, `task_refs`, `task_keys`."""
    keys = {f"{entity}_{ending}" for ending in ("ids", "refs", "keys", "references", "uuids")} if many else set[str]()
    return argument in {"ids", plural(entity), *keys}


def _bound_filter(argument: str, known: KnownFields) -> FoundFilter | None:
    """Return the filter of a bound, such as `min_price` or `created_after`."""
    for stem, op in bounds_in(argument):
        field = _bounded_field(stem, known)
        if field is not None:
            return _found(field, op, f"'{argument}' bounds '{field.name}'")
    return None


def bounds_in(argument: str) -> Iterator[tuple[str, Operator]]:
    """Yield what an argument bounds, and how: `price` and `gte` for `min_price`."""
    for word, op in _BOUND_PREFIXES.items():
        if argument.startswith(f"{word}_"):
            yield argument.removeprefix(f"{word}_"), op
    for word, op in _BOUND_SUFFIXES.items():
        if argument.endswith(f"_{word}"):
            yield argument.removesuffix(f"_{word}"), op


def _bounded_field(stem: str, known: KnownFields) -> Field | None:
    names = (stem, *(f"{stem}_{ending}" for ending in ("at", "date", "on")), f"date_{stem}", f"{stem}_time")
    named = next((known.named[name] for name in (*names, f"{stem}d_at") if name in known.named), None)
    found = None if named else known.find(stem)
    return found.field if found is not None else named


def _flag_filter(argument: str, known: KnownFields) -> FoundFilter | None:
    """Return the filter of `unread`, `unread_only` or `include_archived`, by a flag or a state of the records."""
    named = _FLAG.fullmatch(argument)
    word = argument if named is None else named["only"] or named["also"] or named["alone"]
    field, value = next(_described_values(word, known), (None, None))
    if field is None or (named is None and field == known.named.get(argument)):
        return None
    is_extra = named is not None and bool(named["also"])
    return _found(
        field,
        "not" if is_extra else "equals",
        f"'{word}' is a value of '{field.name}'",
        **{"unless" if is_extra else "only": value},
    )


def _described_values(word: str, known: KnownFields) -> Iterator[tuple[Field, Json]]:
    """Yield the fields and the values in records that a word describes: `read` and False for `unread`."""
    for name, field in known.named.items():
        plain = name.removeprefix("is_").removeprefix("has_")
        if main_type(field.schema) == "boolean" and word in {plain, f"un{plain}", f"not_{plain}"}:
            yield field, word == plain
        elif name in {"status", "state"} and word in constants(field.schema):
            yield field, word


def is_time(argument: str, schema: Record) -> bool:
    """Whether an argument begins or ends a period. `from` and `to` may also be places or accounts."""
    if snake(argument) not in {"from", "to"}:
        return snake(argument) in _PERIODS
    description = str(schema.get("description", "")).lower()
    return str(schema.get("format", "")).startswith(("date", "time")) or bool(_TIME_WORDS.search(description))


def _time_field(known: KnownFields) -> Field | None:
    """Return the field with the time of a record: its own date, or else the time of its creation."""
    texts = (name for name, field in known.named.items() if main_type(field.schema) in {"string", ""})
    own = (name for name in texts if last_word(name) in _TIME_ENDINGS and not _is_of_change(name))
    return next((known.named[name] for name in (*_TIMES, *own, "created_at", "created") if name in known.named), None)


def _is_of_change(name: str) -> bool:
    return any(word.startswith(_CHANGES) for word in words(name))
