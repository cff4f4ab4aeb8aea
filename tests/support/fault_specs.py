"""Tool specs that tests of several perturbations share."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp_sim.types import Attempt, Change, Observation, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Predictor, WorldModel

REPORTS = """\
mcp_sim: 1
name: reports
tools:
  - name: create_report
    description: Create a report.
    inputSchema: {type: object, properties: {title: {type: string}}, required: [title]}
    outputSchema: &report
      type: object
      properties: {id: {type: string}, title: {type: string}}
      required: [id, title]
  - name: get_report
    description: Get a report by its id.
    inputSchema: {type: object, properties: {report_id: {type: string}}, required: [report_id]}
    annotations: {readOnlyHint: true}
    outputSchema: *report
  - name: update_report
    description: Update a report.
    inputSchema: {type: object, properties: {report_id: {type: string}, title: {type: string}}, required: [report_id]}
    outputSchema: *report
  - name: get_job
    description: Get a job by its id.
    inputSchema: {type: object, properties: {job_id: {type: string}}, required: [job_id]}
    annotations: {readOnlyHint: true}
    outputSchema:
      type: object
      properties:
        id: {type: string}
        status: {type: string, enum: [queued, running, done, failed]}
        result: {type: object}
        error: {type: string}
      required: [id, status]
entities:
  report: {key_like: rep_001}
  job: {key_like: job_001}
"""
NO_REPORTS = "world: {records: {report: 0, job: 0}}\n"

PAGES = """\
world:
  state:
    pages:
      https://bridges.example/sele: {text: "The bridge of Sele has 5 arches and 1,200 steps.", date: 2029-02-20}
      https://bridges.example/okno: {text: "The bridge of Okno has 17 arches.", date: 2029-02-21}
"""

NOTES = """\
mcp_sim: 1
name: notes
tools:
  - name: import_notes
    description: Import several notes at once.
    inputSchema: {type: object, properties: {titles: {type: array, items: {type: string}}}, required: [titles]}
  - name: list_notes
    description: List all notes.
    inputSchema: {type: object, properties: {}}
    annotations: {readOnlyHint: true}
entities:
  note: {key_like: note_001, fields: {title: {type: string}, after: {link: note}}}
"""
NO_NOTES = "world: {records: {note: 0}}\n"


class Batches(WorldModel):
    """Writes a note for each title. With `chained`, each links to the one before; with `same`, all are one record."""

    chained: bool = False
    same: bool = False

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        yield _Batches(chained=self.chained, same=self.same)


class _Batches:
    def __init__(self, *, chained: bool, same: bool) -> None:
        self.chained, self.same = chained, same

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        titles: list[str] = turn.call.arguments.get("titles", [])
        first = int(str(turn.view.last_key("note") or "note_000").removeprefix("note_")) + 1
        keys = ["note_001" if self.same else f"note_{first + at:03d}" for at in range(len(titles))]
        records = [{"id": key, "title": title} for key, title in zip(keys, titles, strict=True)]
        if self.chained:
            records = [{**record, **({"after": keys[at - 1]} if at else {})} for at, record in enumerate(records)]
        changes = tuple(Change("put", "note", record["id"], record, part=at) for at, record in enumerate(records))
        return Transition(Observation(ToolResult({"notes": records}, form="json")), changes)


CHARGES = """
mcp_sim: 1
name: charges
tools:
  - name: create_charge
    description: Create a charge.
    inputSchema:
      type: object
      properties: {amount: {type: integer}, idempotency_key: {type: string}}
      required: [amount]
entities: {charge: {key_like: ch_1}}
"""
NO_CHARGES = "world: {records: {charge: 0}}\n"
