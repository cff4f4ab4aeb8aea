"""A model that repeats what is likely, and errs in rows, totals and ids: nothing that it says contradicts the world."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, cast

import pytest
from starlette.responses import Response
from support.checker import judged
from support.desk import fenced
from support.endpoint import Asked, completion, guided, serving
from support.engine import with_model
from support.long_walks import plans_json, tools_of
from support.walking import Walker

from mcp_sim import Simulator

Json = Any
Rows = list[dict[str, Json]]
CALLS = 40
MISSING = "rows are missing"


def with_rows(value: Json, alter: Callable[[Rows], Rows]) -> Json:
    """Return a value with its lists of objects altered."""
    if isinstance(value, dict):
        return {name: with_rows(part, alter) for name, part in cast("dict[str, Json]", value).items()}
    rows: list[Json] = cast("list[Json]", value) if isinstance(value, list) else []
    is_rows = bool(rows) and all(isinstance(row, dict) for row in rows)
    return alter(rows) if is_rows else cast("Json", value)


def with_numbers(value: Json, alter: Callable[[int], Json]) -> Json:
    """Return a value with its whole numbers altered."""
    if isinstance(value, dict):
        return {name: with_numbers(part, alter) for name, part in cast("dict[str, Json]", value).items()}
    if isinstance(value, list):
        return [with_numbers(part, alter) for part in cast("list[Json]", value)]
    return alter(value) if isinstance(value, int) and not isinstance(value, bool) else value


MISTAKES: dict[str, Callable[[Json, Random], Json]] = {
    "none": lambda value, _: value,
    MISSING: lambda value, random: with_rows(value, lambda rows: [row for row in rows if random.random() < 0.5]),
    "no rows": lambda value, _: with_rows(value, lambda _: []),
    "a row twice": lambda value, _: with_rows(value, lambda rows: [*rows, rows[0]]),
    "another order": lambda value, random: with_rows(value, lambda rows: random.sample(rows, len(rows))),
    "other numbers": lambda value, random: with_numbers(
        value, lambda number: max(1, number + random.choice((-3, 1, 4)))
    ),
    "numbers as text": lambda value, _: with_numbers(value, str),
}


def mistaken(*, insists: bool) -> Callable[[Asked], Any]:
    """Return an endpoint that errs. If it insists, it gives the same answer again after a complaint.

    Then it leaves out no rows: which rows an argument asks for is for the model to say if it insists.
    """
    mistakes = {name: mistake for name, mistake in MISTAKES.items() if not insists or name != MISSING}

    async def respond(asked: Asked) -> Response:
        turns = [message["content"] for message in asked.body["messages"] if "**Action:**" in message["content"]]
        parts = fenced(turns[-1])
        if len(parts) < 2 or "likely" not in parts[1]:
            return await guided(asked)
        random = Random(turns[-1] if insists else f"{turns[-1]} {asked.before}")
        mistake = mistakes[random.choice([*mistakes])]
        return completion(json.dumps(mistake(parts[1]["likely"], random)))

    return respond


@pytest.mark.parametrize("insists", [False, True])
@pytest.mark.parametrize("name", ["crm", "shop", "issue_tracker"])
async def test_mistakes_in_rows_totals_and_ids_never_contradict_the_world(name: str, insists: bool) -> None:
    async with serving(mistaken(insists=insists)) as engine:
        scenario = with_model(name, engine.url, max_attempts=2, max_text=400)
        async with Simulator(scenario, ledger_keep=4 * CALLS).open(seed=3) as world:
            walker = Walker(tools_of(world), 3, world)
            for _ in range(CALLS):
                tool, arguments = walker.call()
                walker.learn(tool, arguments, await world.call(tool.id, arguments))
            assert not judged(world.ledger, plans_json(scenario.domain), own_ids=True).violations
