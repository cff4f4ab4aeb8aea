"""Entries are laid into the text of a document, and whatever else it says stays as it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.spec import yaml12
from mcp_sim.spec.yaml12.writing import insert_entries, merged
from mcp_sim.types.errors import UsageError

ENTRIES: dict[str, Any] = {"sim": {"a": {"verb": "get"}, "b": {"verb": "list"}}, "entities": {"c": {"key": "id"}}}

TEXTS = {
    "no end of line": "mcp_sim: 1",
    "comments behind": "mcp_sim: 1  # one\n# end\n",
    "blocks": "mcp_sim: 1\nsim:\n  a: {verb: update}  # mine\n\n# more\nerrors:\n  x: |\n    hey\n    you\n",
    "null": "mcp_sim: 1\nsim:\nentities: ~\nname: x\n",
    "empty braces": "mcp_sim: 1\nsim: {}   # none\nname: x\n",
    "braces": "mcp_sim: 1\nsim: {a: {verb: update}}\n",
    "braces with a last comma": "mcp_sim: 1\nsim: {a: {verb: update},}\n",
    "json": '{"mcp_sim": 1, "sim": {"a": {"verb": "update"}}}',
    "tall json": '{\n  "mcp_sim": 1,\n  "sim": {\n    "a": {"verb": "update"}\n  }\n}\n',
    "blank lines at the end": "mcp_sim: 1\nsim: # why\n  # first\n  a:\n    verb: é\n\n\n",
    "a text in lines": "mcp_sim: 1\ntext: |\n  a\n  b\n\n\n",
    "a folded text": "mcp_sim: 1\ntext: >-\n  a\n  b",
    "an alias at the end": "mcp_sim: 1\nx: &one {a: 1}\nz: *one\n",
    "a list at the end": "mcp_sim: 1\nlist:\n- a\n- b:\n# c\n",
    "windows": "mcp_sim: 1\r\nsim:\r\n  a: {verb: update}\r\nname: x\r\n",
    "marks of a document": '---\nmcp_sim: 1\nd: "a\n  b"\n...\n',
    "wide steps": "mcp_sim: 1\nsim:\n    a:\n        verb: x\n",
    "null within a block": "sim:\n  b:\nmcp_sim: 1\n",
    "a comment below null": "sim: # why\n  # below\nmcp_sim: 1\n",
    "comments alone": "# first\n",
    "a beginning alone": "---\n",
    "nothing": "",
}


def is_open(path: yaml12.Path) -> bool:
    return len(path) < 2


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_entries_are_added_and_every_line_that_was_there_is_still_there(text: str) -> None:
    after = insert_entries(text, ENTRIES, is_open, {("sim", "b"): "a guess"})
    value = yaml12.load(after.encode(), "x").value
    assert isinstance(value, dict)
    assert value["sim"]["b"] == {"verb": "list"}
    assert value["entities"]["c"] == {"key": "id"}
    lines = iter(after.splitlines())
    whole = [line for line in text.splitlines() if "~" not in line and "sim: {" not in line and "{" not in line[:1]]
    assert text.startswith("{") or all(any(line == other for other in lines) for line in whole)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_said_already_is_not_changed_and_a_second_time_nothing_is(text: str) -> None:
    after = insert_entries(text, ENTRIES, is_open)
    before: Any = yaml12.load(text.encode(), "x").value if text else {}
    assert yaml12.load(after.encode(), "x").value == merged(before, ENTRIES, is_open)
    assert insert_entries(after, ENTRIES, is_open) == after


def test_a_comment_is_put_above_its_entry() -> None:
    after = insert_entries("mcp_sim: 1\n", ENTRIES, is_open, {("sim", "b"): "a guess"})
    assert "  # a guess\n  b: {verb: list}\n" in after


def test_lines_end_as_they_did() -> None:
    after = insert_entries(TEXTS["windows"], ENTRIES, is_open)
    assert after.count("\n") == after.count("\r\n") > TEXTS["windows"].count("\r\n")


def test_nothing_is_inserted_into_an_alias() -> None:
    with pytest.raises(UsageError, match="insert the entries by hand"):
        insert_entries("mcp_sim: 1\nx: &one {a: 1}\nsim: *one\n", ENTRIES, is_open)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=20), part, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=20), values, min_size=1, max_size=5))
def test_what_is_written_is_read_back_the_same(value: dict[str, Any]) -> None:
    assert yaml12.load(yaml12.dump(value).encode(), "x").value == value
    assert yaml12.load(yaml12.flow(value).encode(), "x").value == value


@pytest.mark.parametrize(
    "text", ["yes", "on", "NO", "~", "", "12:30", "1e3", "a: b", "a #b", "- a", "*x", "a\nb", "名"]
)
def test_a_text_stays_a_text(text: str) -> None:
    assert yaml12.load(f"a: {yaml12.scalar(text)}\n".encode(), "x").value == {"a": text}


@pytest.mark.parametrize("text", ["sim: NULL\n", "sim: []\n", "sim: ''\n"])
def test_a_text_or_list_is_not_replaced(text: str) -> None:
    assert insert_entries(text, {"sim": {"b": 1}, "c": 2}, lambda _: True) == f"{text}c: 2\n"


def test_an_alias_that_has_every_entry_is_not_changed() -> None:
    text = "sim:\n  a: &both {verb: none}\n  b: *both\n"
    assert insert_entries(text, {"sim": {"b": {"verb": "none"}}}, lambda _: True) == text


def test_null_at_the_end_of_a_block_is_replaced_before_entries_follow() -> None:
    text = "sim:\n  a:\n    verb:\nx: {y: ~, z: }\n"
    entries = {"sim": {"a": {"verb": "get"}, "b": {}}, "x": {"y": 1, "z": [2]}}
    after = insert_entries(text, entries, lambda _: True, {("sim", "b", "c"): "no such entry"})
    assert after == "sim:\n  a:\n    verb: get\n  b: {}\nx: {y: 1, z: [2]}\n"


@pytest.mark.parametrize("text", ["? sim\n", "list:\n- &a {x: 1}\n- 1\n- *a\n", "sim: &x {}\nb: *x"])
def test_a_text_without_a_place_for_entries_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="insert the entries by hand"):
        insert_entries(text, ENTRIES, is_open)
