"""Records of generated worlds: `mcp-sim generate`, without a model and with one behind an endpoint over real HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.to_thread import run_sync
from starlette.responses import JSONResponse, Response
from support.endpoint import Asked, Respond, completion, guided, serving, valid
from support.places import ROOT
from support.warm import PYTHON

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.models.generated_worlds.checks import find_problems
from mcp_sim.simulator.compile import check, load

Json = Any
SHIPPED = [
    "calm_crm",
    "calm_chat",
    "calm_shop",
    "calm_issue_tracker",
    "calm_files",
    "calm_calendar_mail",
    "office",
    "crm",
]


def generate(output: Path, *options: str, scenario: str = "calm_crm") -> dict[str, list[Json]]:
    """What the command writes."""
    assert main(["generate", scenario, "-o", str(output), *options]) == 0
    return json.loads(output.read_text(encoding="utf-8"))


async def generate_by(url: str, output: Path, *options: str, expected: int = 0) -> None:
    """Run the command beside the endpoint that it asks."""
    words = ["generate", "calm_crm", "-o", str(output), "--count", "40", "--by", f"openai:tiny@{url}", *options]
    assert await run_sync(main, words) == expected


def using(file: Path, name: str = "calm_crm", **world: Json) -> Path:
    """Write a scenario that begins with the records of a file beside it."""
    path = file.with_name("scenario.json")
    tools = {"calm_crm": "crm"}.get(name, name)
    body = {"mcp_sim": 1, "tools": tools, "world": {"now": "2029-03-01T09:00:00Z", **world, "records": file.name}}
    path.write_text(json.dumps(body), encoding="utf-8")
    return path


# without a model ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", SHIPPED)
def test_a_world_has_some_hundred_records_without_a_flaw(scenario: str, tmp_path: Path) -> None:
    found = generate(tmp_path / "records.json", scenario=scenario)
    assert 300 <= sum(map(len, found.values())) <= 500
    domain = load(scenario).domain
    tables = {name: {row[domain.entities[name].key]: row for row in rows} for name, rows in found.items()}
    assert [*find_problems(domain, tables, {})] == []


async def test_a_scenario_begins_with_exactly_what_the_file_holds(tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    found = await run_sync(generate, file)
    scenario = using(file)
    assert check([scenario]) == []
    async with Simulator.load(scenario).open(seed=99) as world:
        for name, rows in found.items():
            assert [record for _, record in world.view.rows(name)] == rows


def test_the_same_seed_gives_the_same_file_and_another_seed_another(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
    for file, seed in zip(files, ("3", "3", "4"), strict=True):
        generate(file, "--seed", seed)
    a, b, c = (file.read_bytes() for file in files)
    assert a == b != c


def test_count_is_shared_as_the_scenario_counts_and_its_rows_stay(tmp_path: Path) -> None:
    found = generate(tmp_path / "records.json", "--count", "110")
    assert {name: len(rows) for name, rows in found.items()} == {
        "company": 10,
        "contact": 50,
        "deal": 20,
        "activity": 30,
    }
    assert found["contact"][0]["email"] == "ada.vos@wielhuis.example"


def test_a_file_that_is_replaced_is_kept(tmp_path: Path) -> None:
    generate(tmp_path / "records.json", "--seed", "1")
    before = (tmp_path / "records.json").read_bytes()
    generate(tmp_path / "records.json", "--seed", "2")
    assert (tmp_path / "records.json.bak").read_bytes() == before


# by a model -----------------------------------------------------------------------------------------------------------


async def test_what_a_model_invents_fits_the_schemas_and_links_to_records_that_exist(tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    async with serving() as engine:
        await generate_by(engine.url, file)
    found = json.loads(file.read_text(encoding="utf-8"))
    domain = load("calm_crm").domain
    tables = {name: {row["id"]: row for row in rows} for name, rows in found.items()}
    assert [*find_problems(domain, tables, {})] == []
    assert check([using(file)]) == []
    subjects = {row["subject"] for asked in engine.asked for row in reply_to(asked) if "subject" in row}
    assert subjects >= {row["subject"] for row in found["activity"]}


def reply_to(asked: Asked) -> list[Json]:
    """Return the records in the guided endpoint's reply to a request."""
    from random import Random

    return valid(asked.schema or {}, Random(asked.body["seed"]))["records"]


async def test_a_row_that_cannot_be_used_is_asked_for_again_with_its_problems_and_then_generated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def stubborn(asked: Asked) -> Response:
        """Always the name that is given already, and a country that is none."""
        rows = reply_to(asked)
        if "employee_count" in rows[0]:
            rows[0] |= {"name": "WIELHUIS  Onderdelen"}
            rows[1] |= {"country": "Netherlands"}
        return completion(json.dumps({"records": rows}))

    file = tmp_path / "records.json"
    async with serving(stubborn) as engine:
        await generate_by(engine.url, file)
    again = [asked for asked in engine.asked if "**Problems:**" in asked.question]
    assert len(again) == 2
    assert "record cmp_002: name: another record has 'WIELHUIS  Onderdelen'" in again[0].question
    assert "record cmp_003: country: 'Netherlands' does not match" in again[0].question
    assert "**Answer:** these 2 records" in again[0].question
    companies = json.loads(file.read_text(encoding="utf-8"))["company"]
    assert len({row["name"].casefold() for row in companies}) == 4
    assert "2 were generated without it." in capsys.readouterr().err


