"""Prompts omit what the agent may not see: a model that repeats its whole prompt reveals nothing."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response
from support.endpoint import Asked, completion, serving

from mcp_sim import Simulator
from mcp_sim.models.language_model.disclosure import MARKS
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import Crash
from mcp_sim.world.world import World

Json = Any
TEXT: Json = {"type": "string"}
SECRET = "gout of the left foot"
PATIENTS: Json = [
    {"id": "pat_001", "name": "Ada Vos", "ward": "north", "diagnosis": SECRET},
    {"id": "pat_002", "name": "Bo Maas", "ward": "south", "diagnosis": "a cold"},
]
CALLS: list[tuple[str, Json]] = [
    ("get_patient", {"patient_id": "pat_001"}),
    ("list_patients", {}),
    ("create_visit", {"patient_id": "pat_001", "reason": "pain"}),
    ("create_visit", {"reason": "a cough"}),
    ("update_patient", {"patient_id": "pat_001", "name": "Ada Smit"}),
    ("ponder", {"about": "the wards"}),
    ("create_visit", {"patient_id": "pat_001", "reason": "pain again"}),
    ("delete_visit", {"visit_id": "visit_001"}),
    ("ponder", {"about": "what is left"}),
]


def served(properties: Json, *required: str) -> Json:
    return {"type": "object", "properties": properties, "required": list(required)}


def tool(name: str, arguments: Json, output: Json, *required: str) -> Json:
    shown = {} if output is None else {"outputSchema": output}
    return {"name": name, "inputSchema": served(arguments, *required), **shown}


def clinic(folder: Path, url: str, perturbations: Json, **options: Json) -> Simulator:
    """A clinic whose visits leave a summary to the model."""
    patient = served({"id": TEXT, "name": TEXT, "ward": TEXT, "diagnosis": {"type": ["string", "null"]}}, "id", "name")
    visit = served({"id": TEXT, "patient_id": TEXT, "reason": TEXT, "summary": TEXT}, "id", "reason", "summary")
    listed = served(
        {"patients": {"type": "array", "items": patient}, "total": {"type": "integer"}}, "patients", "total"
    )
    tools: Json = [
        tool("get_patient", {"patient_id": TEXT}, patient, "patient_id"),
        tool("list_patients", {}, listed),
        tool("update_patient", {"patient_id": TEXT, "name": TEXT}, patient, "patient_id"),
        tool("create_visit", {"patient_id": TEXT, "reason": TEXT}, visit, "reason"),
        tool("get_visit", {"visit_id": TEXT}, visit, "visit_id"),
        tool("delete_visit", {"visit_id": TEXT}, None, "visit_id"),
        tool("ponder", {"about": TEXT}, None, "about"),
    ]
    (folder / "clinic.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    model = {"base_url": url, "model": "tiny", "max_attempts": 1, **options}
    scenario: Json = {
        "mcp_sim": 1,
        "tools": "clinic.json",
        "world": {"records": {"patient": {"count": 2, "rows": PATIENTS}, "visit": 1}},
        "world_model": {"openai": model},
        "perturbations": perturbations,
    }
    (folder / "scenario.json").write_text(json.dumps(scenario), encoding="utf-8")
    return Simulator.load(folder / "scenario.json")


async def repeating(asked: Asked) -> Response:
    """Reply with the text of the prompts in every text field."""
    prompt_text = " ".join(message["content"] for message in asked.body["messages"])
    for mark in MARKS:
        prompt_text = prompt_text.replace(mark, "")
    inner = {} if asked.schema is None else {**asked.schema.get("anyOf", [asked.schema])[0]["properties"]}
    texts = {name: prompt_text for name, schema in inner.items() if schema == {"type": "string", "maxLength": 300}}
    return completion(json.dumps({**dict.fromkeys(inner), **texts}) if inner else prompt_text)


async def played(world: World) -> str:
    """What the agent sees of all calls."""
    seen = list[str]()
    for name, arguments in CALLS:
        try:
            body = (await world.call(name, arguments)).body
        except Crash:
            continue
        assert isinstance(body, ToolResult)
        seen.append(json.dumps(body.value))
    return " ".join(seen)


CONCEALING = {
    "fields": {"permission_denied": {"entity": "patient", "fields": ["diagnosis"]}},
    "fields of some": {"permission_denied": {"entity": "patient", "fields": ["diagnosis"], "where": {"ward": "north"}}},
    "hidden records": {"permission_denied": {"entity": "patient", "where": {"ward": "north"}, "hidden": True}},
    "no records at all": {"permission_denied": {"entity": "patient"}},
}


@pytest.mark.parametrize("name", CONCEALING)
@pytest.mark.parametrize("transcript", [200_000, 4_000])
async def test_a_model_that_repeats_all_it_is_shown_shows_nothing_that_is_concealed(
    name: str, transcript: int, tmp_path: Path
) -> None:
    async with serving(repeating) as engine:
        simulator = clinic(tmp_path, engine.url, [CONCEALING[name]], transcript=transcript)
        async with simulator.open() as world:
            seen = await played(world)
            assert (world.view.get("patient", "pat_001") or {})["diagnosis"] == SECRET
    assert len(engine.asked) >= 4
    assert "a cough" in seen
    assert SECRET not in seen
    assert not any(SECRET in message["content"] for asked in engine.asked for message in asked.body["messages"])


@pytest.mark.parametrize(
    "perturbation",
    [
        {"permission_denied": {"entity": "patient", "fields": ["diagnosis"]}, "tools": "get_patient"},
        {"permission_denied": {"entity": "patient", "fields": ["diagnosis"], "actions": "write"}},
        {"permission_denied": {"entity": "patient"}, "when": {"nth": 2}},
    ],
)
async def test_what_the_agent_may_see_some_other_way_is_shown(perturbation: Json, tmp_path: Path) -> None:
    async with serving(repeating) as engine, clinic(tmp_path, engine.url, [perturbation]).open() as world:
        await played(world)
    assert any(SECRET in message["content"] for asked in engine.asked for message in asked.body["messages"])


@pytest.mark.parametrize("transcript", [200_000, 4_000])
async def test_what_is_withheld_is_shown_nowhere_and_shown_where_the_world_says_so(
    transcript: int, tmp_path: Path
) -> None:
    options: Json = {"withhold": ["GOUT of the"], "transcript": transcript}
    async with serving(repeating) as engine, clinic(tmp_path, engine.url, [], **options).open() as world:
        seen = await played(world)
    assert SECRET in seen  # by get_patient
    assert "a cough" in seen
    assert len(engine.asked) >= 8
    assert not any(SECRET in message["content"] for asked in engine.asked for message in asked.body["messages"])


async def test_what_others_have_not_written_yet_is_shown_when_they_have(tmp_path: Path) -> None:
    change: Json = {"do": "edit", "entity": "patient", "values": {"diagnosis": "a broken wrist"}, "at": "1m"}
    perturbations: Json = [{"external_change": change}]
    async with serving(repeating) as engine, clinic(tmp_path, engine.url, perturbations).open() as world:
        assert "a broken wrist" not in await played(world)
        assert not any("a broken wrist" in json.dumps(asked.body["messages"]) for asked in engine.asked)
        world.clock.advance(timedelta(minutes=1))
        assert "a broken wrist" in await played(world)
