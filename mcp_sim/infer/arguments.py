"""What is each argument of a tool for: does it set a field, narrow a list, choose a page or an order?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from mcp_sim.infer.customary import CONTAINERS, OPTIONS, ORDERS, QUERIES, SORTS
from mcp_sim.infer.filters import filtered_by, is_time
from mcp_sim.infer.known import Known
from mcp_sim.infer.pages import NO_PAGING, paging_of
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import items, line_parts, main_type, properties, required
from mcp_sim.types.lexicon.words import plural, snake
from mcp_sim.types.plans import Filter, Paging, Verb

_SETS = frozenset({"set", "adjust", "change", "update"})
_SEARCHES = re.compile(r"\b(?:filter|search) (?:text|term|string|keyword)s?\b")


@dataclass(frozen=True, slots=True)
class Roles:
    """What each argument of a tool is for. `unexplained` are those that fit nothing."""

    key: str | None = None
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    filters: Mapping[str, Filter] = field(default_factory=dict[str, Filter])
    query: str | None = None
    sort: str | None = None
    order: str | None = None
    paging: Paging = NO_PAGING
    holder: str | None = None
    """What names the record in which those of the entity stand."""

    unexplained: tuple[str, ...] = ()


def reading_roles(verb: Verb, known: Known, schema: Record, key: str | None) -> Roles:
    """The roles of the arguments of a tool that shows many records."""
    arguments = properties(schema)
    by_name = {snake(name): name for name in arguments if name != key}
    paging = paging_of(by_name, arguments)
    taken = {paging.limit, paging.offset, paging.page, paging.cursor, key}
    sort = next((by_name[name] for name in by_name if name in SORTS), None)
    order = next((by_name[name] for name in by_name if name in ORDERS and by_name[name] != sort), None)
    query = _query(verb, by_name, arguments, known, required(schema))
    rest = [name for name in arguments if name not in taken | {sort, order, query}]
    spans = {snake(name) for name in rest if is_time(name, arguments[name])}
    filters = {
        name: found
        for name in rest
        if not _is_option(name, schema) and (found := filtered_by(snake(name), arguments[name], known, spans))
    }
    unexplained = tuple(name for name in rest if name not in filters and not _is_option(name, schema))
    return Roles(key, {}, filters, query, sort, order, paging, unexplained=unexplained)


def writing_roles(known: Known, schema: Record, key: str | None, verb: str = "") -> Roles:
    """The roles of the arguments of a tool that writes one record. `verb`: a word that fields may begin with."""
    sets: dict[str, str] = {}
    unexplained: list[str] = []
    leaves = dict(_leaves(schema, known))
    spoken = {known.fields.get(snake(path.rsplit(".", 1)[-1])) for path in leaves}
    for path, part in leaves.items():
        name = snake(path.rsplit(".", 1)[-1])
        if path == key or (name not in known.fields and _is_option(path, schema)):
            continue
        if path.endswith("*"):
            sets[path] = "*"
            continue
        found = known.named(name) or (_begun(verb, name, known) if verb else None)
        inside = known.nested.get(name) if verb and found is None else None
        if found is None and inside is None and known.synonym(name) not in spoken:
            found = known.synonym(name)
        if found is None and inside is None and verb in _SETS and known.ended(name) not in spoken:
            found = known.ended(name)
        if found is not None and found not in sets.values() and _may_hold(known.schemas.get(found, {}), part):
            sets[path] = found
        elif inside is not None:
            sets[path] = inside
        elif not _is_secret(part):
            unexplained.append(path)
    sets |= _by_their_lines(known, {path: leaves[path] for path in unexplained}, {*sets.values()})
    return Roles(key, sets, unexplained=tuple(path for path in unexplained if path not in sets))


def _is_option(path: str, schema: Record) -> bool:
    """Does an argument say how a call is made, and nothing of records? The id that every call must say is of one."""
    name = snake(path.rsplit(".", 1)[-1])
    return name in OPTIONS and not (name.endswith("_id") and path in required(schema))


def _by_their_lines(known: Known, unexplained: Mapping[str, Record], taken: AbstractSet[str]) -> dict[str, str]:
    """A list whose lines look as those of one field do, under another name: `payments` that the `history` shows."""
    found: dict[str, str] = {}
    for path, part in unexplained.items():
        parts = {snake(name) for name in line_parts(part)}
        lists = {name: line_parts(known.schemas.get(name, {})) for name in known.fields.values()}
        alike = [name for name, inner in lists.items() if name not in taken and parts <= {snake(one) for one in inner}]
        found |= {path: alike[0]} if len(alike) == 1 and len(parts) > 1 else {}
    return found


def _may_hold(field: Record, argument: Record) -> bool:
    """Can what a field holds be what is given? What is shown as an object is not set by its name alone."""
    return not properties(field) or main_type(argument) not in {"string", "integer", "number", "boolean"}


def _begun(verb: str, argument: str, known: Known) -> str | None:
    """`cancel_order(reason)` sets `cancel_reason`, `return_order(item_ids)` sets `return_items`."""
    bare = argument.removesuffix("_ids").removesuffix("_id")
    names = (argument, plural(bare), bare)
    return next((known.fields[f"{verb}_{name}"] for name in names if f"{verb}_{name}" in known.fields), None)


def _leaves(schema: Record, known: Known) -> Iterator[tuple[str, Record]]:
    """Arguments by path: those inside `fields: {...}` and the like one by one, `fields.*` where undeclared."""
    for name, part in properties(schema).items():
        wraps = snake(name) in CONTAINERS or snake(name) == known.entity
        if main_type(part) == "object" and wraps and snake(name) not in known.fields:
            inner = properties(part)
            yield from ((f"{name}.{field}", inner[field]) for field in inner)
            if not inner:
                yield f"{name}.*", part
        else:
            yield name, part


def _query(
    verb: Verb, by_name: Mapping[str, str], arguments: Mapping[str, Record], known: Known, needed: frozenset[str]
) -> str | None:
    texts = [name for name in by_name if main_type(arguments[by_name[name]]) in {"string", ""}]
    named = next((by_name[name] for name in texts if name in QUERIES and name not in known.fields), None)
    if named is None:
        named = next((by_name[name] for name in texts if _is_said_to_search(arguments[by_name[name]])), None)
    if named is None and verb == "search":
        alone = [by_name[name] for name in texts if by_name[name] in needed and known.field_of(name) is None]
        return alone[0] if len(alone) == 1 else None
    return named


def _is_said_to_search(schema: Record) -> bool:
    """Does an argument's description call it a text to search by, whatever its name?"""
    return _SEARCHES.search(str(schema.get("description", "")).lower()) is not None


def _is_secret(schema: Record) -> bool:
    return schema.get("format") == "password" or main_type(items(schema)) == "null"
