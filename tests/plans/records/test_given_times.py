"""Times of records in the format of the given ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import STRING, service, tool, value

from mcp_sim.types.time_formats import time_format

Json = Any
TOOLS = (
    tool("create_note", "text"), tool("get_note", "note_id"), tool("update_note", "note_id", "text"),
    tool("list_notes", created_after=STRING, sort_by=STRING),
)  # fmt: skip


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("2023-12-31 10:20", "2024-05-17 10:20"),
        ("2023-12-31T10:20:30.123+02:00", "2024-05-17T10:20:30.123+02:00"),
        ("2023-12-31", "2024-05-17"),
        (1703974800, 1715941230),
        (1703974800000, 1715941230000),
        ("31/12/2023", "17/05/2024"),
        ("12/31/2023", "05/17/2024"),
        ("Dec 31, 2023", "May 17, 2024"),
    ],
)
async def test_new_times_have_the_format_of_the_given_ones(tmp_path: Path, older: Json, newer: Json) -> None:
    state = {"notes": [
        {"id": "n-1", "text": "a", "created_at": newer, "updated_at": newer},
        {"id": "n-2", "text": "b", "created_at": older, "updated_at": older},
    ]}  # fmt: skip
    form = time_format(newer)
    assert form is not None

    def is_written_alike(time: Json) -> bool:
        moment = form.read(time)
        return moment is not None and moment.year > 2026 and form.write(moment) == time

    async with service(tmp_path, state, *TOOLS) as simulator, simulator.open("w") as world:
        created = value(await world.call("create_note", {"text": "c"}))
        assert is_written_alike(created["created_at"])
        assert is_written_alike(created["updated_at"])
        changed = value(await world.call("update_note", {"note_id": "n-1", "text": "d"}))
        assert changed["created_at"] == newer
        assert is_written_alike(changed["updated_at"])
        listed = value(await world.call("list_notes", {"sort_by": "created_at"}))
        assert [one["id"] for one in listed] == ["n-2", "n-1", created["id"]]
        later = value(await world.call("list_notes", {"created_after": "2024-01-01"}))
        assert [one["id"] for one in later] == ["n-1", created["id"]]
