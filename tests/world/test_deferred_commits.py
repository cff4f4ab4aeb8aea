"""Deferred commits: reserved keys, and changes that no longer fit."""

from __future__ import annotations

from datetime import timedelta

from mcp_sim.types import Change, Due
from mcp_sim.types.clock import DEFAULT_NOW
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.world.deferred_commits import fitting
from mcp_sim.world.state import State

LINKED = {
    "box": Field("box", {"type": "string"}, link="box"),
    "others": Field("others", {"type": "array", "items": {"type": "string"}}, link="thing"),
}
ENTITIES = {"thing": Entity("thing", fields=LINKED), "box": Entity("box")}
DOMAIN = Domain({}, ENTITIES, {}, "", DEFAULT_NOW)
STATE = State.of({"thing": {"t1": {"id": "t1", "box": "b1"}}, "box": {"b1": {"id": "b1"}, "b2": {"id": "b2"}}})


def fits(*changes: Change) -> bool:
    found = fitting(STATE, changes, DOMAIN)
    assert found in ((), changes)
    return bool(found)


def test_a_write_fits_if_its_record_was_not_written_since() -> None:
    assert fits(Change("put", "thing", "t1", {"id": "t1"}, expected=0))
    assert not fits(Change("put", "thing", "t1", {"id": "t1"}, expected=1))
    assert fits(
        Change("put", "thing", "t1", {"id": "t1"}, expected=0), Change("put", "thing", "t1", {"id": "t1"}, expected=1)
    )


def test_a_write_fits_if_its_links_lead_to_records() -> None:
    assert fits(Change("put", "thing", "t2", {"id": "t2", "box": "b2", "others": ["t1", "t2"]}))
    assert fits(Change("put", "thing", "t2", {"id": "t2", "box": None}))
    assert not fits(Change("put", "thing", "t2", {"id": "t2", "box": "b9"}))
    assert not fits(Change("put", "thing", "t2", {"id": "t2", "others": ["t9"]}))
    assert fits(Change("put", "thing", "t2", {"id": "t2", "box": "b9"}), Change("put", "box", "b9", {"id": "b9"}))


def test_a_record_that_another_links_to_is_not_removed() -> None:
    assert fits(Change("remove", "box", "b2"))
    assert not fits(Change("remove", "box", "b1"))
    assert fits(Change("remove", "box", "b1"), Change("put", "thing", "t1", {"id": "t1", "box": "b2"}))


def test_a_reserved_key_holds_no_record_and_counts_as_used() -> None:
    state = STATE.apply([Change("reserve", "box", "b3")])
    assert (state.get("box", "b3"), state.version("box", "b3"), state.count("box")) == (None, 1, 2)
    assert state.last_key("box") == "b3"
    assert [key for key, _ in state.rows("box")] == ["b1", "b2"]
    assert STATE.apply([Change("reserve", "box", "b1")]).get("box", "b1") == {"id": "b1"}
    late = state.apply([Change("put", "box", "b4", {"id": "b4"}), Change("put", "box", "b3", {"id": "b3"})])
    assert [key for key, _ in late.rows("box")] == ["b1", "b2", "b4", "b3"]


def test_the_agenda_takes_entries_that_are_due_at_a_call() -> None:
    soon, late = Due(DEFAULT_NOW + timedelta(days=1), "x", (), call=3), Due(DEFAULT_NOW, "y", ())
    due, rest = STATE.apply((), [soon, late]).split_agenda(lambda entry: entry.call == 3)
    assert due == (soon,)
    assert rest.agenda == (late,)
