"""Run the code blocks of a documentation page, in order, in a folder of its own.

The info string of a block says what it is: a language, then a file name where the block is a file to be written.

    ```yaml shop.yaml         written to shop.yaml
    ```console                `$ command` lines run in bash; what follows is what they print; `...` stands for anything
    ```python                 run as a script; a ```text block right behind it is what it prints
    ```toml pyproject.toml    written; its entry points are installed for the commands that follow
    ```sh                     for the reader's own machine, not run
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.places import ROOT
from support.warm import PROGRAMS

BLOCK = re.compile(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = "$ "
SAID_OF_TERMINALS = frozenset({"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"})


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    file: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Command:
    text: str
    expected: str
    line: int


def blocks(page: Path) -> list[Block]:
    """Return all fenced blocks of a page that name a language."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2] or "", match[3], text.count("\n", 0, match.start()) + 2)
        for match in BLOCK.finditer(text)
    ]


def commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a console block, each with its shown output."""
    starts = [at for at, line in enumerate(block.text.splitlines()) if line.startswith(PROMPT)]
    lines = block.text.splitlines()
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield Command(lines[start].removeprefix(PROMPT), "\n".join(lines[start + 1 : end]), block.line + start)


class Workplace:
    """A folder with the shipped documents, in which `mcp-sim` and `python` are those of this checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("scenarios", "tool_specs", "examples"):
            shutil.copytree(ROOT / name, folder / name)
        self._environment = {
            **{name: value for name, value in os.environ.items() if name not in SAID_OF_TERMINALS},
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def write(self, block: Block) -> Path:
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        if block.file == "pyproject.toml":
            self._install(block.text)
        return path

    def output(self, command: list[str]) -> str:
        """Run a command and return its stdout and stderr together. Fails if the command does."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,  # only ends what hangs: on a busy machine a hunt takes two minutes
            check=False,
        )
        text = done.stdout.decode()
        assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{text}"
        return text

    def _install(self, pyproject: str) -> None:
        """Install the entry points of a project of plain Python files, as `pip install .` would."""
        project = tomllib.loads(pyproject)["project"]
        info = self.folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        groups = [
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
            for group, entries in project["entry-points"].items()
        ]
        (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")


def shown(expected: str, printed: str) -> bool:
    """Whether the output is the expected one. A line `...` matches any lines, `...` within a line any part of it."""
    parts = [_line_pattern(line) for line in expected.rstrip().splitlines()]
    lines = [f"{line.rstrip()}\n" for line in printed.rstrip().splitlines()]
    return re.fullmatch("".join(parts), "".join(lines)) is not None


def _line_pattern(line: str) -> str:
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    return ".*?".join(re.escape(text) for text in line.rstrip().split("...")) + r"\n"
