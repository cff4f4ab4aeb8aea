"""Tools that change a part of a file: a text, some lines."""

from __future__ import annotations

from pathlib import Path

from support.drives import STATE, TOOLS
from support.matched_tools import TEXT, refused, said, simulator, tool


async def test_edits_are_made_together_or_not_at_all(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, STATE).open() as world:
        both = [{"oldText": "x = 1", "newText": "x = 2"}, {"oldText": "y", "newText": "z"}]
        assert "not found" in await refused(world, "edit_file", path="/srv/app/lib/math.py", edits=both)
        assert (
            await said(world, "edit_file", path="/srv/app/lib/math.py", edits=both[:1], dryRun=True)
            == "- x = 1\n+ x = 2"
        )
        assert await said(world, "read_file", path="/srv/app/lib/math.py") == "x = 1"
        await said(world, "edit_file", path="/srv/app/lib/math.py", edits=both[:1])
        assert await said(world, "read_file", path="/srv/app/lib/math.py") == "x = 2"


async def test_an_edit_that_promises_a_diff_tells_a_patch_and_one_that_counts_is_held_to_it(tmp_path: Path) -> None:
    count = {"type": "integer", "default": 1}
    block = tool("edit_block", "Replaces text. Returns a git-style diff.", needed="path old_string new_string",
                 path=TEXT, old_string=TEXT, new_string=TEXT, expected_replacements=count)  # fmt: skip
    async with simulator(tmp_path, [*TOOLS, block], STATE) as sim, sim.open("desk") as world:
        path = "/srv/app/main.py"
        request = {"path": path, "old_string": "os", "new_string": "io"}
        assert "2 times" in await refused(world, "edit_block", **request)
        told = await said(world, "edit_block", **request, expected_replacements=2)
        assert await said(world, "read_file", path=path) == "import io\nprint(io.name)\n"

    assert "@@ -1,2 +1,2 @@\n-import os\n-print(os.name)\n+import io" in told


async def test_lines_are_replaced_and_deleted_by_their_numbers(tmp_path: Path) -> None:
    number = {"type": "integer"}
    tools = [*TOOLS,
             tool("replace_lines", needed="path start_line content", path=TEXT, start_line=number, end_line=number,
                  content=TEXT),
             tool("delete_lines", path=TEXT, start_line=number, end_line=number)]  # fmt: skip
    async with simulator(tmp_path, tools, {"files": {"/a.txt": "one\ntwo\nthree\n"}}) as sim, sim.open() as world:
        told = await said(world, "replace_lines", path="/a.txt", start_line=2, content="2\n2b\n")
        assert "lines 2 to 2 of /a.txt" in told
        assert await said(world, "read_file", path="/a.txt") == "one\n2\n2b\nthree\n"
        await said(world, "delete_lines", path="/a.txt", start_line=1, end_line=3)
        assert await said(world, "read_file", path="/a.txt") == "three\n"
        assert "has 1 lines" in await refused(world, "delete_lines", path="/a.txt", start_line=2, end_line=2)
        assert "has 1 lines" in await refused(world, "replace_lines", path="/a.txt", start_line=0, content="")
