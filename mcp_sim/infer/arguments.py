"""Roles of arguments: setting a field, filtering, paging, sorting, searching."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain

from mcp_sim.infer.argument_names import CONTAINERS, CURSORS, LIMITS, OFFSETS, OPTIONS, ORDERS, PAGES, QUERIES, SORTS
from mcp_sim.infer.filters import KnownFields, find_filters
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Filter, Paging, Verb
from mcp_sim.types.switches import find_switch

_SEARCH_TEXT = re.compile(r"\b(?:filter|search) (?:text|term|string|keyword)s?\b")
NO_PAGING = Paging()


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of a tool's arguments. `unexplained` are the arguments without a role."""

    key: str | None = None
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    filters: Mapping[str, Filter] = field(default_factory=dict[str, Filter])
    query: str | None = None
    sort: str | None = None
    order: str | None = None
    paging: Paging = NO_PAGING
    holder: str | None = None
    """The argument that names the record that contains those of the entity."""

    unexplained: tuple[str, ...] = ()


def assign_read_roles(verb: Verb, known: KnownFields, schema: Record, key: str | None) -> Roles:
    """Return the roles of the arguments of a tool that shows several records."""
    arguments, needed = properties(schema), required(schema)
    by_name = {snake(name): name for name in arguments if name != key}
    paging, query = find_paging(by_name, arguments), _named_query(by_name, arguments, known)
    sort = _named(by_name, SORTS, ())
    order = _named(by_name, ORDERS, (sort,))
    taken = {key, query, sort, order, paging.limit, paging.offset, paging.page, paging.cursor}
    rest = {name: arguments[name] for name in _without_options(arguments, needed) if name not in taken}
    filters = find_filters(rest, known)
    unexplained = [name for name in rest if name not in filters]
    if verb == "search" and query is None:
        query = _only_text([name for name in unexplained if name in needed], arguments)
    return Roles(key, {}, filters, query, sort, order, paging, unexplained=_without(unexplained, query))


def _without(names: Sequence[str], left_out: str | None) -> tuple[str, ...]:
    return tuple(name for name in names if name != left_out)


def _named(by_name: Mapping[str, str], names: AbstractSet[str], taken: Collection[str | None]) -> str | None:
    return next((argument for name, argument in by_name.items() if name in names and argument not in taken), None)


def assign_write_roles(known: KnownFields, schema: Record, key: str | None) -> Roles:
    """Return the roles of the arguments of a tool that writes one record."""
    leaves = {path: part for path, part in _leaves(schema, known) if path != key}
    options = leaves.keys() - {*_without_options(leaves, required(schema))}
    leaves = {path: leaves[path] for path in leaves if path not in options or _last_name(path) in known.fields}
    sets = _match_fields(leaves, known)
    unexplained = tuple(path for path, part in leaves.items() if path not in sets and not _is_secret(part))
    return Roles(key, sets, unexplained=unexplained)


def _match_fields(leaves: Mapping[str, Record], known: KnownFields) -> dict[str, str]:
    """Return the field that each argument sets. Equal names come before synonyms."""
    sets: dict[str, str] = {}
    taken: set[str | None] = {None}
    exact = {known.by_name(_last_name(path)) for path in leaves}
    for path, part in leaves.items():
        alike = known.by_synonym(_last_name(path))
        found = known.by_name(_last_name(path)) or (alike if alike not in exact else None)
        found = "*" if path.endswith("*") else found
        if found is not None and found not in taken and _may_hold(known.schemas.get(found, {}), part):
            sets[path] = found
            taken.add(found)
    return sets


def _last_name(path: str) -> str:
    return snake(path.rsplit(".", 1)[-1])


def _without_options(arguments: Mapping[str, Record], needed: AbstractSet[str]) -> list[str]:
    """Return the arguments that do not only control how a call is made. An id among the `needed` does not."""
    options = {path for path in arguments if _last_name(path) in OPTIONS}
    kept = {path for path in options & needed if _last_name(path).endswith("_id")}
    return [path for path in arguments if path not in options - kept and find_switch(path, arguments[path]) is None]


def _may_hold(field: Record, argument: Record) -> bool:
    """Whether a field can hold the argument. A scalar does not set a field that is shown as an object."""
    return not properties(field) or main_type(argument) not in {"string", "integer", "number", "boolean"}


def _leaves(schema: Record, known: KnownFields) -> Iterator[tuple[str, Record]]:
    """Yield arguments by path.

    Those inside `fields: {...}` and the like come one by one, as `fields.*` if they are not declared.
    """
    for name, part in properties(schema).items():
        wraps = snake(name) in CONTAINERS or snake(name) == known.entity
        if main_type(part) == "object" and wraps and snake(name) not in known.fields:
            inner = properties(part)
            yield from ((f"{name}.{field}", inner[field]) for field in inner)
            if not inner:
                yield f"{name}.*", part
        else:
            yield name, part


def _named_query(by_name: Mapping[str, str], arguments: Mapping[str, Record], known: KnownFields) -> str | None:
    """Return the argument that its name or its description calls a text to search by."""
    texts = [name for name in by_name if main_type(arguments[by_name[name]]) in {"string", ""}]
    named = (by_name[name] for name in texts if name in QUERIES and name not in known.fields)
    described = (by_name[name] for name in texts if _is_described_as_query(arguments[by_name[name]]))
    return next(chain(named, described), None)


def _only_text(names: Sequence[str], arguments: Mapping[str, Record]) -> str | None:
    texts = [name for name in names if main_type(arguments[name]) in {"string", ""}]
    return texts[0] if len(texts) == 1 else None


def _is_described_as_query(schema: Record) -> bool:
    """Whether the description calls an argument a text to search by, whatever its name."""
    return _SEARCH_TEXT.search(str(schema.get("description", "")).lower()) is not None


def _is_secret(schema: Record) -> bool:
    return schema.get("format") == "password" or main_type(items(schema)) == "null"


def is_paged(schema: Record) -> bool:
    """Whether a tool has paging arguments, so that its result holds more than rows."""
    return not {snake(name) for name in properties(schema)}.isdisjoint(OFFSETS | PAGES | CURSORS)


def is_limited(schema: Record) -> bool:
    """Whether a tool may show only some of the rows."""
    return is_paged(schema) or not {snake(name) for name in properties(schema)}.isdisjoint(LIMITS)


def find_paging(by_name: Mapping[str, str], arguments: Mapping[str, Record]) -> Paging:
    """Return the paging arguments and the page sizes that the schema declares."""
    limit = _find_argument(by_name, arguments, LIMITS, ("integer", "number"))
    page = _find_argument(by_name, arguments, PAGES, ("integer", "number"))
    about = arguments.get(limit or "", {})
    most, size = about.get("maximum"), about.get("default")
    return Paging(
        limit=limit,
        offset=_find_argument(by_name, arguments, OFFSETS, ("integer", "number")),
        page=page,
        cursor=_find_argument(by_name, arguments, CURSORS, ("string",)),
        size=int(size) if isinstance(size, int | float) and size > 0 else min(20, int(most or 20)),
        most=int(most) if isinstance(most, int | float) else None,
        first_page=0 if 0 in (arguments.get(page or "", {}).get(word) for word in ("default", "minimum")) else 1,
    )


def _find_argument(
    by_name: Mapping[str, str], arguments: Mapping[str, Record], names: frozenset[str], types: tuple[str, ...]
) -> str | None:
    return next((by_name[n] for n in by_name if n in names and main_type(arguments[by_name[n]]) in types), None)
