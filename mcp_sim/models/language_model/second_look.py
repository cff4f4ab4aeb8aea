"""Answer a call for a fault that looks twice: the one reply of the model, rendered against another view."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from mcp_sim.models.language_model.absorption import OMITTED, Contradiction, corrected
from mcp_sim.models.language_model.adoption import Adoption
from mcp_sim.models.language_model.observations import Readable
from mcp_sim.models.language_model.subjects import Subject
from mcp_sim.types import Change, Key, Observation, ToolResult, Transition, Turn, View, frozen
from mcp_sim.types.conditions import equal
from mcp_sim.types.json_values import map_leaves

_DIGITS = re.compile(r"\d+")


@frozen
class SecondLook:
    """The answer to a call, kept while the call lasts."""

    turn: Turn
    observation: Observation
    transition: Transition

    def is_of(self, turn: Turn) -> bool:
        """Whether a turn is another look at the same call, or the repetition of it."""
        return turn.index == self.turn.index and turn.call == self.turn.call and turn.view is not self.turn.view

    def again(self, adoption: Adoption) -> Transition:
        """Return what the call does in another view: the same reply, with what that view has."""
        if self.transition.changes:
            return self._repeated(adoption)
        view = adoption.turn.view
        if adoption.draft is not None and not adoption.draft.ok and self.transition.observation.ok:
            return Transition(adoption.draft.transition.observation, guesses=self.transition.guesses)
        readable = Readable.of(self.transition.observation)
        if readable is None:
            return self.transition
        contradictions = list(self._differences(adoption.subjects(readable.value), view))
        if not contradictions:
            return self.transition
        body = readable.write(adoption.with_total(corrected(readable.value, contradictions), contradictions))
        observation = replace(self.transition.observation, body=body)
        return replace(self.transition, observation=observation, absorbed=(), unchecked=frozenset())

    def _differences(self, subjects: Sequence[Subject], view: View) -> Iterator[Contradiction]:
        """Yield what the other view has otherwise: other values, and rows that it does not have."""
        for subject in subjects:
            then, now = view.get(*subject.identity), self.turn.view.get(*subject.identity)
            if then is None and now is not None:
                yield Contradiction(subject.path, "", OMITTED)
            for name, shown in subject.fields():
                if then is not None and name in then and not equal(then[name], shown):
                    yield Contradiction((*subject.path, name), "", then[name])

    def _repeated(self, adoption: Adoption) -> Transition:
        """Return the transition of a repeated write. A repeated create gets a new id."""
        before, view = self.turn.view, adoption.turn.view
        renamed: dict[Key, Key] = {}
        changes = list[Change]()
        for change in self.transition.changes:
            key, record, entity = change.key, change.record, adoption.domain.entities.get(change.entity)
            is_new = record is not None and before.get(change.entity, key) is None
            if is_new and entity is not None and not entity.natural:
                key = renamed[change.key] = next_key(view, change.entity, change.key)
                record = {**(record or {}), entity.key: key}
            changes.append(replace(change, key=key, record=record, expected=None))
        body = self.transition.observation.body
        if isinstance(body, ToolResult) and renamed:
            body = with_keys(body, renamed)
        observation = replace(self.transition.observation, body=body)
        return replace(self.transition, observation=observation, changes=tuple(changes))


def next_key(view: View, entity: str, key: Key) -> Key:
    """Return the next unused id after one of the same form."""
    while view.get(entity, key) is not None or view.version(entity, key) > 0:
        key = _after(key)
    return key


def _after(key: Key) -> Key:
    if isinstance(key, int):
        return key + 1
    numbers = [*_DIGITS.finditer(key)]
    if not numbers:
        return f"{key}-2"
    digits = numbers[-1]
    return f"{key[: digits.start()]}{int(digits[0]) + 1:0{len(digits[0])}}{key[digits.end() :]}"


def with_keys(body: ToolResult, renamed: Mapping[Key, Key]) -> ToolResult:
    """Return the result with other ids."""
    if body.form in ("structured", "json"):
        return body.with_value(
            map_leaves(body.value, lambda leaf: leaf if isinstance(leaf, bool | float) else renamed.get(leaf, leaf))
        )
    if body.form == "text":
        text = cast("str", body.value)
        for key, new in renamed.items():
            text = re.sub(rf"(?<!\w){re.escape(str(key))}(?!\w)", str(new).replace("\\", r"\\"), text)
        return replace(body, value=text)
    return body
