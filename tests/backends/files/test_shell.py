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
