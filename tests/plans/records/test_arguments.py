"""Whole numbers that a call or a given state writes as 1.0 mean the integer 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.given import INTEGER, NUMBER, STRING, Json, refused, service, tool, value


def _looms(kind: Json) -> tuple[Json, ...]:
    line: Json = {"type": "object", "properties": {"yarn_id": kind, "skeins": INTEGER}}
    return (
        tool("create_yarn", "colour"),
        tool("get_yarn", "yarn_id", yarn_id=kind),
        tool("create_rug", "yarn_id", yarn_id=kind, knots=INTEGER, width=NUMBER),
        tool("get_rug", "rug_id", rug_id=kind),
        tool("update_rug", "rug_id", rug_id=kind, yarn_id=kind, knots=INTEGER),
        tool("list_rugs", yarn_id=kind),
        tool("create_basket", "lines", label=STRING, lines={"type": "array", "items": line}),
    )


def _stock(first: float) -> Json:
    yarns = [{"id": first, "colour": "red", "weight": 2.0}, {"id": first + 1, "colour": "blue", "weight": 3.5}]
    return {"yarns": yarns, "rugs": [{"id": first, "yarn_id": first, "knots": 40, "width": 1.5}], "baskets": []}


@pytest.mark.parametrize("kind", [INTEGER, NUMBER])
async def test_a_whole_float_finds_the_record_of_that_integer(tmp_path: Path, kind: Json) -> None:
    async with service(tmp_path, _stock(1), *_looms(kind)) as simulator, simulator.open("w") as world:
        made = value(await world.call("create_rug", {"yarn_id": 2.0, "knots": 90.0, "width": 2.0}))
        assert json.dumps([made["yarn_id"], made["knots"], made["width"]]) == "[2, 90, 2.0]"
        changed = value(await world.call("update_rug", {"rug_id": 1.0, "yarn_id": 2.0, "knots": 41.0}))
        assert json.dumps([changed["id"], changed["yarn_id"], changed["knots"]]) == "[1, 2, 41]"
        assert len(value(await world.call("list_rugs", {"yarn_id": 2.0}))) == 2
        basket = value(await world.call("create_basket", {"lines": [{"yarn_id": 1.0, "skeins": 3.0}]}))
        assert json.dumps(basket["lines"]) == '[{"yarn_id": 1, "skeins": 3}]'
        assert refused(await world.call("create_rug", {"yarn_id": 7.0, "knots": 90}))
