"""Change records as another actor of the same backend would."""

from __future__ import annotations

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.edits import Editor, Inserter, value_problems
from mcp_sim.server.control import models as m
from mcp_sim.server.control.errors import Conflict, Invalid
from mcp_sim.types import Change, Key
from mcp_sim.types.domain import Entity
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.views import find_key
from mcp_sim.world.deferred_commits import fitting
from mcp_sim.world.state import State
from mcp_sim.world.steering import change, settle
from mcp_sim.world.world import World


def write_records(world: World, request: m.Changes) -> list[Key]:
    """Write the changes of a request as one event. Return the keys.

    Raises `Invalid` for what cannot be a change here, `Conflict` for what the present records do not allow.
    """
    settle(world)
    view, changes = world.view, list[Change]()
    for at, requested in enumerate(request.changes):
        entity = _entity(world, requested, f"changes[{at}]")
        done = _change(world, view, entity, requested, at)
        if not fitting(view, (done,), world.scenario.domain):
            links = "other records link to it" if done.op == "remove" else "one of its links leads to no record"
            raise Conflict(f"changes[{at}]: {requested.do} {requested.entity} {done.key}: {links}")
        changes.append(done)
        view = view.apply((done,))
    change(world, changes, request.actor)
    return [done.key for done in changes]


def _entity(world: World, requested: m.RecordChange, place: str) -> Entity:
    entities = world.scenario.domain.entities
    if requested.entity not in entities:
        problem = f"there is no entity {requested.entity!r}{did_you_mean(requested.entity, entities)}"
        raise Invalid([m.Located(path=f"{place}.entity", message=problem)])
    entity = entities[requested.entity]
    values = {} if isinstance(requested, m.Delete) else requested.values
    problems = value_problems(entity, values)
    if problems:
        raise Invalid([m.Located(path=f"{place}.values", message=problem) for problem in problems])
    return entity


def _change(world: World, view: State, entity: Entity, requested: m.RecordChange, at: int) -> Change:
    """Return a change, computed on the records as the ones before leave them."""
    draws = Draws(world.origin.seed, world.origin.stream, f"control/{world.version.n}", at)
    if isinstance(requested, m.Insert):
        inserted = Inserter(entity, requested.values).inserted(view, world.now, draws)
        if inserted is None:
            raise Conflict(f"changes[{at}]: a required link of {entity.name} has no record to lead to")
        return inserted
    key = find_key(view, entity.name, requested.key)
    if key is None:
        raise Conflict(f"changes[{at}]: there is no {entity.name} {requested.key!r}")
    if isinstance(requested, m.Delete):
        return Change("remove", entity.name, key)
    edited = Editor(entity, requested.values).edited(view, key, world.now, Chance(draws.key))
    if edited is None:
        raise Conflict(f"changes[{at}]: {entity.name} {requested.key!r} has these values already")
    return edited
