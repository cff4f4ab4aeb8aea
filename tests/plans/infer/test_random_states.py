"""States of random shapes: rows without fields, mappings of anything, lists of names."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.given import service, tool

from mcp_sim.types.errors import Crash

Json = Any

NOUNS = ["room", "message", "user", "route", "order", "saved_order", "series", "page", "inbox"]
UNMENTIONED = ["box", "ledger", "archive"]
FIELDS = ["id", "name", "text", "status", "user_id", "sender_id", "order_status", "date", "path", "message", "room"]
NAMES = ["Ada", "u1", "s-2", "a/b.txt", "https://x.y/z", "2029-06-01"]


def row(draws: Random) -> Json:
    fields = draws.sample(FIELDS, draws.randrange(4))
    return {name: draws.choice([*NAMES, 3, None, 2.5, True, [], {}, ["u1"], {"name": "Ada"}]) for name in fields}


def part(draws: Random, depth: int = 0) -> Json:
    names, rows = draws.sample(NAMES, draws.randrange(4)), [row(draws) for _ in range(draws.randrange(4))]
    deeper = [] if depth > 1 else [{f"{draws.choice(NOUNS)}s": part(draws, depth + 1) for _ in range(3)}]
    return draws.choice([
        rows, names, dict(zip(names, rows, strict=False)), dict.fromkeys(names, rows), dict.fromkeys(names, names),
        dict.fromkeys([*names, "status"], draws.choice([1, "x", True])), draws.choice(NAMES), None, *deeper,
    ])  # fmt: skip


def tools_of(draws: Random) -> list[Json]:
    listed = dict[str, Json]()
    for verb in draws.choices(["get", "list", "add", "delete", "save", "update", "get_latest"], k=7):
        noun, about = draws.choice(NOUNS), draws.choice(["", "Returns:\n  str: A message", "Delete all its messages."])
        taken = draws.sample([f"{noun}_id", f"{noun}_name", "user", *FIELDS], draws.randrange(3))
        name = f"{verb}_{noun}{draws.choice(['', 's', '_by_name', '_status'])}"
        listed[name] = tool(name, *dict.fromkeys(taken), about=about)
        if draws.random() < 0.3:
            listed[name]["outputSchema"] = {"type": "object", "additionalProperties": {"type": "string"}}
    return [*listed.values()]


@pytest.mark.parametrize("seed", [*range(60), 313, 867, 2221, 2310])
async def test_no_state_crashes_a_server_or_a_call(tmp_path: Path, seed: int) -> None:
    draws = Random(seed)
    state = {f"{noun}s": part(draws) for noun in (*draws.sample(NOUNS, 3), *UNMENTIONED)}
    listed = tools_of(draws)
    async with service(tmp_path, state, *listed) as simulator, simulator.open("w") as world:
        for each in islice(listed * 2, 14):
            arguments = {name: draws.choice(NAMES) for name in each["inputSchema"]["properties"]}
            try:
                await world.call(each["name"], arguments)
            except Crash as error:
                pytest.fail(f"{each['name']}({arguments}): {error}")
