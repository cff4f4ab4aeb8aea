"""What the arguments of a tool are for, by their names alone: pages, order, queries, options, values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from mcp_sim.types import Record
from mcp_sim.types.argument_descriptions import find_switch
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.lexicon.english import last_word, singular, snake
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.plans import Paging

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
