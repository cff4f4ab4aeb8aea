"""Creates that update the record if it exists, and the arguments that name a new record."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.keys import key_argument, noun_of_key
from mcp_sim.infer.names import ParsedName
from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.lexicon.english import snake, vocabulary

UPSERT = "upsert"
_COPY_VERBS = vocabulary("copy duplicate replicate clone")
_NAMING_VERBS = vocabulary("create add new insert register make log save store define declare")
"""Verbs whose object is the new record, so that a required id of it is the new record's."""

_SHOWS = frozenset({"get", "list", "search"})


def new_key_argument(features: ToolFeatures, key: str) -> str | None:
    """Return the argument of a create with the key of the new record: a required `<entity>_id`.

    `key` is the key field of the entity.
    """
    name, score = key_argument("update", features.entity, key, features.input)
    if features.parsed.word == UPSERT:
        return name if score > 1 else None
    is_id = name is not None and snake(name).endswith("id") and name in required(features.input)
    return name if is_id and score > 2 and features.parsed.word in _NAMING_VERBS else None


def origin_argument(features: ToolFeatures, key: str) -> str | None:
    """Return the argument by which a create names the record that it copies.

    `key` is the key field of the entity.
    """
    name, score = key_argument("get", features.entity, key, features.input)
    return name if score > 1 and features.parsed.word in _COPY_VERBS else None


def find_upserts(
    parsed_names: Mapping[str, ParsedName], tools: Mapping[str, Tool], known: Collection[str]
) -> dict[str, ParsedName]:
    """Return the parsed names, by tool id, with upserts marked.

    An upsert sets a number for a text (`set_budget(category, amount)`). Other tools show such records, none creates
    them, none names one by an id, and they are not `known`.
    """
    made = {one.noun for one in parsed_names.values() if one.verb == "create"}
    shown = {
        one.noun[:size] for one in parsed_names.values() if one.verb in _SHOWS for size in range(1, len(one.noun) + 1)
    }
    found = dict(parsed_names)
    for id_, one in parsed_names.items():
        is_new = one.word == "set" and one.noun in shown - made and "_".join(one.noun) not in known
        if is_new and _sets_for_each(expanded(tools[id_].input_schema)):
            found[id_] = replace(one, verb="create", word=UPSERT)
    return found


def _sets_for_each(schema: Record) -> bool:
    """Whether a tool takes a number, and a text that it applies to."""
    kinds = {name: main_type(part) for name, part in properties(schema).items()}
    names_record = any(snake(name) == "id" or noun_of_key(name) for name in kinds)
    numbers = [name for name in required(schema) if kinds.get(name) in {"integer", "number"}]
    return len(numbers) == 1 and "string" in kinds.values() and not names_record
