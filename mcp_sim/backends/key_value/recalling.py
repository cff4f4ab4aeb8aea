"""What is said of an entry beside its value, and which entries does that narrow?"""

from __future__ import annotations

from mcp_sim.backends.key_value.entries import Store
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso
from mcp_sim.types.json_schema.shapes import as_object, expanded, properties
from mcp_sim.types.json_text import encode
from mcp_sim.types.lexicon.words import singular, snake


def said_besides(store: Store) -> Record:
    """What a call says of the entry that it sets, or leaves to what is usual; and when that was."""
    usual = {
        name: part["default"]
        for name, part in properties(expanded(store.tool.input_schema)).items()
        if "default" in part
    }
    said = {**usual, **store.given}
    about = {snake(name): value for name, value in said.items() if name not in store.roles.values()}
    return {**about, "created_at": iso(store.now)} if about else {}


def recall(store: Store) -> Outcome:
    """All entries; those alone that the key and what is said besides name. There may be none."""
    limit = store.get("limit")
    key = store.get("key")
    wanted = {snake(name): value for name, value in store.given.items() if name not in store.roles.values()}
    rows: list[Json] = [
        {"key": known, "value": record["value"], **as_object(record.get("about"))}
        for known, record in store.entries()
        if key in (None, known) and _is_meant(as_object(record.get("about")), wanted)
    ]
    shown = rows[:limit] if isinstance(limit, int) and limit > 0 else rows
    facts: Record = {"items": shown, "total": len(rows)}
    return Outcome(encode(shown).decode(), facts, is_json=True)


def _is_meant(about: Record, wanted: Record) -> bool:
    """Is what was said of an entry what is asked for? What is never said of entries narrows nothing."""
    pairs = ((about[one], value) for name, value in wanted.items() if (one := _field(about, name)) is not None)
    return all(has in value if isinstance(value, list) else has == value for has, value in pairs)


def _field(about: Record, name: str) -> str | None:
    return next((one for one in (name, singular(name)) if one in about), None)
