"""Calls that are passed on to real servers, over stdio and HTTP."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from support import notebook_server
from support.answering_server import FILE as ANSWERING
from support.given import value
from support.over_http import listening
from support.places import SUPPORT
from support.warm import PYTHON

from mcp_sim import Simulator
from mcp_sim.recordings.responders import answer_of
from mcp_sim.server.testing import connected
from mcp_sim.simulator.compile import check
from mcp_sim.types.errors import Crash, DocumentError

ODD = SUPPORT / "odd_server.py"
NOTEBOOK = [PYTHON, notebook_server.__file__]
PIXEL = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
ANSWERS: dict[str, Any] = {
    "text": {"result": {"content": [{"type": "text", "text": "Two\n  words"}]}},
    "json": {"result": {"content": [{"type": "text", "text": '{\n  "b": 1.50,\n "a": [ ]}'}], "isError": False}},
    "many": {
        "result": {
            "content": [
                {"type": "text", "text": "1", "annotations": {"priority": 0.5}},
                PIXEL,
                {"type": "text", "text": "é"},
            ]
        }
    },
    "structured": {
        "result": {"content": [{"type": "text", "text": '{ "n": 1 }'}], "structuredContent": {"n": 1}, "isError": False}
    },
    "rows": {
        "result": {
            "content": [{"type": "text", "text": '{\n  "id": 1\n}'}, {"type": "text", "text": '{\n  "id": 2\n}'}],
            "structuredContent": {"result": [{"id": 1}, {"id": 2}]},
        }
    },
    "unlike_its_schema": {"result": {"content": [], "structuredContent": {"n": "one"}}},
    "failed": {"result": {"content": [{"type": "text", "text": "No such thing"}], "isError": True}},
    "failed_with_data": {
        "result": {"content": [{"type": "text", "text": "no"}], "structuredContent": {"code": 7}, "isError": True}
    },
    "refused": {"error": {"code": -32602, "message": "Bad id", "data": {"id": [1, None]}}},
    "nothing": {"result": {"content": []}},
}


def tools(names: Sequence[str]) -> list[dict[str, Any]]:
    plain = {"inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    return [
        {"name": name, **plain, **({"outputSchema": schema} if name == "unlike_its_schema" else {})} for name in names
    ]


def answering(folder: Path, answers: Mapping[str, Any], **more: Any) -> tuple[Simulator, Path]:
    """Return a simulator in front of a server that answers like this, and the file with the calls that it got."""
    listed = tools([*answers])
    (folder / "answers.json").write_text(json.dumps({"tools": listed, "answers": answers}), encoding="utf-8")
    calls = folder / "calls.jsonl"
    files = [PYTHON, str(ANSWERING), str(folder / "answers.json"), str(calls)]
    command = ["sh", "-c", f"ulimit -f 512; exec {shlex.join(files)}"]  # 256 KiB: stderr is longer, and is not kept
    return simulator(folder, listed, {"command": command, **more.pop("options", {})}, **more), calls


def simulator(folder: Path, listed: Any, options: Any, **more: Any) -> Simulator:
    (folder / "tools.json").write_text(json.dumps({"tools": listed}), encoding="utf-8")
    document = {"mcp_sim": 1, "tools": "tools.json", "world_model": {"upstream": options}, **more}
    (folder / "scenario.yaml").write_text(json.dumps(document), encoding="utf-8")
    return Simulator.load(folder / "scenario.yaml", trust=True)


async def notebook_tools() -> list[dict[str, Any]]:
    async with Client(notebook_server.notebook) as client:
        return [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools
        ]


def calls_in(log: Path) -> list[Any]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


async def test_every_kind_of_answer_is_served_as_the_server_gave_it(tmp_path: Path) -> None:
    real, log = answering(tmp_path, ANSWERS)
    async with real.open() as world:
        for tool, answer in ANSWERS.items():
            served = answer_of(await world.call(tool, {"n": 1}))
            if "error" in answer:
                assert served == answer
            else:
                assert served["result"] == {"isError": False, **answer["result"]}, tool
        assert {step["source"] for step in world.ledger.steps[1:]} == {"upstream"}
    assert calls_in(log) == [{"name": tool, "arguments": {"n": 1}} for tool in ANSWERS]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_clients_of_both_eras_get_what_the_server_gave(tmp_path: Path, mode: str) -> None:
    real, _ = answering(tmp_path, ANSWERS)
    async with real.open() as world, connected(world, mode=mode) as client:
        for tool in ("text", "json", "many", "structured", "rows", "failed", "failed_with_data", "nothing"):
            result = (await client.call_tool(tool, {})).model_dump(by_alias=True, exclude_none=True)
            expected = {"isError": False, **ANSWERS[tool]["result"]}
            assert {name: result.get(name) for name in expected} == expected


async def test_arguments_arrive_unchanged_also_those_that_the_schema_forbids(tmp_path: Path) -> None:
    real, log = answering(tmp_path, {"text": ANSWERS["text"]})
    given: dict[str, Any] = {"n": "none", "deep": {"null": None, "list": [1, 2.5, "é"], "empty": {}}}
    async with real.open() as world:
        assert (await world.call("text", given)).ok
    assert calls_in(log) == [{"name": "text", "arguments": given}]


async def test_a_server_that_ends_is_a_crash_and_is_started_again_for_the_next_call(tmp_path: Path) -> None:
    real, _ = answering(tmp_path, {"text": ANSWERS["text"], "die": "die"})
    async with real.open() as world:
        assert (await world.call("text", {})).ok
        with pytest.raises(Crash, match=r"Connection closed; its stderr:\n(  still printing\n){9}  out of paper"):
            await world.call("die", {})
        assert (await world.call("text", {})).ok
        assert [step["tool"] for step in world.ledger.steps[1:]] == ["text"] * 2


async def test_a_server_that_is_slow_is_a_crash_and_keeps_its_state(tmp_path: Path) -> None:
    real, log = answering(tmp_path, {"text": ANSWERS["text"], "hang": "hang"}, options={"timeout": "1s"})
    async with real.open() as world:
        with pytest.raises(Crash, match="did not answer within 1 seconds"):
            await world.call("hang", {})
        assert (await world.call("text", {})).ok
    assert [call["name"] for call in calls_in(log)] == ["hang", "text"]


async def test_a_server_that_writes_a_line_without_an_end_is_a_crash_and_is_ended(tmp_path: Path) -> None:
    real, _ = answering(tmp_path, {"text": ANSWERS["text"], "flood": "flood"})
    async with real.open() as world:
        with pytest.raises(Crash, match="it wrote a line of more than 32 MiB"):
            await world.call("flood", {})
        assert (await world.call("text", {})).ok


async def test_a_server_that_never_starts_is_a_crash_and_is_ended(tmp_path: Path) -> None:
    process = tmp_path / "process"
    command = [PYTHON, str(ODD), "--silent", str(process)]
    async with simulator(tmp_path, tools(["text"]), {"command": command, "timeout": "1s"}).open() as world:
        with pytest.raises(Crash, match="did not answer within 1 seconds"):
            await world.call("text", {})
    with pytest.raises(ProcessLookupError):
        os.kill(int(process.read_text()), 0)


async def test_a_command_that_does_not_exist_is_a_crash_without_its_secrets(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("NOTES_TOKEN", "hush-hush-1")
    options = {"command": ["no-such-program", "--token", "${NOTES_TOKEN}"]}
    async with simulator(tmp_path, tools(["text"]), options).open() as world:
        with pytest.raises(Crash, match=r"no-such-program.*not found") as crash:
            await world.call("text", {})
    assert "hush" not in str(crash.value)


async def test_a_server_over_http_is_asked_with_headers_from_the_environment(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "token").write_text("a-token-of-more-than-sixteen-letters")
    (tmp_path / "token").chmod(0o600)
    monkeypatch.setenv("CRM_TOKEN", "a-token-of-more-than-sixteen-letters")
    with listening("crm", "--token-file", str(tmp_path / "token")) as server:
        options = {"url": server.url + "/mcp", "headers": {"Authorization": "Bearer ${CRM_TOKEN}"}}
        document = {"mcp_sim": 1, "tools": "crm", "world_model": {"upstream": options}}
        (tmp_path / "scenario.yaml").write_text(json.dumps(document), encoding="utf-8")
        async with Simulator.load(tmp_path / "scenario.yaml", trust=True).open() as world:
            made = await world.call("create_contact", {"name": "Ada Ash", "email": "ada@example.com"})
            [key] = [change["key"] for change in world.ledger.newest["step"]["committed"]]
            got = await world.call("get_contact", {"contact_id": key})
            assert made.ok
            assert got.ok
            assert world.view.get("contact", key) == value(got)
    assert "Traceback" not in "\n".join(server.log)


async def test_a_server_over_http_that_has_gone_is_a_crash(tmp_path: Path) -> None:
    with listening("crm") as server:
        options = {"url": server.url + "/mcp"}
        (tmp_path / "scenario.yaml").write_text(
            json.dumps({"mcp_sim": 1, "tools": "crm", "world_model": {"upstream": options}}), encoding="utf-8"
        )
        real = Simulator.load(tmp_path / "scenario.yaml", trust=True)
        async with real.open() as world:
            assert (await world.call("search_contacts", {})).ok
            server.end()
            with pytest.raises(Crash):
                await world.call("search_contacts", {})
            assert len(world.ledger.crashes) == 1


async def test_faults_act_on_the_answers_of_a_real_server(tmp_path: Path) -> None:
    faults = [
        {"lost_ack": {}, "tools": ["create_note"], "when": {"nth": 2}},
        {"error": {}, "tools": ["list_notes"], "when": {"nth": 1}},
        {"latency": {"duration": "2s"}, "tools": ["get_note"]},
        {"malformed": {}, "tools": ["list_notes"], "when": {"nth": 3}},
        {"duplicate_effect": {}, "tools": ["create_note"], "when": {"nth": 3}},
    ]
    real = simulator(tmp_path, await notebook_tools(), {"command": NOTEBOOK}, perturbations=faults)
    async with real.open() as world:
        first = await world.call("create_note", {"title": "Milk"})
        lost = await world.call("create_note", {"title": "Bread"})
        assert first.ok
        assert not lost.ok
        assert not (await world.call("list_notes", {})).ok
        listed = await world.call("list_notes", {})
        assert [note["title"] for note in value(listed)["notes"]] == ["Milk", "Bread"]
        assert (await world.call("get_note", {"note_id": "note-41"})).delay.total_seconds() == 2
        broken = await world.call("list_notes", {})
        assert broken.body != listed.body
        await world.call("create_note", {"title": "Salt"})
        listed = await world.call("list_notes", {})
        titles = [note["title"] for note in value(listed)["notes"]]
        assert titles == ["Milk", "Bread", "Salt", "Salt"]
        applied = [
            one["kind"]
            for step in world.ledger.steps[1:]
            for one in step["perturbations"]
            if one["outcome"] == "applied"
        ]
        assert applied == ["lost_ack", "error", "latency", "malformed", "duplicate_effect"]


async def test_a_write_whose_effect_is_unknown_can_lose_its_acknowledgement(tmp_path: Path) -> None:
    lost: list[Any] = [{"lost_ack": {}, "tools": ["frobnicate"]}]
    real, log = answering(tmp_path, {"frobnicate": ANSWERS["text"], "create_text": ANSWERS["text"]}, perturbations=lost)
    async with real.open() as world:
        assert not (await world.call("frobnicate", {})).ok
    assert len(calls_in(log)) == 1


async def test_what_a_real_server_shows_becomes_part_of_the_world(tmp_path: Path) -> None:
    real = simulator(tmp_path, await notebook_tools(), {"command": NOTEBOOK})
    async with real.open() as world:
        await world.call("create_note", {"title": "Milk"})
        assert world.view.get("note", "note-41") == {"id": "note-41", "title": "Milk", "text": ""}
        await world.call("delete_note", {"note_id": "note-41"})
        assert world.view.get("note", "note-41") is None


async def test_worlds_share_one_server_and_a_reset_does_not_change_it(tmp_path: Path) -> None:
    real = simulator(tmp_path, await notebook_tools(), {"command": NOTEBOOK})
    async with real:
        one, other = real.world("one"), real.world("other")
        await one.call("create_note", {"title": "Milk"})
        shown = await other.call("get_note", {"note_id": "note-41"})
        assert shown.ok


def test_faults_that_act_on_records_are_refused_where_a_real_server_has_them(tmp_path: Path) -> None:
    document = """
