"""The control plane beside a server in a subprocess: what it does, who may use it, and its ledger streams."""

from __future__ import annotations

import json
import re
import stat
import subprocess
from collections.abc import Generator
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from support.controlled import LOCAL, Operator, announced, controlled, dashed
from support.http_deals import DEAL
from support.over_http import ERAS, PATIENCE, Caller, Served, caller, listening
from support.pages import blocks
from support.places import ROOT
from support.stdio_process import serving

from mcp_sim.cli import main
from mcp_sim.libraries.screens import new_tab
from mcp_sim.server.control.operations import OPERATIONS

VIRTUAL = ("flaky_crm", "--clock", "virtual", "--seed", "3")


@pytest.fixture(scope="module")
def plane() -> Generator[tuple[Served, Operator]]:
    with controlled(*VIRTUAL) as both:
        yield both


def test_an_operator_steers_what_an_agent_meets_and_the_ledger_says_so(plane: tuple[Served, Operator]) -> None:
    served, operator = plane
    operator.post("/worlds", {"name": "steered"}, 201)
    operator.patch("/worlds/steered/faults/lost-deal", {"enabled": False, "actor": "anne"})
    assert call(served, "steered", "create_deal", DEAL)["isError"] is False
    fault = {"error": {"status": 503}, "id": "down", "tools": "list_deals", "when": {"nth": 1}}
    assert operator.post("/worlds/steered/faults", {"fault": fault, "actor": "anne"}, 201) == {"id": "down"}
    assert [call(served, "steered", "list_deals", {})["isError"] for _ in range(2)] == [True, False]
    edit = {"do": "edit", "entity": "deal", "key": "deal_0001", "values": {"stage": "lost"}}
    operator.post("/worlds/steered/records", {"changes": [edit], "actor": "bob"})
    assert call(served, "steered", "get_deal", {"deal_id": "deal_0001"})["structuredContent"]["stage"] == "lost"
    assert operator.post("/worlds/steered/clock", {"by": "1h"})["elapsed_ms"] >= 3_600_000
    entries = [one["entry"]["step"] for one in operator.get("/worlds/steered/ledger")["entries"]]
    assert [(step["actor"], step.get("steered")) for step in entries if step["entry"] == "event"] == [
        ("anne", {"disable": "lost-deal"}),
        ("anne", {"inject": fault}),
        ("bob", None),
        ("control", {"advance_ms": 3_600_000.0}),
    ]
    faults = {one["id"]: one for one in operator.get("/worlds/steered")["faults"]}
    assert faults["down"]["injected"]
    assert faults["down"]["applied"]
    assert not faults["lost-deal"]["enabled"]


def call(served: Served, world: str, tool: str, arguments: Any) -> Any:
    """Return the result of a call that an agent makes over HTTP, without a session."""

    async def made() -> Any:
        async with caller(f"{served.url}/w/{world}/mcp", ERAS[1]) as one:
            return (await one.call(tool, arguments))["result"]

    return anyio.run(made)


def test_worlds_are_created_ahead_of_their_agents_with_faults_of_their_own(plane: tuple[Served, Operator]) -> None:
    served, operator = plane
    down = {"error": {"status": 503}, "id": "down", "tools": "list_deals"}
    operator.post("/worlds", {"name": "loud", "seed": 5, "stream": "a", "faults": [down]}, 201)
    operator.post("/worlds", {"name": "silent", "seed": 5, "faults": False}, 201)
    operator.post("/worlds", {"name": "faint", "seed": 5, "intensity": 0}, 201)
    assert call(served, "loud", "list_deals", {})["isError"]
    assert call(served, "loud", "create_deal", DEAL)["isError"]
    assert not call(served, "silent", "create_deal", DEAL)["isError"]
    opening = operator.get("/worlds/faint/ledger")["entries"][0]["entry"]["step"]
    assert (opening["seed"], opening["intensity"]) == (5, 0)
    # A refused world leaves nothing behind, so its name remains free.
    refused = operator.post("/worlds", {"name": "odd", "faults": [down, {"error": {"status": "x"}}]}, 422)
    assert refused["error"]["problems"][0]["path"].startswith("faults[1]")
    operator.post("/worlds", {"name": "odd", "intensity": 2}, 422)
    operator.post("/worlds", {"name": "odd", "faults": [{"timeout": {"then": "hang"}, "tools": "list_deals"}]}, 409)
    operator.post("/worlds", {"name": "odd"}, 201)


