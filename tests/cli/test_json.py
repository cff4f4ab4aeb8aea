"""`--json`: every command that prints a table prints the same as one JSON value."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from support.specs_made import GET, LIST, saved

from mcp_sim.cli import COMMANDS, main, module_of

NO_TABLE = {
    "client-config": "prints JSON",
    "completion": "prints a script",
    "trust": "is for people",
    "connect": "speaks the protocol",
    "demo": "is for people",
    "generate": "writes a file",
    "init": "writes files",
    "expand": "writes files",
    "play": "prints lines of JSON",
    "record": "writes files",
    "view": "writes a page",
    "schema": "prints JSON",
    "trajectories": "prints lines of JSON",
    "serve": "speaks the protocol",
}
"""Commands without `--json`, and why."""

PLAIN = {"run": "writes its report as JSON into a file, or with `-` to stdout"}

CALLS = [{"tool": "create_deal", "arguments": {"title": "Spring order", "amount": 1, "contact_id": "con_00001"}}]


@pytest.fixture
def traces(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Two traces, two tool lists, and data of the benchmark in the working directory."""
    (here / "calls.jsonl").write_text("\n".join(map(json.dumps, CALLS)), encoding="utf-8")
    for name in ("calm", "flaky"):
        assert main(["play", f"{name}_crm", "calls.jsonl", "--trace", f"{name}.jsonl"]) == 0
    saved(here / "pets.json", [LIST, GET])
    assert main(["import", "tools", "pets.json", "--output", "old"]) == 0
    saved(here / "pets.json", [LIST])
    capfd.readouterr()


EXAMPLES: dict[str, tuple[list[str], Any]] = {
    "check": (["check", "crm", "nope.yaml"], [0, "message"]),
    "diff": (["diff", "calm.jsonl", "flaky.jsonl"], ["steps", 0, "differ"]),
    "explain": (["explain", "flaky.jsonl"], ["worlds", "default", "calls", 0, "findings", 0]),
    "grade": (["grade", "flaky.jsonl"], ["worlds", "default", "verdicts", 0, "because"]),
    "import": (["import", "tools", "pets.json"], ["servers", 0, "entities"]),
    "import --check": (
        ["import", "tools", "pets.json", "--check", "--output", "old"],
        ["servers", 0, "differences", 0],
    ),
    "list": (["list"], ["perturbations", "lost_ack"]),
    "list FAMILY": (["list", "presets"], ["presets", "flaky"]),
    "list FAMILY NAME": (["list", "perturbations", "lost_ack"], ["options", "properties"]),
    "list scenarios NAME": (["list", "scenarios", "calm_crm"], ["text"]),
    "plan": (["plan", "crm"], ["tools", "create_deal", "verb"]),
    "show": (["show", "flaky.jsonl"], ["worlds", "default", "entries", 1, "step", "perturbations", 0, "id"]),
    "show TRACE:STEP": (["show", "flaky.jsonl:2"], ["step", "tool"]),
}
"""Arguments of each command, and the path of a part of what it prints."""

ELSEWHERE = {
    "compare": "tests/cli/test_compare.py",
    "compile": "tests/recordings/test_compiling.py",
    "curriculum": "tests/cli/test_curriculum.py",
    "eval": "tests/models/test_evaluation.py",
    "hunt": "tests/cli/test_hunt.py",
    "learn": "tests/recordings/test_compiling.py",
    "measure": "tests/cli/test_measure.py",
    "validity": "tests/runs/test_validity.py",
}
"""Commands that are tested with an agent, a model or recordings."""


def takes_json(command: str) -> bool:
    """Whether each form of a command has the option, as a flag."""
    parser = argparse.ArgumentParser()
    module_of(command).arguments(parser)
    parsers: list[Any] = [parser]
    for action in parser._actions:
        choices = vars(action)["choices"]
        if isinstance(choices, dict):
            parsers = [*vars(action)["choices"].values()]
    flags = [one for parser in parsers for one in parser._actions if "--json" in one.option_strings]
    return len(flags) == len(parsers) and all(flag.nargs == 0 for flag in flags)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_the_option_unless_it_prints_no_table(command: str) -> None:
    assert takes_json(command) == (command not in NO_TABLE and command not in PLAIN)
    tested = {example.split()[0] for example in EXAMPLES} | set(ELSEWHERE)
    assert (command in tested) == takes_json(command)


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_printed_is_one_json_value(example: str, traces: None, capfd: pytest.CaptureFixture[str]) -> None:
    words, path = EXAMPLES[example]
    assert main([*words[:2], "--json", *words[2:]] if words[0] == "import" else [*words, "--json"]) in (0, 1)
    value: Any = json.loads(capfd.readouterr().out)
    for part in path:
        value = value[part]
    assert value not in (None, "", [], {})
