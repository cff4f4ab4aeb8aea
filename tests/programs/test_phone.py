"""A phone in the tools of mobile-mcp: its answers, what comes in front of it, and careless agents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.mutants import Call, made, played
from support.places import ROOT
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.world.world import World

HEADER = "One element per line: @ref Type text= label= name= value= id= at=x,y size=WxH [focused] [selected] [checked] "


async def call(world: World, name: str, **arguments: Any) -> str:
    body = (await world.call(f"mobile_{name}", {"device": "Pixel_9", **arguments})).body
    assert isinstance(body, ToolResult)
    return "\n".join(block.get("text", block["type"]) for block in body.content)


async def tap(world: World, named: str) -> str:
    """Look, then tap the element whose line fits a pattern."""
    match = re.search(rf"^(@e\d+) .*{named}", await call(world, "list_elements_on_screen"), re.MULTILINE)
    assert match is not None, named
    return await call(world, "click_on_screen_at_coordinates", ref=match[1])


ANSWERS = json.loads((ROOT / "tests" / "support" / "phone_answers.json").read_text(encoding="utf-8"))
"""Calls and what mobile-mcp 1.0.4 with mobilecli 1.0.9 answers, without the folder of mobilecli."""


@pytest.mark.parametrize("known", ANSWERS, ids=lambda known: known["tool"])
async def test_answers_are_those_of_the_server(known: dict[str, Any]) -> None:
    async with Simulator(compiled("phone")).open() as world:
        assert await call(world, known["tool"], **known["arguments"]) == known["answer"]


async def test_elements_are_listed_as_the_server_does() -> None:
    async with Simulator(compiled("phone")).open() as world:
        await call(world, "open_url", url="https://contacts.example/people/3")
        lines = [
            '@e1 ViewGroup id="com.android.contacts:id/action_bar" at=0,63 size=1080x126',
            '@e2 TextView label="Navigate up" id="com.android.contacts:id/up" at=0,63 size=126x126',
            '@e3 TextView text="Cem Aydin" id="com.android.contacts:id/title" at=126,63 size=189x53',
            '@e4 ViewGroup id="com.android.contacts:id/content" at=0,189 size=1080x305',
            '@e5 TextView text="0900 9012" id="com.android.contacts:id/phone" at=0,189 size=1080x53',
            '@e6 TextView text="Text" id="com.android.contacts:id/text" at=0,242 size=126x126',
            '@e7 TextView text="Edit" id="com.android.contacts:id/edit" at=126,242 size=126x126',
            '@e8 Button text="Delete" id="com.android.contacts:id/delete" at=0,368 size=189x126',
        ]
        assert await call(world, "list_elements_on_screen") == "\n".join([f"{HEADER}[disabled]", *lines])


async def test_the_settings_and_the_shop_work_by_taps() -> None:
    async with Simulator(compiled("phone")).open() as world:
        await call(world, "launch_app", packageName="com.android.settings")
        await tap(world, 'text="Network & internet"')
        assert 'text="Cafe"' in await call(world, "list_elements_on_screen")
        await tap(world, "id/wifi")
        assert 'text="Cafe"' not in await call(world, "list_elements_on_screen")
        await call(world, "open_url", url="https://wheelhouse.example/login")
        await tap(world, "id/email")
        await call(world, "type_keys", text="ada@mail.example", submit=False)
        await tap(world, "id/password")
        await call(world, "type_keys", text="wheels", submit=True)
        await tap(world, "Add Bell to cart")
        await tap(world, "Check out")
        await tap(world, "id/country")
        await tap(world, "Belgium")
        await tap(world, "id/street")
        await call(world, "type_keys", text="Kade 1", submit=False)
        await call(world, "press_button", button="BACK")
        await tap(world, "Place order")
        assert "Thank you, Ada Vos." in await call(world, "list_elements_on_screen")
        orders = [record for _, record in world.view.rows("order")]
        assert [(order["street"], order["country"]) for order in orders] == [("Kade 1", "be")]


async def test_long_lists_show_some_rows_and_lead_to_the_others(tmp_path: Path) -> None:
    contacts = [{"id": str(number), "name": f"Person {number:04}", "phone": "1"} for number in range(9_000)]
    messages = [{"contact": "7", "text": f"T{number}", "incoming": True, "at": ""} for number in range(120)]
    spec = {"mcp_sim": 1, "tools": "phone", "world": {"state": {"contacts": contacts, "messages": messages}}}
    (tmp_path / "phone.yaml").write_text(json.dumps(spec), encoding="utf-8")
    async with Simulator.load(tmp_path / "phone.yaml").open() as world:

        def page(app: str) -> str:
            return next(record["html"] for _, record in world.view.rows("screen_page") if app in record["id"])

        await call(world, "open_url", url="https://contacts.example/")
        assert page("contacts").count("<li>") == 51
        for _ in range(12):
            await call(world, "swipe_on_screen", direction="up")
        await tap(world, 'text="More"')
        shown = await call(world, "list_elements_on_screen")
        assert 'text="Previous"' in shown
        assert 'text="Person 0050"' in shown
        await call(world, "press_button", button="BACK")
        assert 'text="Person 0049"' in await call(world, "list_elements_on_screen"), "the list is where it was"
        await call(world, "open_url", url="https://messages.example/threads/7")
        assert "T119" in page("/threads/7")
        await tap(world, 'text="Earlier messages"')
        assert "<li>T20</li>" in page("/threads/7/from/20")
        assert "T119" not in page("/threads/7/from/20")


async def test_a_notice_takes_all_taps_until_its_button_is_pressed(tmp_path: Path) -> None:
    path = tmp_path / "phone.yaml"
    fault = "{interrupt: {kind: permission}, tools: mobile_type_keys, when: {nth: 1}}"
    path.write_text(f"mcp_sim: 1\ntools: phone\nperturbations: [{fault}]\n", encoding="utf-8")
    async with Simulator.load(path).open() as world:
        await call(world, "launch_app", packageName="com.android.contacts")
        await tap(world, "id/search")
        await call(world, "type_keys", text="Bo", submit=True)
        shown = await call(world, "list_elements_on_screen")
        assert "Allow access to your location?" in shown
        assert "Contacts" not in shown
        await call(world, "press_button", button="BACK")
        await call(world, "press_button", button="HOME")
        await tap(world, 'text="Block"')
        await tap(world, 'text="Contacts"')
        assert 'text="Search contacts"' in await call(world, "list_elements_on_screen"), "what was typed is lost"
        assert [record["answer"] for _, record in world.view.rows("screen_notice")] == ["Block"]


async def calls_of_the_golden_agent() -> tuple[list[Call], str]:
    async with Simulator(compiled("calm_phone")) as simulator:
        golden = await played(simulator, "golden", 0)
    assert golden.grade.outcome == "passed"
    return [*golden.calls], golden.answer


@pytest.mark.parametrize(
    ("scenario", "tool", "skipped"),
    [
        ("flaky_phone", "mobile_list_elements_on_screen", ()),
        ("calm_phone", "mobile_click_on_screen_at_coordinates", (1, 2)),
    ],
    ids=["taps where the elements were", "types without looking for the field"],
)
async def test_careless_agents_do_not_pass(scenario: str, tool: str, skipped: tuple[int, ...]) -> None:
    calls, answer = await calls_of_the_golden_agent()
    places = [at for at, (name, _) in enumerate(calls) if name == tool]
    left_out = {places[at] for at in skipped}
    careless = [call for at, call in enumerate(calls) if at not in left_out]
    async with Simulator(compiled(scenario)) as simulator:
        run = await made(simulator, 0, careless, answer)
    outcomes = {verdict.id: verdict.outcome for verdict in run.grade.verdicts}
    assert run.grade.outcome == "failed"
    assert outcomes["contact-added"] == "failed"


async def test_a_fork_goes_on_like_its_origin() -> None:
    calls, _ = await calls_of_the_golden_agent()
    async with Simulator(compiled("flaky_phone")).open() as world:
        for tool, arguments in calls[:6]:
            await world.call(tool, arguments)
        fork = world.fork()
        answers = [[(await each.call(*step)).body for step in calls[6:]] for each in (world, fork)]
        assert answers[0] == answers[1]


async def test_the_debug_bridge_shows_the_same_phone() -> None:
    async with Simulator(compiled("adb")).open() as world:

        async def adb(command: str) -> Any:
            return await world.call("adb", {"arguments": ["-s", "emulator-5554", *command.split()]})

        await adb("shell am start -n com.android.contacts/.Main")
        await adb("shell input tap 100 305")
        dump: Any = (await adb("exec-out uiautomator dump /dev/tty")).body
        assert 'text="Ada Vos" resource-id="com.android.contacts:id/title"' in dump.value
        assert 'bounds="[126,63][273,116]"' in dump.value
        assert not (await adb("shell rm -rf /")).ok
