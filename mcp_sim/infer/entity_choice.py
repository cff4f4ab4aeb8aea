"""The entity that a tool works on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mcp_sim.infer.flags import find_switch, regular_participles
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName, first_nouns, last_nouns, noun_spans
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import properties, property_of, required
from mcp_sim.types.lexicon.english import plural, singular, snake, vocabulary, words

_ATTRIBUTES = vocabulary(
    "status state name description title text content size stage priority setting metadata balance price amount email"
)
NO_NOUNS = vocabulary("id key name type status info detail list all value number count state")
_KEYS_OF_ANY = vocabulary("id key name title username email path code number slug uuid symbol")
_MANY = frozenset({"list", "search"})
_LENDING_VERBS = vocabulary("borrow lend rent hire lease loan")
"""Verbs that create a record of their object: a loan, a rental."""


def choose_entity(
    parsed: ParsedName,
    schema: Record,
    output: Record,
    nouns: Mapping[tuple[str, ...], str],
    declared: Mapping[str, Entity],
    about: str = "",
) -> str:
    """Return the entity that a tool works on, or '' if nothing names one.

    `about` is its description.
    """
    created = created_by_verb(parsed, schema, declared)
    if created is not None:
        return created
    switched = _entity_of_switch(parsed, schema, declared)
    if switched is not None:
        return switched
    declared_nouns = {words(name) for name in declared}
    noun = () if parsed.implied and declared and parsed.noun not in declared_nouns else parsed.noun
    entity = _declared_in_noun(noun, parsed, schema, declared, about) if noun and noun not in declared_nouns else None
    entity = entity or _created_or_ended(parsed, schema, declared)
    if entity is not None:
        return entity
    if parsed.verb in {"update", "get"} and len(noun) > 1 and noun[-1] in _ATTRIBUTES and noun not in declared_nouns:
        noun = noun[:-1]
    compound = _second_noun(noun, nouns) if noun not in declared_nouns else None
    if compound is not None:
        return compound
    if parsed.verb in {"update", "get"}:
        whole = _entity_with_part(noun, schema, nouns) or _entity_of_described_id(parsed, schema, nouns)
        if whole is not None:
            return whole
    if noun and (parsed.plural or noun in declared_nouns or not _ATTRIBUTES.issuperset(noun)):
        return nouns.get(noun, "_".join(noun))
    return _entity_of_schemas(schema, output, nouns, declared)


def _second_noun(noun: tuple[str, ...], nouns: Mapping[tuple[str, ...], str]) -> str | None:
    """Find the second of the two entities that a noun phrase consists of."""
    return next((nouns[end] for end in last_nouns(noun[1:]) if end in nouns and noun[: -len(end)] in nouns), None)


def _declared_in_noun(
    noun: tuple[str, ...], parsed: ParsedName, schema: Record, declared: Mapping[str, Entity], about: str
) -> str | None:
    """Find the declared entity in a longer noun phrase (`pending_order_address`, `user_id`)."""
    tables = {words(name): one for name, one in declared.items() if not one.singleton}
    within = [
        (end - start, end == len(noun), tables[noun[start:end]])
        for start, end in noun_spans(len(noun))
        if noun[start:end] in tables
    ]
    nearest_first = [one for _, _, one in sorted(within, key=lambda entry: entry[:2], reverse=True)]
    if parsed.verb == "create":
        return _created_from_fields(schema, about, tables.values())
    keyed = _entity_of_key(noun, parsed, schema, tables.values())
    if keyed is not None and not within:
        return keyed
    for one in nearest_first:
        if parsed.verb not in _MANY and key_argument("update", one.name, one.key, schema)[1] >= 2:
            return one.name
    for one in nearest_first:
        ends = noun[-len(words(one.name)) :] == words(one.name)
        if ends or {*noun} - {*words(one.name)} <= _ATTRIBUTES | NO_NOUNS:
            return one.name
    if parsed.verb == "get" and noun not in tables and "_".join(noun) not in declared:
        keyed = [one.name for one in tables.values() if snake(f"{one.name}_id") in map(snake, properties(schema))]
        return keyed[0] if len(keyed) == 1 else None
    return None


def _entity_of_switch(parsed: ParsedName, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """Find the table with the flag that a verb switches: the lines of `enable_roaming(line_id)`."""
    for one in declared.values():
        if one.singleton or not find_switch(parsed.word, parsed.noun, one.fields):
            continue
        if key_argument("update", one.name, one.key, schema)[1] >= 2:
            return one.name
    return None


def _entity_of_key(noun: tuple[str, ...], parsed: ParsedName, schema: Record, tables: Iterable[Entity]) -> str | None:
    """Find the table whose key is required: `change_destination(tracking_number)`, `update_price(sku)`.

    A key of its own name (`isbn`) is evidence for its table. A key like `user_id` is evidence only if the noun is a
    field. So are two links of a record without a key (`set_grade(student_id, course_id)`).
    """
    if parsed.verb not in {"update", "unknown", "get"} or parsed.plural or not noun:
        return None
    asked = {snake(name) for name in required(schema)}
    found: list[str] = []
    for one in tables:
        own = {snake(one.key)} - {*_KEYS_OF_ANY, f"{one.name}_id"}
        others = {snake(name) for name in one.fields if name != one.key}
        is_field = parsed.verb == "update" and any(words(name)[-len(noun) :] == noun for name in others)
        is_complete = snake(one.key) in asked and asked <= {snake(one.key), *others}
        is_named = is_complete or asked & {f"{one.name}_id", one.name} or len((asked & others) - {"_".join(noun)}) > 1
        if asked & own or (is_field and is_named):
            found.append(one.name)
    return found[0] if len(found) == 1 else None


def _entity_with_part(noun: tuple[str, ...], schema: Record, nouns: Mapping[tuple[str, ...], str]) -> str | None:
    """Find the entity at the beginning of a noun phrase, if an argument is its key: `get_order_total`."""
    for first in first_nouns(noun):
        if first in nouns and not names_key(schema, "_".join(noun)):
            known = nouns[first]
            if names_key(schema, known) or _id_belongs_to_whole(schema, first[-1], noun[-1]):
                return known
    return None


def _id_belongs_to_whole(schema: Record, whole: str, part: str) -> bool:
    """Whether a bare `id` is described as that of the whole, not of its part."""
    described = {*words(str(property_of(schema, "id").get("description", "")).lower())}
    return whole in described and part not in described


def _entity_of_described_id(parsed: ParsedName, schema: Record, nouns: Mapping[tuple[str, ...], str]) -> str | None:
    """Find the entity that the description of a bare `id` names: `get_context(id)`."""
    described = words(str(property_of(schema, "id").get("description", "")).lower())
    if parsed.plural or not parsed.noun or not {*parsed.noun}.isdisjoint(described):
        return None
    phrases = (
        described[start:end]
        for start in range(len(described))
        for end in range(min(start + 3, len(described)), start, -1)
    )
    return next((nouns[phrase] for phrase in phrases if phrase in nouns), None)


def names_key(schema: Record, entity: str) -> bool:
    """Whether an argument is named after the key of the entity."""
    return entity in named_by_keys(schema)


def named_by_keys(schema: Record) -> set[str]:
    """Return the nouns whose key an argument may be: `task` and `task_id` for an argument `task_id`."""
    names = [snake(name) for name in properties(schema)]
    return {noun for name in names for noun in (name, name.removesuffix("_id"), name.removesuffix("_key"))}


def _entity_of_schemas(
    schema: Record, output: Record, nouns: Mapping[tuple[str, ...], str], declared: Mapping[str, Entity]
) -> str:
    """Find the entity whose key or rows the schemas name, or the only one there is."""
    named, shown = named_by_keys(schema), {snake(name) for name in properties(output)}
    for entity in nouns.values() if named or shown else ():
        if entity in named or snake(plural(entity)) in shown:
            return entity
    known = {*declared, *nouns.values()}
    return next(iter(known)) if len(known) == 1 else ""


def created_by_verb(parsed: ParsedName, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """Find the table of what a verb creates: `enroll(student_id, course_id)` an enrollment."""
    word = next(iter(parsed.noun), "") if parsed.verb == "unknown" else ""
    if word in _LENDING_VERBS:
        return _created_with_record(parsed.noun[1:], schema, declared)
    names = {snake(name) for name in required(schema)}
    for one in declared.values():
        is_named = len(word) > 3 and one.name.startswith(word[:-1]) and one.name != word
        if is_named and not one.singleton and len(names & {snake(name) for name in one.fields}) > 1:
            return one.name
    return None


def _created_from_fields(schema: Record, about: str, tables: Iterable[Entity]) -> str | None:
    """Find the table that has all required arguments as fields.

    If there are several, it is the one that the description names.
    """
    names, described = {snake(name) for name in required(schema)}, {singular(word) for word in words(about)}
    found = [one.name for one in tables if len(names) > 2 and names <= {snake(name) for name in one.fields}]
    found = found if len(found) == 1 else [name for name in found if described.issuperset(words(name))]
    return found[0] if len(found) == 1 else None


def _created_with_record(noun: tuple[str, ...], schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """Find the table created with an existing record: `book_room(room_number, guest_id, check_in)` a booking."""
    own = declared.get("_".join(noun))
    if own is None or own.singleton or own.inside or key_argument("update", own.name, own.key, schema)[1] < 2:
        return None
    needed = {snake(name) for name in required(schema)}
    fits = {
        one.name: len(needed & {snake(name) for name in one.fields})
        for one in declared.values()
        if not one.singleton and one.inside is None
    }
    best = max(fits, key=lambda name: fits[name])
    is_clear = fits[best] > fits[own.name] and [*fits.values()].count(fits[best]) == 1
    return best if is_clear and fits[best] > 1 and 3 * fits[best] >= 2 * len(needed) else None


def _created_kind(noun: tuple[str, ...], schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """Find the table that the noun is a kind of: `add_rush_order` creates an order."""
    tables = {words(name): one for name, one in declared.items() if not one.singleton and one.inside is None}
    whole = next((end for end in last_nouns(noun[1:]) if end in tables), None)
    if whole is None or noun in tables:
        return None
    kind, rest = tables[whole], noun[: -len(whole)]
    others = any(rest[start:end] in tables for start, end in noun_spans(len(rest)))
    return None if others or key_argument("update", kind.name, kind.key, schema)[1] > 1 else kind.name


def _created_or_ended(parsed: ParsedName, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """Find the table created with a record, or of a kind; or the one ended together with a record."""
    named = declared.get("_".join(parsed.noun))
    if parsed.verb == "create":
        return (
            _created_participle(parsed, declared)
            or _created_with_record(parsed.noun, schema, declared)
            or _created_kind(parsed.noun, schema, declared)
        )
    ends = parsed.verb == "update" and parsed.status is not None and named is not None
    return _ended_record(named, schema, declared) if ends and named is not None else None


def _created_participle(parsed: ParsedName, declared: Mapping[str, Entity]) -> str | None:
    """Find the table named by verb and noun: `schedule_transfer` one of the scheduled transfers."""
    names = ("_".join((participle, *parsed.noun)) for participle in regular_participles(parsed.word))
    return next((name for name in names if name in declared and not declared[name].singleton), None)


def _ended_record(named: Entity, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """Find the record that the arguments name, not the noun: `return_boat(hire_id)` ends the hire."""
    if key_argument("update", named.name, named.key, schema)[1] >= 2:
        return None
    asked = {snake(name) for name in required(schema)}
    found = [one.name for one in declared.values() if not one.singleton and f"{one.name}_id" in asked]
    return found[0] if len(found) == 1 else None