def test_worlds_fork_part_and_return_to_snapshots(plane: tuple[Served, Operator]) -> None:
    served, operator = plane
    operator.post("/worlds", {"name": "a", "seed": 11}, 201)
    operator.post("/worlds/a/snapshots", {"name": "start"}, 201)
    call(served, "a", "create_deal", DEAL)
    forked = operator.post("/worlds/a/fork", {"name": "b"}, 201)
    assert (forked["parent"], forked["seed"], forked["calls"]) == ("a", 11, 1)
    assert operator.get("/worlds/a/compare?other=b") == {
        "equal": True,
        "differences": [],
        "more": False,
        "common_steps": 2,
    }
    operator.post("/worlds/a/restore", {"snapshot": "start"})
    (difference,) = operator.get("/worlds/a/compare?other=b")["differences"]
    assert (difference["entity"], difference["a"], difference["b"]["title"]) == ("deal", None, DEAL["title"])
    assert call(served, "b", "list_deals", {"limit": 1})["structuredContent"]["total"] == 81
    assert operator.post("/worlds/b/reset")["calls"] == 0
    assert operator.get("/worlds/a/compare?other=b")["equal"]
    operator.delete("/worlds/b")
    assert operator.send("GET", "/worlds/b").status_code == 404


def test_the_submitted_answer_counts_until_the_world_is_reset(plane: tuple[Served, Operator]) -> None:
    _, operator = plane
    operator.post("/worlds", {"name": "answered"}, 201)
    operator.post("/worlds/answered/answer", {"answer": "done"})
    assert operator.get("/worlds/answered")["answer"] == "done"
    assert operator.get("/worlds/answered/ledger")["entries"][-1]["entry"] == {
        "world": "answered",
        "answer": "done",
        "actor": "control",
    }
    operator.post("/worlds/answered/reset")
    assert operator.get("/worlds/answered")["answer"] is None


def test_records_are_read_page_by_page_and_as_they_were_after_a_step(plane: tuple[Served, Operator]) -> None:
    _, operator = plane
    operator.post("/worlds", {"name": "paged"}, 201)
    pages, page, at = list[Any](), dict[str, Any](), 0
    while at is not None:
        page = operator.get(f"/worlds/paged/records?entity=contact&limit=90&offset={at}")
        pages += page["records"]
        at = page["next"]
    assert len({one["key"] for one in pages}) == len(pages) == page["total"] == 200
    (first,) = operator.get("/worlds/paged/records?entity=activity&limit=1")["records"]
    changes = [{"do": "delete", "entity": "activity", "key": first["key"]}]
    operator.post("/worlds/paged/records", {"changes": changes})
    now, before = (
        operator.get(f"/worlds/paged/records?entity=activity&limit=1{step}")["total"] for step in ("", "&step=1")
    )
    assert before == now + 1


