"""Acknowledgements of tools whose effect is known by their name only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.given import service, tool, value

from mcp_sim.plans.acknowledgements import acknowledgement


@pytest.mark.parametrize(
    ("name", "about", "expected"),
    [("generateTaskTable", "", "Task table generated successfully"),
     ("browser_take_screenshot", "", "Screenshot taken successfully"),
     ("get_weather", "", "Weather retrieved successfully"), ("turn_on_light", "", "Light turned on successfully"),
     ("list_all_stations", "", "Stations listed successfully"), ("jump", "", "Jumped successfully"),
     ("play_level", "", "Level played successfully"), ("delete_all", "", "All deleted successfully"),
     ("level_frobnicate", "Frobnicate it.", "Level frobnicated successfully"),
     ("take_from_store", "", "Taken from store successfully"),
     ("connect_to_host", "", "Connected to host successfully"),
     ("take_milk_from_store", "", "Milk taken successfully"), ("speak_text", "", "Text spoken successfully"),
     ("menu", "Opens or closes the menu.", "Menu done")],
)  # fmt: skip
def test_the_acknowledgement_states_what_the_name_says(name: str, about: str, expected: str) -> None:
    assert acknowledgement(name, about)({}) == expected


def test_arguments_are_repeated_except_secrets_options_and_long_values() -> None:
    acknowledge = acknowledgement("move_avatar", "")
    asked = {"direction": "left", "stepCount": 3, "fast": True, "path": [1, 2], "note": "x" * 300}
    assert acknowledge(asked) == "Avatar moved successfully\nDirection: left\nStep count: 3\nFast: true"
    secret = {"api_key": "k", "password": "p", "authToken": "t", "verbose": True, "user": "ann"}
    assert acknowledge(secret) == "Avatar moved successfully\nUser: ann"


async def test_a_schema_with_a_single_text_holds_the_acknowledgement(tmp_path: Path) -> None:
    wrapped = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
    pressed = {**tool("press_button", "colour"), "outputSchema": wrapped}
    async with service(tmp_path, {"flags": []}, pressed) as simulator, simulator.open("w") as world:
        result = value(await world.call("press_button", {"colour": "red"}))
    assert json.loads(result["result"]) == {"success": True, "message": "Button pressed successfully", "colour": "red"}
