"""`learn` without a language model: from sessions of a real server to a spec that serves without them."""

# ruff: noqa: ASYNC240 (small files)

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from support.notebook_server import record

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.recordings import session_lines
from mcp_sim.types import ToolResult

DUNE, EMMA = {"title": "Dune", "author": "Frank Herbert", "shelf": "B2"}, {"title": "Emma", "author": "Jane Austen"}
IVANHOE, ULYSSES = {"title": "Ivanhoe", "author": "Walter Scott"}, {"title": "Ulysses", "author": "James Joyce"}
Calls = Sequence[tuple[str, dict[str, Any]]]
FIRST: Calls = (
    ("list_books", {}),
    ("add_book", DUNE),
    ("add_book", EMMA),
    ("list_books", {}),
    ("get_book", {"id": 1}),
    ("remove_book", {"id": 1}),
    ("get_book", {"id": 1}),
    ("remove_book", {"id": 7}),
    ("list_books", {}),
)
SECOND: Calls = (
    ("add_book", IVANHOE),
    ("get_book", {"id": 1}),
    ("add_book", {**ULYSSES, "shelf": "A1"}),
    ("list_books", {}),
    ("get_book", {"id": 9}),
    ("remove_book", {"id": 2}),
    ("list_books", {}),
    ("remove_book", {"id": 2}),
)


async def run(*words: str) -> int:
    return await to_thread.run_sync(main, [*words])


@pytest.fixture
async def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two recorded sessions of the reading list."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    for name, calls in (("a", FIRST), ("b", SECOND)):
        await record(folder, name, calls, "reading")
    monkeypatch.chdir(tmp_path)
    return folder


async def answers(spec: str, *calls: tuple[str, dict[str, Any]]) -> list[tuple[str, bool]]:
    """Return the texts that the tools of a spec answer in one world, and whether they are errors."""
    found = list[tuple[str, bool]]()
    async with Simulator.load(spec).open() as world:
        for tool, arguments in calls:
            body = (await world.call(tool, arguments)).body
            assert isinstance(body, ToolResult)
            found.append((body.content[0]["text"], body.is_error))
    return found


async def test_a_learnt_spec_answers_other_calls_in_the_words_of_the_real_server(recorded: Path) -> None:
    assert await run("learn", "recorded", "-o", "reading.yaml") == 0
    for session in recorded.glob("*"):
        session.unlink()
    emil = {"title": "Emil", "author": "Erich Kästner", "shelf": "K4"}
    Path("empty.yaml").write_text("mcp_sim: 1\ntools: reading.yaml\nworld: {records: {book: 0}}\n", encoding="utf-8")
    found = await answers(
        "empty.yaml",
        ("list_books", {}),
        ("add_book", emil),
        ("add_book", {"title": "Momo", "author": "Michael Ende"}),
        ("list_books", {}),
        ("get_book", {"id": 1}),
        ("get_book", {"id": 5}),
        ("remove_book", {"id": 1}),
        ("remove_book", {"id": 1}),
    )
    book = {"id": 1, **emil, "state": "unread", "stars": None}
    assert found == [
        ("The list is empty.", False),
        ("Noted as #1: Emil by Erich Kästner.", False),
        ("Noted as #2: Momo by Michael Ende.", False),
        ("Books on the list: 2\n#1 Emil (Erich Kästner) on shelf K4\n#2 Momo (Michael Ende)", False),
        (json.dumps({"ok": True, "book": book, "source": "reading list"}, indent=2, ensure_ascii=False), False),
        ('{"ok":false,"error":"no_such_book","id":5}', False),
        ("Crossed out: Emil", False),
        ("Error executing tool remove_book: Sorry, #1 is not on the list", True),
    ]


async def test_the_report_compares_with_inference_on_sessions_that_were_held_back(
    recorded: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert await run("learn", "recorded", "-o", "reading.yaml", "--json") == 0
    found = json.loads(capfd.readouterr().out)
    assert found["held_back"]
    assert found["score"]["learnt"] > found["score"]["inferred"] + 0.2
    assert found["tools"]["list_books"]["learnt"] == ["2 results"]
    assert await run("check", "reading.yaml") == 0
    assert await run("measure", "reading.yaml", "recorded", "--no-cold", "--at-least", "0.9") == 0


async def test_the_same_recordings_give_the_same_spec(recorded: Path) -> None:
    for name in ("one.yaml", "two.yaml"):
        assert await run("learn", "recorded", "-o", name) == 0
    one, two = (Path(name).read_text(encoding="utf-8") for name in ("one.yaml", "two.yaml"))
    assert one == two.replace("two.tools.json", "one.tools.json")


async def test_what_a_person_has_declared_stays_and_the_old_file_is_kept(recorded: Path) -> None:
    spec = Path("reading.yaml")
    spec.write_text(
        'mcp_sim: 1\nname: reading\ntools: recorded/tools.json\nsim: {list_books: {result: "Many books."}}\n',
        encoding="utf-8",
    )
    assert await run("learn", "recorded", "--spec", "reading.yaml", "-o", "reading.yaml") == 0
    assert (await answers("reading.yaml", ("list_books", {}), ("add_book", EMMA)))[0] == ("Many books.", False)
    assert Path("reading.yaml.bak").exists()


def write_session(folder: Path, name: str, calls: Sequence[tuple[str, dict[str, Any], str]]) -> None:
    lines = [
        {"tool": tool, "arguments": arguments, "result": {"content": [{"type": "text", "text": text}]}}
        for tool, arguments, text in calls
    ]
    header: dict[str, Any] = {"server": "vault", "session": name, "initial_state": {}}
    (folder / f"{name}.jsonl").write_text("\n".join(session_lines(header, lines)) + "\n", encoding="utf-8")
    tool = {"name": "open_vault", "inputSchema": {"type": "object", "properties": {"pin": {"type": "string"}}}}
    (folder / "tools.json").write_text(json.dumps({"tools": [tool]}), encoding="utf-8")


async def test_secrets_that_a_recording_leaves_out_are_no_part_of_a_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = {"token": "<redacted:token-1>", "note": "Bearer <redacted:token-1> is valid", "open": True}
    for name in ("a", "b"):
        write_session(tmp_path, name, [("open_vault", {"pin": "77"}, json.dumps(shown))])
    assert await run("learn", ".", "-o", "vault.yaml") == 0
    assert "redacted" not in Path("vault.yaml").read_text(encoding="utf-8")
    assert json.loads((await answers("vault.yaml", ("open_vault", {"pin": "1"})))[0][0])["open"] is True


async def test_nothing_is_written_if_there_is_nothing_to_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_session(tmp_path, "a", [])
    assert await run("learn", ".", "-o", "vault.yaml") == 1
    assert "Nothing was written" in capfd.readouterr().err
    assert not Path("vault.yaml").exists()


async def test_a_spec_is_a_yaml_file(recorded: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert await run("learn", "recorded", "-o", "reading.py") == 2
    assert "must be a YAML file, such as reading.yaml" in capfd.readouterr().err