INVALID: list[tuple[str, str, Any, list[tuple[str, str]]]] = [
    (
        "POST",
        "/worlds/refusing/faults",
        {"fault": {"lost_akc": {}, "tools": "nothing"}},
        [
            ("fault.lost_akc", "unknown perturbation 'lost_akc'; did you mean 'lost_ack'?"),
            ("fault.tools", "no tool matches 'nothing'"),
        ],
    ),
    ("POST", "/worlds/refusing/clock", {"by": "5"}, [("by", "'5' is not a duration")]),
    (
        "POST",
        "/worlds/refusing/records",
        {"changes": [{"do": "edit", "entity": "deal", "key": "deal_0001", "values": {"stag": 1}}]},
        [("changes[0].values", "deal has no field 'stag'; did you mean 'stage'?")],
    ),
    ("POST", "/worlds", {"name": "..", "sed": 1}, [("name", ""), ("sed", "")]),
    ("POST", "/worlds", {"seed": True}, [("seed", "expected a whole number, got true")]),
    (
        "PATCH",
        "/worlds/refusing/faults/lost-deal",
        {"enabled": "no"},
        [("enabled", "expected true or false, got 'no'")],
    ),
    ("GET", "/worlds/refusing/records?entity=deals", None, [("entity", "there is no entity 'deals'; did you mean")]),
    ("GET", "/worlds/refusing/records?entity=deal&limit=1001", None, [("limit", "")]),
    ("GET", "/worlds/refusing/records?entity=deal&step=99", None, [("step", "the newest step of refusing is 1")]),
]


HOSTILE = "</p><script>alert(1)</script><img src=x onerror=alert(2)>"
PAGE = (
    f"<title>T</title><body><h1 style='x'>{escape(HOSTILE)}</h1><a href='javascript:alert(3)'>Go</a>"
    "<img src='https://x.example/i'><form action='/x'><input name=a></form></body>"
)


def insert(operator: Operator, entity: str, values: dict[str, Any]) -> Any:
    """Insert a record, and return its key."""
    change = {"do": "insert", "entity": entity, "values": values}
    return operator.post("/worlds/w/records", {"actor": "x", "changes": [change]})["keys"][0]


def test_a_person_sees_the_screen_and_nothing_in_it_runs_or_loads() -> None:
    with controlled("web_shop", *VIRTUAL[1:]) as (_, operator):
        operator.post("/worlds", {"name": "w"}, 201)
        assert "No screen is open." in operator.send("GET", "/worlds/w/screen").text
        page = {"title": "T", "status": 200, "html": PAGE}
        tab = {**new_tab(1), "current": True, "url": HOSTILE, "page": insert(operator, "screen_page", page)}
        del tab["id"]
        insert(operator, "tab", tab)
        shown = operator.send("GET", "/worlds/w/screen")
        assert "sandbox" in shown.headers["content-security-policy"]
        assert shown.headers["content-type"].startswith("text/html")
        assert "<h1>&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in shown.text
        harmless = shown.text.replace(escape(HOSTILE), "")
        assert not re.search(r"<script|<form|href|src|style|javascript|onerror", harmless)


SHOP = "https://wheelhouse.example"


def test_a_person_acts_with_the_tools_as_another_actor_and_no_fault_applies() -> None:
    """The agent's first click meets the fault of such pages, on the page that the person left."""
    with controlled("flaky_web_shop", "--clock", "virtual") as (served, operator):
        operator.post("/worlds", {"name": "w"}, 201)

        def act(tool: str, **arguments: Any) -> str:
            body = {"tool": tool, "arguments": arguments, "actor": "anne"}
            return operator.post("/worlds/w/calls", body)["observation"]["result"]

        act("browser_navigate", url=f"{SHOP}/parts/4")
        shown = act("browser_snapshot")
        button = re.search(r'button "Add to cart" \[ref=(\w+)\]', shown)
        assert button is not None
        act("browser_click", target=button[1])
        assert operator.get("/worlds/w/records?entity=cart")["records"][0]["record"] == {"part": "4", "quantity": 1}
        steps = [entry["entry"]["step"] for entry in operator.get("/worlds/w/ledger")["entries"]]
        assert [(step["entry"], step.get("actor", "")) for step in steps] == [("reset", ""), *[("event", "anne")] * 3]
        assert {change["entity"] for change in steps[-1]["committed"]} >= {"tab", "cart", "screen_page"}
        assert "Cart (1)" in operator.send("GET", "/worlds/w/screen").text
        assert "Cart (1)" not in operator.send("GET", f"/worlds/w/screen?step={steps[-2]['n']}").text
        lines = printed_screens(operator)
        assert '- link "Cart (1)" [ref=' in lines["playwright"]
        assert "link 'Cart (1)', clickable, url='https://wheelhouse.example/cart'" in lines["browsergym"]
        act("browser_navigate", url=f"{SHOP}/parts/7")
        refused = call(served, "w", "browser_click", {"target": "e1"})
        assert "503" in refused["content"][0]["text"]
        seen = call(served, "w", "browser_tabs", {"action": "list"})
        assert f"({SHOP}/parts/7)" in seen["content"][0]["text"]


