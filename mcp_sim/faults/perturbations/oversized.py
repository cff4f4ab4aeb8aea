"""Results that are far too long."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Literal, cast

from pydantic import Field

from mcp_sim.faults.results import ResultShape, with_body
from mcp_sim.types import Json, Proceed, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_values import MISSING, encode, get_part, replace_part
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations

LINES = (
    "DEBUG request.begin method={tool} attempt=1",
    "DEBUG cache.miss shard={a} region=eu-{b}",
    "TRACE sql.query rows={a} took={b}us",
    "DEBUG pool.acquire connection={a} waited={b}us",
    "TRACE serializer.visit depth={b} node={a}",
)


@perturbations.register("oversized")
class Oversized(Perturbation):
    """Enlarge the result to about `size` bytes, so that it floods the agent's context. The true content stays.

    `by: debug` adds a field with log lines to an object, or appends them to a text. `rows` repeats the rows of a list.
    """

    stage = Stage.ANSWER

    size: Annotated[int, Field(strict=True, ge=1_000, le=50_000_000)] = Field(
        default=200_000, description="Approximate size of the enlarged result, in bytes of JSON.", examples=[200_000]
    )
    by: Literal["debug", "rows"] = Field(default="debug", description="What is added.")
    field: str = Field(default="_debug", description="The field that `debug` adds.")

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        shape = ResultShape.of(tool, domain)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            transition = await proceed(turn)
            body = transition.observation.body
            if not isinstance(body, ToolResult) or body.is_error or body.form == "blocks":
                return turn.no_effect(transition)
            lacking = self.size - len(body.encoded)
            larger = self._larger(turn, body.value, shape, lacking) if lacking > 0 else MISSING
            if larger is MISSING:
                return turn.no_effect(transition)
            return with_body(transition, body.with_value(larger))

        return apply

    def _larger(self, turn: Turn, value: Json, shape: ResultShape, lacking: int) -> Json:
        rows = shape.rows(value) if self.by == "rows" else None
        listed = [] if rows is None else cast("list[Json]", get_part(value, rows))
        if rows is not None and listed:
            times = 1 + lacking // len(encode(listed)) + 1
            return replace_part(value, rows, listed * times)
        if isinstance(value, str):
            return value + "\n" + "\n".join(_log(turn, lacking))
        if isinstance(value, dict):
            return {**cast("Record", value), self.field: list(_log(turn, lacking))}
        return MISSING

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return False


def _log(turn: Turn, size: int) -> Iterator[str]:
    """Yield log lines of about `size` bytes in total."""
    chance = turn.draws.generator(f"{turn.owner}/log")
    opening = [f"request {turn.call.tool} {turn.index}"]
    endless = (
        chance.choice(LINES).format(tool=turn.tool.name, a=chance.randrange(10**6), b=chance.randrange(10**3))
        for _ in iter(int, 1)
    )
    for line in chain(opening, endless):
        if size <= 0:
            return
        size -= len(line) + 3
        yield line
