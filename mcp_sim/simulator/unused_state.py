"""Find the parts of a given state that no tool uses, and what to declare so that tools use them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from mcp_sim.plans.infer import Inferred
from mcp_sim.plans.infer.given_state import COUNTER, Path
from mcp_sim.simulator.inferred_tools import ServerEvidence
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, properties, required
from mcp_sim.types.lexicon.english import noun_of_id, singular, snake, words
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import PROGRAM

_KNOWN_VERBS = frozenset({"get", "list", "search", "update", "delete"})
"""Verbs of tools on records that exist."""
_READING = frozenset({"get", "list", "search"})
_WRITING = frozenset({"create", "update", "delete"})
_MOST_TOOLS = 3
"""How many tools are tried for one part. The check runs with every start, and calls each of them once for each
entry."""
_MOST_ENTRIES = 5
"""How many entries of a part are tried. If the first ones are not shown, later ones of the same form are not either."""


def unused_parts(inferred: Inferred, named: Collection[str], state: Json) -> list[Path]:
    """Return the paths of the parts of a given state that no tool shows.

    `named` are entities that the documents use otherwise, such as those of resources. Parts that are empty, and
    counters, which new ids follow, are left out.
    """
    plans = [variant for plan in inferred.plans.values() for variant in plan.variants]
    if not inferred.paths or any(plan.backend == PROGRAM for plan in plans):
        return []
    shown = {entity for plan in plans if (entity := _shown_entity(plan))}
    used = _with_linked({*named, *shown} & inferred.entities.keys(), inferred.entities)
    read = [inferred.paths[name] for name in inferred.paths.keys() & used]
    unused: list[Path] = []
    for name, path in inferred.paths.items():
        rows = inferred.records.get(name)
        is_single = name not in inferred.entities or inferred.entities[name].singleton
        if name in used and is_single and rows:
            values = _single_values([plan for plan in plans if plan.entity == name])
            unused += _beside(values, rows[0], path, state) if values else []
        elif name not in used and rows and (is_single or path not in read):
            unused += _paths(rows[0], path, state, read) if is_single else [path]
    return unused


def _single_values(plans: Iterable[Plan]) -> frozenset[Path]:
    """Return the values of a singleton that its tools show or set one by one; nothing if a tool shows all of it."""
    values = [(*plan.envelope.shows.values(), *plan.sets.values()) for plan in plans]
    return frozenset(tuple(value.split(".")) for value in chain(*values)) if all(values) else frozenset()


def _beside(values: Collection[Path], fields: Record, path: Path, state: Json) -> list[Path]:
    """Return the paths of the fields with data that hold none of these values."""
    unused: list[Path] = []
    for place in _parts(fields, path, state):
        inner = [value[1:] for value in values if value[0] == place[-1]]
        if not inner:
            unused.append(place)
        elif all(inner):
            unused += _beside(inner, as_object(fields[place[-1]]), place, state)
    return unused


def _shown_entity(plan: Plan) -> str | None:
    """Return the entity whose given records a plan shows: also one that it updates, if its result has the record."""
    is_update = plan.verb == "update" or (plan.verb == "create" and plan.if_exists != "refuse")
    has_record = plan.envelope.record is not None or plan.envelope.rows is not None or bool(plan.result)
    return plan.entity if plan.verb in _READING or (is_update and has_record) else None


def _with_linked(used: set[str], entities: Mapping[str, Entity]) -> set[str]:
    """Return these entities, those whose records hold theirs, and linked ones that only have a key."""
    pending = [*used]
    while pending:
        entity = entities.get(pending.pop())
        links = {*_links(entity, entities)} - used if entity is not None else set[str]()
        used |= links
        pending += links
    return used


def _links(entity: Entity, entities: Mapping[str, Entity]) -> Iterator[str]:
    yield from (entity.inside.entity,) if entity.inside is not None else ()
    for field in entity.fields.values():
        nested = (snake(name).removesuffix("_id") for name in _nested_names(field.schema) if name.endswith("_id"))
        for name in filter(None, (field.link, *nested)):
            if name in entities and [*entities[name].fields] == [entities[name].key]:
                yield name


def _nested_names(schema: Record) -> Iterator[str]:
    """Yield the names of the parts of a value: lines of an order name products."""
    for name, subschema in (*properties(schema).items(), *properties(items(schema)).items()):
        yield name
        yield from _nested_names(subschema)


def _paths(fields: Record, path: Path, state: Json, read: Sequence[Path]) -> list[Path]:
    """Return the paths of unused fields of an object with data; that of the object if nothing of it is used.

    `read` are the paths of used entities.
    """
    unused = _parts(fields, path, state)
    is_alone = bool(path) and _at(state, path) == fields
    is_whole = is_alone and not any(pair[: len(path)] == path for pair in read)
    return [path] if is_whole and unused else unused


def _parts(fields: Record, path: Path, state: Json) -> list[Path]:
    """Return the paths of fields with data, which are not counters, nor kept beside the rows of a table."""
    own = as_object(_at(state, path))
    names = [name for name, value in fields.items() if _has_data(value) and not COUNTER.fullmatch(snake(name))]
    return [(*path, name) for name in names if name in own]


def _has_data(value: Json) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_data, as_object(value).values() if isinstance(value, dict) else as_list(value)))
    return value not in (None, "")


def _at(state: Json, path: Path) -> Json:
    for name in path:
        state = as_object(state).get(name)
    return state


def suggestions(
    path: Path, state: Json, inferred: Inferred, evidence: ServerEvidence
) -> Iterator[tuple[Tool, Mapping[str, str]]]:
    """Yield tools, and what to declare of each under `sim:`, that may make it use a part of the state; likeliest first.

    The tools are those whose names share a word with the part and whose effect no spec declares, else those that take
    a parent of its rows and do nothing known. Records are left to the tools that show given ones; a part that is one
    record may be what a tool without arguments shows instead.
    """
    names = (*as_object(_some(_at(state, path))), *path)
    entity = next((name for name, place in inferred.paths.items() if place == path), "")
    if not entity.isidentifier():
        return
    undeclared = {name: tool for name, tool in evidence.tools.items() if name not in evidence.overrides}
    if inferred.entities[entity].singleton:
        readers = (tool for name, tool in undeclared.items() if inferred.plans[name].verb not in _WRITING)
        getters = [tool for tool in readers if not required(tool.input_schema)]
        alike = _named_alike(path[-1:], getters, inferred.plans)
        yield from ((tool, {"verb": "get", "entity": entity}) for tool in alike[:_MOST_TOOLS])
        return
    free = [tool for name, tool in undeclared.items() if not inferred.records.get(inferred.plans[name].entity or "")]
    alike = _named_alike(names, free, inferred.plans) or _asking_by_parent(inferred.entities[entity], free, inferred)
    for tool in islice(alike, _MOST_TOOLS):
        yield tool, {"verb": _verb(tool, inferred.plans[tool.id], inferred.entities[entity]), "entity": entity}


def _verb(tool: Tool, plan: Plan, entity: Entity) -> str:
    """Return what a tool may do to records that exist; to get one, if only its arguments show it, it takes a key."""
    asked = required(tool.input_schema)
    names_one = bool(asked) and not any(name in entity.fields and name != entity.key for name in asked)
    return plan.verb if plan.verb in _KNOWN_VERBS else "get" if names_one else "list"


def _some(value: Json) -> Json:
    """Return a part with its first entries only."""
    if isinstance(value, dict):
        return dict(islice(as_object(value).items(), _MOST_ENTRIES))
    return as_list(value)[:_MOST_ENTRIES] or value


def _named_alike(names: Sequence[str], tools: Iterable[Tool], plans: Mapping[str, Plan]) -> list[Tool]:
    """Return the tools that share a word with these names: first those that share one with the last, then by effect.

    Those whose descriptions alone share words with the last name come after them.
    """
    last, whole = _nouns(names[-1:]), _nouns(names)
    ranked = list[tuple[tuple[bool, bool, bool, int], Tool]]()
    for tool in tools:
        named, said = _nouns((tool.name,)), _nouns((tool.description.partition("\n")[0].lower(),))
        is_writing, shared = plans[tool.id].verb in _WRITING, len(last & (named | said))
        if whole & named or last & said:
            ranked.append(((not whole & named, not last & named, is_writing, -shared), tool))
    return [tool for _, tool in sorted(ranked, key=lambda pair: pair[0])]


def _asking_by_parent(entity: Entity, tools: Iterable[Tool], inferred: Inferred) -> list[Tool]:
    """Return the tools of unknown effect that require one argument, which names a record that the rows link to."""
    parents = {field.link for field in entity.fields.values() if field.link is not None}
    needed = {tool.id: required(tool.input_schema) for tool in tools if inferred.plans[tool.id].guessed}
    asking = {id_ for id_, names in needed.items() if len(names) == 1 and noun_of_id(snake(*names)) in parents}
    return [tool for tool in tools if tool.id in asking]


def _nouns(names: Sequence[str]) -> frozenset[str]:
    return frozenset(singular(word) for name in names for word in words(name))
