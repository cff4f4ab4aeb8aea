"""What a request offers to operations."""

from __future__ import annotations

from datetime import UTC, datetime

from mcp_sim.backends.operation import Operation
from mcp_sim.backends.request import Binding, Request
from mcp_sim.world.state import State

MOMENT = datetime(2031, 3, 5, 7, 8, 9, tzinfo=UTC)


def test_a_request_writes_times_as_the_newest_record_does() -> None:
    for given, written in ((["2029-12-31", "2030-01-01 10:20"], "2031-03-05 07:08"), ([], "2031-03-05T07:08:09Z")):
        view = State.of({"note": {at: {"at": time} for at, time in enumerate(given)}})
        request = Request(Binding(Operation("add", "notes:add"), "note"), view, MOMENT, {})
        assert request.time("at") == written
        assert request.time("at", "page") == "2031-03-05T07:08:09Z"
