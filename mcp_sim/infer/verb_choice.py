"""The verb of a tool, corrected by its arguments and its result."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName, Words
from mcp_sim.infer.verbs import WEAK
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties, property_of, required
from mcp_sim.types.lexicon.english import plural, snake
from mcp_sim.types.plans import Verb

_SCALAR = frozenset({"string", "integer", ""})


def choose_verb(
    parsed: ParsedName, entity: str, schema: Record, output: Record, nouns: Mapping[Words, str], made: AbstractSet[str]
) -> Verb:
    """Return the verb of the name, unless arguments and result imply another.

    `nouns` are the noun phrases of all tools. `made` are the entities that tools with a plain verb create.
    """
    keyed, is_required = _key_of(entity, schema)
    match parsed.verb:
        case _ if not entity:
            return "unknown"
        case "unknown" if parsed.plural and parsed.noun in nouns:
            return "list"
        case "create" if is_required and parsed.word in WEAK and entity in made:
            return "update"
        case "list" if keyed and _is_one_record(output):
            return "get"
        case "get" if not keyed and (_has_rows(entity, output) or (not output and _takes_list(schema))):
            return "list"
        case verb:
            return verb


def _key_of(entity: str, schema: Record) -> tuple[bool, bool]:
    """Return whether an argument is the key of the entity, and whether it is required."""
    name, score = key_argument("update", entity, "id", schema)
    return score >= 2, score >= 2 and name in required(schema)


def _is_one_record(output: Record) -> bool:
    """Whether a result has no list: the record of `get_settings(settings_id)`."""
    return bool(output) and not any(main_type(part) == "array" for part in properties(output).values())


def _has_rows(entity: str, output: Record) -> bool:
    """Whether a result is a list of records, or has one under the name of the entity or a usual name."""
    names = {snake(plural(entity)), "items", "results", "data"}
    rows = (part for name, part in properties(output).items() if snake(name) in names and main_type(part) == "array")
    return main_type(output) == "array" or any(main_type(items(part)) == "object" for part in rows)


def _takes_list(schema: Record) -> bool:
    """Whether a list of plain values is required: `get_prices(symbols)`."""
    lists = [property_of(schema, name) for name in required(schema)]
    return any(main_type(part) == "array" and main_type(items(part)) in _SCALAR for part in lists)
