"""Texts of strangers in everything that commands print: a terminal shows them, and they do nothing else."""

from __future__ import annotations

import json
import re
import sys
from itertools import product
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest
from support.runs_reports import report, result

from mcp_sim.cli import main
from mcp_sim.cli.streams import for_people
from mcp_sim.runs.reports.ci import junit
from mcp_sim.runs.reports.markdown import markdown
from mcp_sim.runs.reports.text import report_lines
from mcp_sim.types.json_values import encode

Json = Any
pytestmark = pytest.mark.time_limit(120)
SEQUENCES = [
    "\r", "\x1b[2J", "\x1b[1A", "\x1b[8m", "\x1b]0;title\x07", "\x1b]8;;http://x.example\x1b\\", "\x1bc", "\x9b2K",
    "\x8d", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\u200f", "\x08\x08", "\x7f", "\x00", "\x0b", "\x0c",
    "\x0e", "\ud83d", "\x1b[?1049h", "\x1b(0", "\x1bP+q\x1b\\",
]  # fmt: skip
TAILS = ["SPOOF: ok", "\nSPOOF: ok", "\n::error file=x::SPOOF", "##[error]SPOOF", "\n  ::set-output::SPOOF",
         "@octocat #1", "https://x.example/ `x` www.x.example",
         "<script>alert(1)</script> | --- | ![x](y) ```"]  # fmt: skip
HOSTILE = [f"a{sequence}b{tail}" for sequence, tail in product(SEQUENCES, TAILS)]
assert len(HOSTILE) == 200


def soiled(value: Json, texts: list[str]) -> Json:
    """Return a value whose every text and key ends with the next of the texts."""
    if isinstance(value, str):
        texts.append(texts.pop(0))
        return value + texts[-1]
    if isinstance(value, list):
        return [soiled(item, texts) for item in cast("list[Json]", value)]
    return (
        {soiled(key, texts): soiled(item, texts) for key, item in cast("dict[str, Json]", value).items()}
        if isinstance(value, dict)
        else value
    )


def check_screen(output: str) -> None:
    """Check that a terminal shows the lines of an output, and that none of them is a stranger's."""
    import pyte

    for line in output.expandtabs().split("\n"):
        screen = pyte.Screen(len(line) * 2 + 1, 1)
        pyte.Stream(screen).feed(line)
        assert screen.display[0].rstrip() == line.rstrip()
        assert not line.lstrip().startswith("::")
        assert not line.startswith("SPOOF")
        assert "##[" not in line


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a scenario and `run.jsonl`, a trace of it, with hostile texts in every field."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    texts = [text.replace("\ud83d", "\ufffd") for text in HOSTILE]
    tools = [{"name": soiled("list_x", texts), "description": soiled("d", texts), "inputSchema": {"type": "object"}}]
    command = ["server", *texts]
    body: Json = {"mcp_sim": 1, "name": soiled("n", texts), "task": soiled("t", texts), "tools": "list.json"}
    body |= {"world_model": {"upstream": {"command": command}}, soiled("key", texts): 1}
    body |= {"expect": [{"called": {"tool": soiled("x", texts)}, "id": soiled("e", texts)} for _ in range(60)]}
    body |= {"perturbations": [{soiled("latency", texts): "1s", "id": soiled("f", texts)} for _ in range(60)]}
    Path("list.json").write_text(json.dumps({"mcp_sim": 1, "name": soiled("spec", texts), "tools": tools}))
    Path("wrong.yaml").write_text(json.dumps(body))
    right = {"mcp_sim": 1, "name": body["name"], "tools": "list.json", "world_model": body["world_model"]}
    Path("right.yaml").write_text(json.dumps(right))
    Path("plain.yaml").write_text(json.dumps({"mcp_sim": 1, "tools": "tools.json"}))
    Path("tools.json").write_text(json.dumps(tools))
    calls = [{"tool": tools[0]["name"], "arguments": {"note": text}} for text in HOSTILE[::8]]
    Path("calls.jsonl").write_text("\n".join(map(json.dumps, calls)))
    main(["play", "plain.yaml", "calls.jsonl", "--trace", "played.jsonl"])
    decided: Json = {"id": "f", "kind": "k", "outcome": "applied", "why": "w"}
    record = {"id": "X-1", "note": "n"}
    change = {"op": "put", "entity": "thing", "key": "X-1", "record": record}
    observation = {"result": {"a": ["b"]}, "form": "structured"}
    step: Json = {"index": 1, "tool": "create_deal", "arguments": record, "committed": [change], "absorbed": []}
    lines: list[Json] = [{"format": 2, "scenario": "flaky-crm", "sha256": "x", "version": "v", "path": "flaky_crm"}]
    opening = {
        "n": 1,
        "entry": "reset",
        "seed": 7,
        "stream": "",
        "clock": {"mode": "virtual", "now": "2029-03-01T09:00:00Z"},
    }
    world = soiled("w", texts)
    lines.append({"world": world, "step": {**opening, "at": "2029-03-01T09:00:00Z"}, "measured": {}})
    for n in range(2, 30):
        fields: Json = soiled({"change": change, "record": record, "observation": observation, "d": decided}, texts)
        change_of, record_of, seen, decided_of = fields.values()
        change_of = {"op": "put", **dict(zip(("entity", "key", "record"), [*change_of.values()][1:], strict=True))}
        observed = {"result": next(iter(seen.values())), "form": "structured"}
        if n % 3 == 0:
            observed = {"rpc_error": {"code": -1, "message": soiled("m", texts), "data": soiled("d", texts)}}
        one = {**step, "n": n, "entry": "call", "at": "2029-03-01T09:00:01Z", "tool": soiled("t", texts)}
        one |= {"arguments": record_of, "truth": {"observation": observed, "changes": []}, "served": None}
        one |= {"committed": [change_of], "guessed": False, "index": n - 1}
        one |= {"perturbations": [dict(zip(decided, decided_of.values(), strict=True)) | {"outcome": "applied"}]}
        lines.append({"world": world, "step": one, "measured": {}})
    crash: Json = {"tool": soiled("t", texts), "arguments": {}, "error": soiled("e", texts), "attempts": []}
    lines.append({"world": world, "crash": crash, "measured": {}})
    Path("run.jsonl").write_bytes(b"\n".join([*map(encode, lines), b"damaged \x1b[2J", b""]))
    return tmp_path


