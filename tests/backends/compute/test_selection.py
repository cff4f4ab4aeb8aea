"""Tools with many operations. One argument, or two together, select one."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, simulator, tool


async def test_two_arguments_select_together_and_an_unknown_choice_is_no_failure(tmp_path: Path) -> None:
    action, kind = {"enum": ["encode", "decode"]}, {"enum": ["url", "html", "morse"]}
    sim = simulator(tmp_path, [tool("code", "Encode or decode a text", input=TEXT, action=action, type=kind)])
    async with sim.open() as world:
        assert await answered(world, "code", input="a b&c", action="encode", type="url") == "a%20b%26c"
        assert await answered(world, "code", input="&lt;b&gt;", action="decode", type="html") == "<b>"
        assert await answered(world, "code", input="sos", action="encode", type="morse") == "code: done"


def test_arguments_with_very_many_choices_select_no_operation(tmp_path: Path) -> None:
    many = {"enum": [f"v{at}" for at in range(400)]}
    sim = simulator(tmp_path, [tool("code", "Encode", input=TEXT, action=many, type=many, operation=many, mode=many)])
    assert sim.scenario.domain.plans["code"].operation != "chosen"
