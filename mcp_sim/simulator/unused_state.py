"""Find the parts of a given state that no tool uses, and what to declare so that tools use them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from mcp_sim.plans.infer import Inferred
from mcp_sim.plans.infer.given_state import Path
from mcp_sim.simulator.match_tools import matching_backends
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, properties, required
from mcp_sim.types.json_values import is_number
from mcp_sim.types.kinds import ServerEvidence, backends
from mcp_sim.types.lexicon.english import singular, snake, words
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import PROGRAM

_KNOWN_VERBS = frozenset({"get", "list", "search", "update", "delete"})
"""Verbs of tools on records that exist."""
_WRITING = frozenset({"create", "update", "delete"})
_MOST_TOOLS = 3
"""How many tools are tried for one part. The check runs with every start, and calls each of them once for each
entry."""
_MOST_ENTRIES = 5
"""How many entries of a part are tried. If the first ones are not shown, later ones of the same form are not either."""


def unused_parts(inferred: Inferred, domain: Domain, named: Collection[str], state: Json, rest: Json) -> list[Path]:
    """Return the paths of the parts of a given state that no tool shows; `rest` is what backends left of it.

    `domain` has the tools and plans of the server. `named` are entities that the documents use otherwise, such as those
    of resources. Parts that are empty, numbers or flags are left out: counters and settings that servers keep for
    themselves. So are texts beside parts that a backend took, such as the name of the current user.
    """
    plans = [variant for plan in inferred.plans.values() for variant in plan.variants]
    if not inferred.paths or any(plan.backend == PROGRAM for plan in plans):
        return []
    shown = {plan.entity for plan in plans if plan.entity and (plan.verb != "create" or plan.if_exists != "refuse")}
    used = _with_linked({*named, *shown, *_read_besides(plans, domain)} & inferred.entities.keys(), inferred.entities)
    read = [inferred.paths[name] for name in inferred.paths.keys() & used]
    unused: list[Path] = []
    for name in inferred.paths:
        if name not in used and inferred.records.get(name):
            unused += _parts(inferred, name, read, (state, rest))
    return unused


def _parts(inferred: Inferred, name: str, read: Sequence[Path], states: tuple[Json, Json]) -> list[Path]:
    """Return the path of the table of an unused entity, or those of the fields of an unused singleton."""
    path, record = inferred.paths[name], inferred.records[name][0]
    before, left = _at(states[0], path), _at(states[1], path)
    if name in inferred.entities and not inferred.entities[name].singleton:
        return [path] if before == left or _has_data(left, before) else []
    return _paths(record, path, before, left, read)


def _read_besides(plans: Iterable[Plan], domain: Domain) -> Iterator[str]:
    """Yield the entities that backends read besides those that the plans name."""
    known = matching_backends()
    for plan in plans:
        yield from backends[plan.backend]().reads(plan, domain) if plan.backend in known else ()


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
        yield from (snake(name).removesuffix("_id") for name in _nested_names(field.schema) if name.endswith("_id"))


def _nested_names(schema: Record) -> Iterator[str]:
    """Yield the names of the parts of a value: lines of an order name products."""
    for name, subschema in (*properties(schema).items(), *properties(items(schema)).items()):
        yield name
        yield from _nested_names(subschema)


def _paths(fields: Record, path: Path, before: Json, left: Json, read: Sequence[Path]) -> list[Path]:
    """Return the paths of unused fields of an object with data; that of the object if nothing of it is used.

    `before` is the object as it is given, `left` what backends left of it, `read` are the paths of used entities.
    """
    is_left, is_alone = before == left, bool(path) and before == fields
    kept: Record = {name: value for name, value in fields.items() if is_left or isinstance(value, dict | list)}
    unused = [
        (*path, name)
        for name, value in kept.items()
        if _has_data(value, as_object(before).get(name)) or (is_alone and is_number(value))
    ]
    is_whole = is_alone and is_left and not any(pair[: len(path)] == path for pair in read)
    return [path] if is_whole and unused else unused


def _has_data(value: Json, before: Json) -> bool:
    """Whether there is a text in a value; not counting those beside parts that a backend took from it."""
    if not isinstance(value, dict):
        return bool(value) if isinstance(value, str) else any(_has_data(item, item) for item in as_list(value))
    held, known = as_object(value), as_object(before)
    parts: Record = (
        held if held == known else {name: inner for name, inner in held.items() if isinstance(inner, dict | list)}
    )
    return any(_has_data(inner, known.get(name)) for name, inner in parts.items())


def _at(state: Json, path: Path) -> Json:
    for name in path:
        state = as_object(state).get(name)
    return state


def suggestions(
    path: Path, state: Json, inferred: Inferred, evidence: ServerEvidence
) -> Iterator[tuple[Tool, Mapping[str, str]]]:
    """Yield tools, and what to declare of each under `sim:`, that may make it use a part of the state; likeliest first.

    The tools are those whose names share a word with the part and whose effect no spec declares. Records are left to
    the tools that show given ones; a part that is one record may be what a tool without arguments shows instead.
    """
    names = (*as_object(_some(_at(state, path))), *path)
    entity = next((name for name, place in inferred.paths.items() if place == path), "")
    if not entity.isidentifier():
        return
    undeclared = {name: tool for name, tool in evidence.tools.items() if name not in evidence.overrides}
    if inferred.entities[entity].singleton:
        getters = [tool for name, tool in undeclared.items() if _may_get_one(tool, inferred.plans[name])]
        alike = sorted(_named_alike(path[-1:], getters, inferred.plans), key=lambda tool: -_shared(path[-1], tool))
        yield from ((tool, {"verb": "get", "entity": entity}) for tool in alike[:_MOST_TOOLS])
        return
    free = [tool for name, tool in undeclared.items() if not inferred.records.get(inferred.plans[name].entity or "")]
    held = as_object(_at(state, path)).values()
    usual = "list" if held and all(isinstance(value, list) for value in held) else "get"  # several for each parent
    for tool in islice(_named_alike(names, free, inferred.plans), _MOST_TOOLS):
        yield tool, {"verb": _verb(tool, inferred.plans[tool.id], usual), "entity": entity}


def _shared(name: str, tool: Tool) -> int:
    """Return how many words of a name occur in the name or the description of a tool."""
    return len(_nouns((name,)) & _nouns((tool.name, *tool.description.split())))


def _may_get_one(tool: Tool, plan: Plan) -> bool:
    return plan.verb not in _WRITING and not required(tool.input_schema)


def _verb(tool: Tool, plan: Plan, usual: str) -> str:
    """Return what a tool may do to records that exist; the `usual` if only its arguments show it."""
    return plan.verb if plan.verb in _KNOWN_VERBS else (usual if required(tool.input_schema) else "list")


def _some(value: Json) -> Json:
    """Return a part with its first entries only."""
    if isinstance(value, dict):
        return dict(islice(as_object(value).items(), _MOST_ENTRIES))
    return as_list(value)[:_MOST_ENTRIES] or value


def _named_alike(names: Sequence[str], tools: Iterable[Tool], plans: Mapping[str, Plan]) -> list[Tool]:
    """Return the tools that share a word with these names: first those that share one with the last, then by effect."""
    last, whole = _nouns(names[-1:]), _nouns(names)
    alike = [tool for tool in tools if not whole.isdisjoint(_nouns((tool.name,)))]
    return sorted(alike, key=lambda tool: (last.isdisjoint(_nouns((tool.name,))), plans[tool.id].verb in _WRITING))


def _nouns(names: Sequence[str]) -> frozenset[str]:
    return frozenset(singular(word) for name in names for word in words(name))
