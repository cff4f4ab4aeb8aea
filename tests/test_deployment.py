"""The Dockerfile and the examples for CI: what they run exists and works."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from support.over_http import listening
from support.places import ROOT
from support.warm import PYTHON

from mcp_sim.cli import main

CI = sorted(path.name for path in (ROOT / "examples" / "ci").glob("*.yml"))


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, with their arguments."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, " ".join(rest.split())) for name, rest in lines]


def last(name: str) -> str:
    return [text for one, text in instructions() if one == name][-1]


def test_the_container_copies_what_there_is_and_runs_without_root() -> None:
    for name, text in instructions():
        if name == "COPY" and "--from" not in text:
            assert all((ROOT / word).exists() for word in text.split()[:-1]), text
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    copied = {word for name, text in instructions() if name == "COPY" and "--from" not in text
              for word in text.split()[:-1]}  # fmt: skip
    assert {word.removeprefix("!") for word in ignored if word.startswith("!")} == copied
    assert last("USER") not in ("root", "0")
    assert [name for name, _ in instructions()].index("USER") < [name for name, _ in instructions()].index("ENTRYPOINT")


def test_the_container_serves_and_is_healthy() -> None:
    program, command, option, address = json.loads(last("ENTRYPOINT"))
    assert (program, command, option) == ("mcp-sim", "serve", "--http")
    assert address == f"0.0.0.0:{last('EXPOSE')}"
    _, check = last("HEALTHCHECK").split("CMD ")
    python, *words = json.loads(check)
    assert python == "python"
    with listening(*json.loads(last("CMD"))) as served:
        healthy = [word.replace(f"127.0.0.1:{last('EXPOSE')}", f"127.0.0.1:{served.port}") for word in words]
        assert healthy != words
        subprocess.run([PYTHON, *healthy], check=True, timeout=120)
    assert subprocess.run([PYTHON, *healthy], check=False, capture_output=True, timeout=120).returncode


def commands(value: Any) -> Iterator[list[str]]:
    """Yield the commands in a file for CI."""
    if isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from commands(part)
    elif isinstance(value, dict):
        for name, part in cast("dict[str, Any]", value).items():
            if name == "run" and isinstance(part, str):
                yield shlex.split(part)
            elif name == "script":
                yield from map(shlex.split, part)
            else:
                yield from commands(part)


@pytest.mark.parametrize("name", CI)
def test_the_commands_of_a_pipeline_exist(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "examples" / "ci" / name).read_text(encoding="utf-8")
    found = list(commands(yaml.safe_load(text)))
    assert {words[0] for words in found} <= {"pip", "mcp-sim", "pytest", "cat"}
    checked, run = [words[1:] for words in found if words[0] == "mcp-sim"]
    (here / "scenarios").mkdir()
    shipped = (ROOT / "scenarios" / "flaky_crm.yaml").read_text(encoding="utf-8")
    (here / "scenarios" / "flaky.yaml").write_text(shipped, encoding="utf-8")
    assert main(checked) == 0
    at = run.index("--")
    agent = [PYTHON, "-m", "mcp_sim.runs.agents", "golden"]
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    seeds = ["0..1" if re.fullmatch(r"\d+\.\.\d+", word) else word for word in run[:at]]
    assert main([*seeds, "--clock", "virtual", "--", *agent]) == 0
    written = {path.name for path in here.iterdir() if path.is_file()}
    assert written == {"agent.xml", "agent.md"}
    assert all(name in text for name in written)


@pytest.mark.parametrize("name", CI)
def test_the_tests_of_a_pipeline_are_those_of_pytest(name: str, here: Path) -> None:
    text = (ROOT / "examples" / "ci" / name).read_text(encoding="utf-8")
    words = next(words for words in commands(yaml.safe_load(text)) if words[0] == "pytest")
    (here / "tests").mkdir()
    (here / "tests" / "test_a.py").write_text("def test_a(): pass\n", encoding="utf-8")
    done = subprocess.run([PYTHON, "-m", *words], check=False, capture_output=True, timeout=100)
    assert (done.returncode, (here / "pytest.xml").exists()) == (0, True)
