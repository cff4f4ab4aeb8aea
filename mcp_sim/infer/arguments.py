"""Roles of arguments: setting a field, filtering, paging, sorting, searching."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain

from mcp_sim.infer.argument_names import CONTAINERS, CURSORS, LIMITS, OFFSETS, OPTIONS, ORDERS, PAGES, QUERIES, SORTS
from mcp_sim.infer.filters import KnownFields, find_filter, is_time
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
    arguments = properties(schema)
    by_name = {snake(name): name for name in arguments if name != key}
    paging = find_paging(by_name, arguments)
    taken = {paging.limit, paging.offset, paging.page, paging.cursor, key}
    sort = next((by_name[name] for name in by_name if name in SORTS), None)
    order = next((by_name[name] for name in by_name if name in ORDERS and by_name[name] != sort), None)
    needed = required(schema)
    query = _named_query(by_name, arguments, known)
    rest = [name for name in arguments if name not in taken | {sort, order, query}]
    spans = {snake(name) for name in rest if is_time(name, arguments[name])}
    rest = [name for name in rest if not _is_option(name, arguments[name], needed)]
    found = {name: find_filter(snake(name), arguments[name], known, spans) for name in rest}
    filters = {name: rule for name, rule in found.items() if rule is not None}
    unexplained = [name for name in rest if name not in filters]
    if verb == "search" and query is None:
        query = _only_text([name for name in unexplained if name in needed], arguments)
    unexplained = tuple(name for name in unexplained if name != query)
    return Roles(key, {}, filters, query, sort, order, paging, unexplained=unexplained)


def assign_write_roles(known: KnownFields, schema: Record, key: str | None) -> Roles:
    """Return the roles of the arguments of a tool that writes one record."""
    sets: dict[str, str] = {}
    unexplained: list[str] = []
    taken: set[str] = set()
    leaves, needed = dict(_leaves(schema, known)), required(schema)
    exact = {known.by_name(snake(path.rsplit(".", 1)[-1])) for path in leaves}
    for path, part in leaves.items():
        name = snake(path.rsplit(".", 1)[-1])
        if path == key or (name not in known.fields and _is_option(path, part, needed)):
            continue
        if path.endswith("*"):
            sets[path] = "*"
            continue
        alike = known.by_synonym(name)
        found = known.by_name(name) or (alike if alike not in exact else None)
        if found is not None and found not in taken and _may_hold(known.schemas.get(found, {}), part):
            sets[path] = found
            taken.add(found)
        elif not _is_secret(part):
            unexplained.append(path)
    return Roles(key, sets, unexplained=tuple(unexplained))


def _is_option(path: str, schema: Record, needed: AbstractSet[str]) -> bool:
    """Whether an argument controls how a call is made and is no part of a record. An id among the `needed` is one."""
    name = snake(path.rsplit(".", 1)[-1])
    return find_switch(path, schema) is not None or (name in OPTIONS and not (name.endswith("_id") and path in needed))


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
