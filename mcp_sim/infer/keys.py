"""Arguments that name a record by its key."""

from __future__ import annotations

from collections.abc import Collection

from mcp_sim.infer.argument_names import OPTIONS, QUERIES
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import main_type, properties, property_of, required, required_among
from mcp_sim.types.lexicon.english import last_word, snake, vocabulary
from mcp_sim.types.lexicon.translations import noun_in_english
from mcp_sim.types.plans import Verb

_FILE_NAMES = vocabulary("filename file_name file_path filepath")
_KEPT_IN_FILES = vocabulary("file document presentation workbook notebook spreadsheet deck")
"""Entities that are files, named by their file name."""

_KEY_ENDINGS = vocabulary("id key uuid number code slug name identifier no ref reference handle sku")


def key_argument(verb: Verb, entity: str, key: str, schema: Record) -> tuple[str | None, int]:
    """Return the argument that names one record, and a score: 3 certain, 2 good, 1 the only candidate."""
    names = {snake(name) for name in properties(schema)}
    scored = [
        (_key_score(_strip_old(snake(name), names), entity, key), name)
        for name, part in properties(schema).items()
        if _is_scalar(part)
    ]
    asked = required(schema)
    best = max(scored, key=lambda entry: (entry[0], entry[1] in asked), default=(0, ""))
    if best[0]:
        return best[1], best[0]
    needed = [name for name in required_among(properties(schema), schema) if _is_scalar(property_of(schema, name))]
    if verb in {"get", "delete"} and len(needed) == 1 and snake(needed[0]) not in QUERIES | OPTIONS:
        return needed[0], 1
    return None, 0


def _strip_old(argument: str, others: Collection[str]) -> str:
    """Return `name` for `old_name` beside `new_name`."""
    bare = argument.removeprefix("old_")
    return bare if bare != argument and f"new_{bare}" in others else argument


def _key_score(argument: str, entity: str, key: str) -> int:
    short = entity.rsplit("_", 1)[-1]
    if argument in {f"{entity}_id", f"id_{entity}", "id", snake(key)}:
        return 3
    named = {f"{name}_{ending}" for name in (entity, short) for ending in _KEY_ENDINGS}
    if argument in named | {entity, short, "uuid", "key", "identifier", "path", "slug"}:
        return 2
    is_file = argument in _FILE_NAMES and short in _KEPT_IN_FILES
    return 2 if is_file or _is_foreign(argument, entity) or _is_shortened(argument, entity) else 0


def _is_foreign(argument: str, entity: str) -> bool:
    """Whether it is the number of an entity in another language: `订单编号`."""
    ending = argument.removeprefix(entity).strip("_")
    return not argument.isascii() and bool(ending) and ending != argument and noun_in_english(ending) == "number"


def noun_of_key(argument: str) -> str:
    """Return the noun of a key argument: `booking` of `booking_reference`. '' if it is no key."""
    stem, _, ending = snake(argument).rpartition("_")
    return stem if ending in {"id", "number", "no", "ref", "reference"} else ""


def _is_shortened(argument: str, entity: str) -> bool:
    """Whether it is a short key: `pr_id` of a pull request, `repo_slug` of a repository."""
    stem, _, ending = argument.rpartition("_")
    parts = entity.split("_")
    if ending not in _KEY_ENDINGS or not stem:
        return False
    initials = len(parts) > 1 and stem == "".join(part[0] for part in parts)
    is_prefix = len(stem) > 2 and parts[-1].startswith(stem)
    return initials or is_prefix or (len(parts) > 1 and stem == parts[0] and ending in {"name", "slug"})


def _is_scalar(schema: Record) -> bool:
    return main_type(schema) in {"string", "integer", "number", ""}


def is_id_name(name: str) -> bool:
    """Whether a field or an argument of this name holds an id, or several."""
    return last_word(name) in {"id", "ids"}
