"""Warnings about parts of a given state that no tool shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.declared import STRING, tool
from support.given import value

from mcp_sim.cli import main
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator

Json = Any
TASKS = [tool("list_tasks"), tool("get_task", {"task_id": STRING}), tool("add_task", {"title": STRING})]


def warnings(folder: Path, tools: list[Json], state: Json, **more: Json) -> list[str]:
    (folder / "some.yaml").write_text(json.dumps({"mcp_sim": 1, "name": "some", "tools": tools, **more}))
    world = {"state": state}
    (folder / "scenario.yaml").write_text(json.dumps({"mcp_sim": 1, "tools": "some.yaml", "world": world}, indent=1))
    return [f"{one.path}: {one.message}" for one in load(folder / "scenario.yaml").warnings]


def test_a_part_that_no_tool_uses_is_named_with_a_line_that_would_use_it(tmp_path: Path) -> None:
    state = {"tasks": [{"id": "t1", "title": "a"}], "books": [{"id": "b1", "title": "Dune"}], "vault": {"name": "x"}}
    assert warnings(tmp_path, [*TASKS, tool("ping_book", {"x": STRING}, "x")], state) == [
        "world.state.books: no tool shows this part; `ping_book: {verb: get, entity: book}` under sim: would",
        "world.state.vault: no tool shows this part",
    ]


@pytest.mark.parametrize("held", [{"balance": 1810}, {"balance": 1810.5, "frozen": False}, {"holder": "Ada"}])
def test_a_singleton_that_no_tool_shows_is_named(tmp_path: Path, held: Json) -> None:
    assert len(warnings(tmp_path, TASKS, {"tasks": [{"id": "t1", "title": "a"}], "account": held})) == 1
    assert not warnings(tmp_path, [*TASKS, tool("get_account")], {"tasks": [{"id": "t1"}], "account": held})


@pytest.mark.parametrize(
    ("tools", "state"),
    [
        ([tool("get_settings"), tool("set_theme", {"theme": STRING})], {"settings": {"theme": "dark", "font": "x"}}),
        (TASKS, {"tasks": {"columns": ["id", "title"], "rows": [["t1", "a"]], "count": 1}}),
        (TASKS, {"tasks": [{"id": "t1", "title": "a", "user_id": "u1"}], "users": [{"id": "u1"}]}),
        (TASKS, {"tasks": [{"id": "t1", "title": "a", "steps": [{"tool_id": "x", "n": 1}]}], "tools": [{"id": "x"}]}),
        (TASKS, {"tasks": [], "books": [], "task_counter": 7, "next_task_id": 8, "motto": "", "shelf": {"a": None}}),
    ],
)  # fmt: skip
def test_parts_that_are_used_or_empty_are_not_reported(tmp_path: Path, tools: list[Json], state: Json) -> None:
    assert warnings(tmp_path, tools, state) == []


@pytest.mark.parametrize("link", ["user_id", "user", "assignee"])
def test_records_of_which_only_keys_are_shown_are_named(tmp_path: Path, link: str) -> None:
    state: Json = {"tasks": [{"id": "t1", link: "u1"}], "users": [{"id": "u1", "name": "Ada"}]}
    writing = [tool("delete_user", {"user_id": STRING}, "user_id"), tool("create_user", {"name": STRING}, "name")]
    assert warnings(tmp_path, [*TASKS, *writing], state) == ["world.state.users: no tool shows this part"]
    assert not warnings(tmp_path, [*TASKS, *writing, tool("list_users")], state)


@pytest.mark.parametrize("about", ["Doctors and their rooms.", "Which doctors are there?", "The doctor on duty"])
@pytest.mark.parametrize("held", [[{"id": "d1", "room": 4}], {"d1": {"room": 4}, "d2": {"room": 5}}])
async def test_a_description_leads_to_the_line_that_shows_a_part(tmp_path: Path, about: str, held: Json) -> None:
    state, asking = {"tasks": [{"id": "t1"}], "doctors": held}, {**tool("report_7"), "description": about}
    (warning,) = warnings(tmp_path, [*TASKS, asking], state)
    line = "report_7: {verb: list, entity: doctor}"
    assert warning == f"world.state.doctors: no tool shows this part; `{line}` under sim: would"
    assert not warnings(tmp_path, [*TASKS, asking], state, sim={"report_7": {"verb": "list", "entity": "doctor"}})
    async with Simulator.load(tmp_path / "scenario.yaml").open() as world:
        assert [row["room"] for row in value(await world.call("report_7"))] == [4, 5][: len(held)]


@pytest.mark.parametrize(
    "unshown", [{"is_open": True}, {"seats": 40}, {"is_open": False}, {"fees": [3, 4]}, {"motto": "x"}]
)
@pytest.mark.parametrize("place", [(), ("site",), ("site", "hall")])
def test_values_beside_those_that_tools_show_are_named(tmp_path: Path, unshown: Json, place: tuple[str, ...]) -> None:
    state: Json = {"budget": 12.5, **unshown}
    for name in reversed(place):
        state = {name: state}
    (name,) = unshown
    path = ".".join(("world.state", *place, name))
    assert warnings(tmp_path, [*TASKS, tool("get_budget")], state) == [f"{path}: no tool shows this part"]
    assert not warnings(tmp_path, [*TASKS, tool("get_budget"), tool(f"get_{name}")], state)


@pytest.mark.parametrize(("noun", "verb"), [("concert", "who_attends"), ("lesson", "present_at"), ("ward", "on_duty")])
async def test_a_membership_without_a_tool_of_its_name_is_what_a_tool_asks_by_its_parent(
    tmp_path: Path, noun: str, verb: str
) -> None:
    records = [{"id": f"{noun[0]}1", "title": "A"}, {"id": f"{noun[0]}2", "title": "B"}]
    state = {f"{noun}s": records, "roster": {f"{noun[0]}1": ["Ada", "Bram"], f"{noun[0]}2": ["Cleo"]}}
    tools = [tool(f"list_{noun}s"), tool(verb, {f"{noun}_id": STRING}, f"{noun}_id")]
    (warning,) = [line for line in warnings(tmp_path, tools, state) if "no tool shows" in line]
    line = f"{verb}: {{verb: list, entity: roster}}"
    assert warning == f"world.state.roster: no tool shows this part; `{line}` under sim: would"
    warnings(tmp_path, tools, state, sim={verb: {"verb": "list", "entity": "roster"}})
    async with Simulator(load(tmp_path / "scenario.yaml")) as simulator, simulator.open() as world:
        answer = json.dumps(value(await world.call(verb, {f"{noun}_id": f"{noun[0]}1"})))
        assert "Ada" in answer
        assert "Bram" in answer
        assert "Cleo" not in answer


def test_nothing_is_reported_if_a_language_model_sees_the_state(tmp_path: Path) -> None:
    assert warnings(tmp_path, TASKS, {"books": [{"id": "b1", "title": "Dune"}]})
    (tmp_path / "scenario.yaml").write_text(
        json.dumps({
            "mcp_sim": 1, "tools": "some.yaml", "world": {"state": {"books": [{"id": "b1", "title": "Dune"}]}},
            "world_model": [
                {"openai": {"base_url": "http://localhost:1/v1", "model": "m"}, "tools": "get_*"},
                {"builtin": {}},
            ],
        })
    )  # fmt: skip
    assert not load(tmp_path / "scenario.yaml").warnings


def test_check_and_serve_show_the_line_of_the_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warnings(tmp_path, TASKS, {"tasks": [{"id": "t1", "title": "a"}], "books": [{"id": "b1"}]})
    path = str(tmp_path / "scenario.yaml")
    main(["check", path])
    assert f"{path}:12: warning: world.state.books: no tool shows this part" in "".join(capsys.readouterr())


def test_a_state_in_a_file_of_its_own_is_reported_there(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"books": [{"id": "b1"}]}))
    (tmp_path / "some.yaml").write_text(json.dumps({"mcp_sim": 1, "name": "some", "tools": TASKS}))
    world = {"state": "state.json"}
    (tmp_path / "scenario.yaml").write_text(json.dumps({"mcp_sim": 1, "tools": "some.yaml", "world": world}))
    (found,) = load(tmp_path / "scenario.yaml").warnings
    assert str(found).endswith("state.json:1: warning: books: no tool shows this part")


@pytest.mark.parametrize(
    ("tools", "state", "shown"),
    [
        ([tool("report_members", {"team": STRING})], {"members": {"t-1": ["ada", "bo"], "t-2": ["cy"]}}, ["ada", "bo"]),
        ([tool("show_hat_size", {}), tool("list_hats")],
         {"hats": [{"id": "h1", "name": "Fez"}, {"id": "h2", "name": "Cap"}], "my_hat": {"size": "xl"}}, ["xl"]),
    ],
)  # fmt: skip
async def test_the_line_of_a_warning_shows_the_part_when_it_is_pasted(
    tmp_path: Path, tools: list[Json], state: Json, shown: list[str]
) -> None:
    (line,) = [warning.split("`")[1] for warning in warnings(tmp_path, tools, state) if "`" in warning]
    name, _, settings = line.partition(": ")
    effect = dict(pair.split(": ") for pair in settings.strip("{}").split(", "))
    assert not warnings(tmp_path, tools, state, sim={name: effect})
    async with Simulator(load(tmp_path / "scenario.yaml")) as simulator, simulator.open() as world:
        arguments = dict.fromkeys(tools[0]["inputSchema"]["properties"], "t-1")
        answer = json.dumps(value(await world.call(name, arguments)))
        assert all(text in answer for text in shown)
