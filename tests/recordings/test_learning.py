"""`learn` without a language model: from sessions of a real server to a spec that serves without them."""

# ruff: noqa: ASYNC240 (small files)

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from anyio import to_thread
from support.notebook_server import record

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.recordings.learning.selection import lower_sessions
from mcp_sim.recordings.score import measure
from mcp_sim.spec.sessions import read_sessions, session_lines
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


def tool(name: str, /, **arguments: str) -> dict[str, Any]:
    """Return a tool. Arguments whose type ends with `?` are optional."""
    properties = {argument: {"type": kind.rstrip("?")} for argument, kind in arguments.items()}
    required = [argument for argument, kind in arguments.items() if not kind.endswith("?")]
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": required}}


def text(value: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(value)}]}


async def test_records_of_recorded_worlds_and_failures_of_one_tool_stay_where_they_belong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "estate"
    folder.mkdir()
    tools = [
        tool("audit_estate", depth="string?"),
        tool("add_barn", name="string", roof="string?"),
        tool("sell_barn", barn_id="string", price="integer"),
    ]
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    barn = {"id": "barn-7", "name": "Red barn", "owner": "Ada North"}
    audit = {"status": "audited", "findings": [{"barn": "Red barn", "owner": "Ada North", "sound": True}]}
    lines = [
        {"tool": "audit_estate", "arguments": {}, "result": text(audit)},
        {
            "tool": "add_barn",
            "arguments": {"name": ""},
            "result": {**text("Invalid name. Try Old mill"), "isError": True},
        },
        {"tool": "audit_estate", "arguments": {"depth": "all"}, "result": text(audit)},
    ]
    for number in range(2):
        header: dict[str, Any] = {"server": "estate", "session": str(number), "initial_state": {"barns": [barn]}}
        (folder / f"{number}.jsonl").write_text("\n".join(session_lines(header, lines)) + "\n", encoding="utf-8")
    assert await run("learn", "estate", "-o", "estate.yaml") == 0
    learnt = yaml.safe_load(Path("estate.yaml").read_text(encoding="utf-8"))
    assert learnt["sim"]["audit_estate"]["result"]["json"] == {"status": "audited", "findings": []}
    assert learnt["sim"]["add_barn"]["errors"] != {}
    assert "errors" not in learnt


def write_shed(folder: Path, tools: Sequence[dict[str, Any]], calls: Sequence[dict[str, Any]], state: Any) -> None:
    """Write two sessions with the same calls."""
    folder.mkdir()
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    for number in range(2):
        header: dict[str, Any] = {"server": "shed", "session": str(number), "initial_state": state}
        (folder / f"{number}.jsonl").write_text("\n".join(session_lines(header, calls)) + "\n", encoding="utf-8")


async def test_what_inference_answers_well_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = [{"id": "T-1", "name": "Spade"}, {"id": "T-2", "name": "Rake"}]
    calls = [{"tool": "get_tool", "arguments": {"tool_id": one["id"]}, "result": text(one)} for one in given]
    calls.append({"tool": "sweep_shed", "arguments": {}, "result": text({"swept": "all of it", "bags": 2})})
    write_shed(tmp_path / "shed", [tool("get_tool", tool_id="string"), tool("sweep_shed")], calls, {"tools": given})
    assert await run("learn", "shed", "-o", "shed.yaml") == 0
    learnt = yaml.safe_load(Path("shed.yaml").read_text(encoding="utf-8"))["sim"]
    assert "result" in learnt["sweep_shed"]
    assert "result" not in learnt.get("get_tool", {})


