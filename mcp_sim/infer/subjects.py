"""Which entity does a tool speak of, and which verb do its arguments and its result speak for?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mcp_sim.infer.customary import LIMITS, QUERIES
from mcp_sim.infer.flags import switch_of
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.made import made_by, made_of, made_or_ended
from mcp_sim.infer.names import Reading
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.lexicon.words import plural, snake, vocabulary, words
from mcp_sim.types.plans import Verb

_ATTRIBUTES = vocabulary(
    "status state name description title text content size stage priority setting metadata balance price amount email"
)
NO_NOUNS = vocabulary("id key name type status info detail list all value number count state")
_KEYS_OF_ANY = vocabulary("id key name title username email path code number slug uuid symbol")
_MANY = frozenset({"list", "search"})


def entity_meant(
    reading: Reading,
    schema: Record,
    output: Record,
    nouns: Mapping[tuple[str, ...], str],
    declared: Mapping[str, Entity],
    about: str = "",
) -> str:
    """The entity that a tool speaks of; '' where nothing names one. `about` is its description."""
    done = made_by(reading, schema, declared)
    if done is not None:
        return done
    switched = _switched(reading, schema, declared)
    if switched is not None:
        return switched
    declared_nouns = {words(name) for name in declared}
    noun = () if reading.implied and declared and reading.noun not in declared_nouns else reading.noun
    told = _told(noun, reading, schema, declared, about) if noun and noun not in declared_nouns else None
    told = told or made_or_ended(reading, schema, declared)
    if told is not None:
        return told
    if reading.verb in {"update", "get"} and len(noun) > 1 and noun[-1] in _ATTRIBUTES and noun not in declared_nouns:
        noun = noun[:-1]
    for start in range(1, len(noun)):
        if noun not in declared_nouns and noun[start:] in nouns and noun[:start] in nouns:
            return nouns[noun[start:]]
    if reading.verb in {"update", "get"}:
        whole = _whole(noun, schema, nouns) or _identified(reading, schema, nouns)
        if whole is not None:
            return whole
    if noun and (reading.plural or noun in declared_nouns or not _ATTRIBUTES.issuperset(noun)):
        return nouns.get(noun, "_".join(noun))
    return _unnamed(schema, output, nouns, declared)


def _told(
    noun: tuple[str, ...], reading: Reading, schema: Record, declared: Mapping[str, Entity], about: str
) -> str | None:
    """The declared entity that a noun phrase is about, though it says more (`pending_order_address`, `user_id`)."""
    tables = {words(name): one for name, one in declared.items() if not one.singleton}
    within = [
        (end - start, end == len(noun), tables[noun[start:end]])
        for start in range(len(noun))
        for end in range(start + 1, len(noun) + 1)
        if noun[start:end] in tables
    ]
    nearest_first = [one for _, _, one in sorted(within, key=lambda entry: entry[:2], reverse=True)]
    if reading.verb == "create":
        return made_of(schema, about, tables.values())
    keyed = _keyed(noun, reading, schema, tables.values())
    if keyed is not None and not within:
        return keyed
    for one in nearest_first:
        if reading.verb not in _MANY and key_argument("update", one.name, one.key, schema)[1] >= 2:
            return one.name
    for one in nearest_first:
        ends = noun[-len(words(one.name)) :] == words(one.name)
        if ends or {*noun} - {*words(one.name)} <= _ATTRIBUTES | NO_NOUNS:
            return one.name
    if reading.verb == "get" and noun not in tables and "_".join(noun) not in declared:
        keyed = [one.name for one in tables.values() if snake(f"{one.name}_id") in map(snake, properties(schema))]
        return keyed[0] if len(keyed) == 1 else None
    return None


def _switched(reading: Reading, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """The table whose records have what a verb switches on or off: `enable_roaming(line_id)` a line."""
    for one in declared.values():
        if one.singleton or not switch_of(reading.word, reading.noun, one.fields):
            continue
        if key_argument("update", one.name, one.key, schema)[1] >= 2:
            return one.name
    return None


def _keyed(noun: tuple[str, ...], reading: Reading, schema: Record, tables: Iterable[Entity]) -> str | None:
    """The table whose key is asked for: `change_destination(tracking_number)`, `update_price(sku)`.

    A key of its own name (`isbn`) speaks for its table; one like `user_id` only where the noun is a field, and so do
    two links of a record without a key (`set_grade(student_id, course_id)`).
    """
    if reading.verb not in {"update", "unknown", "get"} or reading.plural or not noun:
        return None
    asked = {snake(name) for name in required(schema)}
    found: list[str] = []
    for one in tables:
        own = {snake(one.key)} - {*_KEYS_OF_ANY, f"{one.name}_id"}
        others = {snake(name) for name in one.fields if name != one.key}
        is_field = reading.verb == "update" and any(words(name)[-len(noun) :] == noun for name in others)
        is_told = snake(one.key) in asked and asked <= {snake(one.key), *others}
        is_named = is_told or asked & {f"{one.name}_id", one.name} or len((asked & others) - {"_".join(noun)}) > 1
        if asked & own or (is_field and is_named):
            found.append(one.name)
    return found[0] if len(found) == 1 else None


def _whole(noun: tuple[str, ...], schema: Record, nouns: Mapping[tuple[str, ...], str]) -> str | None:
    """The entity that the beginning of a noun phrase names, where an argument is a key of that: `get_order_total`."""
    for end in range(len(noun) - 1, 0, -1):
        if noun[:end] in nouns and not names_key(schema, "_".join(noun)):
            known = nouns[noun[:end]]
            if names_key(schema, known) or _id_is_of(schema, noun[end - 1], noun[-1]):
                return known
    return None


def _id_is_of(schema: Record, whole: str, part: str) -> bool:
    """Is a bare `id` described as that of the whole, and not as that of its part?"""
    told = {*words(str(properties(schema).get("id", {}).get("description", "")).lower())}
    return whole in told and part not in told


def _identified(reading: Reading, schema: Record, nouns: Mapping[tuple[str, ...], str]) -> str | None:
    """The entity that a bare `id` is described as one of, where the name speaks of what that has: `get_context(id)`."""
    told = words(str(properties(schema).get("id", {}).get("description", "")).lower())
    if reading.plural or not reading.noun or not {*reading.noun}.isdisjoint(told):
        return None
    spoken = (told[start:end] for start in range(len(told)) for end in range(min(start + 3, len(told)), start, -1))
    return next((nouns[phrase] for phrase in spoken if phrase in nouns), None)


def names_key(schema: Record, entity: str) -> bool:
    return bool({f"{entity}_id", f"{entity}_key", entity} & {snake(name) for name in properties(schema)})


def _unnamed(
    schema: Record, output: Record, nouns: Mapping[tuple[str, ...], str], declared: Mapping[str, Entity]
) -> str:
    """A verb alone: the entity whose key or rows the schemas name, or the only one there is."""
    for entity in nouns.values():
        if names_key(schema, entity) or snake(plural(entity)) in {snake(name) for name in properties(output)}:
            return entity
    known = {*declared, *nouns.values()}
    return next(iter(known)) if len(known) == 1 else ""


def verb_meant(
    reading: Reading,
    entity: str,
    schema: Record,
    output: Record,
    nouns: Mapping[tuple[str, ...], str],
    declared: Mapping[str, Entity],
) -> Verb:
    """The verb of the name, unless arguments and result say that it means another."""
    verb = reading.verb
    if not entity:
        return "unknown"
    if verb == "unknown" and reading.plural and reading.noun in nouns:
        return "list"
    if verb == "unknown" and made_by(reading, schema, declared) == entity:
        return "create"
    if verb == "unknown" and not reading.deed and _is_of_one(entity, schema, declared):
        return "update" if len(properties(schema)) > 1 else "get"
    arrays = any(main_type(part) == "array" for part in properties(output).values())
    if verb == "list" and _single(output):
        verb = _shown_alone(entity, schema, output)
    if verb == "search" and not reading.plural and not arrays and _asks_for_one(entity, schema):
        return "get"
    if verb == "get" and not properties(output) and _asks_for_several(entity, schema):
        return "list"
    if reading.word == "find" and not reading.plural and not output and _all_said(schema):
        return "get"
    if verb == "get" and _has_rows(entity, output) and key_argument("get", entity, "id", schema)[1] < 2:
        return "list"
    return verb


def _is_of_one(entity: str, schema: Record, declared: Mapping[str, Entity]) -> bool:
    """Is a record of what is there asked for by its key? Whatever the verb, there is none under another."""
    one = declared.get(entity)
    return one is not None and not one.singleton and key_argument("update", entity, one.key, schema)[1] >= 2


def _shown_alone(entity: str, schema: Record, output: Record) -> Verb:
    """What a tool does that is called like a list, and shows no rows; of one record, somebody must say which."""
    if key_argument("get", entity, "id", schema)[1] >= 2:
        return "get"
    return "unknown" if "id" in properties(output) and not properties(schema) else "list"


def _asks_for_one(entity: str, schema: Record) -> bool:
    """True where nothing but a key is asked for; what may be left out, beside others, is a filter."""
    name, score = key_argument("get", entity, "id", schema)
    if name not in required(schema) and len(properties(schema)) > 1:
        return False
    return score >= 2 and required(schema) <= {name} and not {snake(name) for name in properties(schema)} & LIMITS


def _asks_for_several(entity: str, schema: Record) -> bool:
    """Is a list of values what must be given, and no name of one: `get_prices(symbols)`?"""
    lists = [name for name in required(schema) if main_type(properties(schema).get(name, {})) == "array"]
    plain = [name for name in lists if main_type(items(properties(schema)[name])) in {"string", "integer", ""}]
    return bool(plain) and key_argument("get", entity, "id", schema)[1] < 2


def finds_several(about: str, entity: str, schema: Record) -> bool:
    """Is a tool that is called like a get said to find several: `Searches for patients by name`?"""
    text, many = about.lower(), plural(entity).replace("_", " ")
    told = re.search(
        rf"\b(?:search(?:es)?(?: for)?|finds?|(?:return|list)s? all|multiple|several) (?:matching )?{many}\b", text
    )
    is_said = told is not None or "multiple matches" in text
    return is_said and key_argument("update", entity, "id", schema)[1] < 2


def _all_said(schema: Record) -> bool:
    """`find_customer(email)`: whoever asks must say all that he asks by, and none of it is free text."""
    names = {*properties(schema)}
    return bool(names) and names <= required(schema) and not {snake(name) for name in names} & (LIMITS | QUERIES)


def _has_rows(entity: str, output: Record) -> bool:
    names = {snake(plural(entity)), "items", "results", "data"}
    parts = properties(output).items()
    return main_type(output) == "array" or any(
        snake(name) in names and main_type(part) == "array" and main_type(items(part)) == "object"
        for name, part in parts
    )


def _single(output: Record) -> bool:
    """A plural name, but one record: a noun like `news`, or `get_settings(settings_id)`."""
    return bool(output) and not any(main_type(part) == "array" for part in properties(output).values())
