"""Growth of the work of planning with the number of tools and properties, and the length of names and descriptions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.declared import domain, tool
from support.given import service
from support.work import MOST_GROWTH, counted

from mcp_sim.plans.infer.given_state import read_given_state
from mcp_sim.plans.infer.state_tables import Nouns
from mcp_sim.types.argument_descriptions import parse_argument_lines
from mcp_sim.types.result_schemas import choices_of

Json = Any
TEXT = {"type": "string"}
LINES = {"type": "array", "items": {"type": "object", "properties": {"left": TEXT, "right": TEXT}}}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def word(number: int) -> str:
    whole, rest = divmod(number, len(LETTERS))
    return f"{word(whole - 1) if whole else 'q'}{LETTERS[rest]}"


def parts(size: int, part: Json = TEXT, prefix: str = "") -> dict[str, Json]:
    return {f"{prefix}{word(at)}": part for at in range(size)}


def entities(size: int) -> list[Json]:
    nouns = [f"thing_{word(at)}" for at in range(size // 4)]
    return [
        one
        for noun in nouns
        for one in (
            tool(f"create_{noun}", {"name": TEXT, f"{noun}_group_id": TEXT}, "name", description=f"Create a {noun}"),
            tool(f"register_part_{noun}", {"name": TEXT}, "name", description="Registers a new thing"),
            tool(f"get_{noun}", {f"{noun}_id": TEXT}, f"{noun}_id"),
            tool(f"set_group_{noun}", {f"{noun}_id": TEXT, "label": TEXT}, f"{noun}_id"),
        )
    ]


CASES: dict[str, Callable[[int], list[Json]]] = {
    "tools": entities,
    "arguments of a list": lambda size: [tool("list_tasks", parts(size))],
    "arguments of a create": lambda size: [tool("create_task", parts(size), *parts(size))],
    "arguments of a set": lambda size: [
        tool("set_task", {"task_id": TEXT, **parts(size)}), tool("get_task", {"task_id": TEXT})],
    "bounds": lambda size: [tool("search_tasks", parts(size, {"type": "number"}, "min_"), output={
        "type": "array", "items": {"type": "object", "properties": parts(size, {"type": "number"})}})],
    "results with other names": lambda size: [
        tool("create_task", {"name": TEXT}, output={"type": "object", "properties": parts(size, TEXT, "task_")}),
        tool("update_task", {"id": TEXT, **parts(size)}, "id", output={"type": "object", "properties": parts(size)})],
    "lists of objects": lambda size: [tool("create_task", parts(size, LINES))],
    "choices": lambda size: [tool("update_task", {"id": TEXT, **parts(size, {"enum": ["low", "high"]})}, "id")],
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_planning_is_linear_in_tools_and_properties(case: str) -> None:
    make = CASES[case]
    calls_for(make(40))  # imports, and words that are kept
    assert calls_for(make(400)) < MOST_GROWTH * calls_for(make(200))


@pytest.mark.time_limit(60)
@pytest.mark.parametrize("name", ["get_{}", "{}", "get_{}_stats", "check_{}", "add_{}", "{}_create", "get_task_for_{}"])
def test_a_name_of_5_000_words_is_planned(tmp_path: Path, name: str) -> None:
    long = name.format("_".join(map(word, range(5_000))))
    usual = [tool("create_task", {"name": TEXT}, "name"), tool("list_tasks", {}), tool("get_task", {"task_id": TEXT})]
    tools = [tool(long, {"id": TEXT}, "id"), tool(f"update_{long}", {"id": TEXT, "name": TEXT}, "id")]
    assert len(domain(*tools, *usual).plans) == 5
    state = {"tasks": [{"id": "T1", "name": "Plan"}, {"id": "T2", "name": "Ship"}]}
    assert len(service(tmp_path, state, *tools, *usual).scenario.domain.plans) == 5


@pytest.mark.time_limit(60)
@pytest.mark.parametrize("held", [1, {"n": 1}])
def test_a_state_of_100_000_keys_is_read(held: Json) -> None:
    nouns = Nouns(names=frozenset({"stock"}), arguments=frozenset({"item"}), lookups={"stock": "item"})
    state = {"stock": {f"item{at}": held for at in range(100_000)}, "limits": {"most": 5}}
    assert len(read_given_state(state, nouns).records["stock"]) == 100_000


BLANKS = " " * 100_000


@pytest.mark.time_limit(60)
def test_100_000_blanks_in_a_description_are_read() -> None:
    for line in (f"label{BLANKS}", f"{BLANKS}label{BLANKS}(", f"-{BLANKS}label{BLANKS}({BLANKS}){BLANKS}"):
        assert parse_argument_lines(line, {"label"}) == {}
    assert parse_argument_lines(f"{BLANKS}label{BLANKS}(text){BLANKS}:{BLANKS}a word", {"label"}) == {"label": "a word"}
    for text in (f"one of{BLANKS}", f"one of{BLANKS}[{BLANKS},{BLANKS}or{BLANKS}", f"{BLANKS}|{BLANKS}"):
        assert choices_of({"description": text}) == []
    assert choices_of({"description": f'one of{BLANKS}"a",{BLANKS}"b"'}) == ["a", "b"]


@pytest.mark.time_limit(60)
@pytest.mark.parametrize("unit", ["w", "1", "like", "e.g. ", "a, ", "or "])
def test_a_description_of_100_000_letters_is_read(unit: str) -> None:
    about = unit * (100_000 // len(unit))
    parts = {name: {**TEXT, "description": about} for name in ("task_id", "action", "status", "query")}
    tools = [tool(f"{verb}_task", parts, description=about) for verb in ("create", "get", "list", "mark")]
    assert len(domain(*tools).plans) == len(tools)


def calls_for(tools: list[Json]) -> int:
    """Return how many functions of Python run to plan the tools."""
    with counted() as work:
        domain(*tools)
    return work.calls
