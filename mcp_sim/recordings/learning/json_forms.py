"""Induce a JSON document with slots from recorded answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from mcp_sim.plans.rendering.templates import Scope, fill_text
from mcp_sim.recordings.learning.skeletons import merged
from mcp_sim.recordings.learning.slots import Shown, choose, constant, is_same, paths_of_scope
from mcp_sim.recordings.observed import is_time
from mcp_sim.types import NOWHERE, Json, Record, as_object
from mcp_sim.types.result_templates import ROWS, SLOT

_SHORTEST = 2  # the number of words from which on a text is a sentence
_SHARED = 0.4  # the share of its fields that a value must share with a record to be one


def induce(shown: Sequence[Shown], name: str = "", *, of_record: bool = False) -> Json:
    """Return the template of the values at one place. `of_record`: it is a field of the record that is shown."""
    known = [(value, scope) for value, scope in shown if value is not None] or list(shown)
    if of_record and isinstance(known[0][0], dict | list):
        # Records have such a value in the field, be it another one.
        same = sum(isinstance(scope.get(name), type(value)) for value, scope in known)
        return f"{{{name}}}" if same * 2 >= len(known) else induce(known, name)
    if all(isinstance(value, dict) for value, _ in known):
        return _object([(cast("Record", value), scope) for value, scope in known], name)
    if all(isinstance(value, list) for value, _ in known):
        return _list([(cast("list[Json]", value), scope) for value, scope in known], name)
    return _worded(shown) or choose(name, shown, of_record=of_record)


def _worded(shown: Sequence[Shown]) -> str | None:
    """Return the sentence with slots that most values are; None if they do not agree."""
    texts = [(value, scope) for value, scope in shown if isinstance(value, str) and len(value.split()) >= _SHORTEST]
    if len(texts) < len(shown) or any(is_time("", value) or is_same(value, got) for value, scope in texts
                                      for _, got in paths_of_scope(scope)):  # fmt: skip
        return None
    text = merged(texts)
    right = sum(fill_text(text, scope) == value for value, scope in texts)
    usual = max(sum(value == other for other, _ in texts) for value, _ in texts)
    return text if SLOT.search(text) and right * 2 >= len(texts) and right >= usual else None


def _object(shown: Sequence[tuple[Record, Scope]], name: str) -> Json:
    if _is_whole(name, cast("Sequence[Shown]", shown)):
        return f"{{{name}}}"
    names = merged_names([value for value, _ in shown])
    always = [key for key in names if all(key in value for value, _ in shown)]
    if not always and len(shown) > 1 and len(names) > max(len(value) for value, _ in shown) * 2:
        return constant(name, [value for value, _ in shown])
    fields = _fields(shown)
    body: Record = {}
    for member in names:
        inner = [(value[member], scope) for value, scope in shown if member in value]
        body[member if len(inner) == len(shown) else f"{member}?"] = induce(inner, member, of_record=member in fields)
    return body


def _fields(shown: Sequence[tuple[Record, Scope]]) -> frozenset[str]:
    """Return the fields of the records that objects show. Empty if they do not show records."""
    if not sum(is_record(value, scope) for value, scope in shown) * 2 > len(shown):
        return frozenset()
    return frozenset(name for _, scope in shown for name in (*scope.record, *scope.defaults))


def is_record(value: Record, scope: Scope) -> bool:
    """Whether an object shows the record of a scope: it shares fields and a value with it."""
    known: Record = {**scope.defaults, **scope.record}
    return bool(scope.record) and _share(value, known) >= _SHARED and _common(value, scope.record) > 0


def merged_names(values: Sequence[Record]) -> list[str]:
    """Return the names of all objects in an order that agrees with theirs."""
    merged: list[str] = []
    for value in sorted(values, key=len, reverse=True):
        before = -1
        for name in value:
            if name in merged:
                before = merged.index(name)
            else:
                before += 1
                merged.insert(before, name)
    return merged


def _is_whole(name: str, shown: Sequence[Shown]) -> bool:
    """Whether values are those of a field as it is."""
    return bool(name) and all((got := scope.get(name)) is not NOWHERE and is_same(got, value) for value, scope in shown)


def _list(shown: Sequence[tuple[list[Json], Scope]], name: str) -> Json:
    if any(value for value, _ in shown) and _is_whole(name, cast("Sequence[Shown]", shown)):
        return f"{{{name}}}"
    paired = [pair for value, scope in shown for pair in paired_rows(value, scope)]
    if paired and _are_rows(paired):
        return {ROWS: induce(paired)}
    if all(len(value) < 2 and (not value or isinstance(value[0], dict)) for value, _ in shown):
        items = [(value[0], scope) for value, scope in shown if value]
        return [induce(items, name)] if items else []
    if any(value for value, _ in shown):
        with_list = [(value, scope) for value, scope in shown if scope.get(name) is not NOWHERE]
        if with_list and sum(is_same(scope.get(name), value) for value, scope in with_list) * 2 >= len(shown):
            return f"{{{name}}}"
    return constant(name, [value for value, _ in shown])


def paired_rows(items: Sequence[Json], scope: Scope) -> Iterator[Shown]:
    """Yield the items of a recorded list, each with the scope of the row that shares most of its values."""
    left = dict(enumerate(scope.rows))
    for at, item in enumerate(items):
        if not left:
            return
        best = max(left, key=lambda other: (_common(item, left[other]), -abs(other - at)))
        yield item, scope.of_row(at + 1, left.pop(best))


def _common(item: Json, row: Record) -> int:
    if not isinstance(item, dict):
        return sum(is_same(item, value) for value in row.values())
    return sum(name in row and is_same(value, row[name]) for name, value in cast("Record", item).items())


def _are_rows(paired: Sequence[Shown]) -> bool:
    """Whether the items of a list show the rows that the call found."""
    if not all(isinstance(value, dict) for value, _ in paired):
        return sum(_common(value, scope.record) > 0 for value, scope in paired) * 2 > len(paired)
    shared = [_share(as_object(value), scope.record) for value, scope in paired]
    agreed = sum(_common(value, scope.record) > 0 for value, scope in paired)
    return sum(shared) / len(shared) >= _SHARED and agreed * 2 > len(paired)


def _share(value: Record, record: Record) -> float:
    return len(value.keys() & record.keys()) / max(1, min(len(value), len(record)))
