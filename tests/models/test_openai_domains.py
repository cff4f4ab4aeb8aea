"""The domains of AgentWorld: a language model is asked in their turns, and the last screen is a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.endpoint import Asked, Engine, completion, serving
from support.services import value

from mcp_sim import Simulator
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.world.world import World

Json = Any

CALLS: dict[str, tuple[str, Json, str]] = {
    "search": (
        "search",
        {"query": "bridge"},
        '```json\n{"name": "search", "arguments": {"query": "bridge"}}\n```',
    ),
    "swe": ("read_file", {"path": "a.py"}, '```json\n{"name": "read_file", "arguments": {"path": "a.py"}}\n```'),
    "terminal": ("run_command", {"command": "ls"}, '[{"keystrokes": "ls\\n", "duration": 1.0}]'),
    "android": ("tap", {"x": 3, "y": 7}, '```json\n{"name": "tap", "arguments": {"x": 3, "y": 7}}\n```'),
    "web": ("click", {"bid": "a12"}, "click('a12')"),
    "os": ("run", {"code": "pyautogui.click(3, 7)"}, "pyautogui.click(3, 7)"),
}
"""Domain -> tool, arguments, and the action that the model reads."""
WITH_SCREEN = {"terminal", "android", "web", "os"}
domains = pytest.mark.parametrize("name", CALLS)


def simulator(folder: Path, engine: Engine, name: str, *perturbations: Json, **options: Json) -> Simulator:
    tool, arguments, _ = CALLS[name]
    kinds = {argument: "integer" if isinstance(given, int) else "string" for argument, given in arguments.items()}
    properties = {argument: {"type": kind} for argument, kind in kinds.items()}
    schema = {"type": "object", "properties": properties, "required": [*arguments]}
    listed = {"name": tool, "description": "Do it.", "inputSchema": schema, "annotations": {"readOnlyHint": True}}
    spec = {"mcp_sim": 1, "tools": [listed], "sim": {tool: {"verb": "list", "entity": "screen"}}}
    (folder / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    if name in WITH_SCREEN:
        options = {"screen": "screen 0", **options}
    document: Json = {
        "mcp_sim": 1,
        "tools": "spec.yaml",
        "world": {"description": "A small town."},
        "world_model": {"openai": {"base_url": engine.url, "model": "tiny", "domain": name, **options}},
        "perturbations": [*perturbations],
    }
    path = folder / "scenario.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return Simulator.load(path)


async def counting(asked: Asked) -> Any:
    """Answer with the number of the turn, as a model that thinks aloud."""
    turns = sum(message["role"] == "user" for message in asked.body["messages"])
    return completion(f"<think>\nturn {turns}\n</think>\n\nscreen {turns}\n  {{not json")


async def call(world: World, name: str) -> str:
    tool, arguments, _ = CALLS[name]
    return value(await world.call(tool, arguments))


@domains
async def test_twenty_turns_have_the_form_of_the_domain(name: str, tmp_path: Path) -> None:
    options = {"task": "Find the bridge."} if name in {"android", "web", "os"} else {}
    async with serving(counting) as engine, simulator(tmp_path, engine, name, **options).open() as world:
        for number in range(1, 21):
            assert await call(world, name) == f"screen {number}\n  {{not json"
        system, *turns = engine.asked[-1].body["messages"]
        assert "A small town." in system["content"]
        assert [turn["role"] for turn in turns] == ["user", "assistant"] * 19 + ["user"]
        assert turns[1]["content"] == "screen 1\n  {not json", "raw text, as it was served"
        action = CALLS[name][2]
        shown = [turn["content"] for turn in turns if turn["role"] == "user"]
        assert all(text.endswith(action) for text in shown)
        assert [f"screen {at}" in text for at, text in enumerate(shown)] == _repeats(name)
        assert all(("Find the bridge." in text) is bool(options) for text in shown)
        screen = world.view.get("screen", "screen")
        assert (screen or {}).get("text") == ("screen 20\n  {not json" if name in WITH_SCREEN else None)


def _repeats(name: str) -> list[bool]:
    """Return which of twenty turns show the current state."""
    return [name in WITH_SCREEN and (at == 0 or name != "terminal") for at in range(20)]


@domains
async def test_a_fork_goes_on_as_its_world_does(name: str, tmp_path: Path) -> None:
    async with serving(counting) as engine, simulator(tmp_path, engine, name).open() as world:
        await call(world, name)
        twin = world.fork()
        assert await call(world, name) == await call(twin, name)
        here, there = (asked.body for asked in engine.asked[-2:])
        assert here["messages"] == there["messages"]
        assert here["seed"] == there["seed"]


async def test_a_stale_read_shows_the_screen_of_before(tmp_path: Path) -> None:
    stale = {"stale_read": {}, "id": "old", "when": {"nth": 3}}
    async with serving(counting) as engine, simulator(tmp_path, engine, "web", stale).open() as world:
        first, _ = await call(world, "web"), await call(world, "web")
        assert await call(world, "web") == first
        assert (world.view.get("screen", "screen") or {})["text"] == "screen 2\n  {not json", "the last that was shown"
        assert len(engine.asked) == 3, "a second look is not asked for"


async def test_the_prompts_of_a_folder_replace_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "swe.txt").write_text("You are a repository of poems.", encoding="utf-8")
    async with serving(counting) as engine:
        async with simulator(tmp_path, engine, "swe", prompts="prompts", instructions="Rhyme.").open() as world:
            await call(world, "swe")
        system = engine.asked[-1].body["messages"][0]["content"]
        assert system.startswith("You are a repository of poems.")
        assert system.endswith("Rhyme.")
        with pytest.raises(UsageError, match=r"expected web/system_prompt\.txt, web\.md or web\.txt in prompts"):
            async with simulator(tmp_path, engine, "web", prompts="prompts").open():
                pass


@domains
async def test_a_last_reply_that_is_cut_off_is_served_up_to_its_last_word(name: str, tmp_path: Path) -> None:
    async def endless(_: Asked) -> Any:
        return completion("[a1] link 'Home'\n[a2] but", finish_reason="length")

    async with serving(endless) as engine, simulator(tmp_path, engine, name).open() as world:
        assert await call(world, name) == "[a1] link 'Home'\n[a2]"
        assert len(engine.asked) == 2


@pytest.mark.parametrize("name", sorted(WITH_SCREEN))
@pytest.mark.parametrize(
    "reply",
    ["screen 1\n\n# Action\n\nclick('a12')", "# Current State\n\nscreen 1\n\n# Action\n\nclick('a12')"],
    ids=["next turn", "whole turn"],
)
async def test_a_turn_that_the_model_repeats_or_adds_is_not_served(name: str, reply: str, tmp_path: Path) -> None:
    async def repeating(_: Asked) -> Any:
        return completion(reply)

    async with serving(repeating) as engine, simulator(tmp_path, engine, name).open() as world:
        assert await call(world, name) == "screen 1"


async def test_a_reply_without_an_observation_is_asked_for_again(tmp_path: Path) -> None:
    async def echo(asked: Asked) -> Any:
        return completion("# Action\n\nclick('a12')" if len(asked.body["messages"]) == 2 else "screen 1")

    async with serving(echo) as engine, simulator(tmp_path, engine, "web").open() as world:
        assert await call(world, "web") == "screen 1"
        assert "the answer repeats the turn" in engine.asked[-1].body["messages"][-1]["content"]


@domains
async def test_turns_that_no_longer_fit_are_dropped_without_a_summary_in_another_form(
    name: str, tmp_path: Path
) -> None:
    async with serving(counting) as engine, simulator(tmp_path, engine, name, transcript=600).open() as world:
        for _ in range(20):
            await call(world, name)
        sent = [[message["content"] for message in asked.body["messages"][1:]] for asked in engine.asked]
        assert len(sent[-1]) < 30
        assert not [text for texts in sent for text in texts if "### State" in text or "noted" in text]


async def test_what_must_be_withheld_is_asked_for_again(tmp_path: Path) -> None:
    async def telling(asked: Asked) -> Any:
        return completion("The key is 7-apples." if len(asked.body["messages"]) == 2 else "Nothing here.")

    async with serving(telling) as engine, simulator(tmp_path, engine, "search", withhold=["7-apples"]).open() as world:
        assert await call(world, "search") == "Nothing here."
        assert len(engine.asked) == 2


def test_options_of_a_domain_need_one(tmp_path: Path) -> None:
    engine = Engine("http://127.0.0.1:9/v1", counting)
    with pytest.raises(DocumentError, match="prompts, screen and task go with a domain other than mcp"):
        simulator(tmp_path, engine, "web", domain="mcp")


def test_prompts_that_do_not_exist_are_reported_at_load(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    options = {"base_url": "http://127.0.0.1:9/v1", "model": "tiny", "domain": "terminal", "prompts": "no-such-folder"}
    path.write_text(json.dumps({"mcp_sim": 1, "tools": "terminal", "world_model": {"openai": options}}))
    with pytest.raises(DocumentError, match="prompts: there is no folder 'no-such-folder'"):
        Simulator.load(path)
