"""Tools of which nothing but the name is known say what they did."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.given import service, tool, value

from mcp_sim.backends.rendering.acknowledgements import acknowledgement
from mcp_sim.types.lexicon.words import participle


@pytest.mark.parametrize(
    ("name", "about", "said"),
    [("generateTaskTable", "", "Task table generated successfully"),
     ("browser_take_screenshot", "", "Screenshot taken successfully"),
     ("get_weather", "", "Weather retrieved successfully"), ("turn_on_light", "", "Light turned on successfully"),
     ("list_all_stations", "", "Stations listed successfully"), ("jump", "", "Jumped successfully"),
     ("play_level", "", "Level played successfully"),
     ("level_frobnicate", "Frobnicate it.", "Level frobnicated successfully"),
     ("menu", "Opens or closes the menu.", "Menu done")],
)  # fmt: skip
def test_a_tool_says_what_its_name_tells_that_it_does(name: str, about: str, said: str) -> None:
    assert acknowledgement(name, about)({}) == said


def test_it_says_again_what_it_was_asked_but_no_secret_no_option_and_nothing_long() -> None:
    told = acknowledgement("move_avatar", "")
    asked = {"direction": "left", "stepCount": 3, "fast": True, "path": [1, 2], "note": "x" * 300}
    assert told(asked) == "Avatar moved successfully\nDirection: left\nStep count: 3\nFast: true"
    secret = {"api_key": "k", "password": "p", "authToken": "t", "verbose": True, "user": "ann"}
    assert told(secret) == "Avatar moved successfully\nUser: ann"


@pytest.mark.parametrize(
    ("verb", "done"),
    [("copy", "copied"), ("stop", "stopped"), ("fix", "fixed"), ("send", "sent"), ("create", "created"),
     ("play", "played"), ("submit", "submitted"), ("check_in", "checked in"), ("open", "opened")],
)  # fmt: skip
def test_what_is_done_has_been_done(verb: str, done: str) -> None:
    assert participle(verb) == done


async def test_a_schema_that_only_wraps_a_text_is_filled_with_what_was_done(tmp_path: Path) -> None:
    wrapped = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
    pressed = {**tool("press_button", "colour"), "outputSchema": wrapped}
    async with service(tmp_path, {"flags": []}, pressed) as simulator, simulator.open("w") as world:
        told = value(await world.call("press_button", {"colour": "red"}))
    assert told == {"result": "Button pressed successfully\nColour: red"}
