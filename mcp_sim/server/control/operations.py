"""The operations of the control plane over HTTP: their routes, models and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from mcp_sim.server.control import models as m
from mcp_sim.server.control.controls import Controls
from mcp_sim.types.frozen import frozen


@frozen
class Operation:
    """A route, and the method of `Controls` that it calls with the parts of the path and with the body or query."""

    route: str
    """The method and the path."""
    name: str
    summary: str
    run: Callable[[Controls, Mapping[str, str], Any], Any]
    returns: Any = None
    """The model of the answer, or a list of it. None for an answer without content."""
    takes: type[BaseModel] | None = None
    """The model of the body, or of the query of a GET."""
    status: int = 200
    streams: bool = False
    """Whether it answers with server-sent events."""

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.route.partition(" ")[2]


OPERATIONS = (
    Operation(
        "GET /scenario",
        "get_scenario",
        "What is served: scenario, tools, entities, expectations.",
        lambda c, _p, _q: c.about(),
        returns=m.About,
    ),
    Operation(
        "GET /worlds",
        "list_worlds",
        "The worlds, in the order of their creation.",
        lambda c, _p, q: c.worlds(q),
        returns=m.WorldList,
        takes=m.Page,
    ),
    Operation(
        "POST /worlds",
        "create_world",
        "Create a world.",
        lambda c, _p, q: c.create(q),
        returns=m.WorldSummary,
        takes=m.NewWorld,
        status=201,
    ),
    Operation(
        "GET /worlds/{world}",
        "inspect_world",
        "The clock, faults, snapshots and counts of records of a world.",
        lambda c, p, _q: c.inspect(p["world"]),
        returns=m.WorldState,
    ),
    Operation(
        "DELETE /worlds/{world}",
        "close_world",
        "End a world.",
        lambda c, p, _q: c.close(p["world"]),
        status=204,
    ),
    Operation(
        "POST /worlds/{world}/fork",
        "fork_world",
        "Create a world that begins as this one is now.",
        lambda c, p, q: c.fork(p["world"], q),
        returns=m.WorldSummary,
        takes=m.ForkRequest,
        status=201,
    ),
    Operation(
        "POST /worlds/{world}/reset",
        "reset_world",
        "Return a world to its start. Faults that were added are gone.",
        lambda c, p, q: c.reset(p["world"], q),
        returns=m.WorldSummary,
        takes=m.Act,
    ),
    Operation(
        "GET /worlds/{world}/snapshots",
        "list_snapshots",
        "The snapshots of a world.",
        lambda c, p, _q: c.snapshots(p["world"]),
        returns=list[m.SnapshotState],
    ),
    Operation(
        "POST /worlds/{world}/snapshots",
        "take_snapshot",
        "Take a snapshot of a world.",
        lambda c, p, q: c.snapshot(p["world"], q),
        returns=m.Identified,
        takes=m.NewSnapshot,
        status=201,
    ),
    Operation(
        "DELETE /worlds/{world}/snapshots/{snapshot}",
        "delete_snapshot",
        "Delete a snapshot.",
        lambda c, p, _q: c.drop_snapshot(p["world"], p["snapshot"]),
        status=204,
    ),
    Operation(
        "POST /worlds/{world}/restore",
        "restore_world",
        "Return a world to a snapshot.",
        lambda c, p, q: c.restore(p["world"], q),
        returns=m.WorldSummary,
        takes=m.Restore,
    ),
    Operation(
        "GET /worlds/{world}/faults",
        "list_faults",
        "The faults of a world as they are now.",
        lambda c, p, _q: c.faults(p["world"]),
        returns=list[m.Fault],
    ),
    Operation(
        "POST /worlds/{world}/faults",
        "inject_fault",
        "Add a fault from the next call on.",
        lambda c, p, q: c.inject(p["world"], q),
        returns=m.Identified,
        takes=m.NewFault,
        status=201,
    ),
    Operation(
        "PATCH /worlds/{world}/faults/{fault}",
        "switch_fault",
        "Enable or disable a fault.",
        lambda c, p, q: c.switch(p["world"], p["fault"], q),
        returns=m.Fault,
        takes=m.Switch,
    ),
    Operation(
        "POST /worlds/{world}/clock",
        "advance_clock",
        "Advance a virtual clock; what becomes due happens.",
        lambda c, p, q: c.advance(p["world"], q),
        returns=m.ClockState,
        takes=m.Advance,
    ),
    Operation(
        "GET /worlds/{world}/records",
        "list_records",
        "Records of one entity, now or after a step.",
        lambda c, p, q: c.records(p["world"], q),
        returns=m.RecordList,
        takes=m.RecordQuery,
    ),
    Operation(
        "POST /worlds/{world}/records",
        "change_records",
        "Change records as another actor: all of the changes or none.",
        lambda c, p, q: c.change(p["world"], q),
        returns=m.Changed,
        takes=m.Changes,
    ),
    Operation(
        "POST /worlds/{world}/answer",
        "submit_answer",
        "Submit the final answer of the agent; returns the grade.",
        lambda c, p, q: c.answer(p["world"], q),
        returns=m.GradeState,
        takes=m.Answer,
    ),
    Operation(
        "GET /worlds/{world}/grade",
        "grade_world",
        "The verdicts on a world as it is now.",
        lambda c, p, q: c.grade(p["world"], q),
        returns=m.GradeState,
        takes=m.GradeQuery,
    ),
    Operation(
        "GET /worlds/{world}/compare",
        "compare_worlds",
        "The differences between this world, A, and another one, B.",
        lambda c, p, q: c.compare(p["world"], q),
        returns=m.Comparison,
        takes=m.CompareQuery,
    ),
    Operation(
        "GET /worlds/{world}/ledger",
        "read_ledger",
        "Entries of the ledger that the world keeps.",
        lambda c, p, q: c.ledger(p["world"], q),
        returns=m.LedgerPage,
        takes=m.LedgerQuery,
    ),
    Operation(
        "GET /worlds/{world}/ledger/stream",
        "stream_ledger",
        "The entries of the ledger and each new one, as server-sent events.",
        lambda c, p, q: c.follow(p["world"], q.after),
        takes=m.StreamQuery,
        streams=True,
    ),
)
"""Each is a method of `Controls`."""