async def test_how_long_tools_take_is_learnt_unless_sessions_disagree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shed"
    write_shed(folder, [tool("audit_shed"), tool("sweep_shed")], [], {})
    for number, sweep in enumerate((20.0, 900.0)):
        taken = {"audit_shed": (180.0, 200.0, 240.0), "sweep_shed": (sweep, sweep)}
        lines = [{"tool": name, "arguments": {}, "result": text({"ok": True, "done": name}), "ms": ms}
                 for name, times in taken.items() for ms in times]  # fmt: skip
        header: dict[str, Any] = {"server": "shed", "session": str(number), "initial_state": {}}
        (folder / f"{number}.jsonl").write_text("\n".join(session_lines(header, lines)) + "\n", encoding="utf-8")
    assert await run("learn", "shed", "-o", "shed.yaml") == 0
    learnt = yaml.safe_load(Path("shed.yaml").read_text(encoding="utf-8"))["sim"]
    assert learnt["audit_shed"]["latency"] == {"median": "200ms", "sigma": 0.12}
    assert "latency" not in learnt.get("sweep_shed", {})
    async with Simulator.load("shed.yaml") as simulator:
        delays = [(await simulator.world("x").call(name, {})).delay.total_seconds() for name in learnt]
    assert 0.1 < delays[0] < 0.4


async def test_the_usual_size_of_a_page_is_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = [{"id": f"T-{number}", "name": f"Tool {number}"} for number in range(1, 9)]

    def listed(limit: int) -> dict[str, Any]:
        return text({"tools": given[:limit], "count": len(given[:limit])})

    calls: list[dict[str, Any]] = [
        {"tool": "list_tools", "arguments": {}, "result": listed(5)},
        {"tool": "list_tools", "arguments": {"limit": 2}, "result": listed(2)},
        {"tool": "list_tools", "arguments": {}, "result": listed(5)},
    ]
    write_shed(tmp_path / "shed", [tool("list_tools", limit="integer?")], calls, {"tools": given})
    assert await run("learn", "shed", "-o", "shed.yaml") == 0
    learnt = yaml.safe_load(Path("shed.yaml").read_text(encoding="utf-8"))["sim"]
    assert learnt["list_tools"]["paging"] == {"size": 5}


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
    assert await run("learn", "recorded", "-o", "missing/reading.yaml") == 2
    assert "the folder missing does not exist" in capfd.readouterr().err


async def test_no_constant_stands_for_answers_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = {"SELECT 1": [[1]], "SELECT 2": [[2]], "SELECT 3": [[3, 3]]}
    calls: list[dict[str, Any]] = [
        {"tool": "execute", "arguments": {"statement": statement}, "result": text({"rows": shown, "took": "1 ms"})}
        for statement, shown in rows.items()
    ]
    for day, colour in enumerate(("amber", "green", "blue")):
        log = {"content": [{"type": "text", "text": f"up\nran {colour}\ndown"}]}
        calls.append({"tool": "show_log", "arguments": {"day": day}, "result": log})
    write_shed(tmp_path / "shed", [tool("execute", statement="string"), tool("show_log", day="integer")], calls, {})
    assert await run("learn", "shed", "-o", "shed.yaml", "--json") in {0, 1}
    learnt = json.loads(capfd.readouterr().out)["tools"]
    assert (learnt["execute"]["learnt"], learnt["show_log"]["learnt"]) == ([], [])
    assert "differs from call to call" in learnt["execute"]["why"]


async def test_no_text_repeats_the_names_of_a_given_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = {"list_projects": "heron,otter", "count_projects": "2 projects, the first is heron"}
    calls: list[dict[str, Any]] = [
        {"tool": name, "arguments": {}, "result": {"content": [{"type": "text", "text": line}]}}
        for name, line in lines.items()
        for _ in range(4)
    ]
    given = {"projects": [{"name": "heron"}, {"name": "otter"}]}
    write_shed(tmp_path / "shed", [tool(name) for name in lines], calls, given)
    assert await run("learn", "shed", "-o", "shed.yaml", "--json") in {0, 1}
    learnt = json.loads(capfd.readouterr().out)["tools"]
    assert [learnt[name]["learnt"] for name in lines] == [["result"], []]
    assert "repeat recorded data" in learnt["count_projects"]["why"]
    assert yaml.safe_load(Path("shed.yaml").read_text())["sim"] == {
        "list_projects": {"result": {"text": "{rows.name:join ,}"}}
    }


async def test_nothing_lowers_the_behaviour_of_a_held_back_session(recorded: Path) -> None:
    assert await run("learn", "recorded", "-o", "reading.yaml") == 0
    sessions = read_sessions(recorded)
    report = await measure("reading.yaml", sessions)
    assert report.cold is not None
    assert [*lower_sessions(report.cold, report)] == []


