"""What a spec declares that a server requires of arguments beyond its inputSchema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.endpoint import saying, serving
from support.help_desk import User, eras

from mcp_sim import Simulator
from mcp_sim.server.testing import connected
from mcp_sim.simulator.compile import check
from mcp_sim.types import Observation, ToolResult

TEXT = {"type": "string"}
PRIORITY: Any = {"schema": {"enum": ["low", "high"]}, "error": "{title}: no priority {priority}"}


def written(folder: Path, checks: Mapping[str, Any], **part: Any) -> Path:
    """Write a spec whose tool `create_ticket` has these checks. Return the path of a scenario."""
    names = ("title", "priority", "mail", "note", "tool")
    schema = {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": ["title"]}
    tools = [{"name": "create_ticket", "inputSchema": schema}]
    spec = {"mcp_sim": 1, "name": "desk", "tools": tools, "sim": {"create_ticket": {"checks": checks, **part}}}
    (folder / "desk.yaml").write_text(json.dumps(spec), encoding="utf-8")
    path = folder / "scenario.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "tools": "desk.yaml"}), encoding="utf-8")
    return path


def text(observation: Observation) -> str:
    assert isinstance(observation.body, ToolResult)
    return observation.body.content[0]["text"]


async def answered(path: Path, **arguments: Any) -> str:
    async with Simulator.load(path).open() as world:
        return text(await world.call("create_ticket", arguments))


async def test_a_failing_check_has_the_error_of_the_tool_if_its_own_shows_an_argument_that_is_not_given(
    tmp_path: Path,
) -> None:
    checks = {"note": {"schema": {"minLength": 3}, "error": "{priority}: short note"}}
    path = written(tmp_path, checks, errors={"invalid": "refused: {problem}"})
    assert await answered(path, title="Lamp", note="a", priority="low") == "low: short note"
    assert await answered(path, title="Lamp", note="a") == "refused: 'a' is too short"


async def test_arguments_come_before_other_slots_of_their_names(tmp_path: Path) -> None:
    path = written(tmp_path, {"tool": {"schema": {"enum": ["saw"]}, "error": "no {tool}, only: {problem}"}})
    assert await answered(path, title="Lamp", tool="axe") == "no axe, only: 'axe' is not one of ['saw']"


async def test_a_check_takes_formats_as_the_input_schema_does(tmp_path: Path) -> None:
    path = written(tmp_path, {"mail": {"schema": {"format": "email"}, "error": "no mail address"}})
    assert await answered(path, title="Lamp", mail="here") == "no mail address"
    assert json.loads(await answered(path, title="Lamp", mail="ada@example.com"))["mail"] == "ada@example.com"


async def test_a_refusal_that_is_no_error_has_no_blocks_and_notifications_of_a_success(tmp_path: Path) -> None:
    error = {"json": {"ok": False}, "soft": True}
    blocks, notify = ["Created {title}"], [{"log": "created"}]
    path = written(tmp_path, {"priority": {**PRIORITY, "error": error}}, blocks=blocks, notify=notify)
    async with Simulator.load(path).open() as world:
        refused = await world.call("create_ticket", {"title": "Lamp", "priority": "soon"})
        assert (text(refused), list(refused.notifications)) == ('{"ok":false}', [])
        assert text(await world.call("create_ticket", {"title": "Lamp"})) == "Created Lamp"


@eras
async def test_the_user_is_not_asked_about_a_call_that_a_check_refuses(tmp_path: Path, mode: str) -> None:
    ask = {"sure": {"message": "Sure?", "schema": {"type": "object", "properties": {"why": TEXT}}}}
    user = User(why="done")
    sim = Simulator.load(written(tmp_path, {"priority": PRIORITY}, ask=ask))
    async with sim.open() as world, connected(world, mode=mode, elicitation_callback=user) as client:
        result = await client.call_tool("create_ticket", {"title": "Lamp", "priority": "soon"})
        assert (result.is_error, getattr(result.content[0], "text", "")) == (True, "Lamp: no priority soon")
        assert user.asked == []
        listed = (await client.list_tools()).tools
        assert "no priority" not in str([one.model_dump() for one in listed])
        assert not (await client.call_tool("create_ticket", {"title": "Lamp", "priority": "low"})).is_error
        assert user.asked == ["Sure?"]


async def test_a_language_model_words_what_the_input_schema_refuses_and_no_check_comes_before_it(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, {"priority": PRIORITY})
    async with serving(saying("What is this?")) as engine:
        model = {"openai": {"base_url": engine.url, "model": "tiny"}}
        path.write_text(json.dumps({"mcp_sim": 1, "tools": "desk.yaml", "world_model": model}), encoding="utf-8")
        async with Simulator.load(path, trust=True).open() as world:
            refused = await world.call("create_ticket", {"title": "Lamp", "priority": "soon"})
            assert (text(refused), engine.asked) == ("Lamp: no priority soon", [])
            assert text(await world.call("create_ticket", {"title": 5, "priority": "soon"})) == "What is this?"


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"schema": {"pattern": "(?<x"}}, "schema.pattern: the pattern '(?<x' cannot be compiled; it is not enforced"),
        ({"schema": {"minLength": 1}, "error": "{titel} is bad"}, "error: unknown slot {titel}; did you mean 'title'?"),
    ],
)
def test_what_a_check_cannot_use_is_a_warning(tmp_path: Path, declared: Any, problem: str) -> None:
    found = check([written(tmp_path, {"title": declared})])
    assert [f"{one.path}: {one.message}" for one in found if one.severity == "warning" and "checks" in one.path] == [
        f"sim.create_ticket.checks.title.{problem}"
    ]
