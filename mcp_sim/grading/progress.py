"""How often an effect has come about since a call, and whether it is still there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mcp_sim.grading.effects import (
    Difference,
    Effect,
    Write,
    is_of_no_account,
    is_same_amount,
    shown,
    shown_fields,
    value_at,
)
from mcp_sim.grading.given_values import GivenValues
from mcp_sim.types import Key, Step, View
from mcp_sim.types.call_matchers import times
from mcp_sim.types.conditions import ABSENT, equal
from mcp_sim.types.frozen import frozen

_LONG = 200
"""From how many characters on a text is not shown beside the expected one."""
MOST_REMEMBERED = 100
"""The most records and calls that are remembered for one effect. Each is compared with every later call."""


@frozen
class By:
    """The step that is followed, as seen from a goal."""

    step: Step
    is_same_call: bool
    """Whether the call with the goal is made again, or it is this step."""
    is_own: bool
    """Whether what it does more than once is a repetition: a call of the same tool without a goal of its own, or an
    event, such as a change that a fault deferred."""
    has_goal: bool
    """Whether it is another call with a goal of its own."""
    new: tuple[Write, ...]
    """The records that it creates."""
    has_these_keys: bool
    """Whether new records have the keys that the faulted call was to give them."""


@frozen
class Record:
    """A record that a create has made."""

    key: Key
    step: int
    is_own: bool
    is_removed: bool = False
    is_taken: bool = False
    """Whether someone else removed it: nothing is lost, and making it again repeats nothing."""


class Progress(NamedTuple):
    """What became of one effect. A tuple, since it is compared after every write."""

    effect: Effect
    records: tuple[Record, ...] = ()
    """Of a create: the records that were made."""
    steps: tuple[int, ...] = ()
    """The steps by which it came about. Of a create and of a set: by which it did so once more."""
    others: tuple[int, ...] = ()
    """The steps of other tools by which it came about. They count only if no other call did it."""
    taken_back: int = 0
    is_there: bool = False
    """Of a set or delete: whether it came about."""
    is_elsewhere: bool = False
    """Whether the same call did it to another record."""

    # following steps

    def after(self, write: Write, differences: Sequence[Difference], by: By) -> Progress:
        """Return the progress after one write of a step; the same object if the write does not matter."""
        if write.entity != self.effect.entity:
            return self
        match self.effect.kind:
            case "create":
                return self._created(write, differences, by)
            case _ if write.key != self.effect.key:
                return self
            case "delete":
                if write.new is None:
                    return self._replace(is_there=True)
                is_back = write.old is None and is_of_no_account(self.effect.before, write.new, by.step.at)
                return self._replace(is_there=False) if is_back else self
            case "set":
                return self._set(write, differences, by)
            case _:
                return self._added(write, differences, by)

    def makes(self, write: Write, by: By) -> bool:
        """Whether a write makes the record of this create."""
        if self.effect.kind != "create" or write.entity != self.effect.entity or write.new is None:
            return False
        if write.old is None and by.has_these_keys and write.key == self.effect.key:
            return True
        return self.effect.fits(write.key, write.new) and not self.effect.fits(write.key, write.old)

    def made(self, key: Key, by: By) -> Progress:
        """Return the progress of a create after a record was made."""
        if any(record.key == key and not record.is_removed for record in self.records):
            return self
        if len(self.records) >= MOST_REMEMBERED:
            return self
        return self._replace(records=(*self.records, Record(key, by.step.n, not by.has_goal)))

    def _created(self, write: Write, differences: Sequence[Difference], by: By) -> Progress:
        """Return the progress after a record of this create was removed, or added to by the same call."""
        if not any(record.key == write.key for record in self.records):
            return self
        if write.new is None:
            alike = [new for new in by.new if new.entity == write.entity]
            is_replaced = any(self.makes(new, by) for new in alike)
            if alike and not is_replaced:  # made into another
                return self
            is_taken = by.step.entry == "event"
            kept = [
                replace(record, is_removed=not is_taken, is_taken=is_taken) if record.key == write.key else record
                for record in self.records
            ]
            return self._replace(records=tuple(kept))
        if not by.is_same_call:
            return self
        counts_ones = GivenValues(by.step.arguments).has(
            1
        )  # else what grows by one is the server's, such as a revision
        is_grown = any(
            (difference.inserted and not difference.dropped)
            if difference.amount is None
            else counts_ones or abs(difference.amount) != 1
            for difference in differences
            if difference.inserted is not ABSENT or difference.amount is not None
        )
        return self.again(by) if is_grown else self

    def _set(self, write: Write, differences: Sequence[Difference], by: By) -> Progress:
        effect = self.effect
        if write.new is None:
            return self
        value = value_at(write.new, effect.path)
        here = [difference for difference in differences if difference.path[: len(effect.path)] == effect.path]
        amounts = [difference.amount for difference in here]
        if (
            self.steps
            and effect.amount is not ABSENT
            and any(is_same_amount(amount, -effect.amount) for amount in amounts)
        ):
            return self._replace(taken_back=self.taken_back + 1)
        # The same edit of a text counts, whatever else the text holds.
        is_edited = effect.edit in [(difference.inserted, difference.dropped) for difference in here]
        if _is_equal(value, effect.value) or is_edited:
            return self._replace(is_there=True)
        if not here:
            return self
        if by.is_same_call:
            if not self.is_there:
                return self._replace(is_there=True)
            return self._replace(is_there=False) if _is_equal(value, effect.before) else self.again(by)
        if effect.amount is ABSENT or not self.is_there:
            return self
        is_added = any(is_same_amount(amount, effect.amount) for amount in amounts)
        return self.again(by) if by.is_own and is_added and not GivenValues(by.step.arguments).has(value) else self

    def _added(self, write: Write, differences: Sequence[Difference], by: By) -> Progress:
        effect, progress = self.effect, self
        for difference in differences:
            if difference.path != effect.path:
                continue
            if effect.kind in ("insert", "drop"):
                item = difference.inserted if effect.kind == "insert" else difference.dropped
                is_done = effect.fits_item(item)
            else:
                is_done = effect.is_added_by(difference)
            if is_done:
                progress = progress.again(by)
            elif effect.is_taken_back_by(difference):
                if by.is_same_call:  # a toggle
                    progress = progress._replace(steps=progress.steps[:-1], others=())
                else:
                    progress = progress._replace(taken_back=progress.taken_back + 1)
            elif by.is_same_call and effect.kind == "add":
                progress = progress.again(by)
        return progress

    def again(self, by: By) -> Progress:
        """Return the progress after the effect came about, or did so once more."""
        if len(self.steps) + len(self.others) >= MOST_REMEMBERED:
            return self
        if by.is_own or by.is_same_call:
            return self._replace(steps=(*self.steps, by.step.n))
        return self._replace(others=(*self.others, by.step.n))

    # at the end

    def problem(self, view: View) -> str | None:
        """Return what is wrong with the effect at the end, as a sentence with what was expected; None if nothing is."""
        effect = self.effect
        value = value_at(view.get(effect.entity, effect.key), effect.path)
        if effect.after is not ABSENT and not self.is_elsewhere and _is_equal(value, effect.after):
            return None  # whatever happened in between
        match effect.kind:
            case "create":
                own = [record for record in self.records if record.is_own and not record.is_removed]
                if own or self.steps:
                    steps = [*(record.step for record in own if not record.is_taken), *self.steps]
                    if len(steps) <= 1 or not effect.is_counted:
                        return None
                    return f"its {effect.entity} exists {times(len(steps))}, made by {_steps(steps)}; expected once"
                if any(not record.is_removed for record in self.records):
                    return None
                if self.records:
                    return f"its {effect.entity} {self.records[-1].key} is gone"
                fields = f" with {shown_fields(effect.fields)}" if effect.fields else f" {effect.key}" * effect.is_named
                return f"it had no effect: there is no {effect.entity}{fields}"
            case "delete":
                is_missing = not self.is_there and view.get(effect.entity, effect.key) is not None
                return f"{effect.record} is still there" if is_missing else self._problem_of_repetition()
            case "set":
                return self._problem_of_set(view)
            case _:
                return self._problem_of_addition(view)

    def _problem_of_set(self, view: View) -> str | None:
        effect = self.effect
        record = view.get(effect.entity, effect.key)
        value = value_at(record, effect.path)
        if self.is_there or _is_equal(value, effect.value):
            return self._problem_of_repetition()
        is_text = effect.edit is not None or (isinstance(effect.value, str) and len(effect.value) > _LONG)
        if record is None:
            return f"{effect.record} is gone, and {'.'.join(map(str, effect.path))} never was {shown(effect.value)}"
        actual = "as before" if is_text and _is_equal(value, effect.before) else shown(value)
        return f"{effect.place} is {actual}, expected {shown(effect.value)}"

    def _problem_of_repetition(self) -> str | None:
        if not self.steps or not self.effect.is_counted:
            return None
        n = 1 + len(self.steps) - self.taken_back
        if n <= 1:
            return None
        return f"{self.effect.place} was changed {times(n)}, again by {_steps(self.steps)}; expected once"

    def _problem_of_addition(self, view: View) -> str | None:
        effect = self.effect
        steps = self.steps or self.others[:1]
        n = len(steps) - min(self.taken_back, max(len(steps) - 1, 0))
        did = self._did()
        if not n:
            value = value_at(view.get(effect.entity, effect.key), effect.path)
            return f"{effect.place} never {did}; it is {shown(value)}"
        if n == 1 or not effect.is_counted:
            return None
        return f"{effect.place} {did} {times(n)}, by {_steps(steps)}; expected once"

    def _did(self) -> str:
        effect = self.effect
        if effect.kind == "add":
            return f"got {shown(effect.value)} added" if isinstance(effect.value, str) else f"changed by {effect.value}"
        return f"{'got' if effect.kind == 'insert' else 'lost'} {shown_fields(effect.fields)}"


def _is_equal(value: object, wanted: object) -> bool:
    return value is wanted if value is ABSENT or wanted is ABSENT else equal(value, wanted)


def _steps(steps: Sequence[int]) -> str:
    """Return the steps of a repetition in a sentence."""
    *others, last = map(str, dict.fromkeys(steps))
    return f"steps {', '.join(others)} and {last}" if others else f"step {last}"
