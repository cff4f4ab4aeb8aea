"""Find the parts of a given state that no tool uses, and suggest lines that would use them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from mcp_sim.infer import Inferred
from mcp_sim.infer.given_state import Path
from mcp_sim.simulator.match_tools import matching_backends
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, properties, required
from mcp_sim.types.kinds import ServerEvidence, backends
from mcp_sim.types.lexicon.english import singular, snake, words
from mcp_sim.types.plans import Plan

_READERS_OF_ALL = frozenset({"any_record", "python"})
"""Backends whose tools may read any record."""
_KNOWN_VERBS = frozenset({"get", "list", "search", "update", "delete"})
"""Verbs of tools on records that exist."""
_MOST_TOOLS = 3
"""How many tools are tried for one part."""
_MOST_ENTRIES = 5
"""How many entries of a part are tried."""


def unused_parts(found: Inferred, named: Collection[str]) -> list[Path]:
    """Return the paths of the parts of the given state that no tool uses.

    `named` are entities that the documents use otherwise, such as those of resources. Parts that are empty, numbers or
    flags are left out: counters and settings that servers keep for themselves.
    """
    plans = [variant for plan in found.plans.values() for variant in plan.variants]
    if any(map(_reads_all, plans)):
        return []
    places = {*named, *(place for plan in plans for place in _places(plan))}
    used = _with_linked({place for place in places if place in found.entities}, found.entities)
    idle = [name for name in found.paths if name not in used]
    return [path for name in idle for path in _parts(found, name, places, found.paths.keys() & used)]


def _reads_all(plan: Plan) -> bool:
    return plan.backend in _READERS_OF_ALL or (plan.backend == "summaries" and plan.entity is None)


def _places(plan: Plan) -> Iterator[str]:
    """Yield the entities whose records a plan uses, and fields of singletons as `entity.field`."""
    yield from (plan.entity,) if plan.entity is not None else ()
    yield from (one.entity for one in (*plan.also, *plan.owners, *plan.among, *plan.children))
    yield from (plan.swap.entity,) if plan.swap is not None else ()
    yield from (place for place in (plan.caller, plan.login, plan.counter, *plan.from_state.values()) if place)


def _with_linked(used: set[str], entities: Mapping[str, Entity]) -> set[str]:
    """Return these entities, and those whose records they show, link to or are parts of."""
    pending = [*used]
    while pending:
        entity = entities.get(pending.pop())
        links = {*_links(entity)} - used if entity is not None else set[str]()
        used |= links
        pending += links
    return used


def _links(entity: Entity) -> Iterator[str]:
    yield from (entity.inside.entity,) if entity.inside is not None else ()
    for field in entity.fields.values():
        yield from (field.link,) if field.link is not None else ()
        yield from (field.derived[1:].partition(".")[0],) if field.derived and field.derived[0] == "#" else ()
        yield from (snake(name).removesuffix("_id") for name in _nested_names(field.schema) if name.endswith("_id"))


def _nested_names(schema: Record) -> Iterator[str]:
    """Yield the names of the parts of a value: lines of an order name products."""
    for name, part in (*properties(schema).items(), *properties(items(schema)).items()):
        yield name
        yield from _nested_names(part)


def _parts(found: Inferred, name: str, places: Collection[str], used: Collection[str]) -> list[Path]:
    """Return the path of the table of an entity, or of each unused field of a singleton, if there is anything in it.

    An object nothing of which is used is one part.
    """
    rows, path = found.records.get(name, ()), found.paths[name]
    if not rows or not _is_singleton(name, found.entities):
        return [path] if rows else []
    held = [*_filled(rows[0])]
    unused = [field for field in held if f"{name}.{field}" not in places]
    holds_used = any(found.paths[one][: len(path)] == path for one in used)
    return [path] if path and held and unused == held and not holds_used else [(*path, field) for field in unused]


def _filled(record: Record) -> Iterator[str]:
    """Yield the fields with texts, lists and objects that are not empty."""
    return (field for field, value in record.items() if isinstance(value, str | dict | list) and value)


def _is_singleton(name: str, entities: Mapping[str, Entity]) -> bool:
    return name not in entities or entities[name].singleton


def suggestion(path: Path, state: Json, found: Inferred, evidence: ServerEvidence) -> str:
    """Return a line under `sim:` with which a tool would use a part of the state; empty if none is found.

    The tools are those whose names share a word with the part. Each backend is asked whether it would take the part.
    """
    for name in path:
        state = as_object(state).get(name)
    part: Json = _some(state)
    for name in reversed(path):
        part = {name: part}
    names = (*as_object(_some(state)), *path)
    tools = [*islice(_named_alike(names, evidence.tools.values(), found.plans), _MOST_TOOLS)]
    lines = (_backend_line(tool, replace(evidence, state=part)) for tool in tools)
    line = next(filter(None, lines), "")
    tables = (name for name, place in found.paths.items() if place == path and not _is_singleton(name, found.entities))
    entity = next(tables, "")
    if line or not entity.isidentifier() or not tools:
        return line
    verb = found.plans[tools[0].id].verb
    usual = "get" if required(tools[0].input_schema) else "list"
    return f"{tools[0].name}: {{verb: {verb if verb in _KNOWN_VERBS else usual}, entity: {entity}}}"


def _some(value: Json) -> Json:
    """Return a part with its first entries only."""
    if isinstance(value, dict):
        return dict(islice(as_object(value).items(), _MOST_ENTRIES))
    return as_list(value)[:_MOST_ENTRIES] or value


def _named_alike(names: Sequence[str], tools: Iterable[Tool], plans: Mapping[str, Plan]) -> list[Tool]:
    """Return the tools that share a word with these names: first those that share one with the last, then by effect."""
    last, whole = _nouns(names[-1:]), _nouns(names)
    alike = [tool for tool in tools if not whole.isdisjoint(_nouns((tool.name,)))]
    writing = {"create", "update", "delete"}
    return sorted(alike, key=lambda tool: (last.isdisjoint(_nouns((tool.name,))), plans[tool.id].verb in writing))


def _nouns(names: Sequence[str]) -> frozenset[str]:
    return frozenset(singular(word) for name in names for word in words(name))


def _backend_line(tool: Tool, evidence: ServerEvidence) -> str:
    for kind in matching_backends():
        overrides = {**evidence.overrides, tool.id: {"backend": kind}}
        match = backends[kind]().match(replace(evidence, overrides=overrides))
        takes = match is not None and any(match.records.values()) and match.state != evidence.state
        if match is not None and takes and tool.id in {plan.tool for plan in match.plans}:
            return f"{tool.name}: {{backend: {kind}}}"
    return ""
