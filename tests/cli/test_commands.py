"""Every command, whatever its standard streams are: a message and an exit code, never a traceback."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.places import ROOT
from support.warm import COLD, PYTHON

from mcp_sim.cli import main

CALL = b'{"tool": "get_contact", "arguments": {"contact_id": "con_00001"}}\n'


def shell(command: str, python: str = PYTHON) -> subprocess.CompletedProcess[bytes]:
    """Run `mcp-sim COMMAND`, redirections included, with a call on stdin."""
    words = f"exec '{python}' -m mcp_sim {command}"
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(["sh", "-c", words], input=CALL, capture_output=True, check=False, env=path, timeout=60)


@pytest.mark.parametrize("command", [
    "play calm_crm <&-", "completion bash >&-", "completion bash 2>&-", "play calm_crm <&- >&- 2>&-",
])  # fmt: skip
def test_a_closed_stream_is_like_the_null_device(command: str) -> None:
    done = shell(command, COLD)  # a closed stream cannot be handed to a warm process
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["play calm_crm", "check calm_crm", "list", "schema"])
def test_a_full_disk_is_reported_in_one_line(command: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this platform has no full device")
    done = shell(f"{command} > /dev/full")
    assert (done.returncode, done.stderr) == (2, b"mcp-sim: No space left on device\n")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    done = shell("list | true")
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_leaves_early_hides_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [PYTHON, "-m", "mcp_sim", "run", "calm_crm", "--seeds", "1", "--", "true"]
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, env=path, check=False, timeout=60)
    os.close(writing)
    assert (done.returncode, b"Traceback" in done.stderr) == (141, False)


def test_a_command_that_there_is_not_is_reported_with_the_nearest() -> None:
    done = shell("srve crm")
    assert (done.returncode, done.stderr) == (2, b"mcp-sim: unknown command 'srve'; did you mean 'serve'?\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("check --foo x.yaml", "check: unrecognized arguments: --foo\n  see mcp-sim check --help"),
        ("serve crm --log-levl info", "serve: unrecognized arguments: --log-levl info; did you mean --log-level?\n"),
        ("serve crm --log-level inf", "serve: argument --log-level: invalid choice 'inf'; did you mean 'info'?\n"),
        ("run flaky_crm --output x.html -- a", "run: unrecognized arguments: --output\n"),
        ("play flaky_crm --seed 1 a.jsonl b.jsonl", "play: unrecognized arguments: b.jsonl\n"),
        ("play --seed 1", "play: the following arguments are required: SCENARIO\n"),
        ("record -o crm python -m a", "unrecognized arguments: -m a; write -- before the command and its options\n"),
        ("import mpc x", "import: argument KIND: invalid choice 'mpc'; did you mean 'mcp'?\n"),
        ("import mcp -o specs", "import mcp: nothing to import; name a source\n  see mcp-sim import mcp --help"),
        ("import openapi --nonsense x.json", "see mcp-sim import openapi --help"),
        (
            "run flaky_crm",
            "AGENT COMMAND\n  usage: mcp-sim run SCENARIO [OPTIONS] -- AGENT COMMAND...; see mcp-sim run --help",
        ),
        ("run crm python a.py --x", "usage: mcp-sim run SCENARIO [OPTIONS] -- AGENT COMMAND...;"),
    ],
)
def test_invalid_usage_is_reported_in_two_lines_with_the_nearest_choice(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 2


def test_a_reader_that_leaves_while_a_client_is_connected_is_no_error() -> None:
    done = shell("demo | true")
    assert (done.returncode, done.stderr) == (0, b"")