def printed_screens(operator: Operator) -> dict[str, str]:
    """Return the screen in the forms of printers."""
    shown = {form: operator.send("GET", f"/worlds/w/screen?form={form}") for form in ("playwright", "browsergym")}
    assert {answer.headers["content-type"] for answer in shown.values()} == {"text/plain; charset=utf-8"}
    return {form: answer.text for form, answer in shown.items()}


def test_calls_of_a_person_are_refused_with_their_problems(plane: tuple[Served, Operator]) -> None:
    _, operator = plane
    operator.send("POST", "/worlds", {"name": "acted"})
    unknown = operator.problems("POST", "/worlds/acted/calls", {"tool": "list_deal"})
    assert unknown == [("tool", "there is no tool 'list_deal'; did you mean 'list_deals'?")]
    wrong = operator.post("/worlds/acted/calls", {"tool": "get_deal", "arguments": {}})
    assert wrong["observation"]["is_error"]
    assert operator.get("/worlds/acted")["steps"] == 1
    assert (
        operator.send("POST", "/worlds/acted/calls", {"tool": "get_deal"}, authorization="Bearer x").status_code == 401
    )


@pytest.mark.parametrize(("method", "path", "body", "expected"), INVALID)
def test_invalid_requests_are_refused_with_the_places_of_their_problems(
    plane: tuple[Served, Operator], method: str, path: str, body: Any, expected: list[tuple[str, str]]
) -> None:
    _, operator = plane
    operator.send("POST", "/worlds", {"name": "refusing"})
    found = operator.problems(method, path, body)
    assert sorted(place for place, _ in found) == sorted(place for place, _ in expected)
    assert all(any(text.startswith(start) for place, text in found if place == at) for at, start in expected)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/worlds", b"{", 400),
        ("POST", "/worlds", b"[" * 100_000, 400),
        ("POST", "/worlds", b"\xff", 400),
        ("POST", "/worlds", b"[1]", 422),
        ("POST", "/worlds", {"name": "x" * 5_000_000}, 413),
        ("POST", "/worlds", {"name": "refusing"}, 409),
        ("GET", "/worlds/none", None, 404),
        ("POST", "/worlds/refusing/restore", {"snapshot": "none"}, 404),
        ("PATCH", "/worlds/refusing/faults/none", {"enabled": True}, 404),
        ("POST", "/worlds/refusing/records", {"changes": [{"do": "delete", "entity": "deal", "key": "none"}]}, 409),
        ("PUT", "/worlds", None, 405),
        ("GET", "/w/refusing/mcp", None, 404),
        ("GET", "/health", None, 404),
        ("GET", "/worlds/", None, 404),
    ],
)
def test_what_cannot_be_done_gets_a_status_below_500(
    plane: tuple[Served, Operator], method: str, path: str, body: Any, status: int
) -> None:
    _, operator = plane
    operator.send("POST", "/worlds", {"name": "refusing"})
    response = operator.send(method, path, body)
    assert response.status_code == status, response.text
    assert response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer"}, 401),
        ({"authorization": ""}, 401),
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:3000"}, 200),
    ],
)
def test_only_those_with_the_token_and_no_foreign_page_are_admitted(
    plane: tuple[Served, Operator], headers: dict[str, str], status: int
) -> None:
    _, operator = plane
    assert operator.send("GET", "/worlds", **headers).status_code == status


# streams --------------------------------------------------------------------------------------------------------------