TWIN = {"id": "cmp_001", "name": "Same", "contact_id": "con_99999", "company_id": "cmp_999", "created_at": "2099-01-01"}
USELESS = {
    "nothing": "",
    "prose": "no JSON",
    "a number": '{"records": 3}',
    "no rows": '{"records": []}',
    "cut off while thinking": '<think>{"records"',
    "cut off": '{"records": [{"name": "Wielhuis',
    "brackets": "[[[",
    "the same id, and links to nothing": json.dumps({"records": [TWIN] * 40}),
    "ten megabytes": json.dumps({"records": [{"name": "x" * 10_000_000}]}),
}


@pytest.mark.parametrize("name", USELESS)
async def test_a_model_that_says_nothing_of_use_leaves_it_to_chance(name: str, tmp_path: Path) -> None:
    async def useless(_: Asked) -> Response:
        return completion(USELESS[name])

    async with serving(useless) as engine:
        await generate_by(engine.url, tmp_path / "records.json")
    domain = load("calm_crm").domain
    found = json.loads((tmp_path / "records.json").read_text(encoding="utf-8"))
    tables = {name: {row["id"]: row for row in rows} for name, rows in found.items()}
    assert [*find_problems(domain, tables, {})] == []


# ended and gone on with -----------------------------------------------------------------------------------------------


def refusing(table: str) -> Respond:
    """An endpoint that refuses to go on when it comes to a table."""

    async def respond(asked: Asked) -> Response:
        if f"### Table {table}" in asked.question:
            return JSONResponse({"error": {"message": "out of credit"}}, status_code=403)
        return await guided(asked)

    return respond


async def test_a_run_that_was_ended_goes_on_where_it_was_and_gives_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, file = tmp_path / "whole.json", tmp_path / "records.json"
    async with serving() as engine:
        await generate_by(engine.url, whole)
        in_all = len(engine.asked)
    async with serving(refusing("deal")) as engine:
        await generate_by(engine.url, file, expected=4)
        answered = sum("### Table deal" not in asked.body["messages"][1]["content"] for asked in engine.asked)
    assert "continue with --resume" in capsys.readouterr().err
    part = tmp_path / "records.json.part"
    assert len(part.read_bytes().splitlines()) == 1 + 1 + 3
    assert not file.exists()
    with part.open("ab") as stream:
        stream.write(b'{"entity": "deal", "first": 1, "ro')  # written when the power went
    async with serving() as engine:
        await generate_by(engine.url, file, expected=2)
        assert "continue it with --resume" in capsys.readouterr().err
        await generate_by(engine.url, file, "--resume", "--seed", "8", expected=2)
        assert "belongs to another run (seed 7 instead of 8" in capsys.readouterr().err
        assert engine.asked == []
        await generate_by(engine.url, file, "--resume")
        assert len(engine.asked) == in_all - answered
    assert file.read_bytes() == whole.read_bytes()
    assert not part.exists()


async def test_a_run_without_an_answer_leaves_nothing_to_continue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "records.json"
    async with serving(refusing("company")) as engine:
        await generate_by(engine.url, file, expected=4)
        assert "--resume" not in capsys.readouterr().err
        assert not file.with_name("records.json.part").exists()
    async with serving() as engine:
        await generate_by(engine.url, file)


async def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    arrived = anyio.Event()

    async def hanging(asked: Asked) -> Response:
        if "### Table deal" not in asked.question:
            return await guided(asked)
        arrived.set()
        return await engine.hang(asked)

    async with serving(hanging) as engine:
        words = [
            "generate",
            "calm_crm",
            "-o",
            str(tmp_path / "r.json"),
            "--count",
            "40",
            "--by",
            f"openai:tiny@{engine.url}",
        ]
        command = [PYTHON, "-m", "mcp_sim", *words]
        path = {**os.environ, "PYTHONPATH": str(ROOT)}
        async with await anyio.open_process(command, env=path, stderr=subprocess.PIPE) as process:
            with anyio.fail_after(100):
                await arrived.wait()
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            on_progress = b"".join([chunk async for chunk in process.stderr]).decode()
            assert await process.wait() == 130
    assert "r.json.part; continue with --resume" in on_progress
    assert "\r" not in on_progress
    assert len((tmp_path / "r.json.part").read_bytes().splitlines()) == 1 + 1 + 3


def test_who_does_not_name_a_model_is_shown_how(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for by in ("openai", "openai:tiny", "replay:x@y", "gpt"):
        assert main(["generate", "calm_crm", "-o", str(tmp_path / "r.json"), "--by", by]) == 2
        assert f"--by {by}" in capsys.readouterr().err


# the bar --------------------------------------------------------------------------------------------------------------
