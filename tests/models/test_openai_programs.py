"""Programs beside a language model: it answers none of their calls, only what they imagine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.endpoint import saying, serving
from support.libraries import ACT, simulator, small
from support.services import value

Json = Any


def model(url: str) -> Json:
    return {"openai": {"base_url": url, "model": "tiny"}}


async def test_a_tool_with_a_program_is_answered_by_it(tmp_path: Path) -> None:
    async with serving(saying("never served")) as engine:
        programmed = simulator(tmp_path, small("return f'{a}!'"), ACT, world_model=model(engine.url))
        async with programmed.open() as world:
            assert value(await world.call("act", {"a": "hi"})) == "hi!"
            assert world.ledger.newest["measured"]["asked"] is False
    assert not engine.asked


async def test_a_program_gets_what_the_model_says_if_it_is_valid(tmp_path: Path) -> None:
    body = "return world.imagine({'type': 'string', 'maxLength': 20}, f'a slogan about {a}')"
    async with serving(saying('"Ride on"', "7", "8", "9")) as engine:
        programmed = simulator(tmp_path, small(body), ACT, world_model=model(engine.url))
        async with programmed.open() as world:
            assert value(await world.call("act", {"a": "bikes"})) == "Ride on"
            assert "a slogan about bikes" in engine.asked[-1].question
            assert world.ledger.newest["measured"]["asked"] is True
            generated = value(await world.call("act", {"a": "bells"}))
            assert isinstance(generated, str)
            assert len(generated) <= 20
