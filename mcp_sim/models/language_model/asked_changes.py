"""Ask a model what a call changed, or whether an altered answer differs as instructed, and read its reply."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, cast

from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.models.language_model.observations import Readable
from mcp_sim.models.language_model.reply import Reply, observation_text, parse_json
from mcp_sim.types import Change, Json, Key, Observation, Record, ToolResult, Turn, View, find_key, frozen, was_written
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.shapes import as_object, types_of
from mcp_sim.types.json_values import in_list, is_key, paired_leaves

NOTHING, UNKNOWN = "none", "unknown"
MAX_CHANGES = 100
"""How many changes of one call are read at most. A reply may repeat itself until its tokens run out."""
MAX_FIELDS = 100
"""How many fields of one record are read at most. A reply may repeat itself until its tokens run out."""
_OPERATIONS = ("create", "update", "delete")


def changes_schema(domain: Domain) -> Record:
    """Return the schema of an answer: `{"changes": "none" | "unknown" | [...]}`."""
    names = sorted(name for name, entity in domain.entities.items() if _is_plain(entity))
    kind: Record = {"type": "string", "enum": names} if names else {"type": "string", "minLength": 1, "maxLength": 60}
    key: Record = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 200}, {"type": "integer"}]}
    change: Record = {
        "type": "object",
        "properties": {
            "op": {"type": "string", "enum": [*_OPERATIONS]},
            "entity": kind,
            "id": key,
            "fields": {"type": "object", "maxProperties": MAX_FIELDS},
        },
        "required": ["op", "entity", "id"],
        "additionalProperties": False,
    }
    listed: Record = {"type": "array", "minItems": 1, "maxItems": MAX_CHANGES, "items": change}
    return {
        "type": "object",
        "properties": {"changes": {"anyOf": [{"type": "string", "enum": [NOTHING, UNKNOWN]}, listed]}},
        "required": ["changes"],
        "additionalProperties": False,
    }


def _is_plain(entity: Entity) -> bool:
    return entity.inside is None and not entity.singleton


@frozen
class ReportedChange:
    """One change as the model says it."""

    op: str
    entity: str
    key: Key
    fields: Record


@frozen
class ReportedChanges:
    """What a model says that a call changed. Without any, the call has only read."""

    items: tuple[ReportedChange, ...]

    @classmethod
    def of(cls, reply: Reply) -> ReportedChanges | None:
        """Return what a reply says; None if it does not say it."""
        try:
            value: Json = as_object(parse_json(observation_text(reply), reply.content)).get("changes")
        except Rejected:
            return None
        if value in (NOTHING, []):
            return cls(())
        if not isinstance(value, list):
            return None
        changes = [_reported(as_object(item)) for item in cast("list[Json]", value)[:MAX_CHANGES]]
        reported = tuple(change for change in changes if change is not None)
        return cls(reported) if len(reported) == len(changes) else None

    def changes(self, turn: Turn, disclosure: Disclosure) -> tuple[Change, ...]:
        """Return the changes, without those that the world cannot follow."""
        view, changes = turn.view, list[Change]()
        for reported in self.items:
            entity = disclosure.domain.entities.get(reported.entity) or Entity(reported.entity, "id")
            change = _change(reported, entity, view, disclosure) if _is_plain(entity) else None
            if change is not None:
                changes.append(change)
                view = view.after([change])
        return tuple(changes)


def _reported(value: Record) -> ReportedChange | None:
    op, entity, key, fields = (value.get(name) for name in ("op", "entity", "id", "fields"))
    if op not in _OPERATIONS or not isinstance(entity, str) or not entity or not _is_key(key):
        return None
    return ReportedChange(cast("str", op), entity, cast("Key", key), as_object(fields))


def _is_key(value: Json) -> bool:
    return is_key(value) and value != ""


def _change(reported: ReportedChange, entity: Entity, view: View, disclosure: Disclosure) -> Change | None:
    """Return a reported change; None if the world cannot follow it."""
    stored_key = find_key(view, entity.name, reported.key)
    key = reported.key if stored_key is None else stored_key
    field = entity.fields.get(entity.key)
    if stored_key is None and field is not None and types_of(field.schema) == ("string",):
        key = str(key)  # the schema of the question allows texts and numbers
    stored = view.get(entity.name, key)
    if reported.op == "delete":
        return None if stored is None else Change("remove", entity.name, key)
    was_used = was_written(view, entity.name, key) and not entity.natural
    is_given = reported.op == "update" and entity.name in disclosure.domain.specified
    if stored is None and (was_used or is_given):
        return None
    said = {
        name: value
        for name, value in reported.fields.items()
        if _fits(entity, name, value, view) and disclosure.may_change(entity.name, stored, name, value)
    }
    return Change("put", entity.name, key, {**(stored or {}), **said, entity.key: key})


def _fits(entity: Entity, name: str, value: Json, view: View) -> bool:
    """Whether a field may have this value: what it links to exists."""
    field = entity.fields.get(name)
    if field is None or field.link is None:
        return True
    values: Sequence[Any] = in_list(value)
    return all(find_key(view, field.link, key) is not None for key in values if _is_key(key))


# altered answers ------------------------------------------------------------------------------------------------------


MAX_DIFFERENCES = 40
"""How many changes of one answer are put to the model; an answer with more is refused. The model is asked about each,
and an alteration that was asked for changes a few."""
MAX_TEXT = 400  # how much of a changed value the question shows, in characters
_ABSENT: Any = object()


def changes_between(true: Observation, altered: Observation) -> list[Record]:
    """Return the changed values: their place, the true and the altered value. The layout of a text does not count."""
    changes = (
        {"place": ".".join(map(str, path)), **_shown("true", before), **_shown("altered", other)}
        for path, before, other in paired_leaves(_data_of(true), _data_of(altered), _ABSENT)
        if not _says_the_same(before, other)
    )
    return [{"number": at, **change} for at, change in enumerate(islice(changes, MAX_DIFFERENCES + 1), 1)]


def judgement_schema(changes: Sequence[Record]) -> Record:
    """Return the schema of an answer: the numbers of the changes that the instruction asks for."""
    number: Record = {"type": "integer", "minimum": 1, "maximum": len(changes)}
    asked: Record = {"type": "array", "items": number, "maxItems": len(changes)}
    return {"type": "object", "properties": {"asked": asked}, "required": ["asked"], "additionalProperties": False}


def problems_of(changes: Sequence[Record], reply: Reply | None) -> list[str]:
    """Return what is wrong with these changes, by the model's judgement of them."""
    try:
        asked = None if reply is None else as_object(parse_json(observation_text(reply), reply.content)).get("asked")
    except Rejected:
        asked = None
    if not isinstance(asked, list):
        return ["it is unknown whether the answer follows the instruction"]
    numbers = {number for number in cast("list[Json]", asked) if isinstance(number, int)}
    unasked = [change for change in changes if change["number"] not in numbers]
    if len(unasked) == len(changes):
        return ["the answer does not follow the instruction"]
    return [f"the instruction does not change {change['place'] or 'the text'}: leave it as it is" for change in unasked]


def _data_of(observation: Observation) -> Json:
    """Return what an answer says: its data, or its text without its layout; with it whether it is an error."""
    body = observation.body
    if not isinstance(body, ToolResult):
        return {"error": str(body)}
    readable = Readable.of(observation)
    value = body.value if readable is None or readable.value is None else readable.value
    return {"isError": True, "text": value} if body.is_error else value


def _says_the_same(value: Json, other: Json) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return value.split() == other.split()
    return value is other or (value is not _ABSENT and other is not _ABSENT and equal(value, other))


def _shown(name: str, value: Json) -> Record:
    """Return a value under a name, shortened; nothing for one that is absent."""
    if value is _ABSENT:
        return {}
    return {name: value[:MAX_TEXT] if isinstance(value, str) else value}
