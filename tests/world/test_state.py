"""The state: compared with a plain dict that is copied at every write."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.types import COMPARISONS, Bound, Change, Due, Key, Record
from mcp_sim.types.errors import StaleChange
from mcp_sim.world.commits import replayed
from mcp_sim.world.state import RECENT, State

KEYS = st.sampled_from(["a", "b", "c", "d", 1, 2, "", 0])
COLOURS = st.sampled_from(["red", "blue", None, 1, 1.0, True, [1], {"x": 1}])


@st.composite
def writes(draw: st.DrawFn) -> list[Change]:
    ops = draw(st.lists(st.tuples(st.sampled_from(["put", "put", "remove"]), KEYS, COLOURS), max_size=40))
    return [
        Change("put", "thing", key, {"id": key, "colour": colour}) if op == "put" else Change("remove", "thing", key)
        for op, key, colour in ops
    ]


BASES = st.lists(st.sampled_from(["a", "b", "c", 1]), unique=True).map(
    lambda keys: {key: {"id": key, "colour": "red"} for key in keys}
)


def written(model: dict[Key, Record], change: Change) -> dict[Key, Record]:
    """Apply a write to the model: in place if the record exists, at the end if it is new."""
    after = dict(model)
    if change.op == "remove":
        after.pop(change.key, None)
    else:
        assert change.record is not None
        after[change.key] = change.record
    return after


@given(BASES, writes())
def test_a_state_reads_like_a_dict_and_every_version_stays_readable(
    base: dict[Any, Any], changes: list[Change]
) -> None:
    versions = [(State.of({"thing": base}), dict(base))]
    for change in changes:
        state, model = versions[-1]
        versions.append((state.apply([change]), written(model, change)))
    for state, model in versions:
        assert list(state.rows("thing")) == list(model.items())
        assert state.count("thing") == len(model)
        for key in ["a", "b", "c", "d", 1, 2]:
            assert state.get("thing", key) == model.get(key)


@given(BASES, writes(), COLOURS)
def test_find_returns_what_a_scan_returns_in_the_same_order(
    base: dict[Any, Any], changes: list[Change], colour: Any
) -> None:
    state = State.of({"thing": base}).apply(changes)

    def same(value: Any) -> bool:
        return value == colour and isinstance(value, bool) == isinstance(colour, bool)

    assert list(state.find("thing", "colour", colour)) == [
        (key, record) for key, record in state.rows("thing") if same(record["colour"])
    ]


@given(BASES, writes())
def test_replaying_the_changes_as_a_ledger_keeps_them_gives_the_state(
    base: dict[Any, Any], changes: list[Change]
) -> None:
    start = State.of({"thing": base})
    steps = [{"committed": [change.to_json()]} for change in changes]
    assert list(replayed(start, steps).rows("thing")) == list(start.apply(changes).rows("thing"))


def test_more_writes_than_settle_keep_their_order() -> None:
    state = State.of({"thing": {"first": {"id": "first"}}})
    for at in range(3 * RECENT):
        state = state.apply([Change("put", "thing", at, {"id": at})])
    for at in range(0, 3 * RECENT, 2):
        state = state.apply([Change("remove", "thing", at)])
    assert [key for key, _ in state.rows("thing")] == ["first", *range(1, 3 * RECENT, 2)]
    assert state.last_key("thing") == 3 * RECENT - 1


@pytest.mark.parametrize("seed", range(10))
def test_forks_read_like_dicts_after_many_writes(seed: int) -> None:
    chance = Random(seed)
    keys: list[Key] = [*range(3 * RECENT), "", "a", -1, -2]
    base = {key: colourful(key, "x") for key in keys[: chance.randrange(len(keys))]}
    forks = [(State.of({"thing": base}), base)]
    for at in range(12 * RECENT):
        which = chance.randrange(len(forks))
        state, model = forks[which]
        key, op = chance.choice(keys), chance.choice(["put", "put", "remove", "reserve"])
        change = Change("put", "thing", key, colourful(key, chance.choice("xyz"))) if op == "put" else None
        change = change or Change("remove" if op == "remove" else "reserve", "thing", key)
        forks[which] = state.apply([change]), model if op == "reserve" else written(model, change)
        if at % (4 * RECENT) == 0:
            forks.append(forks[which])
    for state, model in forks:
        check_reads(state, list(model.items()))


def colourful(key: Key, colour: str) -> Record:
    return {"id": key, "colour": colour, "text": f"Plain {colour} {key}", "size": len(f"{key}{colour}")}


def check_reads(state: State, rows: list[tuple[Key, Record]]) -> None:
    assert list(state.rows("thing")) == rows
    assert state.count("thing") == len(rows)
    assert list(state.find("thing", "colour", "x")) == [row for row in rows if row[1]["colour"] == "x"]
    assert list(state.search("thing", ["text"], ["plain", "y"])) == [row for row in rows if row[1]["colour"] == "y"]
    bound = Bound("size", "gte", 3, float)
    assert list(state.compare("thing", [bound])) == [row for row in rows if row[1]["size"] >= 3]


SIZES = st.none() | st.integers(0, 9) | st.just(10**400) | st.floats(allow_nan=True)


def measured(value: Any) -> float:
    return value if isinstance(value, int | float) else float("nan")


@given(
    st.lists(st.tuples(SIZES, SIZES), max_size=60),
    st.lists(
        st.tuples(st.sampled_from(["size", "weight"]), st.sampled_from([*COMPARISONS]), SIZES), min_size=1, max_size=3
    ),
)
def test_bounds_find_what_a_scan_finds_in_the_same_order(values: list[Any], asked: list[Any]) -> None:
    base: dict[Key, Record] = {at: {"size": size, "weight": weight} for at, (size, weight) in enumerate(values)}
    bounds = [Bound(field, op, measured(value), measured) for field, op, value in asked]
    found = State.of({"thing": base}).compare("thing", bounds)
    assert list(found) == [row for row in base.items() if all(bound.holds(row[1]) for bound in bounds)]


def test_the_empty_text_and_zero_are_two_keys() -> None:
    nought = State.of({"thing": {}}).apply([Change("put", "thing", 0, {"id": 0})])
    assert nought.get("thing", "") is None
    both = nought.apply([Change("put", "thing", "", {"id": ""})])
    assert [row for _, row in both.rows("thing")] == [{"id": 0}, {"id": ""}]
    assert [both.apply([Change("remove", "thing", "")]).get("thing", key) for key in ("", 0)] == [None, {"id": 0}]


def test_a_change_computed_from_an_old_version_is_refused_with_all_others() -> None:
    state = State.of({"thing": {"a": {"id": "a"}}}).apply(
        [Change("put", "thing", "a", {"id": "a", "n": 1}, expected=0)]
    )
    with pytest.raises(StaleChange) as caught:
        state.apply([Change("put", "thing", "b", {"id": "b"}), Change("put", "thing", "a", {"id": "a"}, expected=0)])
    assert (caught.value.expected, caught.value.found) == (0, 1)
    assert state.get("thing", "b") is None


def test_a_removed_record_leaves_its_key_as_the_last_one_and_its_version_counts() -> None:
    state = State.of({"thing": {"a": {"id": "a"}}}).apply([Change("put", "thing", "b", {"id": "b"})])
    state = state.apply([Change("remove", "thing", "b")])
    assert state.last_key("thing") == "b"
    assert state.version("thing", "b") == 2
    assert state.entities() == ["thing"]


def test_an_agenda_is_split_by_what_is_due_earliest_first() -> None:
    from mcp_sim.types.clock import DEFAULT_NOW, duration

    late = Due(DEFAULT_NOW + duration("2h"), "ops", ())
    soon = Due(DEFAULT_NOW + duration("1h"), "ops", ())
    state = State.of({}).apply([], [late, soon])
    due, rest = state.split_agenda(lambda entry: entry.at <= soon.at)
    assert (due, rest.agenda) == ((soon,), (late,))
