"""What the arguments of a tool are for: pages, order, queries, options, values, keys of records, who calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from mcp_sim.types import Record
from mcp_sim.types.argument_descriptions import find_switch
from mcp_sim.types.json_schema.shapes import items, main_type, properties, property_of, required, required_among
from mcp_sim.types.lexicon.english import last_word, noun_of_id, singular, snake
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.lexicon.translations import noun_in_english
from mcp_sim.types.plans import Paging, Verb

MORE = ("extra_", "additional_")
"""What begins arguments by which a number grows: `extra_days`."""
LIMITS, OFFSETS = terms("arguments.limit"), terms("arguments.offset")
PAGES, CURSORS = terms("arguments.page"), terms("arguments.cursor")
QUERIES = terms("arguments.query")
OPTIONS = terms("arguments.option", "arguments.idempotency.sure", "arguments.idempotency.unsure")
_SORTS, _ORDERS, _CONTAINERS = terms("arguments.sort"), terms("arguments.order"), terms("arguments.container")
_RANKS = {
    word: rank
    for kind in ("limit", "offset", "page", "cursor")
    for rank, word in enumerate(ordered(f"arguments.{kind}"))
}
"""How clear the names of paging arguments are: 0 is the clearest of its kind."""
_NUMBERS, _TEXTS = frozenset({"integer", "number"}), frozenset({"string", ""})
_FIELD_NAMES = terms("arguments.field_name")
_KEY_ENDINGS, _NUMBER_ENDINGS = terms("arguments.key_ending"), terms("arguments.number_ending")
_WHOLE_KEYS = frozenset({"uuid", "uid", "key", "identifier", "path", "slug"})
GENERAL_KEYS = _WHOLE_KEYS | {"id", "name", "title"}
"""Arguments that name records of any entity."""
_FILE_NAMES, _FILES = terms("arguments.file_name"), terms("nouns.files")
_NO_KEYS = terms("arguments.query", "arguments.option")
_SHARE, _FEWEST = 0.75, 4
"""Of a few tools, all may happen to be about the same record."""
_TENANTS = terms("nouns.tenants")
_CREDENTIAL = re.compile(
    r"(?<![a-z])(?:(?:api|access|auth[a-z]*|secret|bearer|session)[ _-]?(?:key|token)s?|credentials?)(?![a-z])",
    re.IGNORECASE,
)


def is_paged(schema: Record) -> bool:
    """Whether a tool has paging arguments, so that its result holds more than rows."""
    return not {snake(name) for name in properties(schema)}.isdisjoint(OFFSETS | PAGES | CURSORS)


def is_limited(schema: Record) -> bool:
    """Whether a tool may show only some of the rows."""
    return is_paged(schema) or not {snake(name) for name in properties(schema)}.isdisjoint(LIMITS)


def find_paging(arguments: Mapping[str, Record]) -> Paging:
    """Return the arguments that order records and choose a page, and the page sizes that the schema declares."""
    limit, page = _named(arguments, LIMITS, _NUMBERS), _named(arguments, PAGES, _NUMBERS)
    about, sort = arguments.get(limit or "", {}), _named(arguments, _SORTS)
    most, size = about.get("maximum"), about.get("default")
    return Paging(
        limit=limit,
        offset=_named(arguments, OFFSETS, _NUMBERS),
        page=page,
        cursor=_named(arguments, CURSORS, frozenset({"string"})),
        size=int(size) if isinstance(size, int | float) and size > 0 else min(20, int(most or 20)),
        most=int(most) if isinstance(most, int | float) else None,
        first_page=0 if 0 in (arguments.get(page or "", {}).get(word) for word in ("default", "minimum")) else 1,
        sort=sort,
        order=_named({name: argument for name, argument in arguments.items() if name != sort}, _ORDERS),
    )


def is_limit_declared(arguments: Mapping[str, Record], paging: Paging) -> bool:
    """Whether the schema declares the default or the greatest number of records."""
    return not arguments.get(paging.limit or "", {}).keys().isdisjoint({"maximum", "default"})


def _named(
    arguments: Mapping[str, Record], names: AbstractSet[str], types: AbstractSet[str] | None = None
) -> str | None:
    typed = (name for name, argument in arguments.items() if types is None or main_type(argument) in types)
    candidates = (name for name in typed if snake(name) in names)
    return min(candidates, key=lambda name: _RANKS.get(snake(name), 0), default=None)


def without_paging(arguments: Mapping[str, Record]) -> dict[str, Record]:
    """Return the arguments that are not numbers of a page or its size."""
    numbers = LIMITS | OFFSETS | PAGES
    return {
        n: argument
        for n, argument in arguments.items()
        if snake(n) not in numbers or main_type(argument) not in _NUMBERS
    }


def find_query(arguments: Mapping[str, Record], fields: AbstractSet[str]) -> str | None:
    """Return the text to search by, if its name says so and it is not a field."""
    return _named(arguments, QUERIES - fields, _TEXTS)


def last_name(path: str) -> str:
    """Return the name of the argument or the property at a path, in snake case."""
    return snake(path.rsplit(".", 1)[-1])


def without_options(arguments: Mapping[str, Record], needed: AbstractSet[str]) -> dict[str, Record]:
    """Return the arguments that do more than control how a call is made."""
    return {path: argument for path, argument in arguments.items() if not _is_option(path, argument, needed)}


def _is_option(path: str, schema: Record, needed: AbstractSet[str]) -> bool:
    """Whether an argument only controls how a call is made. An id among the `needed`, and objects, do more."""
    is_kept = (path in needed and last_name(path).endswith("_id")) or bool(properties(items(schema)))
    return (last_name(path) in OPTIONS and not is_kept) or find_switch(path, schema) is not None


def find_leaves(arguments: Mapping[str, Record], entity: str, fields: AbstractSet[str]) -> Iterator[tuple[str, Record]]:
    """Yield arguments by path.

    Those inside `fields: {...}` and the like come one by one, as `fields.*` if they are not declared. An object named
    after the entity is the record, also where other results show a field of that name.
    """
    for name, argument in arguments.items():
        is_record = snake(name) in (entity, entity.rsplit("_", 1)[-1]) and bool(properties(argument))
        wraps = is_record or (snake(name) in {*_CONTAINERS, entity} and snake(name) not in fields)
        if main_type(argument) == "object" and wraps:
            inner = properties(argument)
            yield from ((f"{name}.{field}", inner[field]) for field in inner)
            if not inner:
                yield f"{name}.*", argument
        else:
            yield name, argument


def named_value(arguments: Mapping[str, Record], entity: str) -> tuple[str, str] | None:
    """Return the argument that names a field and that with its value: `key` and `value` of `set_option(key, value)`."""
    names = [name for name, schema in arguments.items() if main_type(schema) == "string"
             and (last_word(name) in _FIELD_NAMES or snake(name) == singular(entity))]  # fmt: skip
    values = [name for name in arguments if last_word(name) == "value"]
    return (names[0], values[0]) if len(names) == len(values) == 1 else None


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


def frequent_texts(schemas: Iterable[Record]) -> list[str]:
    """Return the texts that several tools require, the most frequent ones first."""
    needed = ((name, property_of(schema, name)) for schema in schemas for name in sorted(required(schema)))
    texts = Counter(snake(name) for name, schema in needed if main_type(schema) == "string")
    return [name for name, count in texts.most_common() if count > 1]


def caller_arguments(
    inputs: Collection[Record], outputs: Collection[Record], nouns: Collection[str], fields: Collection[str]
) -> frozenset[str]:
    """Return the arguments that say who calls, so that they name, set and filter no records.

    `nouns` are those of tools and of known entities, whose ids name records; `fields` are known.
    """
    counts = Counter(name for schema in inputs for name in required(schema))
    shared = [name for name, count in counts.items() if len(inputs) >= _FEWEST and count >= _SHARE * len(inputs)]
    return frozenset(
        name
        for name in shared
        if (_is_credential(name, inputs) and not any(_CREDENTIAL.search(noun) for noun in nouns))
        or (_is_foreign(snake(name), nouns) and name not in fields and not any(_shows(name, each) for each in outputs))
    )


def without(names: Collection[str], schema: Record) -> Record:
    """Return a schema of arguments without some of them."""
    if not names:
        return schema
    kept = {name: inner for name, inner in properties(schema).items() if name not in names}
    return {**schema, "properties": kept, "required": sorted(required(schema) - set(names))}


def _is_credential(name: str, inputs: Collection[Record]) -> bool:
    """Whether all tools describe or name an argument as a key or token of the API."""
    holders = [property_of(schema, name) for schema in inputs if name in properties(schema)]
    texts = (f"{snake(name).replace('_', ' ')} {inner.get('description', '')}" for inner in holders)
    return all(_CREDENTIAL.search(text) for text in texts)


def _is_foreign(name: str, nouns: Collection[str]) -> bool:
    """Whether an argument is the id of a tenant that no tool is about: `xero_tenant_id`.

    Ids of users, sessions and accounts are kept: all tools of a cart or a memory ask whose it is.
    """
    parts = noun_of_id(name).split("_")
    return parts[-1] in _TENANTS and not any("_".join(parts[at:]) in nouns for at in range(len(parts)))


def _shows(name: str, schema: Record) -> bool:
    return f"'{name}'" in str(schema)