def events(operator: Operator, path: str, most: int, **headers: str) -> list[tuple[str, str, Any]]:
    """Return the first events of a stream: id, event, data."""
    found = list[tuple[str, str, Any]]()
    named = {"authorization": f"Bearer {operator.token}", **dashed(headers)}
    with (
        httpx2.Client(trust_env=False, timeout=PATIENCE) as client,
        client.stream("GET", f"{operator.url}{path}", headers=named) as response,
    ):
        fields = dict[str, str]()
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if name:
                fields[name] = value
            elif fields:
                found.append((fields.get("id", ""), fields["event"], json.loads(fields["data"])))
                fields.clear()
            if line.startswith(":"):
                fields.clear()
            if len(found) == most or (found and found[-1][1] == "end"):
                return found
    return found


def test_the_head_of_a_stream_is_no_stream(plane: tuple[Served, Operator]) -> None:
    _, operator = plane
    operator.send("POST", "/worlds", {"name": "headed"})
    headers = {"authorization": f"Bearer {operator.token}"}
    with httpx2.Client(trust_env=False, timeout=60, headers=headers) as client:
        response = client.head(f"{operator.url}/worlds/headed/ledger/stream")
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert client.get(f"{operator.url}/worlds/headed").status_code == 200  # over the same connection


def test_a_stream_continues_where_its_reader_was_and_ends_with_the_world(plane: tuple[Served, Operator]) -> None:
    served, operator = plane
    operator.post("/worlds", {"name": "streamed"}, 201)
    for _ in range(3):
        call(served, "streamed", "list_deals", {})
    path = "/worlds/streamed/ledger/stream"
    assert [one[0] for one in events(operator, path, 4)] == ["1", "2", "3", "4"]
    ((number, event, data),) = events(operator, path, 1, last_event_id="3")
    assert (number, event, data["step"]["index"]) == ("4", "entry", 3)
    assert events(operator, f"{path}?after=999", 1)[0][0] == "1"


def test_a_stream_says_which_entries_are_not_kept_any_more() -> None:
    with controlled(*VIRTUAL, "--ledger-keep", "3") as (served, operator):
        operator.post("/worlds", {"name": "short"}, 201)
        for _ in range(5):
            call(served, "short", "list_deals", {})
        found = events(operator, "/worlds/short/ledger/stream?after=1", 4)
        assert found[0] == ("3", "gap", {"lost_up_to": 3})
        assert [one[0] for one in found[1:]] == ["4", "5", "6"]


# apart from agents ----------------------------------------------------------------------------------------------------


PATHS = [*(one.path for one in OPERATIONS), "/openapi.json", "/w/a/mcp/worlds", "/w/a/worlds/mcp", "/worlds/a/mcp"]


