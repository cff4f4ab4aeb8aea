"""Keep concealed and withheld content out of prompts, and detect it in replies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from mcp_sim.types import Change, Json, Record, View, frozen
from mcp_sim.types.domain import Concealed, Domain
from mcp_sim.types.json_values import canonical, map_texts

_HIDDEN: Any = object()  # marks a part that is left out


@frozen
class Disclosure:
    """The part of the world that a prompt may show: not what is concealed from the agent, nor `withheld` texts.

    What is left out of prompts stays true, and the world still shows it to agents where they may see it.
    """

    domain: Domain
    withheld: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether prompts may show everything."""
        return not (self.domain.concealed or self.withheld)

    def record(self, entity: str, record: Record | None) -> Record | None:
        """Return the part of a record that may be shown, or None."""
        if record is None:
            return None
        for concealed in self._about(entity):
            if concealed.fits(record):
                if not concealed.fields:
                    return None
                record = _without(record, concealed)
        return redact(record, self.withheld)

    def hidden(self, entity: str, record: Record | None) -> frozenset[str]:
        """Return the fields of a record that may not be shown."""
        if record is None or self.is_whole:
            return frozenset()
        fitting = (concealed for concealed in self._about(entity) if concealed.fits(record))
        hidden = frozenset[str]().union(*(concealed.fields or record.keys() for concealed in fitting))
        return hidden | {name for name, value in record.items() if redact(value, self.withheld) != value}

    def may_change(self, entity: str, record: Record | None, name: str, value: Json) -> bool:
        """Whether a model may change a field of a record: it may see the field, and the record stays as concealed."""
        if record is None or self.is_whole:
            return True
        if name in self.hidden(entity, record):
            return False
        changed = {**record, name: value}
        return all(concealed.fits(changed) for concealed in self._about(entity) if concealed.fits(record))

    def is_counted(self, entity: str) -> bool:
        """Whether the number of records may be shown. It may not if some of them must seem not to exist."""
        return all(concealed.fields for concealed in self._about(entity))

    def written(self, changes: Iterable[Change]) -> list[Record]:
        """Return the part of writes that may be shown, in the form of the ledger."""
        shown = [(change, self.record(change.entity, change.record)) for change in changes]
        return [
            change.to_json() | ({} if record is None else {"record": record})
            for change, record in shown
            if record is not None or change.record is None
        ]

    def value(self, view: View, entity: str | None, value: Json) -> Json:
        """Return the part of a tool's result that may be shown; `view` has the records in it."""
        disclosed = self._disclosed(view, entity, value) if self.domain.concealed else value
        return None if disclosed is _HIDDEN else redact(disclosed, self.withheld)

    def _about(self, entity: str) -> Iterator[Concealed]:
        return (concealed for concealed in self.domain.concealed if concealed.entity == entity)

    def _disclosed(self, view: View, entity: str | None, value: Json) -> Json:
        match value:
            case dict():
                shown = self._shown(view, entity, cast("Record", value))
                if shown is _HIDDEN:
                    return _HIDDEN
                parts = ((name, self._disclosed(view, entity, field_value)) for name, field_value in shown.items())
                return {name: field_value for name, field_value in parts if field_value is not _HIDDEN}
            case list():
                rows = (self._disclosed(view, entity, row) for row in cast("list[Json]", value))
                return [row for row in rows if row is not _HIDDEN]
            case _:
                return value

    def _shown(self, view: View, entity: str | None, value: Record) -> Record:
        """Return an object without the concealed fields of the record that it shows, if it shows one."""
        for concealed in self.domain.concealed:
            key: Json = value.get(self.domain.entities[concealed.entity].key)
            if not isinstance(key, str | int):
                value = _without(value, concealed) if concealed.entity == entity else value
                continue
            stored = view.get(concealed.entity, key)
            if stored is None or not concealed.fits(stored):
                continue
            if not concealed.fields:
                return _HIDDEN
            value = _without(value, concealed)
        return value


def _without(record: Record, concealed: Concealed) -> Record:
    return {name: value for name, value in record.items() if name not in concealed.fields}


CHAT_MARKS = ("<|im_start|>", "<|im_end|>")  # what chat templates put around messages

MARKS = (
    "<think>",
    "</think>",
    "<predicted_observation>",
    "</predicted_observation>",
    "**Environment Observation:**",
    "**Action:**",
    "**World:**",
    "**Answer:**",
    "**Instruction:**",
    "**Changes:**",
    *CHAT_MARKS,
)
"""Markup of prompts, which no real system shows."""
_MARK = re.compile("|".join(map(re.escape, MARKS)))

REASONING_PREFIX = 120  # number of characters of reasoning whose repetition is not a coincidence

HIDDEN = "(withheld)"


def find_leaks(value: Json, reasoning: str, withheld: Sequence[str], arguments: Record) -> list[str]:
    """Return the problems of a reply that shows markup, reasoning or withheld texts, without repeating the latter.

    Texts that the call's own arguments contain are not leaks.
    """
    given, texts = canonical(arguments), list(_texts(value))
    marks = {*_MARK.findall("\n".join(texts))}
    problems = [
        f"the answer holds {mark!r}, which no real system would show"
        for mark in MARKS
        if mark in marks and mark not in given
    ]
    beginning = reasoning.strip()[:REASONING_PREFIX]
    if len(beginning) == REASONING_PREFIX and any(beginning in text for text in texts):
        problems.append("the answer repeats the reasoning")
    known = _plain(given)
    secrets = [secret for secret in map(_plain, withheld) if secret and secret not in known]
    plain = [*map(_plain, texts)] if secrets else []
    if any(secret in text for secret in secrets for text in plain):
        problems.append(  # prose: data
            "the answer reveals what the agent has to find out by itself; leave it out"
        )
    return problems


def without_chat_marks(text: str, arguments: Record) -> str:
    """Return a reply without the marks of chat templates, except those that the call's own arguments contain."""
    given = canonical(arguments)
    for mark in CHAT_MARKS:
        if mark not in given:
            text = text.replace(mark, "")
    return text


def redact(value: Json, withheld: Sequence[str]) -> Json:
    """Return the value with every text replaced that contains a withheld one."""
    secrets = [secret for secret in map(_plain, withheld) if secret]
    if not secrets:
        return value
    return map_texts(value, lambda text: HIDDEN if any(secret in _plain(text) for secret in secrets) else text)


def _texts(value: Json) -> Iterator[str]:
    """Yield every text in a value, property names included."""
    left: list[Any] = [value]
    while left:
        inner = left.pop()
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, dict):
            body = cast("Record", inner)
            yield from body
            left.extend(body.values())
        elif isinstance(inner, list):
            left.extend(cast("list[Any]", inner))


def _plain(text: str) -> str:
    """Return the text in lower case, with single spaces."""
    return " ".join(text.casefold().split())
