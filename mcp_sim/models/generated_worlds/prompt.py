"""Prompts for inventing records: a system prompt for all tables, then a question per batch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from mcp_sim.models.language_model.prompt import Message, encodable
from mcp_sim.types import Json, Key, Record, frozen, is_key
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain, Entity

MAX_TAKEN = 80
"""How many of the values that were taken last a question lists. The newest values keep a model from repeating itself;
all of them would crowd out the question."""
MAX_LABEL = 120  # up to 32 candidates are listed in each question
MAX_QUOTE = 20_000  # how much of a rejected reply is quoted, in characters

_LABEL_FIELDS = 4  # how many fields describe a record that others may link to


@frozen
class Table:
    """One table in a question: its name, its number of records, and the schemas of its fields."""

    name: str
    total: int
    fields: Mapping[str, Record]


def system(domain: Domain) -> str:
    """Return the system prompt: rules, and the world's description, time and tables."""
    rules = (
        files("mcp_sim.models.generated_worlds").joinpath("prompts", "system.md").read_text(encoding="utf-8").strip()
    )
    tables = "\n".join(
        f"- {entity.name}: "
        + ", ".join(f"{field.name} (a {field.link})" if field.link else field.name for field in entity.fields.values())
        for entity in domain.entities.values()
    )
    described = domain.description.strip() or "Whatever the tables suggest."
    return f"{rules}\n\n# World\n\n{described}\n\nIt is {iso(domain.now)} there.\n\n# Tables\n\n{tables}"


def question(
    table: Table,
    first: int,
    settled: Sequence[Record],
    links: Mapping[str, Sequence[Record]],
    taken: Mapping[str, Sequence[str]],
) -> str:
    """Return the question for the records of a table from index `first` on."""
    parts = [
        f"### Table {table.name}\n**Fields:**\n{_fenced(dict(table.fields))}",
        *([f"**Links:**\n{_fenced(dict(links))}"] if links else []),
        *([f"**Taken:**\n{_fenced(dict(taken))}"] if taken else []),
        f"**Settled:**\n{_fenced(list(settled))}",
        f"**Answer:** the records {first + 1} to {first + len(settled)} of {table.total}",
    ]
    return encodable("\n\n".join(parts))


def conversation(system_text: str, question: str) -> list[Message]:
    """Return the beginning of the conversation about one batch."""
    return [{"role": "system", "content": encodable(system_text)}, {"role": "user", "content": question}]


def again(reply: str, settled: Sequence[Record], problems: Iterable[str]) -> list[Message]:
    """Return the messages after a reply: the reply, its problems, and the records that are still needed."""
    named = "\n".join(f"- {problem}" for problem in problems)
    question = (
        f"**Problems:**\n{named}\n\nThe other records are kept. Say these again, without the problems.\n\n"
        f"**Settled:**\n{_fenced(list(settled))}\n\n**Answer:** these {len(settled)} records"
    )
    shown = encodable(reply[:MAX_QUOTE]) or "(nothing)"
    return [{"role": "assistant", "content": shown}, {"role": "user", "content": encodable(question)}]


def labelled(key: Key, record: Record, entity: Entity, tables: Mapping[str, Mapping[Key, Record]]) -> Record:
    """Return a record in the form of a link target: its key and a short description."""
    texts = [text for field in entity.fields.values() if (text := _label_part(field.name, record, entity, tables))]
    return {"key": key, "is": "; ".join(texts[:_LABEL_FIELDS])[:MAX_LABEL]}


def _label_part(name: str, record: Record, entity: Entity, tables: Mapping[str, Mapping[Key, Record]]) -> str:
    """Return a field as a short text; for a link, the name of the linked record."""
    value: Json = record.get(name)
    link = entity.fields[name].link
    if name == entity.key or not is_key(value):
        return ""
    if link is None:
        return value if isinstance(value, str) and len(value) <= MAX_LABEL // 2 else ""
    linked = tables.get(link, {}).get(value, {})
    return next((f"{link} {text}" for text in linked.values() if isinstance(text, str) and text != value), "")


def _fenced(value: Json) -> str:
    return f"```json\n{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n```"