COMMANDS = [
    ["check", "wrong.yaml"], ["check", "right.yaml"], ["check", "wrong.yaml", "--json"], ["trust", "right.yaml"],
    ["plan", "list.json"], ["list", "list.json"], ["show", "run.jsonl"], ["show", "run.jsonl:3"],
    ["show", "run.jsonl:4"],
    ["show", "run.jsonl", "--json"], ["explain", "run.jsonl"], ["grade", "run.jsonl"],
    ["diff", "run.jsonl", "run.jsonl"],
    ["play", "plain.yaml", "calls.jsonl"], ["trajectories", "played.jsonl"],
    ["trajectories", "played.jsonl", "--form", "turns"],
    ["show", "no\x1b[2Jne\nSPOOF"], ["serve", "no\r\x1b[2Jne"], ["frobnicate\x1b[2J"], ["view", "run.jsonl"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_terminal_shows_what_strangers_wrote_and_does_nothing_else(
    hostile: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(command)
    captured = capsys.readouterr()
    check_screen(captured.out)
    check_screen(captured.err)
    assert captured.out or captured.err
    if "--json" in command:
        json.loads(captured.out)
    if command[0] == "trust":
        assert f"runs the command {json.dumps(['server', 'a'])[:-4]}" in captured.out


def test_a_run_prints_and_reports_what_agents_wrote_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    results = [result("failed", seed, because=text, errors=text) for seed, text in enumerate(HOSTILE)]
    for given in (results[:1], results):
        whole = report(*given)
        with for_people():
            sys.stdout.write("\n".join(report_lines(whole)))
            sys.stdout.write("\n".join(HOSTILE).replace("\nSPOOF", "\n SPOOF"))
        captured = capsys.readouterr()
        check_screen(captured.out)
        root = ET.fromstring(junit(whole))
        texts = [text for node in root.iter() for text in (*node.attrib.values(), node.text or "", node.tag)]
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", "".join(texts))
        assert len(root.findall(".//testcase")) == len(given)
        check_markdown(markdown(whole))


def check_markdown(text: str) -> None:
    """Check that a Markdown text has no element, mention or link of a stranger once it is rendered."""
    from markdown_it import MarkdownIt

    html = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text)
    allowed = "h3 p strong table thead tbody tr th td details summary ul li code em"
    assert {*re.findall(r"</?([a-z0-9]+)", html)} <= {*allowed.split()}, html
    outside = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
    assert not re.search(r"@\w|://|www\.|#\d", outside)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
