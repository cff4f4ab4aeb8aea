"""The verb of a tool, corrected by its arguments and its result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from mcp_sim.infer.argument_names import LIMITS, QUERIES
from mcp_sim.infer.entity_choice import (
    created_by_verb,
)
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName
from mcp_sim.infer.verbs import CREATION_VERBS
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import items, main_type, properties, property_of, required
from mcp_sim.types.lexicon.english import plural, snake, vocabulary
from mcp_sim.types.plans import Verb

_STATE_OF_VERB = {"start": "in_progress", "open": "open", "submit": "submitted", "raise": "raised"}
_PLAIN_CREATES = vocabulary("create add new make")
_COPY_VERBS = CREATION_VERBS | {"fork", "restore"}


def choose_verb(
    parsed: ParsedName,
    entity: str,
    schema: Record,
    output: Record,
    nouns: Mapping[tuple[str, ...], str],
    declared: Mapping[str, Entity],
) -> Verb:
    """Return the verb of the name, unless arguments and result imply another."""
    verb = parsed.verb
    if not entity:
        return "unknown"
    if verb == "unknown" and parsed.plural and parsed.noun in nouns:
        return "list"
    if verb == "unknown" and created_by_verb(parsed, schema, declared) == entity:
        return "create"
    if verb == "unknown" and not parsed.recordless_verb and _names_record(entity, schema, declared):
        return "update" if len(properties(schema)) > 1 else "get"
    arrays = any(main_type(part) == "array" for part in properties(output).values())
    if verb == "list" and _has_no_rows(output):
        verb = _verb_of_rowless_list(entity, schema, output)
    if verb == "search" and not parsed.plural and not arrays and _takes_only_key(entity, schema):
        return "get"
    if verb == "get" and not properties(output) and _takes_list(entity, schema):
        return "list"
    if parsed.word == "find" and not parsed.plural and not output and _requires_everything(schema):
        return "get"
    if verb == "get" and _has_rows(entity, output) and key_argument("get", entity, "id", schema)[1] < 2:
        return "list"
    return verb


def _names_record(entity: str, schema: Record, declared: Mapping[str, Entity]) -> bool:
    """Whether the key of an existing record is an argument."""
    one = declared.get(entity)
    return one is not None and not one.singleton and key_argument("update", entity, one.key, schema)[1] >= 2


def _verb_of_rowless_list(entity: str, schema: Record, output: Record) -> Verb:
    """Return the verb of a tool named like a list without rows. One record needs a key."""
    if key_argument("get", entity, "id", schema)[1] >= 2:
        return "get"
    return "unknown" if "id" in properties(output) and not properties(schema) else "list"


def _takes_only_key(entity: str, schema: Record) -> bool:
    """Whether a key is the only argument. An optional one beside others is a filter."""
    name, score = key_argument("get", entity, "id", schema)
    if name not in required(schema) and len(properties(schema)) > 1:
        return False
    return score >= 2 and required(schema) <= {name} and not {snake(name) for name in properties(schema)} & LIMITS


def _takes_list(entity: str, schema: Record) -> bool:
    """Whether a list is required, and no key: `get_prices(symbols)`."""
    lists = [name for name in required(schema) if main_type(property_of(schema, name)) == "array"]
    plain = [name for name in lists if main_type(items(property_of(schema, name))) in {"string", "integer", ""}]
    return bool(plain) and key_argument("get", entity, "id", schema)[1] < 2


def is_described_as_search(about: str, entity: str, schema: Record) -> bool:
    """Whether the description of a get says that it finds several: `Searches for patients by name`."""
    text, many = about.lower(), re.escape(plural(entity).replace("_", " "))
    found = re.search(
        rf"\b(?:search(?:es)?(?: for)?|finds?|(?:return|list)s? all|multiple|several) (?:matching )?{many}\b", text
    )
    is_described = found is not None or "multiple matches" in text
    return is_described and key_argument("update", entity, "id", schema)[1] < 2


def _requires_everything(schema: Record) -> bool:
    """Whether all arguments are required and none is a query: `find_customer(email)`."""
    names = {*properties(schema)}
    return bool(names) and names <= required(schema) and not {snake(name) for name in names} & (LIMITS | QUERIES)


def _has_rows(entity: str, output: Record) -> bool:
    names = {snake(plural(entity)), "items", "results", "data"}
    parts = properties(output).items()
    return main_type(output) == "array" or any(
        snake(name) in names and main_type(part) == "array" and main_type(items(part)) == "object"
        for name, part in parts
    )


def _has_no_rows(output: Record) -> bool:
    """Whether a plural name shows one record: `news`, or `get_settings(settings_id)`."""
    return bool(output) and not any(main_type(part) == "array" for part in properties(output).values())


def choose_create_or_update(
    parsed: ParsedName,
    entity: str,
    schema: Record,
    tables: Mapping[str, Entity],
    parsed_names: Mapping[str, ParsedName],
) -> tuple[Verb, ParsedName]:
    """Return whether a tool named like a create creates a record or updates one of another create."""
    if _is_transition(parsed, entity, schema, tables, parsed_names):
        return "update", replace(parsed, status=_STATE_OF_VERB[parsed.word])
    return ("update" if _extends_record(parsed, entity, schema, tables, parsed_names) else "create"), parsed


def _is_transition(
    parsed: ParsedName,
    entity: str,
    schema: Record,
    tables: Mapping[str, Entity],
    parsed_names: Mapping[str, ParsedName],
) -> bool:
    """Whether a tool starts or submits a record that others create: `start_task(task_id)` beside `create_task`."""
    made = any(
        one.verb == "create" and one.word != parsed.word and "_".join(one.noun) == entity
        for one in parsed_names.values()
    )
    if parsed.word not in _STATE_OF_VERB or not made:
        return False
    name, score = key_argument("update", entity, tables[entity].key if entity in tables else "id", schema)
    return score >= 2 and required(schema) <= {name}


def _extends_record(
    parsed: ParsedName,
    entity: str,
    schema: Record,
    tables: Mapping[str, Entity],
    parsed_names: Mapping[str, ParsedName],
) -> bool:
    """Whether a tool names a record that others create, and adds to it: `schedule_task(id, due)`."""
    made = any(one.word in _PLAIN_CREATES and "_".join(one.noun) == entity for one in parsed_names.values())
    if parsed.word in _PLAIN_CREATES | _COPY_VERBS or not made:
        return False
    name, score = key_argument("update", entity, tables[entity].key if entity in tables else "id", schema)
    return score >= 2 and name in required(schema)