async def test_tools_whose_plans_are_still_guesses_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    calls: list[dict[str, Any]] = [
        {"tool": "hang_tool", "arguments": {"name": name}, "result": text({"name": name, "hung": True})}
        for name in ("Spade", "Rake", "Axe")
    ]
    write_shed(tmp_path / "shed", [tool("hang_tool", name="string"), tool("frob_shed", size="integer")], calls, {})
    assert await run("learn", "shed", "-o", "shed.yaml") == 0
    [named] = [line for line in capfd.readouterr().out.splitlines() if "mcp-sim plan" in line]
    assert named == "Plans that are still guesses: hang_tool, frob_shed; `mcp-sim plan shed.yaml` shows why."


async def test_a_learnt_spec_reports_the_name_that_the_real_server_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = {"tool": "hang_tool", "arguments": {"name": "Spade"}, "result": text({"at": 1, "hung": True})}
    write_shed(tmp_path / "shed", [tool("hang_tool", name="string")], [call, call], {})
    for session in (tmp_path / "shed").glob("*.jsonl"):
        header, *lines = session.read_text(encoding="utf-8").splitlines()
        named = {**json.loads(header), "server_info": {"name": "Tool Shed", "version": "2"}}
        session.write_text("\n".join([json.dumps(named), *lines]) + "\n", encoding="utf-8")
    assert await run("learn", "shed") == 0
    assert yaml.safe_load(Path("shed.yaml").read_text(encoding="utf-8"))["name"] == "Tool Shed"


def write_sessions(folder: Path, tools: Sequence[dict[str, Any]], sessions: Sequence[Sequence[dict[str, Any]]]) -> None:
    """Write sessions in worlds that begin empty."""
    folder.mkdir()
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    for number, calls in enumerate(sessions):
        header: dict[str, Any] = {"server": folder.name, "session": str(number), "initial_state": {}}
        (folder / f"{number}.jsonl").write_text("\n".join(session_lines(header, calls)) + "\n", encoding="utf-8")


class Jars:
    """A cellar of jars. Only pickles have a brine; a version never changes."""

    TOOLS = (
        tool("add_jar", label="string", kind="string"),
        tool("get_jar", id="string"),
        tool("list_jars"),
        tool("update_jar", id="string", label="string"),
        tool("delete_jar", id="string"),
    )

    def __init__(self) -> None:
        self.jars = dict[str, dict[str, Any]]()
        self.calls = list[dict[str, Any]]()

    def call(self, name: str, **arguments: Any) -> None:
        result = text(getattr(self, name)(**arguments))
        self.calls.append({"tool": name, "arguments": arguments, "result": result})

    def add_jar(self, label: str, kind: str) -> Any:
        brine = {"brine": 5} if kind == "pickle" else {}
        key = f"jar-{len(self.jars) + 1}"
        self.jars[key] = {"id": key, "label": label, "kind": kind, **brine, "full": True, "version": 1}
        return self.jars[key]

    def get_jar(self, id: str) -> Any:  # noqa: A002
        return self.jars[id]

    def list_jars(self) -> Any:
        return [*self.jars.values()]

    def update_jar(self, id: str, label: str) -> Any:  # noqa: A002
        self.jars[id]["label"] = label
        return {"ok": True}

    def delete_jar(self, id: str) -> Any:  # noqa: A002
        return {**self.jars.pop(id), "gone": True}


def jar_sessions(*, changes: bool) -> list[list[dict[str, Any]]]:
    sessions = list[list[dict[str, Any]]]()
    for labels in (("Plum", "Gherkin", "Cherry"), ("Quince", "Beetroot", "Pear"), ("Fig", "Onion", "Apple")):
        jars = Jars()
        for label, kind in zip(labels, ("jam", "pickle", "jam"), strict=True):
            jars.call("add_jar", label=label, kind=kind)
        jars.call("list_jars")
        if changes:
            jars.call("update_jar", id="jar-1", label=f"{labels[0]} of June")
        jars.call("get_jar", id="jar-1")
        jars.call("delete_jar", id="jar-3")
        jars.call("list_jars")
        sessions.append(jars.calls)
    return sessions


