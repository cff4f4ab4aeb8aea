"""What calls change: the differences between versions of a record, and effects.

An effect is what a call means to change, as opposed to what the server adds by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import isclose
from typing import Literal, cast

from mcp_sim.grading.given_values import GivenValues, is_made_by_server, is_time
from mcp_sim.types import Change, Json, Key, Record, View
from mcp_sim.types.conditions import ABSENT, equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import Path, canonical, is_number, leaves
from mcp_sim.types.plans import Plan

_PRECISION = 1e-6
"""The difference that is left to the rounding of fractions."""


@frozen
class Difference:
    """One difference. Of a list, it is one item that was put in or taken out."""

    path: Path
    old: Json = ABSENT
    """The value before; ABSENT if there was none, or for an item of a list."""
    new: Json = ABSENT
    inserted: Json = ABSENT
    """The item that was put into a list, or the characters that were put into a text."""
    dropped: Json = ABSENT
    """What was taken out."""

    @property
    def amount(self) -> float | None:
        """What was added to a number; None for other values."""
        if not is_number(self.old) or not is_number(self.new):
            return None
        try:
            return self.new - self.old
        except OverflowError:
            return None


def is_same_amount(amount: float | None, other: Json) -> bool:
    return amount is not None and is_number(other) and isclose(amount, other, abs_tol=_PRECISION)


def differences(old: Json, new: Json, path: Path = ()) -> Iterator[Difference]:
    """Yield the differences between two values, the deepest where both have the same structure."""
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = cast("Record", old), cast("Record", new)
        for name in {**before, **after}:
            yield from differences(before.get(name, ABSENT), after.get(name, ABSENT), (*path, name))
    elif (old is ABSENT) is (new is ABSENT) and equal(old, new):
        return
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(cast("list[Json]", old), cast("list[Json]", new), path)
    elif isinstance(old, str) and isinstance(new, str):
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        yield Difference(path, old, new, new[head : len(new) - tail], old[head : len(old) - tail])
    else:
        yield Difference(path, old, new)


def _common(text: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _of_lists(old: Sequence[Json], new: Sequence[Json], path: Path) -> Iterator[Difference]:
    if len(old) == len(new) and all(_are_alike(*pair) for pair in zip(old, new, strict=True)):
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, (*path, place))
        return
    gone, came = Counter(map(canonical, old)), Counter(map(canonical, new))
    if gone == came:
        yield Difference(path, [*old], [*new])  # the order alone has changed
        return
    yield from (Difference(path, inserted=item) for item in _without(new, gone))
    yield from (Difference(path, dropped=item) for item in _without(old, came))


def _are_alike(item: Json, other: Json) -> bool:
    return (isinstance(item, dict) and isinstance(other, dict)) or (isinstance(item, list) and isinstance(other, list))


def _without(items: Sequence[Json], others: Counter[str]) -> Iterator[Json]:
    """Yield the items that are left if each of the others takes away an equal one."""
    left = Counter(others)
    for item in items:
        text = canonical(item)
        if left[text]:
            left[text] -= 1
        else:
            yield item


def value_at(value: Json, path: Path) -> Json:
    """Return the value at a path, or ABSENT."""
    for step in path:
        if isinstance(value, dict):
            value = cast("Record", value).get(str(step), ABSENT)
        else:
            items = as_list(value)
            value = items[step] if isinstance(step, int) and step < len(items) else ABSENT
    return value


MOST_EFFECTS = 200
"""The most effects of one call that are followed. A batch may write thousands, and each is compared with every later
call."""
_LONGEST = 60
"""The most characters of a value in a sentence."""


@frozen
class Write:
    """One record that a step wrote."""

    entity: str
    key: Key
    old: Record | None
    """The record before; None if there was none."""
    new: Record | None
    """The record afterwards; None if it was removed."""

    @property
    def differences(self) -> list[Difference]:
        """What it changed in a record that existed before and exists afterwards."""
        return [] if self.old is None or self.new is None else [*differences(self.old, self.new)]


@frozen
class Effect:
    """One thing that a call does to one record.

    - create: a record with these `fields`, under whatever key the server chooses, or under the key that the call names.
    - delete: the record is gone.
    - set: the value at a path.
    - add: a number grows by `value`, or a text gets `value` put in.
    - insert, drop: a list gets an item with these `fields`, or loses it.
    """

    kind: Literal["create", "delete", "set", "add", "insert", "drop"]
    entity: str
    key: Key
    """The record; of a create, the key that it gets in the state in which the call was made."""
    is_named: bool
    """Whether the call names the record, so that the key is a part of the effect."""
    path: Path = ()
    value: Json = ABSENT
    before: Json = ABSENT
    """The value, or the deleted record, as it was."""
    after: Json = ABSENT
    """Of what changes a value: the whole value at the path as the call leaves it."""
    edit: tuple[str, str] | None = None
    """The characters that replaced others in a text, and these."""
    amount: Json = ABSENT
    """Of a set: what it adds, if the call gives that as well. From 0, adding 5 and setting to 5 look the same."""
    fields: tuple[tuple[Path, Json], ...] = ()
    is_given: bool = False
    """Whether the call gives its value; else the server has computed it."""
    is_counted: bool = True
    """Whether it must not happen twice; else it is enough that it happens."""

    def fits(self, key: Key, record: Record | None) -> bool:
        """Whether a record is what a create makes."""
        if record is None or (self.is_named and key != self.key):
            return False
        return (self.is_named or bool(self.fields)) and _has(record, self.fields)

    def fits_item(self, item: Json) -> bool:
        """Whether an item of a list is the one that is inserted or dropped."""
        return item is not ABSENT and _has(item, self.fields)

    def is_added_by(self, difference: Difference) -> bool:
        """Whether a difference adds what this effect adds."""
        if isinstance(self.value, str):
            return difference.inserted == self.value and not difference.dropped
        return is_same_amount(difference.amount, self.value)

    def is_taken_back_by(self, difference: Difference) -> bool:
        """Whether a difference takes away again what this effect adds."""
        if self.kind in ("insert", "drop"):
            return self.fits_item(difference.dropped if self.kind == "insert" else difference.inserted)
        if isinstance(self.value, str):
            return difference.dropped == self.value and not difference.inserted
        return is_same_amount(difference.amount, -self.value)

    @property
    def record(self) -> str:
        """The name of the record in a sentence."""
        return self.entity if self.key in ("", self.entity) else f"{self.entity} {self.key}"

    @property
    def place(self) -> str:
        """The name of the value in a sentence."""
        path = ".".join(map(str, self.path))
        return f"{path} of {self.record}" if path else self.record


def writes_of(changes: Iterable[Change], before: View) -> list[Write]:
    """Return what changes wrote to a state, one after the other."""
    now = dict[tuple[str, Key], Record | None]()
    writes = list[Write]()
    for change in changes:
        if change.op == "reserve":
            continue
        place = change.entity, change.key
        old = now[place] if place in now else before.get(*place)
        new = change.record if change.op == "put" else None
        now[place] = new
        if old is not None or new is not None:
            writes.append(Write(*place, old, new))
    return writes


def effects_of(
    changes: Sequence[Change],
    before: View,
    arguments: Mapping[str, Json],
    plan: Plan | None,
    domain: Domain,
    now: datetime,
) -> tuple[Effect, ...]:
    """Return the effects of a call.

    Each has a value that the call gives, or that always results from it. What the server makes is left out: ids, times,
    hashes, counters that grow by one. If a call does nothing else, that is its effect; but not times alone. What is
    shown afterwards is an effect only of a call that changes nothing else.
    """
    writes = _net(writes_of(changes, before))
    writes = [write for write in writes if _display(domain, write.entity) is None] or writes
    new_keys = frozenset(str(write.key) for write in writes if write.old is None)
    reader = _Reader(GivenValues(arguments), arguments, plan, domain, before, new_keys, now)
    effects = [effect for write in writes for effect in reader.effects(write)]
    sure = [effect for effect, is_sure in effects if is_sure]
    sure = sure or [effect for effect, _ in effects if not (effect.kind == "set" and is_time(effect.value))]
    if any(effect.is_given for effect in sure):
        sure = [replace(effect, is_counted=effect.is_counted and effect.is_given) for effect in sure]
    return tuple(sure[:MOST_EFFECTS])


def _display(domain: Domain, name: str) -> tuple[str, ...] | None:
    """Return the fields of an entity that say on purpose what is shown; None for records of the world itself."""
    entity = domain.entities.get(name)
    return None if entity is None else entity.display


def _net(writes: Sequence[Write]) -> list[Write]:
    """Return one write for each record: from what it was before to what it is in the end."""
    net = dict[tuple[str, Key], Write]()
    for write in writes:
        earlier = net.get((write.entity, write.key))
        net[write.entity, write.key] = write if earlier is None else replace(earlier, new=write.new)
    return [write for write in net.values() if write.old is not None or write.new is not None]


@frozen
class _Reader:
    """Reads effects from the writes of one call."""

    given: GivenValues
    arguments: Mapping[str, Json]
    plan: Plan | None
    domain: Domain
    before: View
    new_keys: frozenset[str]
    """The keys of the records that the call makes."""
    now: datetime

    def effects(self, write: Write) -> Iterator[tuple[Effect, bool]]:
        """Yield the effects of a write, and whether each is more than what the server makes by itself."""
        entity = self.domain.entities.get(write.entity)
        is_only = entity is not None and entity.singleton
        display = _display(self.domain, write.entity)
        if display == ():
            return
        if write.old is None and write.new is not None:
            yield self._created(write, write.new, entity), True
            return
        is_named = is_only or self.given.has(write.key)
        if write.new is None:
            yield Effect("delete", write.entity, write.key, is_named, before=write.old, is_given=is_named), True
            return
        for difference in write.differences:
            path = difference.path
            if display is not None and path[:1] and path[0] not in display:
                continue
            effect = Effect("set", write.entity, write.key, is_named, path, after=value_at(write.new, path))
            effect = self._changed(effect, difference)
            yield effect, self._is_sure(effect, difference)

    def _created(self, write: Write, record: Record, entity: Entity | None) -> Effect:
        is_named = self.given.names(write.key, is_path=entity is not None and entity.natural)
        skipped = "" if entity is None else entity.key
        values = [(path, value) for path, value in leaves(record) if path != (skipped,) and value is not None]
        if (display := _display(self.domain, write.entity)) is not None:
            values = [(path, value) for path, value in values if path[0] in display]
        given = [(path, value) for path, value in values if self._gives(path, value, entity)]
        kept = given or [(path, value) for path, value in values if not self._is_made(value)]
        return Effect("create", write.entity, write.key, is_named, fields=tuple(kept), is_given=is_named or bool(given))

    def _gives(self, path: Path, value: Json, entity: Entity | None) -> bool:
        """Whether a field of a new record has a value that the call gives, or links to a record that was there."""
        if self.given.has(value) or (is_number(value) and self.given.has(abs(value))):  # booked as -30, as ledgers do
            return str(value) not in self.new_keys
        field = None if entity is None else entity.fields.get(".".join(map(str, path)))
        link = None if field is None else field.link
        return link is not None and isinstance(value, str | int) and self.before.get(link, value) is not None

    def _changed(self, effect: Effect, difference: Difference) -> Effect:
        for kind, item in (("insert", difference.inserted), ("drop", difference.dropped)):
            if difference.old is ABSENT and difference.new is ABSENT and item is not ABSENT:
                return self._of_item(effect, cast("Literal['insert', 'drop']", kind), item)
        effect = replace(effect, value=difference.new, before=difference.old)
        if self.plan is None:
            how = None
        else:
            plan = self.plan
            if plan.choice is not None:
                plan = plan.choices.get(str(value_at({**self.arguments}, tuple(plan.choice.split(".")))), plan)
            how = plan.how.get(".".join(map(str, difference.path)))
        is_given = difference.new is not ABSENT and self.given.has(difference.new)
        is_target = how == "set" or (how is None and is_given)
        amount = difference.amount
        if amount is not None:
            is_amount = how in ("add", "subtract") or self.given.has(abs(amount))
            if is_target:
                return replace(effect, amount=amount if is_amount and how is None else ABSENT, is_given=True)
            return replace(effect, kind="add", value=amount, is_given=is_amount)
        if isinstance(difference.new, str) and isinstance(difference.inserted, str):
            inserted = str(difference.inserted)
            is_given = is_target or self.given.has(inserted)
            if difference.old and not difference.dropped and not is_target:
                return replace(effect, kind="add", value=inserted, is_given=is_given)
            edit = None if is_target or not difference.old else (inserted, str(difference.dropped))
            return replace(effect, edit=edit, is_given=is_given)
        return replace(effect, is_given=is_target or is_given)

    def _of_item(self, effect: Effect, kind: Literal["insert", "drop"], item: Json) -> Effect:
        values = [*leaves(item)]
        given = [(path, value) for path, value in values if self.given.has(value) and str(value) not in self.new_keys]
        kept = given or [(path, value) for path, value in values if not self._is_made(value)] or values
        return replace(effect, kind=kind, fields=tuple(kept), is_given=bool(given))

    def _is_made(self, value: Json) -> bool:
        """Whether the server has made a value that the call does not give."""
        is_part = isinstance(value, str) and any(key in value for key in self.new_keys if len(key) > 1)
        return is_part or str(value) in self.new_keys or is_made_by_server(value, self.now)

    def _is_sure(self, effect: Effect, difference: Difference) -> bool:
        if effect.is_given:
            return True
        if effect.kind == "set":
            return not self._is_made(effect.value)
        return not (effect.kind == "add" and difference.amount in (1, -1))


def is_of_no_account(old: Json, new: Json, now: datetime) -> bool:
    """Whether two values differ in times and the like only."""
    return all(
        is_time(difference.new) or is_made_by_server(difference.new, now) for difference in differences(old, new)
    )


def _has(value: Json, fields: Iterable[tuple[Path, Json]]) -> bool:
    return all(_is_equal(value_at(value, path), wanted) for path, wanted in fields)


def _is_equal(value: Json, wanted: Json) -> bool:
    if isinstance(value, str):  # as most values are
        return value == wanted
    if is_number(value) and is_number(wanted):
        return is_same_amount(float(value), wanted)
    return value is not ABSENT and equal(value, wanted)


def shown(value: Json) -> str:
    if value is ABSENT:
        return "missing"
    text = canonical(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def shown_fields(fields: Iterable[tuple[Path, Json]]) -> str:
    """Return the fields of a record in a sentence, those that are longest to read left out."""
    texts = [f"{'.'.join(map(str, path))} {shown(value)}" if path else shown(value) for path, value in fields]
    more = len(texts) - 3
    return ", ".join(texts[:3]) + (f" and {more} more" if more > 0 else "")
