"""Make the environments of the check with uv: pip takes twenty times as long, more than most of the clients run.

    python .ci/environments.py FOLDER PROJECT [OPTION...]      PROJECT is the folder of a pyproject.toml

uv reads no configuration of pip, so it is given the indexes, links and constraints that pip would use.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from uv import find_uv_bin

UV = find_uv_bin()  # once: in several threads, Python 3.11 may lose the name of the system's executables
LONGEST = 1200  # seconds for one command; torch is 200 MB
VARIABLES = {
    "cert": "SSL_CERT_FILE",
    "constraint": "UV_CONSTRAINT",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "index-url": "UV_DEFAULT_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
}
"""Options of pip -> variables of uv."""


def main(folder: Path, project: str, options: Sequence[str]) -> None:
    """Make an environment with the wheel of a project."""
    make(folder, [build_wheel(Path(project), folder.with_suffix(".wheel")), *options])


def make(folder: Path, needs: Sequence[object]) -> Path:
    """Make an environment with requirements, or options of `uv pip install`, and return its interpreter."""
    python = folder / "bin" / "python"
    run_uv("venv", "--clear", "--python", sys.executable, folder)
    run_uv("pip", "install", "--python", python, *needs)
    return python


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of a project into a folder: uv would install the project from its cache, even if it changed."""
    run_uv("build", "--wheel", "--out-dir", folder, project)
    [wheel] = folder.glob("*.whl")
    return wheel


def run_uv(*words: object) -> None:
    """Run a command of uv. Raises `CalledProcessError` with what it printed, also if it takes too long."""
    without_index = ["--no-index"] if has_no_index() else []  # uv has no variable for it
    command = [UV, "--quiet", "--no-config", *map(str, words), *without_index]
    environment = {**os.environ, **variables()}
    try:
        subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired as late:
        raise subprocess.CalledProcessError(124, command, stderr=str(late)) from None


def variables() -> dict[str, str]:
    """Return what has uv choose as pip does: from the same places, and the best version of all of them."""
    values = options()
    chosen = {
        variable: ("," if name == "find-links" else " ").join(values[name])
        for name, variable in VARIABLES.items()
        if values.get(name)
    }
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **chosen}


def has_no_index() -> bool:
    """Whether pip would ignore the indexes: uv then takes what the links have."""
    return options().get("no-index", [""])[-1].lower() in {"1", "true", "yes", "on", "y", "t"}


@cache
def options() -> dict[str, list[str]]:
    """Return the words of each option in pip's configuration, by its name."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = sorted(printed.splitlines(), key=lambda line: line.startswith(":env:"))  # the environment wins
    pairs = [line.partition("=") for line in lines]
    return {name.rpartition(".")[2]: str(ast.literal_eval(value)).split() for name, _, value in pairs}


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
    except subprocess.CalledProcessError as failure:
        raise SystemExit(f"{failure}:\n{failure.stderr}") from None
