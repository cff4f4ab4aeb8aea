"""Tools that change parts of files: texts, lines, and ranges of lines guarded by hashes."""

from __future__ import annotations

from pathlib import Path

from support.drives import STATE, TOOLS
from support.matched_tools import answered, refused, simulator


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
