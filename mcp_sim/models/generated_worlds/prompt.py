"""What is a model told that invents records? The same of every table first, then what differs from batch to batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from mcp_sim.models.language_model.prompt import Message
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain, Entity

MOST_TAKEN = 80
"""So many of the values that were taken last are told."""
LONGEST_LABEL = 120
LONGEST_AGAIN = 20_000
"""How much of an answer is shown again, in characters."""

_TOLD = 4
"""So many fields tell a record from others."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table as a batch is told of it: its fields, and of how many records it is the description."""

    name: str
    total: int
    fields: Mapping[str, Record]


def system(domain: Domain) -> str:
    """The rules, and the world: what it is, what tables it has, what time it is there."""
    rules = (
        files("mcp_sim.models.generated_worlds").joinpath("prompts", "system.md").read_text(encoding="utf-8").strip()
    )
    tables = "\n".join(f"- {entity.name}: {', '.join(_columns(entity))}" for entity in domain.entities.values())
    described = domain.description.strip() or "Whatever the tables suggest."
    return f"{rules}\n\n# World\n\n{described}\n\nIt is {iso(domain.now)} there.\n\n# Tables\n\n{tables}"


def question(
    table: Table,
    first: int,
    settled: Sequence[Record],
    links: Mapping[str, Sequence[Record]],
    taken: Mapping[str, Sequence[str]],
) -> str:
    """What is asked for: the records of a table from the first-th on (from 0)."""
    parts = [
        f"### Table {table.name}\n**Fields:**\n{_fenced(dict(table.fields))}",
        *([f"**Links:**\n{_fenced(dict(links))}"] if links else []),
        *([f"**Taken:**\n{_fenced(dict(taken))}"] if taken else []),
        f"**Settled:**\n{_fenced(list(settled))}",
        f"**Answer:** the records {first + 1} to {first + len(settled)} of {table.total}",
    ]
    return _encodable("\n\n".join(parts))


def conversation(system_text: str, asked: str) -> list[Message]:
    """The beginning of the conversation about one batch."""
    return [{"role": "system", "content": _encodable(system_text)}, {"role": "user", "content": asked}]


def again(said: str, settled: Sequence[Record], problems: Iterable[str]) -> list[Message]:
    """What the model said, what is wrong with it, and which records are still asked for."""
    named = "\n".join(f"- {problem}" for problem in problems)
    asked = (
        f"**Problems:**\n{named}\n\nThe other records are kept. Say these again, without the problems.\n\n"
        f"**Settled:**\n{_fenced(list(settled))}\n\n**Answer:** these {len(settled)} records"
    )
    shown = _encodable(said[:LONGEST_AGAIN]) or "(nothing)"
    return [{"role": "assistant", "content": shown}, {"role": "user", "content": _encodable(asked)}]


def labelled(key: Key, record: Record, entity: Entity, tables: Mapping[str, Mapping[Key, Record]]) -> Record:
    """A record as one that others may link to: its key, and what tells it from the others."""
    told = [text for field in entity.fields.values() if (text := _telling(field.name, record, entity, tables))]
    return {"key": key, "is": "; ".join(told[:_TOLD])[:LONGEST_LABEL]}


def _telling(name: str, record: Record, entity: Entity, tables: Mapping[str, Mapping[Key, Record]]) -> str:
    """What a field says in a few words; of a link, what the linked record is called."""
    value: Json = record.get(name)
    link = entity.fields[name].link
    if name == entity.key or not isinstance(value, str | int) or isinstance(value, bool):
        return ""
    if link is None:
        return value if isinstance(value, str) and len(value) <= LONGEST_LABEL // 2 else ""
    linked = tables.get(link, {}).get(value, {})
    return next((f"{link} {text}" for text in linked.values() if isinstance(text, str) and text != value), "")


def _columns(entity: Entity) -> list[str]:
    fields = [field for field in entity.fields.values() if field.derived is None]
    return [f"{field.name} (a {field.link})" if field.link else field.name for field in fields]


def _fenced(value: Json) -> str:
    return f"```json\n{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n```"


def _encodable(text: str) -> str:
    """The text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
