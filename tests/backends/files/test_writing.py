"""Tools that change parts of files: texts, lines, and ranges of lines guarded by hashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.drives import STATE, TOOLS
from support.matched_tools import TEXT, answered, refused, simulator, tool


async def test_either_all_edits_are_made_or_none(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, STATE).open() as world:
        both = [{"oldText": "x = 1", "newText": "x = 2"}, {"oldText": "y", "newText": "z"}]
        assert "not found" in await refused(world, "edit_file", path="/srv/app/lib/math.py", edits=both)
        assert (
            await answered(world, "edit_file", path="/srv/app/lib/math.py", edits=both[:1], dryRun=True)
            == "- x = 1\n+ x = 2"
        )
        assert await answered(world, "read_file", path="/srv/app/lib/math.py") == "x = 1"
        await answered(world, "edit_file", path="/srv/app/lib/math.py", edits=both[:1])
        assert await answered(world, "read_file", path="/srv/app/lib/math.py") == "x = 2"


async def test_an_edit_returns_a_patch_if_promised_and_checks_the_expected_number_of_replacements(
    tmp_path: Path,
) -> None:
    count = {"type": "integer", "default": 1}
    block = tool("edit_block", "Replaces text. Returns a git-style diff.", needed="path old_string new_string",
                 path=TEXT, old_string=TEXT, new_string=TEXT, expected_replacements=count)  # fmt: skip
    async with simulator(tmp_path, [*TOOLS, block], STATE) as sim, sim.open("desk") as world:
        path = "/srv/app/main.py"
        request = {"path": path, "old_string": "os", "new_string": "io"}
        assert "2 times" in await refused(world, "edit_block", **request)
        message = await answered(world, "edit_block", **request, expected_replacements=2)
        assert await answered(world, "read_file", path=path) == "import io\nprint(io.name)\n"

    assert "@@ -1,2 +1,2 @@\n-import os\n-print(os.name)\n+import io" in message


async def test_lines_are_replaced_and_deleted_by_number(tmp_path: Path) -> None:
    number = {"type": "integer"}
    tools = [*TOOLS,
             tool("replace_lines", needed="path start_line content", path=TEXT, start_line=number, end_line=number,
                  content=TEXT),
             tool("delete_lines", path=TEXT, start_line=number, end_line=number)]  # fmt: skip
    async with simulator(tmp_path, tools, {"files": {"/a.txt": "one\ntwo\nthree\n"}}) as sim, sim.open() as world:
        message = await answered(world, "replace_lines", path="/a.txt", start_line=2, content="2\n2b\n")
        assert "lines 2 to 2 of /a.txt" in message
        assert await answered(world, "read_file", path="/a.txt") == "one\n2\n2b\nthree\n"
        await answered(world, "delete_lines", path="/a.txt", start_line=1, end_line=3)
        assert await answered(world, "read_file", path="/a.txt") == "three\n"
        assert "has 1 lines" in await refused(world, "delete_lines", path="/a.txt", start_line=2, end_line=2)
        assert "has 1 lines" in await refused(world, "replace_lines", path="/a.txt", start_line=0, content="")


_NUMBER = {"type": "integer"}


def _list(**parts: Any) -> Any:
    return {"type": "array", "items": {"type": "object", "properties": parts}}


_PATCHES = _list(start=_NUMBER, end=_NUMBER, contents=TEXT, range_hash=TEXT)
_TOOLS = [
    tool("get_file_lines", files=_list(file_path=TEXT, ranges=_list(start=_NUMBER, end=_NUMBER))),
    tool("edit_file_lines", files=_list(path=TEXT, file_hash=TEXT, patches=_PATCHES)),
    tool("delete_file_lines", path=TEXT, file_hash=TEXT, ranges=_list(start=_NUMBER, end=_NUMBER)),
]


async def test_line_ranges_are_changed_only_if_their_hash_matches(tmp_path: Path) -> None:
    async with simulator(tmp_path, _TOOLS, {"files": {"a.txt": "one\ntwo\nthree\n", "b.txt": "x\n"}}).open() as world:
        wanted = [{"file_path": "/w/a.txt", "ranges": [{"start": 2, "end": 3}]}]
        before = (await answered(world, "get_file_lines", files=wanted))["/w/a.txt"]
        assert before["ranges"][0]["content"] == "two\nthree\n"
        assert before["ranges"][0]["total_lines"] == 3

        patches = [{"start": 1, "end": 1, "contents": "ONE\n"}, {"start": 3, "end": 3, "contents": "3\n4\n"}]
        change = [{"path": "/w/a.txt", "file_hash": before["file_hash"], "patches": patches}]
        assert (await answered(world, "edit_file_lines", files=change))["/w/a.txt"]["result"] == "ok"
        assert (await answered(world, "edit_file_lines", files=change))["/w/a.txt"]["result"] == "error"
        new = [{"path": "/w/new.txt", "file_hash": "", "patches": [{"start": 1, "contents": "first\n"}]}]
        assert (await answered(world, "edit_file_lines", files=new))["/w/new.txt"]["result"] == "ok"

        whole: Any = [{"file_path": "/w/a.txt", "ranges": [{"start": 1}]}, {"file_path": "/w/new.txt", "ranges": []}]
        after = await answered(world, "get_file_lines", files=whole)
        assert after["/w/a.txt"]["ranges"][0]["content"] == "ONE\ntwo\n3\n4\n"
        assert after["/w/new.txt"]["ranges"][0]["content"] == "first\n"
        await answered(world, "delete_file_lines", path="/w/a.txt", file_hash="", ranges=[{"start": 2, "end": 4}])
        assert await refused(world, "get_file_lines", files=[{"file_path": "/w/none.txt", "ranges": []}])
