"""Completion of commands, options and shipped names, in a real bash."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.places import ROOT
from support.warm import COLD

from mcp_sim.cli import COMMANDS, main
from mcp_sim.cli.completion import SHELLS
from mcp_sim.spec.sources import shipped

COMPLETE = """\
source <(mcp-sim completion bash)
declare -F _python_argcomplete > /dev/null || exit 9
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
_python_argcomplete mcp-sim
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def environment(here: Path) -> dict[str, str]:
    """The environment of a shell that finds `mcp-sim`, in a folder with a file."""
    program = here / "bin" / "mcp-sim"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{COLD}" -m mcp_sim "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (here / "calendar.yaml").write_text("mcp_sim: 1\n", encoding="utf-8")
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


CASES: list[tuple[str, set[str]]] = [
    ("mcp-sim ", {*COMMANDS}),
    ("mcp-sim serve --i", {"--intensity"}),
    ("mcp-sim serve --clock ", {"virtual", "real"}),
    ("mcp-sim serve flaky_", {name for name in shipped("scenarios") if name.startswith("flaky_")}),
    ("mcp-sim check calendar", {"calendar.yaml", "calendar", "calendar_mail"}),
    ("mcp-sim list pertu", {"perturbations"}),
]


@pytest.mark.parametrize(("line", "expected"), CASES, ids=[line for line, _ in CASES])
def test_bash_completes(line: str, expected: set[str], environment: dict[str, str]) -> None:
    words = ["bash", "--norc", "--noprofile", "-c", COMPLETE, "bash", line]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment, timeout=60)
    found = {word.strip() for word in done.stdout.splitlines() if word.strip()}
    assert found - {"-h", "--help", "--version", "bin/"} == expected
    assert done.stderr == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "mcp-sim" in capsys.readouterr().out


def test_nothing_is_imported_for_completion_unless_a_shell_asks() -> None:
    code = "import sys; from mcp_sim.cli import main; main(['schema']); sys.exit('argcomplete' in sys.modules)"
    done = subprocess.run([COLD, "-c", code], check=False, capture_output=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0