@pytest.mark.parametrize("with_tokens", [False, True], ids=["without tokens", "with tokens"])
async def test_agents_cannot_reach_the_control_plane_with_any_token_path_or_header(
    tmp_path: Path, with_tokens: bool
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("anne agents-token\n", encoding="utf-8")
    tokens.chmod(0o600)
    with controlled(*VIRTUAL, *(("--token-file", str(tokens)) if with_tokens else ())) as (served, operator):
        hosts: list[dict[str, str]] = [
            {},
            {"host": operator.url.removeprefix("http://")},
            {"x-forwarded-host": operator.url, "x-original-url": "/worlds"},
        ]
        async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
            for token, headers in product((operator.token, "agents-token", ""), hosts):
                sent = {**headers, **({"authorization": f"Bearer {token}"} if token else {})}
                for path in PATHS:
                    assert (await client.get(f"{served.url}{path}", headers=sent)).status_code in (401, 404)
                answered = await Caller(f"{served.url}/w/a/mcp", ERAS[1], client).post("tools/list", {}, sent)
                is_admitted = token == "agents-token" or (not token and not with_tokens)
                assert answered.status_code == (200 if is_admitted else 401)
        assert operator.send("GET", "/worlds", authorization="Bearer agents-token").status_code == 401


def test_a_new_token_is_in_a_file_that_only_its_owner_reads_and_that_is_gone_at_the_end() -> None:
    with listening(*VIRTUAL, *LOCAL) as served:
        _, file = announced(served.log)
        assert stat.S_IMODE(Path(file).stat().st_mode) == 0o600
        assert Path(file).read_text(encoding="utf-8").strip() not in "".join(served.log)
    assert not Path(file).exists()


def test_a_token_that_everybody_can_read_or_that_agents_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_text("a-token-of-both-sides\n", encoding="utf-8")
    options = ["serve", "flaky_crm", "--http", "127.0.0.1:0", *LOCAL, "--control-token-file", str(token)]
    token.chmod(0o644)
    assert main(options) == 2
    assert "chmod 600" in capsys.readouterr().err
    token.chmod(0o600)
    assert main([*options, "--token-file", str(token)]) == 2
    assert "use separate tokens" in capsys.readouterr().err
    assert main(["serve", "flaky_crm", "--control-token-file", str(token)]) == 2
    assert "--control PORT" in capsys.readouterr().err


# over stdio, and the page ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "stored"])
def test_the_world_of_a_server_over_stdio_is_steered_too(tmp_path: Path, stored: bool) -> None:
    store = ("--store", str(tmp_path / "worlds.db"), "--world", "w") if stored else ()
    name = "w" if stored else "default"
    with serving(*VIRTUAL, *LOCAL, *store) as wire:
        log = list[str]()
        for line in wire.process.stderr or ():
            log.append(line.decode())
            if "control" in log[-1]:
                break
        url, file = announced(log)
        operator = Operator(url, Path(file).read_text(encoding="utf-8").strip())
        operator.post(f"/worlds/{name}/faults", {"fault": {"error": {}, "tools": "list_deals"}}, 201)
        wire.call(1, "list_deals", {})
        assert wire.answer()["result"]["isError"]
        acted = operator.post(f"/worlds/{name}/calls", {"tool": "create_deal", "arguments": DEAL})
        assert acted["observation"]["result"]["id"] == "deal_0081"
        needs_http = {"fault": {"error": {"status": 503, "style": "http"}}}
        assert operator.send("POST", f"/worlds/{name}/faults", needs_http).status_code == 409
        forked = operator.send("POST", f"/worlds/{name}/fork")
        assert forked.status_code == (409 if stored else 201)
        wire.leave()
    if stored:
        with serving(*VIRTUAL, *store) as wire:
            wire.call(1, "list_deals", {})
            assert wire.answer()["result"]["isError"]
            wire.call(2, "get_deal", {"deal_id": "deal_0081"})
            assert not wire.answer()["result"]["isError"]


def test_every_example_of_the_page_works_and_every_route_has_one(tmp_path: Path) -> None:
    shell = [block.text for block in blocks(ROOT / "docs/serving.md") if block.language == "sh"]
    function = next(text for text in shell if text.startswith("control() {"))
    examples = [text for text in shell if text.startswith("control ")]
    with controlled(*VIRTUAL[:3]) as (_, operator):
        for text in examples:
            script = f"set -e\nCONTROL={operator.url}\nTOKEN={operator.token}\n{function}\n{text}"
            ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False)
            assert ran.returncode == 0, f"{text}\n{ran.stdout}\n{ran.stderr}"
    shown = "\n".join(examples)
    missing = [one.path for one in OPERATIONS if not is_shown(one.path, one.method, shown)]
    assert missing == []


def is_shown(path: str, method: str, examples: str) -> bool:
    """Whether an example uses a route."""
    pattern = re.sub(r"\{\w+\}", r"[\\w-]+", path)
    how = {"GET": r"(?![^\n]*(-d |-X ))", "POST": r"(?=[^\n]*(-d |-X POST))"}.get(method, rf"(?=[^\n]*-X {method})")
    return re.search(rf"^{how}control [^\n]*\$CONTROL{pattern}(?![\w/-])", examples, re.MULTILINE) is not None
