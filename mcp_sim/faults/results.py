"""Find rows, records and texts in results, by the tool's plan or else by their form, and change them.

Some faults act on tables of libraries, such as a shell or screens, instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, cast

from mcp_sim.types import Change, Due, Json, Proceed, Record, RpcError, Tool, ToolResult, Transition, Turn
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import MISSING, READS, Path, encode, get_part, split_path
from mcp_sim.types.kinds import Apply
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.options import Span
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import PROGRAM

_MAX_DEPTH = 4  # deeper values are contents of a record, not the envelope of an answer

_KEY_NAME = re.compile(r"(^|_)(id|ids|uuid|guid|key|cursor)$")
_TIME = re.compile(r"\d{4}-\d\d-\d\d")
_SHAPED = frozenset({"enum", "const", "format", "pattern"})


@frozen
class ResultShape:
    """What is known about a tool's results. `plan` is None for a guess, `entity` for a tool without records."""

    tool: Tool
    plan: Plan | None
    entity: Entity | None

    @classmethod
    def of(cls, tool: Tool, domain: Domain) -> ResultShape:
        plan = domain.plans.get(tool.id)
        known = None if plan is None or plan.guessed else plan
        return cls(tool, known, domain.entities.get(known.entity or "") if known is not None else None)

    @property
    def is_read(self) -> bool:
        return self.plan is not None and self.plan.verb in READS

    def rows(self, value: Json) -> Path | None:
        """Return the path to the list of records, if the result has one."""
        if self.plan is not None and (self.plan.backend != PROGRAM or self.plan.envelope.rows is not None):
            rows = self.plan.envelope.rows
            if rows is None:
                return None
            if isinstance(get_part(value, split_path(rows)), list):
                return split_path(rows)
        return next(_lists(value, (), 0), None)  # real servers and programs have forms of their own

    def part(self, value: Json, planned: str | None, kind: str) -> Path | None:
        """Return the path to a `total` or `cursor` of a result: as planned, else by its name, or None."""
        if planned is not None and get_part(value, split_path(planned)) is not MISSING:
            return split_path(planned)
        return next(_named(value, terms(f"results.{kind}"), (), 0), None)

    def records(self, value: Json) -> list[Path]:
        """Return the paths to the records: each row, or the single record."""
        rows = self.rows(value)
        if rows is not None:
            items = cast("list[Json]", get_part(value, rows))
            return [(*rows, at) for at, item in enumerate(items) if isinstance(item, dict)]
        record = self.plan.envelope.record if self.plan is not None else ""
        path = split_path(record or "")
        return [path] if isinstance(get_part(value, path), dict) else []

    def key_of(self, record: Record) -> Json:
        """Return the key that a record shows, None if it shows none."""
        names = [self.entity.key] if self.entity is not None else ["id", "key", "uuid"]
        return next((record[name] for name in names if name in record), None)

    def is_key(self, name: str) -> bool:
        """Return whether a field is a key or a link."""
        if self.entity is not None and name in self.entity.fields:
            return name == self.entity.key or self.entity.fields[name].link is not None
        return name == (self.entity.key if self.entity is not None else "id") or bool(_KEY_NAME.search(name))

    def is_text(self, name: str, value: Json) -> bool:
        """Return whether a field is free text: no key, date, or choice."""
        if not isinstance(value, str) or self.is_key(name) or _TIME.match(value):
            return False
        known = self.entity.fields.get(name) if self.entity is not None else None
        return known is None or not _SHAPED & known.schema.keys()


def result_value(transition: Transition) -> Any:
    """Return the JSON value of a successful result, `MISSING` for errors, plain texts and content blocks."""
    body = transition.observation.body
    if not isinstance(body, ToolResult) or not transition.observation.ok or body.form not in ("structured", "json"):
        return MISSING
    return body.data


