"""The records that worlds of a program begin with."""

from __future__ import annotations

from rpds import HashTrieMap

from mcp_sim.generate.invention import inventor
from mcp_sim.programs.backend import load
from mcp_sim.programs.loading import failed_at, reason
from mcp_sim.programs.results import plain
from mcp_sim.programs.watchdog import Overrun, watched
from mcp_sim.programs.world import World
from mcp_sim.types import Call, Change, Memories, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.kinds import Tables
from mcp_sim.types.programs import Program
from mcp_sim.world.state import State

HOOK = "initial"


def with_initial_records(tables: Tables, domain: Domain, seed: int) -> Tables:
    """Return the tables with the records that the programs of a domain begin with.

    Raises `DocumentError` with file and line if a program fails.
    """
    programs = [program for program in domain.programs if HOOK in program.hooks]
    if not programs:
        return tables
    state = State.of(tables)
    for program in programs:
        state = state.apply(_changes(program, state, domain, seed))
    return {entity: dict(state.rows(entity)) for entity in state.entities()}


def _changes(program: Program, state: State, domain: Domain, seed: int) -> tuple[Change, ...]:
    tool = Tool(HOOK, "", {"name": HOOK, "inputSchema": {"type": "object"}})
    turn = Turn(
        Call(HOOK, {}),
        index=0,
        tool=tool,
        view=state,
        start=domain.now,
        now=domain.now,
        draws=Draws(seed, "", HOOK, 0),
        history=(),
        memories=Memories(HashTrieMap()),
    )
    world = World(domain, program.prefix, turn, inventor(domain))
    begin = load(program, domain)[program.hooks[HOOK].name]
    try:
        with watched():
            begin(plain(program.state), world)
            return world.changes()
    except (Exception, Overrun) as error:
        place = failed_at(error, program.path)
        line, why = program.hooks[HOOK].line, f"fails at {place}: {reason(error)}"
        raise DocumentError([Problem(str(program.path), line, f"@{HOOK}", why)]) from error
