"""Prompts omit what the agent may not see: a model that repeats its whole prompt reveals nothing."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response
from support.endpoint import Asked, completion, saying, serving

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
    """Reply with the text of the prompts in every text field that may hold it, beside the ids that they show."""
    text = " ".join(message["content"] for message in asked.body["messages"])
    for mark in MARKS:
        text = text.replace(mark, "")
    if asked.schema is None:
        return completion(text)
    parts: Json = asked.schema.get("anyOf", [asked.schema])[0]["properties"]
    ids = {"id": "pat_001" if "ward" in parts else "visit_009", "patient_id": "pat_001"}
    whole = {name: ids.get(name, text) for name, part in parts.items() if part.get("type") == "string"}
    lists: dict[str, list[Json]] = {name: [] for name, part in parts.items() if part.get("type") == "array"}
    rest = {name: least(part) for name, part in parts.items() if name not in {**whole, **lists}}
    return completion(json.dumps({**whole, **lists, **rest}))


def least(schema: Json) -> Json:
    """Return a short answer: what a model says of changes that there are none of, no reference, or 0."""
    choices = schema.get("anyOf", ())
    return next((choice["enum"][0] for choice in choices if "enum" in choice), None) if choices else 0


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


@pytest.mark.parametrize("name", [*CONCEALING])
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


CONCEALED = [{"permission_denied": {"entity": "patient", "fields": ["diagnosis"]}}]
SHOWN = {"id": "pat_001", "name": "Ada Vos", "ward": "north"}


@pytest.mark.parametrize("diagnosis", [{}, {"diagnosis": None}, {"diagnosis": "measles"}])
@pytest.mark.parametrize("concealed", [True, False], ids=["concealed", "withheld"])
async def test_what_the_model_may_not_know_stays_true_whatever_it_answers_and_it_is_not_asked_about_it(
    concealed: bool, diagnosis: Json, tmp_path: Path
) -> None:
    options: Json = {} if concealed else {"withhold": ["GOUT of the"]}
    calls: Json = [
        ("get_patient", {"patient_id": "pat_001"}),
        ("update_patient", {"patient_id": "pat_001", "name": "Ada Smit"}),
        ("get_patient", {"patient_id": "pat_001"}),
    ]
    faults: Json = CONCEALED if concealed else []
    async with serving() as engine, clinic(tmp_path, engine.url, faults, max_attempts=2, **options).open() as world:
        for (tool, arguments), name in zip(calls, ("Ada Vos", "Ada Smit", "Ada Smit"), strict=True):
            engine.respond = saying(json.dumps({**SHOWN, "name": name, **diagnosis}))
            body = (await world.call(tool, arguments)).body
            assert isinstance(body, ToolResult)
            assert body.value == {**SHOWN, "name": name, "diagnosis": None if concealed else SECRET}
            assert (world.view.get("patient", "pat_001") or {})["diagnosis"] == SECRET
        assert len(engine.asked) == len(calls)
    assert not any(SECRET in message["content"] for asked in engine.asked for message in asked.body["messages"])


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