def change_results(change: Callable[[Turn, Transition, Any], Transition]) -> Apply:
    """Return a perturbation of successful JSON results. It has no effect on other results."""

    async def apply(turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        value = result_value(transition)
        return turn.no_effect(transition) if value is MISSING else change(turn, transition, value)

    return apply


def change_values(tool: Tool, domain: Domain, change: Callable[[Turn, Any, ResultShape], Json]) -> Apply:
    """Return a perturbation of the values of such results. It has no effect if the value stays the same."""
    shape = ResultShape.of(tool, domain)
    return change_results(lambda turn, transition, value: with_value(turn, transition, change(turn, value, shape)))


def change_prose(change: Callable[[Turn, str], str], otherwise: Apply) -> Apply:
    """Return a perturbation of successful results that are a plain text; `otherwise` changes all others."""

    async def apply(turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        body = transition.observation.body
        text = body.prose if isinstance(body, ToolResult) and transition.observation.ok else None
        if not isinstance(body, ToolResult) or text is None:
            return await otherwise(turn, partial(_already, transition))
        return with_body(transition, body.with_prose(change(turn, text)))

    return apply


async def _already(transition: Transition, _turn: Turn) -> Transition:
    return transition


def with_value(turn: Turn, transition: Transition, value: Json) -> Transition:
    """Return the transition with another value in its result; mark `no_effect` if the value is the same."""
    body = cast("ToolResult", transition.observation.body)
    if equal(body.data, value):
        return turn.no_effect(transition)
    return with_body(transition, body.with_data(value))


def with_body(transition: Transition, body: ToolResult) -> Transition:
    """Return the transition with another result."""
    return replace(transition, observation=replace(transition.observation, body=body))


async def no_effect(turn: Turn, proceed: Proceed) -> Transition:
    """Answer a call to which the perturbation does not apply."""
    return turn.no_effect(await proceed(turn))


async def proceed_twice(turn: Turn, proceed: Proceed, other: Turn) -> tuple[Transition, Transition]:
    """Return what the call does, and what it would do as `other`. Only the call itself changes the memories."""
    staged = dict(turn.memories.staged)
    truth = await proceed(turn)
    with turn.memories.aside(staged):
        return truth, await proceed(other)


def due_after(after: Span, turn: Turn, actor: str, changes: tuple[Change, ...]) -> Due:
    """Return changes that come due after a duration or a number of further calls."""
    if after.calls is not None:
        return Due(turn.now, actor, changes, call=turn.index + after.calls + 1)
    return Due(turn.now + (after.time or timedelta(0)), actor, changes)


# checks at load -------------------------------------------------------------------------------------------------------


def no_writes(domain: Domain, tools: Sequence[Tool], what: str) -> Sequence[str]:
    """Return the problem that no selected tool writes, so there is no `what`."""
    plans = [domain.plans.get(tool.id) for tool in tools]
    if tools and all(plan is not None and plan.verb in READS for plan in plans):
        return [f"no tool in reach changes anything, so there is no {what}; choose tools that write"]
    return ()


def no_reads(domain: Domain, tools: Sequence[Tool], verbs: Sequence[str] = READS) -> Sequence[str]:
    """Return the problem that none of the selected tools is known to read."""
    plans = [domain.plans.get(tool.id) for tool in tools]
    if tools and not any(plan is not None and not plan.guessed and plan.verb in verbs for plan in plans):
        return [f"no tool in reach is one that does {' or '.join(verbs)}; choose one, or say so under `sim:`"]
    return ()


def unknown_fields(domain: Domain, tools: Sequence[Tool], names: Sequence[str]) -> list[str]:
    """Return a problem for each field that no record of the selected tools has; none if the records are unknown."""
    known = [ResultShape.of(tool, domain).entity for tool in tools]
    if not tools or any(entity is None for entity in known):
        return []
    fields = {name for entity in known if entity is not None for name in (entity.key, *entity.fields)}
    return [
        f"no record of the tools in reach has a field {name!r}{did_you_mean(name, sorted(fields))}"
        for name in names
        if name not in fields
    ]


def _named(value: Json, names: frozenset[str], path: Path, depth: int) -> Iterator[Path]:
    """Yield the paths to plain values with one of these names, outside lists."""
    for name, inner in cast("Record", value).items() if isinstance(value, dict) and depth < _MAX_DEPTH else ():
        if snake(name) in names and not isinstance(inner, dict | list):
            yield (*path, name)
        yield from _named(inner, names, (*path, name), depth + 1)


def _lists(value: Json, path: Path, depth: int) -> Iterator[Path]:
    """Yield the paths to lists of objects, the outermost first."""
    if isinstance(value, list):
        if any(isinstance(item, dict) for item in cast("list[Json]", value)):
            yield path
        return
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for name, inner in cast("Record", value).items():
            yield from _lists(inner, (*path, name), depth + 1)


def jsonrpc_message(body: ToolResult | RpcError) -> Record:
    """Return the JSON-RPC response, without the id of the request, which only the server knows."""
    if isinstance(body, RpcError):
        error = {"code": body.code, "message": body.message, **({} if body.data is None else {"data": body.data})}
        return {"jsonrpc": "2.0", "error": error}
    structured: Json = {"structuredContent": body.value} if body.form == "structured" else {}
    return {"jsonrpc": "2.0", "result": {"content": body.content, **structured, "isError": body.is_error}}


def message_prefix(body: ToolResult | RpcError, share: float) -> str:
    """Return about this share of the response's text: never empty, and never the whole message."""
    text = encode(jsonrpc_message(body)).decode()
    return text[: min(max(1, int(len(text) * share)), len(text) - 1)]


# tables of libraries --------------------------------------------------------------------------------------------------


def entity_of(domain: Domain, tool: Tool, table: str) -> str:
    """Return the entity of a table for the server of a tool, whose name precedes it in worlds with `namespaces`."""
    name = f"{tool.server}.{table}"
    return name if name in domain.entities else table


def missing(domain: Domain, table: str, what: str) -> Sequence[str]:
    """Return the problem that no server has `what`, if none has the table."""
    if any(name == table or name.endswith(f".{table}") for name in domain.entities):
        return []
    return [f"no server has {what}: the world has no {table}"]


async def after_change(turn: Turn, proceed: Proceed, change: Change) -> Transition:
    """Return the call on the changed state, with the change. What it meant is known from the state without it."""
    transition = await proceed(turn.after([change]))
    return replace(transition, changes=(change, *transition.changes))
