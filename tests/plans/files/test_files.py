"""Tools that work on files share one tree of files and directories."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.drives import STATE, TOOLS
from support.matched_tools import TEXT, answered, refused, simulator

from mcp_sim import Simulator


@pytest.fixture
def drive(tmp_path: Path) -> Simulator:
    return simulator(tmp_path, TOOLS, STATE)


async def test_a_written_file_is_read_listed_found_and_deleted(drive: Simulator) -> None:
    async with drive.open() as world:
        message = await answered(world, "write_file", path="/srv/app/new.txt", content="one\ntwo\nthree")
        assert "/srv/app/new.txt" in message
        assert await answered(world, "read_file", path="/srv/app/new.txt", tail=2) == "two\nthree"
        assert "[FILE] new.txt" in await answered(world, "list_directory", path="/srv/app")
        assert await answered(world, "search_files", path="/srv", pattern="*.txt") == "/srv/app/new.txt"
        assert "size: 13" in await answered(world, "get_file_info", path="/srv/app/new.txt")
        await answered(world, "delete_file", path="/srv/app/new.txt")
        assert "/srv/app/new.txt" in await refused(world, "read_file", path="/srv/app/new.txt")
        await answered(world, "write_file", path="/srv/app/./new.txt", content="again")
        assert await answered(world, "read_file", path="/srv/app/x/../new.txt") == "again"


async def test_parent_directories_exist_and_are_listed_as_a_tree(drive: Simulator) -> None:
    async with drive.open() as world:
        assert await answered(world, "directory_tree", path="/srv") == [
            {"name": "README.md", "type": "file"},
            {"name": "app", "type": "directory", "children": [
                {"name": "lib", "type": "directory", "children": [{"name": "math.py", "type": "file"}]},
                {"name": "main.py", "type": "file"},
            ]},
        ]  # fmt: skip
        assert "not empty" in await refused(world, "delete_directory", path="/srv/app")
        await answered(world, "create_directory", path="/srv/a/b/c")
        await answered(world, "create_directory", path="/srv/a/b/c")
        assert await answered(world, "list_directory", path="/srv/a") == "[DIR] b"
        assert world.view.count("directory") == 6


async def test_paths_outside_the_root_or_the_allowed_directories_are_refused(drive: Simulator) -> None:
    async with drive.open() as world:
        for path in ("/srv/../../etc/passwd", "/etc/passwd", "../x", "/srvx/y"):
            assert path in await refused(world, "read_file", path=path)
        assert "/srv" in await answered(world, "list_allowed_directories")


async def test_an_error_names_what_is_at_the_path(drive: Simulator) -> None:
    async with drive.open() as world:
        assert "directory" in await refused(world, "read_file", path="/srv/app")
        assert "Not a directory" in await refused(world, "list_directory", path="/srv/README.md")
        assert "directory" in await refused(world, "write_file", path="/srv/app", content="x")
        assert "/srv/nowhere" in await refused(world, "write_file", path="/srv/nowhere/x", content="x")
        assert "exists" in await refused(world, "move_file", source="/srv/README.md", destination="/srv/app/main.py")
        assert "itself" in await refused(world, "move_file", source="/srv/app", destination="/srv/app/lib/app")
        assert "exists" in await refused(world, "create_directory", path="/srv/README.md")


async def test_a_directory_is_moved_with_its_content(drive: Simulator) -> None:
    async with drive.open() as world:
        await answered(world, "move_file", source="/srv/app", destination="/srv/core")
        assert await answered(world, "read_file", path="/srv/core/lib/math.py") == "x = 1"
        assert "/srv/app" in await refused(world, "list_directory", path="/srv/app")
        assert world.view.count("file") == 3


async def test_without_a_state_files_and_their_directories_are_generated(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS).open() as world:
        places = [path for path, _ in world.view.rows("file")]
        assert len(places) == 20
        for path in places:
            assert await answered(world, "read_file", path=path)
        for folder, _ in world.view.rows("directory"):
            assert "is empty" not in await answered(world, "list_directory", path=folder)


async def test_a_lost_acknowledgement_keeps_the_file_and_a_fork_does_not_have_it(tmp_path: Path) -> None:
    faults = [{"lost_ack": {}, "id": "lost", "tools": "write_file", "when": {"nth": 1}}]
    async with simulator(tmp_path, TOOLS, STATE, perturbations=faults).open() as world:
        other = world.fork("other")
        assert "timed out" in await refused(world, "write_file", path="/srv/x", content="there")
        assert await answered(world, "read_file", path="/srv/x") == "there"
        assert "/srv/x" in await refused(other, "read_file", path="/srv/x")


ONE_TEXT = {"type": "object", "properties": {"content": TEXT}, "required": ["content"]}


async def test_a_result_with_a_single_text_field_contains_the_whole_message(tmp_path: Path) -> None:
    """The text is neither generated nor JSON."""
    tools = [{**one, "outputSchema": ONE_TEXT} for one in TOOLS]
    async with simulator(tmp_path, tools, STATE) as sim, sim.open("desk") as world:
        written = await answered(world, "write_file", path="/srv/new.txt", content="abc")
        moved = await answered(world, "move_file", source="/srv/new.txt", destination="/srv/old.txt")
        listed = await answered(world, "list_directory", path="/srv")
        read = await answered(world, "read_file", path="/srv/old.txt")

    assert "/srv/new.txt" in written["content"]
    assert moved == {"content": "Successfully moved /srv/new.txt to /srv/old.txt"}
    assert "[FILE] README.md" in listed["content"].splitlines()
    assert read == {"content": "abc"}
