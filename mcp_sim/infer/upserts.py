"""Which tools set what there is one of for each of something, or make it: `set_budget(category, amount)`?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from mcp_sim.infer.keys import noun_of_key
from mcp_sim.infer.names import Reading
from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.shapes import expanded, main_type, properties, required
from mcp_sim.types.lexicon.words import snake

_SHOWS = frozenset({"get", "list", "search"})


def upserting(readings: Mapping[str, Reading], tools: Mapping[str, Tool], known: Collection[str]) -> dict[str, Reading]:
    """The readings, by tool id; what sets a number for a text makes or changes a record of what other tools show.

    That is so where none of them makes such records, where nothing is named by an id, and where they are not `known`
    otherwise.
    """
    made = {one.noun for one in readings.values() if one.verb == "create"}
    shown = [one.noun for one in readings.values() if one.verb in _SHOWS]
    return {
        id_: replace(one, verb="create", word="upsert")
        if one.word == "set"
        and one.noun
        and one.noun not in made
        and "_".join(one.noun) not in known
        and any(noun[: len(one.noun)] == one.noun for noun in shown)
        and _sets_for_each(expanded(tools[id_].input_schema))
        else one
        for id_, one in readings.items()
    }


def _sets_for_each(schema: Record) -> bool:
    """Is a number given, and a text that says for what?"""
    kinds = {name: main_type(part) for name, part in properties(schema).items()}
    names_record = any(snake(name) == "id" or noun_of_key(name) for name in kinds)
    numbers = [name for name in required(schema) if kinds.get(name) in {"integer", "number"}]
    return len(numbers) == 1 and "string" in kinds.values() and not names_record
