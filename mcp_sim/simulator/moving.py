"""Move a world to another scenario of the same server, in which programs answer tools that a model has answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_sim.types import Change, PastCall, Record, Step
from mcp_sim.types.domain import Entity
from mcp_sim.types.programs import PROGRAM
from mcp_sim.world.commits import Faults, Origin, Version
from mcp_sim.world.engine import Engine
from mcp_sim.world.state import State
from mcp_sim.world.world import World

ACTOR = "mcp-sim"
"""Who moves worlds, as the ledger names it."""


def move(world: World, engine: Engine, first: Version, faults: Faults) -> bool:
    """Have another engine answer a world, from the `first` version of its scenario and with what the world has written.

    Its time, counters and history stay, and the ledger notes the tools that programs answer now. False, and nothing
    changes, if the other scenario has no place for records that were written.
    """
    domain, before = faults.scenario.domain, world.version.faults.scenario.domain
    written = [name for name in world.view.entities() if world.view.written(name)]
    if any(_key(domain.entities.get(name)) != _key(before.entities.get(name)) for name in written):
        return False
    state = first.state.apply([change for name in written for change in _changes(world.view, domain.entities[name])])
    state = replace(state, agenda=world.view.agenda)
    version = replace(world.version, state=state, faults=faults)
    tools = [name for name, plan in domain.plans.items() if plan.backend == PROGRAM]
    world.engine, world.origin = engine, Origin(world.origin.seed, world.origin.stream, first)
    step = Step(world.version.n + 1, "event", world.now, actor=ACTOR, steered={"programs": tools})
    past = PastCall(world.version.index, "", {}, ok=True, at=world.now, changes=())
    world.record(step, version, {}, past)
    return True


def _key(entity: Entity | None) -> str | None:
    return None if entity is None else entity.key


def _changes(state: State, entity: Entity) -> Iterator[Change]:
    """Yield the writes of a world to a kind of records, with the defaults of fields that they lack."""
    defaults: Record = {
        name: field.schema["default"] for name, field in entity.fields.items() if "default" in field.schema
    }
    for key, row in state.written(entity.name).items():
        if row.record is None:
            yield Change("remove", entity.name, key)
        else:
            yield Change("put", entity.name, key, {**defaults, **row.record})
