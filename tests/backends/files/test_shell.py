"""Tools named after shell commands, with a working directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.drives import SHELL
from support.matched_tools import answered, refused, simulator

from mcp_sim import Simulator

Json = Any


def directory(name: str, contents: Json) -> Json:
    return {name: {"type": "directory", "contents": contents}}


FILES = {"a.txt": {"type": "file", "content": "pear\napple"}, **directory("docs", {".secret": {"type": "file"}})}
NESTED = {"disk": {"root": directory("home", FILES)}}


@pytest.fixture
def shell(tmp_path: Path) -> Simulator:
    return simulator(tmp_path, SHELL, NESTED)


async def test_paths_are_relative_to_the_working_directory(shell: Simulator) -> None:
    async with shell.open() as world:
        assert await answered(world, "pwd") == {"current_working_directory": "/home"}
        assert await answered(world, "ls") == {"names": ["a.txt", "docs"]}
        await answered(world, "cd", folder="docs")
        assert await answered(world, "ls") == {"names": []}
        assert await answered(world, "ls", a=True) == {"names": [".secret"]}
        await answered(world, "cp", source="../a.txt", destination=".")
        assert await answered(world, "cat", file_name="a.txt") == {"file_content": "pear\napple"}
        assert "nowhere" in await refused(world, "cd", folder="nowhere")
        assert "not empty" in await refused(world, "rmdir", dir_name="/home/docs")
        await answered(world, "rm", file_name="../docs")
        assert await answered(world, "pwd") == {"current_working_directory": "/home"}


async def test_shell_commands_share_the_same_files(shell: Simulator) -> None:
    async with shell.open() as world:
        assert await answered(world, "sort", file_name="a.txt") == "apple\npear"
        assert await answered(world, "wc", file_name="a.txt", mode="c") == {"count": 10, "type": "characters"}
        assert await answered(world, "tail", file_name="a.txt", lines=1) == "apple"
        assert await answered(world, "grep", file_name="a.txt", pattern="pe") == {"matching_lines": ["pear"]}
        await answered(world, "echo", content="pear\nfig", file_name="b.txt")
        assert await answered(world, "diff", file_name1="a.txt", file_name2="b.txt") == "- apple\n+ fig"
        await answered(world, "mkdir", dir_name="new")
        assert "exists" in await refused(world, "mkdir", dir_name="new")
        await answered(world, "mv", source="b.txt", destination="new")
        assert await answered(world, "find", path=".", name="b") == {"matches": ["./new/b.txt"]}
        await answered(world, "touch", file_name="c.txt")
        assert await answered(world, "du") == "18 bytes"
