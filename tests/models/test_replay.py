"""Answers from recorded sessions, and routes between world models."""

from __future__ import annotations

import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import notebook_server
from support.notebook_server import CALLS
from support.stdio_process import serving, stderr_of

from mcp_sim import Simulator
from mcp_sim.recordings.responders import answer_of
from mcp_sim.simulator.compile import check
from mcp_sim.spec.sessions import read_sessions, session_lines
from mcp_sim.types.errors import Crash, DocumentError, UsageError

NAMES = ("create_job", "get_job", "list_jobs", "cancel_job")
ONE, TWO = "6f1c0a52-3b1e-4a55-9d53-0c1f8f6f2a11", "0d3c7b64-55aa-4f10-8a2e-1f6f9b7c4e22"


def tools() -> list[dict[str, Any]]:
    given = {"type": "object", "properties": {name: {"type": "string"} for name in ("id", "at", "name")}}
    return [{"name": name, "inputSchema": given} for name in NAMES]


def text(value: Any, **more: Any) -> dict[str, Any]:
    shown = value if isinstance(value, str) else json.dumps(value)
    return {"result": {"content": [{"type": "text", "text": shown}], **more}}


def recorded(tool: str, arguments: Any, answer: Any) -> dict[str, Any]:
    is_error = isinstance(answer, dict) and "error" in answer
    return {"tool": tool, "arguments": arguments, **(answer if is_error else text(answer))}


