"""Slots of result templates for a field of all rows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_sim.plans.rendering.templates import Scope, fill_json, fill_text

MOMENT = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("spelling", ["", ":join / ", ":count", ":May=late;June=later"])
def test_a_row_that_lacks_the_field_has_no_place_in_the_column(spelling: str) -> None:
    full = Scope({}, MOMENT, MOMENT, rows=[{"due": "May"}, {"due": "June"}])
    gaps = Scope({}, MOMENT, MOMENT, rows=[{}, {"due": "May"}, {"title": "Tea"}, {"due": "June"}])
    slot = f"{{rows.due{spelling}}}"
    assert fill_text(f"Due: {slot}", gaps) == fill_text(f"Due: {slot}", full)
    assert fill_json(slot, gaps) == fill_json(slot, full)
