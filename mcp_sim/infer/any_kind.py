"""Which tools look a record up by its id alone, of whichever kind it is: `get_details_by_id(id)`, `fetch(id)`?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcp_sim.infer.looks import Look
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.lexicon.words import is_plural, singular, snake, vocabulary, words
from mcp_sim.types.plans import Envelope, Plan

_ANY = vocabulary(
    "detail details object record item entity entry resource element thing node document data info information any "
    "anything"
)
_IDS = vocabulary("id key uuid identifier ref reference")
_SURE = 0.75


def of_any_kind(looks: Sequence[Look], declared: Mapping[str, Entity]) -> dict[str, Plan]:
    """The plans of such tools."""
    tables = {name: one for name, one in declared.items() if not one.singleton and one.inside is None}
    found: dict[str, Plan] = {}
    for look in looks:
        key = None if look.single is not None or _is_said_otherwise(look.said) else _id_asked_for(look)
        kinds = _kinds_named(look.tool.description, tables) if key is not None else []
        if key is not None and look.entity not in tables and len(kinds) > 1:
            why = f"looks up a record by its id alone: {', '.join(kinds)}"
            plan = Plan(
                look.tool.id, "get", backend="any_record", arguments={"id": key}, envelope=Envelope(record=""),
                confidence=_SURE, reasons=(why,),
            )  # fmt: skip
            found[look.tool.id] = replace(plan, **look.said)
    return found


def _is_said_otherwise(said: Mapping[str, Any]) -> bool:
    """Does a spec say that a tool does another thing, or to what?"""
    is_other = said.get("verb", "get") != "get" or said.get("backend", "any_record") != "any_record"
    return is_other or not {"entity", "key"}.isdisjoint(said)


def without_nouns(looks: Sequence[Look], plans: Mapping[str, Plan]) -> list[Look]:
    """The looks; what such tools are called after is no kind of record."""
    return [replace(look, verb="none", entity="") if look.tool.id in plans else look for look in looks]


def _id_asked_for(look: Look) -> str | None:
    """The only argument that there must be, where it is an id and the tool speaks of nothing in particular."""
    needed = [*required(look.input)]
    if look.reading.verb not in {"get", "list", "search"} or len(needed) != 1 or properties(look.output):
        return None
    stem, _, ending = snake(needed[0]).rpartition("_")
    is_text = main_type(properties(look.input)[needed[0]]) in {"string", ""}
    is_id = ending in _IDS and (not stem or stem in _ANY)
    return needed[0] if is_id and is_text and _ANY.issuperset(look.reading.noun) else None


def _kinds_named(about: str, tables: Mapping[str, Entity]) -> list[str]:
    """The kinds of records that a description names."""
    spoken = words(about.lower())
    plain = [singular(word) if is_plural(word) else word for word in spoken]
    return [name for name in tables if _occurs(words(name), plain)]


def _occurs(phrase: Sequence[str], text: Sequence[str]) -> bool:
    return any([*text[at : at + len(phrase)]] == [*phrase] for at in range(len(text) - len(phrase) + 1))