def replaying(folder: Path, calls: Mapping[str, Iterable[Any]], model: Any = None, **options: Any) -> Simulator:
    """Return a simulator that answers from these sessions; `model` replaces its whole `world_model`."""
    (folder / "jobs").mkdir()
    for name, session in calls.items():
        lines = session_lines({"server": "jobs", "session": name, "initial_state": {}}, session)
        (folder / "jobs" / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "jobs" / "tools.json").write_text(json.dumps({"tools": tools()}), encoding="utf-8")
    used = model or {"replay": {"recordings": "jobs", **options}}
    document = {"mcp_sim": 1, "tools": "jobs/tools.json", "world_model": used}
    (folder / "scenario.yaml").write_text(json.dumps(document), encoding="utf-8")
    return Simulator.load(folder / "scenario.yaml")


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a session of a real server, and a scenario that replays it."""
    folder = tmp_path_factory.mktemp("notebook")
    asyncio.run(notebook_server.record(folder, "first", CALLS))
    document = {"mcp_sim": 1, "tools": "tools.json", "world_model": {"replay": {"recordings": "."}}}
    (folder / "scenario.yaml").write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.mark.parametrize("shuffled", [False, True])
async def test_recorded_calls_get_their_recorded_answers_in_any_order(notebook: Path, *, shuffled: bool) -> None:
    [session] = read_sessions(notebook)
    calls, left = list(session.calls), defaultdict[str, list[Any]](list)
    for call in calls:
        left[json.dumps([call.tool, call.arguments])].append(call.answer)
    if shuffled:
        random.Random(3).shuffle(calls)
    async with Simulator.load(notebook / "scenario.yaml").open() as world:
        for call in calls:
            expected = left[json.dumps([call.tool, call.arguments])].pop(0)
            assert answer_of(await world.call(call.tool, call.arguments)) == expected
        assert {step["source"] for step in world.ledger.steps[1:]} == {"replay"}


async def test_after_its_last_answer_a_read_is_repeated_and_a_write_is_a_crash(notebook: Path) -> None:
    async with Simulator.load(notebook / "scenario.yaml").open() as world:
        listed = [answer_of(await world.call("list_notes", {})) for _ in range(3)]
        assert listed[0] != listed[1] == listed[2]
        await world.call("create_note", {"title": "Bread"})
        with pytest.raises(Crash, match=r"first\.jsonl, call 2: the same, and its answers are used up"):
            await world.call("create_note", {"title": "Bread"})


async def test_a_call_that_was_not_recorded_is_a_crash_that_says_what_came_closest(notebook: Path) -> None:
    async with Simulator.load(notebook / "scenario.yaml").open() as world:
        with pytest.raises(Crash, match="call 1: title was 'Milk', not 'Mild'"):
            await world.call("create_note", {"title": "Mild", "text": "two litres"})
        assert len(world.ledger.crashes) == 1
        assert len(world.ledger.steps) == 1


async def test_a_redacted_secret_replaces_any_text_but_always_the_same_one(tmp_path: Path) -> None:
    key = "<redacted:token-1>"
    calls = [
        recorded("create_job", {"id": f"Bearer {key}", "name": "one"}, f"made with {key}"),
        recorded("get_job", {"id": key}, {"owner": key}),
        recorded("list_jobs", {"id": key}, "two jobs"),
    ]
    async with replaying(tmp_path, {"first": calls}).open() as world:
        made = await world.call("create_job", {"id": "Bearer s3cret!", "name": "one"})
        assert "made with s3cret!" in json.dumps(answer_of(made))
        assert "owner" in json.dumps(answer_of(await world.call("get_job", {"id": "s3cret!"})))
        with pytest.raises(Crash, match="nearest"):
            await world.call("list_jobs", {"id": "another"})


async def test_a_fork_and_a_reset_replay_from_their_own_place(notebook: Path) -> None:
    async with Simulator.load(notebook / "scenario.yaml").open() as world:
        first = answer_of(await world.call("list_notes", {}))
        fork = world.fork("fork")
        second = answer_of(await world.call("list_notes", {}))
        assert answer_of(await fork.call("list_notes", {})) == second != first
        world.reset()
        assert answer_of(await world.call("list_notes", {})) == first


async def test_what_a_recording_shows_becomes_part_of_the_world(notebook: Path) -> None:
    async with Simulator.load(notebook / "scenario.yaml").open() as world:
        await world.call(*CALLS[0])
        assert world.view.get("note", "note-41") == {"id": "note-41", "title": "Milk", "text": "two litres"}


# volatile values ------------------------------------------------------------------------------------------------------


async def test_an_id_that_the_server_issued_matches_no_other(tmp_path: Path) -> None:
    session = [recorded("create_job", {"name": "a"}, {"id": ONE}), recorded("get_job", {"id": ONE}, "Job a")]
    async with replaying(tmp_path, {"one": session}).open() as world:
        await world.call("create_job", {"name": "a"})
        with pytest.raises(Crash, match="no recorded call matches"):
            await world.call("get_job", {"id": TWO})


async def test_a_run_follows_the_session_that_has_its_calls(tmp_path: Path) -> None:
    one = [recorded("create_job", {"name": "a"}, {"id": ONE}), recorded("get_job", {"id": ONE}, "a, alone")]
    two = [
        recorded("create_job", {"name": "a"}, {"id": TWO}),
        recorded("create_job", {"name": "b"}, {"id": "b-1"}),
        recorded("get_job", {"id": TWO}, f"{TWO} is before b-1"),
    ]
    async with replaying(tmp_path, {"one": one, "two": two}).open() as world:
        await world.call("create_job", {"name": "a"})
        await world.call("create_job", {"name": "b"})
        shown = answer_of(await world.call("get_job", {"id": ONE}))
        assert shown["result"]["content"][0]["text"] == f"{ONE} is before b-1"
        fresh = world.fork("fork")
        fresh.reset()
        assert answer_of(await fresh.call("create_job", {"name": "b"})) == text({"id": "b-1"}, isError=False)


# documents ------------------------------------------------------------------------------------------------------------


def test_recordings_that_cannot_be_read_are_problems_of_the_document(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"world_model.replay: .*no session matches two"):
        replaying(tmp_path, {"one": [recorded("get_job", {}, "a")]}, sessions=["two"])


HOSTILE = {
    "{bad": "a.jsonl:2: is not JSON",
    "[" * 5_000: "a.jsonl:2: is nested too deeply",
    json.dumps(recorded("get_job", {}, "x") | {"tool": 5}): "a.jsonl:2: tool: expected the name of a tool, got 5",
    json.dumps({"tool": "get_job", "result": {"content": [{"type": "text", "text": 7}]}}): (
        "a.jsonl:2: result.content[0].text: expected a text, got 7"
    ),
    json.dumps({"tool": "get_job", "error": {"code": "x"}}): "a.jsonl:2: error.code: expected a whole number, got 'x'",
    "70 MB": "a.jsonl: is larger than 64 MiB",
}


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_recordings_are_refused_with_file_and_line_before_they_are_served(tmp_path: Path, line: str) -> None:
    with pytest.raises(DocumentError):
        replaying(tmp_path, {"a": [{"type": "more"}]}, sessions=["none"])
    header = json.dumps({"type": "session", "server": "jobs", "session": "a", "initial_state": {}})
    written = json.dumps(recorded("get_job", {}, "x" * 70_000_000)) if line == "70 MB" else line
    (tmp_path / "jobs" / "a.jsonl").write_text(f"{header}\n{written}\n{{}}\n", encoding="utf-8")
    document = {"mcp_sim": 1, "tools": "jobs/tools.json", "world_model": {"replay": {"recordings": "jobs"}}}
    (tmp_path / "scenario.yaml").write_text(json.dumps(document), encoding="utf-8")
    with serving(str(tmp_path / "scenario.yaml"), handshake=False) as wire:
        assert wire.process.wait(30) == 1
        said = stderr_of(wire)
    assert HOSTILE[line] in said
    assert "Traceback" not in said


def test_recordings_outside_the_folder_of_a_document_need_trust(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    document = {"mcp_sim": 1, "tools": "crm", "world_model": {"replay": {"recordings": "../.."}}}
    (tmp_path / "inner" / "scenario.yaml").write_text(json.dumps(document), encoding="utf-8")
    problems = check([tmp_path / "inner" / "scenario.yaml"])
    assert any("reads recordings in ../.., outside its folder" in problem.message for problem in problems)


# routes ---------------------------------------------------------------------------------------------------------------


async def test_what_a_source_cannot_answer_goes_to_the_next(notebook: Path) -> None:
    document: dict[str, Any] = {
        "mcp_sim": 1,
        "tools": "tools.json",
        "world_model": [{"replay": {"recordings": "."}, "unmatched": "next"}, {"builtin": {}}],
    }
    (notebook / "routed.yaml").write_text(json.dumps(document), encoding="utf-8")
    async with Simulator.load(notebook / "routed.yaml").open() as world:
        await world.call("create_note", {"title": "Bread"})
        assert (await world.call("create_note", {"title": "Salt"})).ok
        [key] = [change["key"] for change in world.ledger.newest["step"]["committed"]]
        assert (await world.call("get_note", {"note_id": key})).ok
        assert not (await world.call("create_note", {"title": 1})).ok
        assert [step["source"] for step in world.ledger.steps[1:4]] == ["replay", "builtin", "builtin"]


async def test_reads_and_writes_go_to_the_entries_that_name_them(notebook: Path) -> None:
    document: dict[str, Any] = {
        "mcp_sim": 1,
        "tools": "tools.json",
        "world_model": [{"builtin": {}, "writes": True}, {"replay": {"recordings": "."}, "reads": True}],
    }
    (notebook / "routed.yaml").write_text(json.dumps(document), encoding="utf-8")
    async with Simulator.load(notebook / "routed.yaml").open() as world:
        await world.call("create_note", {"title": "Never recorded"})
        await world.call("list_notes", {})
        assert [step["source"] for step in world.ledger.steps[1:]] == ["builtin", "replay"]


def test_routes_that_leave_calls_without_an_answer_are_refused(tmp_path: Path) -> None:
    document = """