mcp_sim: 1
tools: crm
world_model:
  - upstream: {command: [some-server]}
    tools: ["*_contact*"]
  - builtin: {}
perturbations:
  - stale_read: {lag: 1m}
  - delayed_visibility: {after: 2 calls}
    tools: [create_deal]
  - external_change: {entity: deal, do: edit}
    tools: [get_contact]
"""
    (tmp_path / "scenario.yaml").write_text(document.lstrip(), encoding="utf-8")
    problems = [problem for problem in check([tmp_path / "scenario.yaml"]) if problem.severity == "error"]
    assert [problem.path for problem in problems] == ["perturbations[0].stale_read", "perturbations[2].external_change"]
    assert "do not decide what search_contacts, get_contact" in problems[0].message


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "needs either `command` or `url`"),
        ({"command": ["a"], "url": "http://a/"}, "needs either `command` or `url`"),
        ({"url": "a"}, "is not a URL"),
        ({"command": ["a"], "headers": {"a": "b"}}, "headers: is for a URL"),
    ],
)
def test_options_that_reach_no_server_are_refused(tmp_path: Path, options: Any, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        simulator(tmp_path, tools(["text"]), options)


async def test_a_command_is_run_only_if_the_document_is_trusted(tmp_path: Path) -> None:
    answering(tmp_path, {"text": ANSWERS["text"]})
    with pytest.raises(DocumentError, match="runs the command"):
        await Simulator.load(tmp_path / "scenario.yaml").start()
    assert not (tmp_path / "calls.jsonl").exists()


ROWS = [{"id": f"s-{n}", "title": f"Story {n}"} for n in range(1, 6)]
PAGED = {
    "name": "list_stories",
    "description": "List stories.",
    "inputSchema": {"type": "object", "properties": {"limit": {"type": "number"}, "offset": {"type": "number"}}},
}


@pytest.mark.parametrize("is_wrapped", [False, True], ids=["text", "wrapped text"])
@pytest.mark.parametrize("form", [{"stories": ROWS, "total_count": 50}, {"data": {"items": ROWS, "total": 50}}])
async def test_pages_of_a_real_server_are_bent_in_its_own_form(tmp_path: Path, form: Any, is_wrapped: bool) -> None:
    text = json.dumps(form, indent=2)
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if is_wrapped:
        result["structuredContent"] = {"result": text}
    answers = {"tools": [PAGED], "answers": {"list_stories": {"result": result}}}
    (tmp_path / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    command = [PYTHON, str(ANSWERING), str(tmp_path / "answers.json"), str(tmp_path / "calls.jsonl")]
    faults = [{"pagination": {"total": "fewer", "drops": 1}}]
    async with simulator(tmp_path, [PAGED], {"command": command}, perturbations=faults).open() as world:
        served = answer_of(await world.call("list_stories", {"offset": 5}))["result"]
    [block] = served["content"]
    expected = json.loads(text.replace("50", "45"))
    inner = expected.get("data", expected)
    inner["stories" if "stories" in inner else "items"] = ROWS[1:]
    assert block["text"] == json.dumps(expected, indent=2)
    assert served.get("structuredContent") == ({"result": block["text"]} if is_wrapped else None)


@pytest.mark.parametrize("fault", [{"error": 503}, {"lost_ack": {}}])
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_what_a_call_of_a_real_server_meant_is_not_judged_and_not_asked(
    fault: dict[str, Any], times: int, tmp_path: Path
) -> None:
    entry = {**fault, "id": "fault", "when": {"nth": 1}}
    ok = {"result": {"content": [{"type": "text", "text": "ok"}]}}
    more = {"perturbations": [entry], "expect": [{"recovered": "fault"}]}
    real, log = answering(tmp_path, {"frobnicate": ok}, **more)
    async with real.open() as world:
        for _ in range(times):
            await world.call("frobnicate", {"n": 1})
        [verdict] = world.grade().verdicts
    assert verdict.outcome == "not judged", verdict.because
    assert len(calls_in(log)) == times - ("error" in fault)
