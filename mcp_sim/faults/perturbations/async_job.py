"""Calls that only start a job, which completes later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, ClassVar

from pydantic import Field

from mcp_sim.faults.results import due_after, no_writes, result_value
from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.generate.time_fields import format_time, time_meaning
from mcp_sim.types import Change, Json, Key, Observation, Proceed, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import constants, main_type
from mcp_sim.types.json_values import MISSING
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Span, SpanText
from mcp_sim.types.plans import Plan
from mcp_sim.world.deferred_commits import deferred, writes

ACTOR = "the job"
PENDING = ("pending", "queued", "accepted", "running", "processing", "in_progress", "started")
DONE = ("completed", "complete", "succeeded", "success", "done", "finished", "ready")
STATUS = ("status", "state")
RESULT = ("result", "output", "result_id", "resource_id")
ERROR = ("error", "error_message", "message")
FAILED = ("failed", "failure", "error", "errored")


@frozen
class _Jobs:
    """The form of a scenario's jobs, which are records that the status tool reads."""

    entity: Entity
    argument: str
    status: str
    words: tuple[str, str, str]
    result: str | None
    error: str | None

    @classmethod
    def read_by(cls, plan: Plan, domain: Domain) -> _Jobs | None:
        """Return the form of the jobs that a tool reads; None if it does not read records with a status by id."""
        entity = domain.entities.get(plan.entity or "")
        if entity is None or plan.verb != "get" or plan.key is None:
            return None
        status = _first(STATUS, entity)
        if status is None:
            return None
        choices = constants(entity.fields[status].schema)
        words = tuple(
            next((word for word in wanted if word in choices), wanted[0]) for wanted in (PENDING, DONE, FAILED)
        )
        result, error = _first(RESULT, entity), _first(ERROR, entity)
        return cls(entity, plan.key, status, (words[0], words[1], words[2]), result, error)

    def record(self, turn: Turn, key: Key) -> Record:
        """Return a job that has just started."""
        stamps = {
            field.name: format_time(turn.now, field.name, field.schema)
            for field in self.entity.fields.values()
            if time_meaning(field.name, field.schema) in ("created", "updated")
        }
        return {self.entity.key: key, self.status: self.words[0], **stamps}

    def done(self, record: Record, value: Json, keys: Sequence[Key]) -> Record:
        """Return the completed job, with the result of the call or the id of the record that it created."""
        ended = {**record, self.status: self.words[1]}
        if self.result is None:
            return ended
        whole = main_type(self.entity.fields[self.result].schema) in ("object", "")
        result = value if whole else next(iter(keys), None)
        return ended if result is None or result is MISSING else {**ended, self.result: result}

    def failed(self, record: Record, message: str) -> Record:
        error = {} if self.error is None else {self.error: message}
        return {**record, self.status: self.words[2], **error}


@perturbations.register("async_job")
class AsyncJob(Perturbation):
    """Answer with a pending job, and do the work later: after a duration or a number of further calls.

    The job is a record that `status_tool` reads; the values of its `status` field say pending, completed or failed. If
    it has a `result` field, that holds the result of the call. A job stays pending if its work conflicts with another
    write to the same record.
    """

    stage = Stage.COMMIT
    severities: ClassVar[tuple[str, ...]] = ("fails",)

    status_tool: str = Field(description="The tool that reads a job by its id.", examples=["get_job"])
    after: SpanText = Field(
        default=Span(time=timedelta(seconds=30)),
        description="When the job completes: `30s` later, or `3 calls` later (the next three calls find it pending).",
        examples=["30s"],
    )
    fails: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        default=0.0, description="The probability that the job fails; then nothing is written."
    )
    message: str = Field(default="the job failed", description="The `error` of a failed job, if it has such a field.")

    def acts_on_records(self) -> bool:
        return True

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        plan = _plan(self.status_tool, domain)
        jobs = None if plan is None else _Jobs.read_by(plan, domain)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            transition = await proceed(turn)
            if jobs is None or not writes(transition.changes) or not transition.observation.ok:
                return turn.no_effect(transition)
            return self._begun(turn, transition, jobs)

        return apply

    def _begun(self, turn: Turn, transition: Transition, jobs: _Jobs) -> Transition:
        name = jobs.entity.name
        # A series of its own, so that the records of the call get the same ids as without the fault.
        chance = replace(turn.draws, scope=f"{turn.draws.scope}/job")
        # After the changes of the call, which may have taken the next key of the same entity.
        key = next_key(jobs.entity, key_maker(jobs.entity), turn.view.after(transition.changes), chance)
        record = jobs.record(turn, key)
        begun = Change("put", name, key, record, expected=turn.view.version(name, key))
        fails = turn.chance("fails") < self.fails
        work = deferred(turn, () if fails else transition.changes)
        keys = [change.key for change in transition.changes if change.op == "put"]
        ended = jobs.failed(record, self.message) if fails else jobs.done(record, result_value(transition), keys)
        end = Change("put", name, key, ended, expected=turn.view.version(name, key) + 1)
        form = "json" if turn.tool.output_schema is None else "structured"
        pending = ToolResult({jobs.argument: key, jobs.status: jobs.words[0]}, form=form)
        return replace(
            transition,
            observation=Observation(pending),
            changes=(*work.now, begun),
            agenda=(*transition.agenda, due_after(self.after, turn, ACTOR, (*work.later, end))),
        )

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return False

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        plan = _plan(self.status_tool, domain)
        if plan is None:
            known = did_you_mean(self.status_tool, domain.tools)
            return [f"status_tool: unknown tool {self.status_tool!r}{known}"]
        if _Jobs.read_by(plan, domain) is None:
            return [f"status_tool: {self.status_tool} reads no record with a status by its id; declare it under `sim:`"]
        return no_writes(domain, tools, "work to put off")


def _plan(name: str, domain: Domain) -> Plan | None:
    """Return the plan of a tool, by its id or its bare name."""
    known = next((tool for tool in domain.tools.values() if name in (tool.id, tool.name)), None)
    return None if known is None else domain.plans.get(known.id)


def _first(names: Sequence[str], entity: Entity) -> str | None:
    return next((name for name in names if name in entity.fields), None)
