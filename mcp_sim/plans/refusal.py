"""Failures of calls, worded for the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import cast

from mcp_sim.types import Json, Key, Observation, Record, Tool, ToolResult, View
from mcp_sim.types.domain import Entity
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.shapes import is_open
from mcp_sim.types.json_values import as_text, encode
from mcp_sim.types.lexicon.english import last_word
from mcp_sim.types.result_schemas import result_schema, text_place

_SHOWN = 10
"""The most alternatives that a message lists. An agent chooses among a few; a table may have thousands."""

_RESERVED = frozenset({"kind", "message", "self"})


def label(entity: str) -> str:
    """Return the entity as the beginning of a sentence: `Pull request` for `pull_request`."""
    text = noun(entity)
    return text[:1].upper() + text[1:]


def noun(entity: str) -> str:
    """Return the entity inside a sentence: `pull request`."""
    return entity.rpartition(".")[2].replace("_", " ")


def named(entity: str, value: Json) -> str:
    """Return a record as the beginning of a sentence: `Order W1`, and `Hive A` of a hive that is called so."""
    text = value_text(value)
    return text if text.lower().startswith(f"{noun(entity)} ") else f"{label(entity)} {text}"


def value_text(value: Json) -> str:
    """Return a value as a sentence names it."""
    return value if isinstance(value, str) and value and not value.isspace() else repr(value)


def quoted(value: Json) -> str:
    """Return a value inside a sentence: texts in quotes, other values as JSON."""
    return f"'{value}'" if isinstance(value, str) else encode(value).decode()


def choices_text(values: Iterable[Json]) -> str:
    """Return the choices as a text, cut off if they are many: `'open' or 'pending'`."""
    shown = [quoted(value) for value in islice(values, _SHOWN + 1)]
    if len(shown) > _SHOWN:
        return ", ".join([*shown[:_SHOWN], "..."])
    return " or ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) if shown else "nothing"


def not_found(tool: Tool, entity: str, value: Json, name: str | None, others: Sequence[Key] = ()) -> Observation:
    """Return the failure that a record does not exist.

    `name` is the argument that asked for it, `others` are existing keys.
    """
    slots = {f"{entity}_id": value, **({name.rsplit(".", 1)[-1]: value} if name else {})}
    slots = {slot: content for slot, content in slots.items() if slot not in _RESERVED}
    more: Record = {**_named(entity), "key": value, "id": value, "argument": name, "value": value}
    sentence = f"{named(entity, value)} not found"
    if others:
        near = did_you_mean(str(value), [str(other) for other in others])
        sentence += near or f". Available: {', '.join(str(other) for other in others)}"
    return tool.failure("not_found", sentence, **{**slots, **more})


def nothing_left(tool: Tool, entity: str) -> Observation:
    """Return the answer to a question for the next task if nothing is left: a success where the result can be one."""
    sentence, place = f"No {noun(entity)} is left", text_place(tool)
    if tool.output_schema is not None and place is None and not is_open(result_schema(tool)):
        return tool.failure("not_found", sentence, entity=entity)
    value: Json = sentence if tool.prose else {last_word(entity): None, "message": sentence}
    return tool.success(value, place)


def neighbours(view: View, entity: Entity) -> Sequence[Key]:
    """Return the existing keys, if they are natural names and few."""
    if not entity.natural or view.count(entity.name) > _SHOWN:
        return ()
    return [key for key, _ in view.rows(entity.name)]


def conflict(tool: Tool, entity: str, key: Json, what: str, **slots: Json) -> Observation:
    """Return the failure that the state of a record forbids the call: `Order W1 cannot be cancelled: ...`."""
    known: Record = {**_named(entity), "key": key, "id": key, "value": key}
    subject = label(entity) if key == entity else named(entity, key)  # there is only one account
    return tool.failure("conflict", f"{subject} {what}", **{**known, **slots})


def _named(entity: str) -> Record:
    """Return the slots for the name of an entity: as it is, inside a sentence, and at its beginning."""
    return {"entity": entity, "noun": noun(entity), "label": label(entity)}


def invalid(tool: Tool, argument: str | None, value: Json, sentence: str) -> Observation:
    """Return the failure that an argument is invalid."""
    return tool.failure("invalid", sentence, argument=argument, value=value, key=value)


def sentence_of(failure: Observation) -> str:
    """Return the message of a failure, as part of another result."""
    body = failure.body
    value: Json = body.data if isinstance(body, ToolResult) else getattr(body, "message", "")
    texts = (
        [text for text in cast("Record", value).values() if isinstance(text, str)] if isinstance(value, dict) else []
    )
    return as_text(texts[0] if texts else value)