mcp_sim: 1
tools: crm
world_model:
  - builtin: {}
    reads: true
    unmatched: next
  - builtin: {}
    tools: [create_deal, get_deal]
    reads: false
    writes: false
"""
    (tmp_path / "scenario.yaml").write_text(document.lstrip(), encoding="utf-8")
    found = {problem.path: problem.message for problem in check([tmp_path / "scenario.yaml"])}
    assert "answers neither reads nor writes" in found["world_model[1]"]


# command lines --------------------------------------------------------------------------------------------------------


async def test_a_command_line_names_recordings_instead_of_the_world_model_of_a_document(notebook: Path) -> None:
    simulator = Simulator.load(notebook / "tools.json", world_model=f"replay:{notebook}")
    async with simulator.open() as world:
        await world.call(*CALLS[0])
        assert world.ledger.newest["step"]["source"] == "replay"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("replay:", "write it as replay:RECORDINGS"),
        ("upstream", "needs either `command` or `url`; write it as upstream:URL or COMMAND"),
        ("openai:tiny", "write it as openai:MODEL@URL"),
        ("builtin:tiny", "write it as builtin"),
    ],
)
def test_a_world_model_of_another_form_is_refused_with_its_form(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Simulator.load("crm", world_model=text)


@pytest.mark.time_limit(60)
async def test_what_comes_nearest_to_long_arguments_is_found_in_bounded_time(tmp_path: Path) -> None:
    signs = [chr(0x4E00 + number) for number in range(400)] * 1_000
    given, other = ({"name": "".join(random.Random(seed).sample(signs, len(signs)))} for seed in (1, 2))
    calls = [recorded("get_job", given, "first"), recorded("get_job", {"name": "short"}, "second")]
    async with replaying(tmp_path, {"one": calls}).open() as world:
        with pytest.raises(Crash, match=r"the nearest is one\.jsonl, call"):
            await world.call("get_job", other)
