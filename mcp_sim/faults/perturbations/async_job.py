"""The call only begins the work; a job says when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, ClassVar

from pydantic import Field

from mcp_sim.backends.rendering.places import NOTHING, answered, no_writes
from mcp_sim.generate.keys import keys_of, next_key
from mcp_sim.generate.times import sense, written
from mcp_sim.types import Change, Due, Json, Key, Observation, Proceed, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.shapes import constants, main_type
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


@dataclass(frozen=True, slots=True)
class _Jobs:
    """How the jobs of a scenario look: their records, which the status tool reads."""

    entity: Entity
    argument: str
    status: str
    words: tuple[str, str, str]
    result: str | None
    error: str | None

    @classmethod
    def read_by(cls, plan: Plan, domain: Domain) -> _Jobs | None:
        """The jobs that a status tool reads; None where it reads no record by its id, or one without a status."""
        entity = domain.entities.get(plan.entity or "")
        if entity is None or plan.verb != "get" or plan.key is None:
            return None
        status = _first(STATUS, entity)
        if status is None:
            return None
        choices = constants(entity.fields[status].schema)
        words = tuple(_word(wanted, choices) for wanted in (PENDING, DONE, FAILED))
        result, error = _first(RESULT, entity), _first(ERROR, entity)
        return cls(entity, plan.key, status, (words[0], words[1], words[2]), result, error)

    def record(self, turn: Turn, key: Key) -> Record:
        """A job that has just begun."""
        stamps = {
            field.name: written(turn.now, field.name, field.schema)
            for field in self.entity.fields.values()
            if sense(field.name, field.schema) in ("created", "updated")
        }
        return {self.entity.key: key, self.status: self.words[0], **stamps}

    def done(self, record: Record, told: Json, keys: Sequence[Key]) -> Record:
        """The job when it is done: with what the call would have answered, or the id of what it made."""
        ended = {**record, self.status: self.words[1]}
        if self.result is None:
            return ended
        whole = main_type(self.entity.fields[self.result].schema) in ("object", "")
        result = told if whole else next(iter(keys), None)
        return ended if result is None or result is NOTHING else {**ended, self.result: result}

    def failed(self, record: Record, message: str) -> Record:
        told = {} if self.error is None else {self.error: message}
        return {**record, self.status: self.words[2], **told}


@perturbations.register("async_job")
class AsyncJob(Perturbation):
    """Answer with a pending job and do the work later: after a time, or after so many further calls.

    The job is a record of the world, which the tool named in `status_tool` reads: first pending, in the end completed
    or failed, in the words of its `status` field. What the call would have answered stands in the job's `result`, if it
    has one. A job whose work no longer fits (another call wrote to the same record) stays pending. No effect on a call
    that fails or changes nothing.
    """

    stage = Stage.COMMIT
    severities: ClassVar[tuple[str, ...]] = ("fails",)

    status_tool: str = Field(
        description="The tool that reads a job by its id; it must be one of the tools served.", examples=["get_job"]
    )
    after: SpanText = Field(
        default=Span(time=timedelta(seconds=30)),
        description="When it is ready: `30s` later, or `3 calls` later (the next three find it pending).",
        examples=["30s"],
    )
    fails: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        default=0.0, description="The probability that the job fails; then nothing is written."
    )
    message: str = Field(default="the job failed", description="What a failed job says, if it has an `error`.")

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
        chance = replace(turn.draws, scope=f"{turn.draws.scope}/job")
        key = next_key(jobs.entity, keys_of(jobs.entity), turn.view.after(transition.changes), chance)
        record = jobs.record(turn, key)
        begun = Change("put", name, key, record, expected=turn.view.version(name, key))
        fails = turn.chance("fails") < self.fails
        work = deferred(turn, () if fails else transition.changes)
        made = [change.key for change in transition.changes if change.op == "put"]
        ended = jobs.failed(record, self.message) if fails else jobs.done(record, answered(transition), made)
        end = Change("put", name, key, ended, expected=turn.view.version(name, key) + 1)
        form = "json" if turn.tool.output_schema is None else "structured"
        told = ToolResult({jobs.argument: key, jobs.status: jobs.words[0]}, form=form)
        return replace(
            transition,
            observation=Observation(told),
            changes=(*work.now, begun),
            agenda=(*transition.agenda, self._due(turn, (*work.later, end))),
        )

    def _due(self, turn: Turn, changes: tuple[Change, ...]) -> Due:
        if self.after.calls is not None:
            return Due(turn.now, ACTOR, changes, call=turn.index + self.after.calls + 1)
        return Due(turn.now + (self.after.time or timedelta(0)), ACTOR, changes)

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return False

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        plan = _plan(self.status_tool, domain)
        if plan is None:
            known = did_you_mean(self.status_tool, domain.tools)
            return [f"status_tool: there is no tool {self.status_tool!r}{known}"]
        if _Jobs.read_by(plan, domain) is None:
            return [f"status_tool: {self.status_tool} reads no record with a status by its id; say so under `sim:`"]
        return no_writes(domain, tools, "work to put off")


def _plan(name: str, domain: Domain) -> Plan | None:
    """The plan of a tool, by its id or its bare name."""
    known = next((tool for tool in domain.tools.values() if name in (tool.id, tool.name)), None)
    return None if known is None else domain.plans.get(known.id)


def _first(names: Sequence[str], entity: Entity) -> str | None:
    return next((name for name in names if name in entity.fields), None)


def _word(wanted: Sequence[str], choices: Sequence[Json]) -> str:
    """The word for a status: one of the choices where there are any."""
    return next((word for word in wanted if word in choices), wanted[0])
