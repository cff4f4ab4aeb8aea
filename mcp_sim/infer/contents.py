"""Which tools show no more of a record than a list that it has: the comments of a ticket, the menu of a restaurant?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.lexicon.words import plural, singular_phrase, snake, words
from mcp_sim.types.plans import Envelope, Plan

_LOOKS = frozenset({"get", "list"})


def contents_shown(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools."""
    tables = draft.tables()
    found: dict[str, Plan] = {}
    for look, plan in draft.of_many():
        own = draft.entities.get(look.entity)
        is_part = own is not None and own.inside and plan.backend == "records"
        if look.reading.verb not in _LOOKS or is_part or plan.choice is not None:
            continue
        shown = _shown(look, [own] if own is not None and look.entity in draft.held else tables)
        found |= {look.tool.id: shown} if shown is not None else {}
    return found


def _shown(look: Look, tables: Sequence[Entity]) -> Plan | None:
    place = _place(look.output)
    for holder in tables if place is not None else ():
        key, score = key_argument("update", holder.name, holder.key, look.input)
        if key is None or score < 2 or not required(look.input) <= {key}:
            continue
        lists = {snake(name): name for name, one in holder.fields.items() if main_type(one.schema) == "array"}
        name = next((name for name in _names(look) if name in lists), None)
        if name is not None:
            return _plan(look, holder, key, place or "", lists[name])
    return None


def _plan(look: Look, holder: Entity, key: str, place: str, field: str) -> Plan:
    why = f"the {field} stand in each {holder.name}"
    return Plan(
        look.tool.id, "get", holder.name, key=key, shows={place: field}, envelope=Envelope(), confidence=0.8,
        reasons=(why,),
    )  # fmt: skip


def _names(look: Look) -> Iterator[str]:
    """What the list may be called: as the noun of the tool, or as the last word of its name."""
    noun = look.reading.noun
    for at in range(len(noun)):
        phrase = singular_phrase(noun[at:])
        yield from (plural(phrase), phrase)
    yield from words(look.tool.name)[-1:]


def _place(output: Record) -> str | None:
    """Where the list stands in the result: '' where it is all of it, None where the result tells more."""
    parts = properties(output)
    lists = [name for name, part in parts.items() if main_type(part) == "array"]
    return "" if not parts else lists[0] if len(lists) == len(parts) == 1 else None