async def test_defaults_are_what_new_records_have_in_common(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_sessions(tmp_path / "cellar", Jars.TOOLS, jar_sessions(changes=False))
    assert await run("learn", "cellar", "-o", "cellar.yaml") == 0
    fields = yaml.safe_load(Path("cellar.yaml").read_text(encoding="utf-8"))["entities"]["jar"]["fields"]
    defaults = {name: schema["default"] for name, schema in fields.items() if "default" in schema}
    assert defaults == {"full": True, "version": 1}


async def test_fields_are_left_out_if_they_lower_the_behaviour_of_a_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_sessions(tmp_path / "cellar", Jars.TOOLS, jar_sessions(changes=True))
    assert await run("learn", "cellar", "-o", "cellar.yaml") == 0
    sessions = read_sessions(tmp_path / "cellar")
    report = await measure("cellar.yaml", sessions)
    assert report.cold is not None
    before = report.cold.tools
    assert [
        key for key, scores in report.tools.items() if (scores.behaviour or 0.0) < (before[key].behaviour or 0.0)
    ] == []


@pytest.mark.parametrize("layout", [json.dumps, str], ids=["JSON", "Python"])
async def test_a_failure_within_a_text_is_not_replaced_by_a_valid_result(
    layout: Callable[[Any], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrapped = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
    lookups = [{**tool(name, hat_id="string"), "outputSchema": wrapped} for name in ("get_hat", "sell_hat")]

    def missing(name: str, key: str) -> dict[str, Any]:
        shown = layout({"error": True, "code": "not_found", "message": f"Hat {key} not found."})
        content = [{"type": "text", "text": shown}]
        result = {"content": content, "structuredContent": {"result": shown}}
        return {"tool": name, "arguments": {"hat_id": key}, "result": result}

    new = {"tool": "add_hat", "arguments": {"name": "Fez"}, "result": text({"id": "h-1", "name": "Fez"})}
    sessions = [[new, *(missing(name, key) for name in ("get_hat", "sell_hat"))] for key in ("h-4", "h-5", "h-6")]
    write_sessions(tmp_path / "hats", [tool("add_hat", name="string"), *lookups], sessions)
    assert await run("learn", "hats", "-o", "hats.yaml") == 0
    Path("empty.yaml").write_text("mcp_sim: 1\ntools: hats.yaml\nworld: {records: {hat: 0}}\n", encoding="utf-8")
    expected = missing("get_hat", "h-9")["result"]["content"][0]["text"]
    assert await answers("empty.yaml", ("get_hat", {"hat_id": "h-9"})) == [(expected, False)]


async def test_words_that_follow_from_a_flag_are_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tools = (tool("add_wine", label="string", sweet="boolean"), tool("get_wine", id="string"))
    sessions = list[list[dict[str, Any]]]()
    for labels in (("Port", "Malbec", "Tokaj"), ("Rioja", "Sherry"), ("Cava", "Muscat", "Merlot")):
        calls = list[dict[str, Any]]()
        for number, label in enumerate(labels, 1):
            is_sweet = label in {"Port", "Tokaj", "Sherry", "Muscat"}
            shown = f"wine-{number} {label}: {'sweet' if is_sweet else 'dry'}"
            for name, given in (
                ("add_wine", {"label": label, "sweet": is_sweet}),
                ("get_wine", {"id": f"wine-{number}"}),
            ):
                result = {"content": [{"type": "text", "text": shown}]}
                calls.append({"tool": name, "arguments": given, "result": result})
        sessions.append(calls)
    write_sessions(tmp_path / "cellar", tools, sessions)
    assert await run("learn", "cellar", "-o", "cellar.yaml") == 0
    Path("empty.yaml").write_text("mcp_sim: 1\ntools: cellar.yaml\nworld: {records: {wine: 0}}\n", encoding="utf-8")
    asked = [
        call
        for at, sweet in ((1, True), (2, False))
        for call in (("add_wine", {"label": "Barolo", "sweet": sweet}), ("get_wine", {"id": f"wine-{at}"}))
    ]
    sweet, dry = ("wine-1 Barolo: sweet", False), ("wine-2 Barolo: dry", False)
    assert await answers("empty.yaml", *asked) == [sweet, sweet, dry, dry]
