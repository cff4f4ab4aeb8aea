"""`mcp-sim serve` and `mcp-sim client-config` from the command line: what they say, and what they refuse."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT, SUPPORT
from support.stdio_process import serving, stderr_of
from support.warm import COLD, PYTHON

from mcp_sim import Simulator
from mcp_sim.server.call_log import CallLog, entry_lines

SPRING = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}
HELLO = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"raw","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)


def mcp_sim(*arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [PYTHON, str(SUPPORT / "unruly.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False, cwd=cwd, env=environment)


def document(folder: Path, **parts: Any) -> str:
    path = folder / "odd.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "name": "odd", "tools": "crm", **parts}), encoding="utf-8")
    return str(path)


def test_serve_says_on_stderr_what_it_serves() -> None:
    done = mcp_sim("serve", "flaky_crm", "--seed", "11")
    assert (done.returncode, done.stdout) == (0, b"")
    captured = done.stderr.decode()
    assert "serves crm over stdio: 14 tools" in captured
    assert "company 40, contact 200, deal 80, activity 120" in captured
    assert "lost-deal     lost_ack on create_deal: nth 1" in captured
    assert "busy-backend  error on update_*, log_*: probability 0.25, at most 3 times" in captured
    assert "seed 11, clock real, now 2029-03-01T09:00:00Z, world model builtin" in captured
    assert "GUESSED" not in captured
    assert "Waiting" not in captured


@pytest.mark.parametrize(("count", "noun"), [(1, "1 tool"), (2, "2 tools")])
def test_the_number_of_tools_agrees_with_its_noun(tmp_path: Path, count: int, noun: str) -> None:
    tools = [{"name": f"get_note_{number}", "inputSchema": {"type": "object"}} for number in range(count)]
    (tmp_path / "notes.json").write_text(json.dumps({"tools": tools}))
    captured = mcp_sim("serve", str(tmp_path / "notes.json")).stderr.decode()
    assert f"serves notes over stdio: {noun}\n" in captured


def test_serve_says_that_the_date_is_the_default() -> None:
    said = mcp_sim("serve", "crm").stderr.decode()
    assert "now 2030-01-01T09:00:00Z (default; `world.now` sets it), world model builtin" in said


def test_serve_says_which_faults_the_agent_gets_no_sign_of(tmp_path: Path) -> None:
    faults = [{"stale_read": None}, {"lost_ack": None, "visible": "implicit"}, {"error": None}]
    captured = mcp_sim("serve", document(tmp_path, perturbations=faults)).stderr.decode()
    assert captured.count("not visible to the agent") == 2
    assert "lost_ack on every tool: always, not visible to the agent" in captured


def test_on_a_terminal_serve_says_what_it_waits_for() -> None:
    ours, theirs = pty.openpty()
    command = [PYTHON, "-m", "mcp_sim", "serve", "calm_crm"]
    both = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=both, stderr=both) as process:
        os.close(theirs)
        try:
            os.write(ours, b"\x04")
            stdout, stderr = process.communicate(timeout=60)
        finally:
            os.close(ours)  # ends the reader at the other end
    assert (process.returncode, stdout) == (0, b"")
    assert "mcp-sim client-config calm_crm --client claude-desktop" in stderr.decode()


def test_a_line_is_logged_for_each_call_unless_only_warnings_are_wanted() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "create_deal", "arguments": SPRING}}
    stdin = HELLO + json.dumps(call).encode() + b"\n"
    lines = mcp_sim("serve", "flaky_crm", stdin=stdin).stderr.decode().splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith('#2 create_deal {"title":"Spring order"'))
    assert "-> error: 504" in lines[at]
    assert lines[at + 1].startswith("   FAULT lost-deal (lost_ack, nth 1); the truth: wrote deal deal_")
    assert mcp_sim("serve", "flaky_crm", "--log-level", "warning", stdin=stdin).stderr == b""


def test_a_crash_is_reported_at_every_level(tmp_path: Path) -> None:
    path = document(tmp_path, perturbations=[{"bug": None}])
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_companies"}}
    stdin = HELLO + json.dumps(call).encode() + b"\n"
    done = mcp_sim("serve", path, "--log-level", "error", stdin=stdin)
    assert done.stderr.decode() == "CRASH list_companies {}: ValueError: the secret of the vault\n"
    assert b"vault" not in done.stdout


def test_a_step_that_the_trace_refuses_is_reported_as_the_crash_that_it_is(tmp_path: Path) -> None:
    call: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "list_companies", "arguments": {}},
    }
    served = [COLD, "-m", "mcp_sim", "serve", "calm_crm", "--trace", str(tmp_path / "trace.jsonl")]
    command = ["sh", "-c", 'ulimit -f 2; exec "$@"', "sh", *served]
    stdin = HELLO + json.dumps(call).encode() + b"\n"
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False, cwd=ROOT)
    lines = done.stderr.decode().splitlines()
    assert any(line.startswith("CRASH list_companies {}: Unwritable: cannot write the trace to") for line in lines)
    assert "#2 list_companies" not in done.stderr.decode()
    assert '"entry":"call"' not in (tmp_path / "trace.jsonl").read_text()


def test_what_is_doubtful_in_a_scenario_is_loud(tmp_path: Path) -> None:
    path = document(tmp_path, world={"records": {"contact": {"rows": [{"nmae": "Ada"}]}}})
    reason = "field 'nmae' of contact is not used by any tool; did you mean 'name'?"
    doubt = f"warning: world.records.contact.rows[0].nmae: {reason}"
    assert doubt in mcp_sim("serve", path, "--log-level", "warning").stderr.decode()
    assert mcp_sim("serve", path, "--log-level", "error").stderr == b""
    path = document(tmp_path, world={"records": {"contact": {"rows": [{f"field_{n}": n for n in range(12)}]}}})
    captured = mcp_sim("serve", path, "--log-level", "warning").stderr.decode().splitlines()
    assert (len(captured), captured[-1]) == (11, f"2 more warnings: mcp-sim check {path}")


def test_guesses_are_loud(tmp_path: Path) -> None:
    tool = {"name": "frobnicate", "inputSchema": {"type": "object"}}
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"tools": [tool]}), encoding="utf-8")
    captured = mcp_sim("serve", str(path)).stderr.decode()
    assert "GUESSED" in captured
    assert "frobnicate: none" in captured
    assert f"mcp-sim plan {path}" in captured


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("no_such_scenario",), 2, "no_such_scenario"),
        (("flaky_crm", "--trace", "/no/such/folder/trace.jsonl"), 2, "cannot write the trace"),
        (("flaky_crm", "--ledger-keep", "0"), 2, "--ledger-keep"),
        (("flaky_crm", "--clock", "sundial"), 2, "sundial"),
        (("flaky_crm", "--seed", "seven"), 2, "seven"),
        ((), 2, "the following arguments are required: SCENARIO"),
    ],
)
def test_what_cannot_be_served_is_refused_with_a_message(arguments: tuple[str, ...], code: int, message: str) -> None:
    done = mcp_sim("serve", *arguments)
    assert (done.returncode, done.stdout) == (code, b"")
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(("how", "clock"), [("http", "real"), ("no_answer", "virtual")])
def test_faults_that_cannot_be_carried_are_refused_before_anything_is_served(
    tmp_path: Path, how: str, clock: str
) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": how, "id": "on-the-way"}])
    done = mcp_sim("serve", path, "--clock", clock)
    assert (done.returncode, done.stdout) == (2, b"")
    assert "on-the-way (undelivered)" in done.stderr.decode()


def test_several_servers_are_more_than_one_process_can_be(tmp_path: Path) -> None:
    done = mcp_sim("serve", document(tmp_path, tools={"sales": "crm", "support": "crm"}))
    assert done.returncode == 2
    assert "sales, support" in done.stderr.decode()


def test_serving_does_not_load_what_it_does_not_need() -> None:
    late = {
        "openai", "jsonschema", "cel", "common_expression_language", "mimesis", "mcp_sim.generate.values",
        "mcp_sim.plans.rendering.outcomes", "mcp_sim.libraries.sql.database",
    }  # fmt: skip
    code = (
        "import sys; from mcp_sim.cli import main; code = main(['serve', 'flaky_crm']);"
        f"print(*sorted({late} & set(sys.modules)))"
    )
    done = subprocess.run([COLD, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=True, cwd=ROOT)
    assert done.stdout.decode().strip() == ""


# logs and reports -----------------------------------------------------------------------------------------------------


async def test_every_entry_of_a_ledger_can_be_rendered_in_short_lines() -> None:
    async with Simulator.load("flaky_crm").open() as world:
        await world.call("create_deal", {**SPRING, "title": "x" * 110})
        await world.call("get_contact", {"contact_id": "con_99999"})
        await world.call("no_such_tool", {})
        lines = [line for entry in world.ledger for line in entry_lines(entry)]
    assert len(lines) == 4
    assert all(len(line) < 300 for line in lines)
    assert lines[2].startswith('#3 get_contact {"contact_id":"con_99999"} -> error: 404')
    assert lines[3] == "#4 no_such_tool {} -> JSON-RPC error -32602: Unknown tool: no_such_tool"


@pytest.mark.parametrize(("level", "lines"), [("info", 1), ("debug", 2)])
def test_faults_without_effect_are_logged_at_level_debug_only(level: str, lines: int, tmp_path: Path) -> None:
    fault = {"error": {"status": 503}, "id": "down", "fires": 1}
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"mcp_sim": 1, "tools": "crm", "perturbations": [fault]}), encoding="utf-8")
    with serving(str(path), "--log-level", level) as wire:
        for number in (1, 2):
            wire.call(number, "list_deals", {})
            wire.answer()
        wire.leave()
        said = [line.strip() for line in stderr_of(wire).splitlines() if "(error, always)" in line]
    assert len(said) == lines
    assert said[0] == "FAULT down (error, always); the truth: the call never reached the world"
    assert said[1:] in ([], ["down (error, always): capped"])


def test_what_a_client_sent_is_reported_in_one_line_that_commands_nothing() -> None:
    crash = {"tool": "t\nmcp-sim: \x1b[2J", "arguments": {"x": "\x1b]0;y\x07"}, "error": "e\r\n"}
    (line,) = entry_lines({"world": "w", "crash": crash})
    assert line.startswith("CRASH t\ufffdmcp-sim: \ufffd[2J")
    assert line.isprintable()


def test_logging_never_waits_for_the_reader() -> None:
    reading, writing = os.pipe()
    crash = json.dumps({"world": "w", "crash": {"tool": "t", "arguments": {}, "error": "e" * 300}}).encode()
    log = CallLog(writing)
    for _ in range(1000):
        log.write(crash)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        lines = pipe.read().splitlines()
    assert 0 < len(lines) < 1000
    assert len(set(lines)) == 1


async def test_calls_are_logged_together_as_they_are_rendered_from_the_ledger() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    log = CallLog(writing, with_worlds=True)
    async with Simulator(Simulator.load("flaky_crm").scenario, [log]).open("w") as world:
        await asyncio.sleep(0)
        for _ in range(6):
            await world.call("create_deal", {**SPRING, "title": "é" * 110})
            await world.call("get_contact", {"contact_id": "con_99999"})
        with pytest.raises(BlockingIOError):
            os.read(reading, 1)
        log.close()
        written = os.read(reading, 100_000).decode().splitlines()
        assert written == [f"w {line}" for entry in world.ledger for line in entry_lines(entry)]
    assert any("FAULT lost-deal" in line for line in written)
    os.close(reading)
    os.close(writing)


def test_a_signal_to_stop_loses_no_line_of_the_log() -> None:
    with serving("crm") as wire:
        for number in range(1, 6):
            wire.call(number, "list_deals", {})
            wire.answer()
        wire.process.send_signal(signal.SIGTERM)
        logged = [line for line in stderr_of(wire).splitlines() if line.startswith("#")]
    assert [line.split()[0] for line in logged] == ["#2", "#3", "#4", "#5", "#6"]


def test_a_missing_stderr_or_stdin_is_no_reason_to_write_where_one_should_not(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    serve = f"{COLD} -m mcp_sim serve calm_crm --trace {trace}"
    done = subprocess.run(["sh", "-c", f"{serve} <&- 2>&-"], stdout=subprocess.PIPE, timeout=60, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, b"")
    assert all(json.loads(line) for line in trace.read_bytes().splitlines())


# client-config --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_file", [False, True])
def test_the_printed_entry_starts_the_server_from_anywhere(tmp_path: Path, *, as_file: bool) -> None:
    document(tmp_path)
    printed = mcp_sim(
        "client-config", "odd.yaml" if as_file else "calm_crm", "--client", "claude-desktop", cwd=tmp_path
    )
    assert printed.returncode == 0
    assert b"claude_desktop_config.json" in printed.stderr
    ((name, entry),) = json.loads(printed.stdout)["mcpServers"].items()
    assert name == "crm"
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-1] == (str(tmp_path / "odd.yaml") if as_file else "calm_crm")
    served = subprocess.run(
        [entry["command"], *entry["args"]],
        input=HELLO,
        capture_output=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": str(ROOT)},
        cwd="/",
    )
    assert json.loads(served.stdout)["result"]["serverInfo"]["name"] == "crm"


def test_client_config_names_the_clients_it_knows() -> None:
    done = mcp_sim("client-config", "calm_crm", "--client", "abacus")
    assert done.returncode == 2
    assert b"claude-desktop" in done.stderr


@pytest.mark.parametrize("options", [["--max-worlds", "3"], ["--grace", "5s"], ["--allow-host", "example.org"]])
def test_options_of_http_are_refused_over_stdio(options: list[str]) -> None:
    done = mcp_sim("serve", "crm", *options)
    assert done.returncode == 2
    assert done.stderr.decode() == f"mcp-sim: {options[0]} works over HTTP only; add --http PORT\n"


def test_of_many_guesses_and_records_some_are_named_and_all_are_counted(tmp_path: Path) -> None:
    key = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    tools = [{"name": f"frobnicate{n}", "inputSchema": {"type": "object"}} for n in range(40)]
    tools += [{"name": f"get_thing_{n}", "inputSchema": key} for n in range(40)]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    captured = mcp_sim("serve", str(path)).stderr.decode()
    assert len(captured) < 3000
    assert re.search(r"GUESSED  what \d+ of 80 tools do;", captured)
    assert re.search(r"^ +and \d+ more$", captured, re.MULTILINE)
    assert re.search(r"records  .*, and \d+ more$", captured, re.MULTILINE)


def test_a_server_over_http_does_not_load_the_control_plane_without_need() -> None:
    """Loading it is a tenth of a start."""
    lines = "import sys, mcp_sim.cli.serve_http; print('mcp_sim.server.control.app' in sys.modules)"
    done = subprocess.run([COLD, "-c", lines], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "False\n"
