"""Arguments that name a record by its key."""

from __future__ import annotations

from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import main_type, properties, required, required_among
from mcp_sim.types.lexicon.english import noun_of_id, snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.lexicon.translations import noun_in_english
from mcp_sim.types.plans import Verb

_KEY_ENDINGS, _NUMBER_ENDINGS = terms("arguments.key_ending"), terms("arguments.number_ending")
_WHOLE_KEYS = frozenset({"uuid", "uid", "key", "identifier", "path", "slug"})
GENERAL_KEYS = _WHOLE_KEYS | {"id", "name", "title"}
"""Arguments that name records of any entity."""
_FILE_NAMES, _FILES = terms("arguments.file_name"), terms("nouns.files")
_NO_KEYS = terms("arguments.query", "arguments.option")


def key_argument(verb: Verb, entity: str, key: str, schema: Record) -> tuple[str | None, int]:
    """Return the argument that names one record, and a score: 3 certain, 2 good, 1 the only candidate."""
    parts, asked = properties(schema), required(schema)
    scalars = [name for name, subschema in parts.items() if main_type(subschema) in {"string", "integer", "number", ""}]
    scored = [(_key_score(snake(name).removeprefix("old_"), entity, key), name in asked, name) for name in scalars]
    needed_first = [entry for entry in scored if entry[1] and entry[0] > 1] or scored  # `id` may be in a body beside it
    best = max(needed_first, key=lambda entry: entry[:2], default=(0, False, ""))
    if best[0]:
        return best[2], best[0]
    needed = [name for name in required_among(parts, schema) if name in scalars]
    only = snake(needed[0]) if verb in {"get", "delete"} and len(needed) == 1 else ""
    is_other = bool(noun_of_id(only)) and not snake(key).endswith(only)
    return (None, 0) if is_other or not only or only in _NO_KEYS else (needed[0], 1)


def _key_score(argument: str, entity: str, key: str) -> int:
    short = entity.rsplit("_", 1)[-1]
    if argument in {f"{entity}_id", f"id_{entity}", "id", snake(key)}:
        return 3
    is_file = argument in _FILE_NAMES and short in _FILES
    is_whole = argument in _WHOLE_KEYS or argument in {entity, short}
    is_foreign = not argument.isascii() and noun_in_english(argument.removeprefix(entity).strip("_")) == "number"
    return 2 if is_whole or is_file or is_foreign or names_record(argument, entity) else 0


def names_record(argument: str, entity: str) -> bool:
    """Whether it is the entity, or a short form, and a word like `id`: `pr_id` of a pull request, `repo_slug`."""
    stem, _, ending = argument.rpartition("_")
    if not stem or ending not in _KEY_ENDINGS:
        return False
    parts = entity.split("_")
    if stem in {entity, parts[-1]} or (len(stem) > 2 and parts[-1].startswith(stem)):
        return True
    is_first = stem == parts[0] and ending in {"name", "slug"}
    return len(parts) > 1 and (is_first or stem == "".join(piece[0] for piece in parts))


def noun_of_key(argument: str) -> str:
    """Return the noun of a key argument: `booking` of `booking_reference`. '' if it is not a key."""
    stem, _, ending = snake(argument).rpartition("_")
    return stem if ending in _NUMBER_ENDINGS else ""
