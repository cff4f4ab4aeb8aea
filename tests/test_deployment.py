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
    assert {words[0] for words in found} <= {"pip", "mcp-sim", "pytest"}
    checked, run = [words[1:] for words in found if words[0] == "mcp-sim"]
    (here / "scenarios").mkdir()
    shipped = (ROOT / "scenarios" / "flaky_crm.yaml").read_text(encoding="utf-8")
    (here / "scenarios" / "flaky.yaml").write_text(shipped, encoding="utf-8")
    assert main(checked) == 0
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "agent.summary"))
    at = run.index("--")
    agent = [PYTHON, "-m", "mcp_sim.runs.agents", "golden"]
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    seeds = ["0..1" if re.fullmatch(r"\d+\.\.\d+", word) else word for word in run[:at]]
    assert main([*seeds, "--clock", "virtual", "--", *agent]) == 0
    written = {path.name for path in here.iterdir() if path.is_file()}
    report = "agent.html" if "github" in name else "agent.md"
    assert written - {"agent.summary"} == {"agent.xml", report}
    assert ("agent.summary" in written) is ("github" in name)
    assert all(name in text for name in ("agent.xml", report))


@pytest.mark.parametrize("name", CI)
def test_the_tests_of_a_pipeline_are_those_of_pytest(name: str, here: Path) -> None:
    text = (ROOT / "examples" / "ci" / name).read_text(encoding="utf-8")
    words = next(words for words in commands(yaml.safe_load(text)) if words[0] == "pytest")
    (here / "tests").mkdir()
    (here / "tests" / "test_a.py").write_text("def test_a(): pass\n", encoding="utf-8")
    done = subprocess.run([PYTHON, "-m", *words], check=False, capture_output=True, timeout=100)
    assert (done.returncode, (here / "pytest.xml").exists()) == (0, True)


# the action and the job template: their steps in a shell, without the actions of others -------------------------------

AGENT = f"{PYTHON} -m mcp_sim.runs.agents"


class Runner:
    """Runs the steps of the composite action as GitHub does: with its inputs, files and conditions."""

    def __init__(self, here: Path, base: str, **inputs: str) -> None:
        self.action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        given = {name: str(body.get("default", "")) for name, body in self.action["inputs"].items()}
        self.values = {f"inputs.{name}": value for name, value in {**given, **inputs}.items()}
        self.values |= {"github.base_ref": base, "github.action_path": str(ROOT)}
        self.summary, self.printed = here / "summary.md", ""
        bin_folder = here / "bin"
        bin_folder.mkdir(exist_ok=True)
        for name, line in {"mcp-sim": f'exec {PYTHON} -m mcp_sim "$@"', "python": "exit 0"}.items():
            (bin_folder / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")  # pip has nothing to install here
            (bin_folder / name).chmod(0o755)
        self.environment = {
            "PATH": f"{bin_folder}:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(here),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(here / "output"),
        }

    def filled(self, text: str) -> str:
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: self.values[match[1]], text)

    def is_due(self, step: Any, code: int) -> bool:
        condition = step.get("if", "success()").removeprefix("${{ ").removesuffix(" }}")
        terms = condition.replace("!cancelled()", "True").replace("success()", str(code == 0)).replace("&&", "and")
        return bool(eval(re.sub(r"(?:inputs|github)\.[\w.]+", lambda match: repr(self.values[match[0]]), terms)))

    def run(self) -> int:
        """Return the exit code of the first step that fails, as the job does."""
        first = 0
        for step in self.action["runs"]["steps"]:
            if "run" not in step or not self.is_due(step, first):
                continue
            variables = {name: self.filled(value) for name, value in step.get("env", {}).items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                env={**self.environment, **variables}, capture_output=True, text=True, timeout=200, check=False,
            )  # fmt: skip
            self.printed += done.stdout + done.stderr
            first = first or done.returncode
            output = Path(self.environment["GITHUB_OUTPUT"])
            for line in output.read_text(encoding="utf-8").splitlines() if output.exists() else ():
                name, _, value = line.partition("=")
                self.values[f"steps.{step.get('id', 'place')}.outputs.{name}"] = value
        return first


def test_the_action_reports_and_compares_with_the_base_branch(here: Path) -> None:
    options = {"scenario": "flaky_crm", "seeds": "0..7", "options": "--clock virtual", "compare": "true"}
    before = Runner(here, "", agent=f"{AGENT} golden", **options)
    assert before.run() == 0, before.printed
    folder = Path(before.values["steps.place.outputs.folder"])
    written = {"report.json", "junit.xml", "report.md", "report.html", "base"}
    assert {path.name for path in folder.iterdir()} == written
    after = Runner(here, "main", agent=f"{AGENT} nothing; echo '::error::forged'", **options)
    assert after.run() == 1
    assert "REGRESSION" in after.summary.read_text(encoding="utf-8")
    shown = [line for line in after.printed.splitlines() if line.startswith("::")]
    assert shown
    assert all(line.startswith(("::error file=", "::warning file=")) for line in shown)


def test_the_job_of_gitlab_reports_and_compares(here: Path) -> None:
    job = yaml.safe_load((ROOT / "packaging" / "gitlab" / "mcp-sim.yml").read_text(encoding="utf-8"))[".mcp-sim"]
    runner = Runner(here, "")
    given = {"MCP_SIM_SCENARIO": "flaky_crm", "MCP_SIM_OPTIONS": "--clock virtual", "MCP_SIM_SEEDS": "0..7"}

    def run(agent: str, **more: str) -> int:
        variables = {**job["variables"], **given, "MCP_SIM_AGENT": f"{AGENT} {agent}", **more}
        code = 0
        for line in job["script"]:
            done = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", line], env={**runner.environment, **variables}, cwd=here,
                capture_output=True, timeout=200, check=False,
            )  # fmt: skip
            code = code or done.returncode
        return code

    assert run("golden") == 0
    assert (here / "mcp-sim-base" / "report.json").exists()
    assert run("nothing", CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main") == 1
    assert "REGRESSION" in (here / "mcp-sim-report" / "comparison.md").read_text(encoding="utf-8")


def test_github_needs_its_summary(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert main(["run", "flaky_crm", "--github", "--", "true"]) == 2
    assert "GITHUB_STEP_SUMMARY" in capsys.readouterr().err


def test_the_release_builds_tries_and_publishes_without_a_token() -> None:
    release = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    jobs = release["jobs"]
    assert all(jobs[name]["needs"] == "build" for name in ("pypi", "image"))
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    assert "secrets" not in json.dumps(jobs["pypi"])
    assert any('mcp-sim" demo' in str(step.get("run")) for step in jobs["build"]["steps"])
