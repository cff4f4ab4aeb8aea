"""Ranges of lines: read from several files at once, and changed where a hash says that nobody else has changed them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.matched_tools import TEXT, refused, said, simulator, tool

_NUMBER = {"type": "integer"}


def _list(**parts: Any) -> Any:
    return {"type": "array", "items": {"type": "object", "properties": parts}}


_PATCHES = _list(start=_NUMBER, end=_NUMBER, contents=TEXT, range_hash=TEXT)
_TOOLS = [
    tool("get_file_lines", files=_list(file_path=TEXT, ranges=_list(start=_NUMBER, end=_NUMBER))),
    tool("edit_file_lines", files=_list(path=TEXT, file_hash=TEXT, patches=_PATCHES)),
    tool("delete_file_lines", path=TEXT, file_hash=TEXT, ranges=_list(start=_NUMBER, end=_NUMBER)),
]


async def test_lines_of_files_are_changed_where_their_hash_is_right(tmp_path: Path) -> None:
    async with simulator(tmp_path, _TOOLS, {"files": {"a.txt": "one\ntwo\nthree\n", "b.txt": "x\n"}}).open() as world:
        wanted = [{"file_path": "/w/a.txt", "ranges": [{"start": 2, "end": 3}]}]
        before = (await said(world, "get_file_lines", files=wanted))["/w/a.txt"]
        assert before["ranges"][0]["content"] == "two\nthree\n"
        assert before["ranges"][0]["total_lines"] == 3

        patches = [{"start": 1, "end": 1, "contents": "ONE\n"}, {"start": 3, "end": 3, "contents": "3\n4\n"}]
        change = [{"path": "/w/a.txt", "file_hash": before["file_hash"], "patches": patches}]
        assert (await said(world, "edit_file_lines", files=change))["/w/a.txt"]["result"] == "ok"
        assert (await said(world, "edit_file_lines", files=change))["/w/a.txt"]["result"] == "error"
        new = [{"path": "/w/new.txt", "file_hash": "", "patches": [{"start": 1, "contents": "first\n"}]}]
        assert (await said(world, "edit_file_lines", files=new))["/w/new.txt"]["result"] == "ok"

        whole: Any = [{"file_path": "/w/a.txt", "ranges": [{"start": 1}]}, {"file_path": "/w/new.txt", "ranges": []}]
        after = await said(world, "get_file_lines", files=whole)
        assert after["/w/a.txt"]["ranges"][0]["content"] == "ONE\ntwo\n3\n4\n"
        assert after["/w/new.txt"]["ranges"][0]["content"] == "first\n"
        await said(world, "delete_file_lines", path="/w/a.txt", file_hash="", ranges=[{"start": 2, "end": 4}])
        assert await refused(world, "get_file_lines", files=[{"file_path": "/w/none.txt", "ranges": []}])
