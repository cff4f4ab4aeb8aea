"""Episodes in environments: turns, limits, messages that cannot be parsed, crashes, forks, threads."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from support.notes import guessing_tools

from mcp_sim import Simulator
from mcp_sim.training import Answer, Curriculum, Environment, EpisodeOver, NotBegun, ToolCall, tasks
from mcp_sim.types.errors import UsageError

CREATE = ToolCall(
    "create_deal", {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}
)
LIST = ToolCall("list_deals", {"contact_id": "con_00001"})


@pytest.fixture(scope="module")
def crm() -> Environment:
    return Environment("flaky_crm")


def test_an_episode_goes_from_the_task_over_calls_to_an_answer_and_a_reward(crm: Environment) -> None:
    with pytest.raises(NotBegun):
        Environment("flaky_crm").step(LIST)
    assert crm.reset(seed=7).startswith("Create the deal")
    lost = crm.step(CREATE)
    assert (lost.messages[0].is_error, lost.reward, lost.done) == (True, None, False)
    deals = json.loads(crm.step(LIST).messages[0].text)["deals"]
    [deal] = [deal["id"] for deal in deals if deal["title"] == "Spring order"]
    for _ in range(5):
        moved = crm.step(ToolCall("update_deal", {"deal_id": deal, "stage": "proposal"})).messages[0]
        if not moved.is_error:
            break
    over = crm.step(Answer(f"Done: {deal}."))
    assert (over.terminated, over.truncated, over.reward) == (True, False, crm.grade().reward)
    assert over.reward == 1.0
    with pytest.raises(EpisodeOver):
        crm.step(LIST)
    row = crm.trajectory()
    assert [message["role"] for message in row["messages"][:3]] == ["user", "assistant", "tool"]
    assert row["messages"][-1] == {"role": "assistant", "content": f"Done: {deal}."}
    assert row["faults"][0] == {"call": 1, "id": "lost-deal", "kind": "lost_ack"}
    assert {tool["function"]["name"] for tool in json.loads(row["tools"])} >= {"create_deal", "list_deals"}
    crm.close()
    with pytest.raises(NotBegun):
        crm.grade()


@pytest.mark.parametrize(("tool", "guessed"), [("create_note", False), ("frobnicate", True)])
def test_a_reward_that_rests_on_a_guess_says_so(tmp_path: Path, tool: str, *, guessed: bool) -> None:
    guessing_tools(tmp_path / "notes.json")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(f"mcp_sim: 1\nname: notes\ntools: ./notes.json\nexpect: [called: {tool}]\n", encoding="utf-8")
    environment = Environment(scenario)
    environment.reset()
    environment.step(ToolCall(tool, {"title": "x"}))
    over = environment.step(Answer("Done."))
    assert (over.reward, over.info) == (1.0, {"outcome": "passed", "reward_guessed": guessed})
    assert environment.trajectory()["reward_guessed"] is guessed


UNPARSEABLE: list[dict[str, Any]] = [
    {"role": "assistant", "content": [{"type": "text", "text": [["deep"]]}]},
    {"role": "assistant", "tool_calls": [{"function": {"name": "list_deals", "arguments": "\ud800"}}]},
    {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "list_deals", "arguments": "{oops"}}]},
    {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "list_deals", "arguments": "[1]"}}]},
    {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "list_deals", "arguments": 7}}]},
    {"role": "assistant", "tool_calls": [{"id": "a", "function": {}}]},
    {"role": "assistant", "tool_calls": ["list_deals"]},
    {"role": "assistant", "tool_calls": "list_deals"},
    {"role": "assistant", "content": 7},
    {"role": "assistant", "content": [{"type": "tool_use", "name": 7, "input": {}}]},
    {"role": "assistant", "tool_calls": [{"function": {"name": "list_deals", "arguments": '{"a": ' + "[" * 5000}}]},
]


@pytest.mark.parametrize("message", UNPARSEABLE)
def test_a_message_that_cannot_be_parsed_is_an_observation(crm: Environment, message: dict[str, Any]) -> None:
    crm.reset()
    seen = crm.step(message)
    assert not seen.done
    assert [(part.is_error, part.is_parsed, part.text[:6]) for part in seen.messages] == [(True, False, "Error:")]
    assert crm.malformed == 1
    assert crm.world.version.index == 0
    assert not crm.step(LIST).messages[0].is_error


MISUSES: dict[str, Callable[[Environment], object]] = {
    "an action is .* got 'hello'": lambda crm: crm.step(cast("Any", "hello")),
    "an action is .* got 42": lambda crm: crm.step(cast("Any", 42)),
    "an action is .* got ToolCall": lambda crm: crm.step(ToolCall(cast("Any", None), {})),
    "the arguments of list_deals are not JSON": lambda crm: crm.step(ToolCall("list_deals", {"limit": {1}})),
    "an answer is a text": lambda crm: crm.step(Answer(cast("Any", ["Done."]))),
    "the role 'assistant', got one of 'user'": lambda crm: crm.step({"role": "user", "content": "Done."}),
    "form: expected mcp, openai, anthropic, got 'openi'": lambda crm: crm.tools(cast("Any", "openi")),
    "seed: expected a whole number": lambda crm: crm.reset(seed=cast("Any", "a")),
    "intensity must be a number from 0 to 1, got 'x'": lambda crm: crm.reset(intensity=cast("Any", "x")),
    "intensity must be a number from 0 to 1, got nan": lambda crm: crm.reset(intensity=float("nan")),
    "max_calls: expected a number above 0": lambda _: Environment("flaky_crm", max_calls=0),
}


@pytest.mark.parametrize("message", MISUSES)
def test_misuse_is_a_usage_error_and_no_turn(crm: Environment, message: str) -> None:
    crm.reset()
    with pytest.raises(UsageError, match=message):
        MISUSES[message](crm)
    assert (crm.done, len(crm.trajectory()["messages"])) == (False, 1)


def test_calls_are_read_from_messages_of_openai_and_anthropic(crm: Environment) -> None:
    openai = {"tool_calls": [{"id": "x", "function": {"name": "list_deals", "arguments": '{"limit": 1}'}}]}
    anthropic = {"content": [{"type": "tool_use", "id": "x", "name": "list_deals", "input": {"limit": 1}}]}
    texts = list[str]()
    for message in (openai, anthropic):
        crm.reset()
        [seen] = crm.step(message).messages
        assert seen.call_id == "x"
        texts.append(seen.text)
    assert texts[0] == texts[1]
    assert crm.step({"role": "assistant", "content": [{"type": "text", "text": "Done."}]}).terminated
    assert crm.answer == "Done."


def test_limits_truncate_an_episode_and_waiting_lets_time_pass() -> None:
    few = Environment("calm_crm", max_calls=2)
    few.reset()
    over = few.step([LIST, LIST, LIST])
    assert (len(over.messages), over.terminated, over.truncated) == (2, False, True)
    assert over.reward is not None
    brief = Environment("calm_crm", max_seconds=60, wait_tool=True)
    brief.reset()
    assert "wait" in {tool["name"] for tool in brief.tools("anthropic")}
    assert brief.step(ToolCall("wait", {"seconds": -1})).messages[0].is_error
    assert not brief.step(ToolCall("wait", {"seconds": 30})).done
    assert brief.step(ToolCall("wait", {"seconds": 31})).truncated


SHELF = """mcp_sim: 1
name: shelf
program: shelf.py
tools:
  - {name: count_books, description: Count the books., inputSchema: {type: object}}
"""

PROGRAM = """from mcp_sim.programs import tool

tables = {"book": {"key": "id", "ids": "b1", "fields": {"title": ""}}}


@tool(reads=True)
def count_books(world):
    return 1 // 0
"""


def test_a_crash_ends_the_episode_without_a_reward_and_is_counted(tmp_path: Path) -> None:
    (tmp_path / "shelf.yaml").write_text(SHELF)
    (tmp_path / "shelf.py").write_text(PROGRAM)
    (tmp_path / "books.yaml").write_text("mcp_sim: 1\nname: books\ntools: shelf.yaml\ntask: Count the books.\n")
    environment = Environment(tmp_path / "books.yaml", trust=True)
    for crashes in (1, 2):
        environment.reset()
        over = environment.step([ToolCall("count_books"), ToolCall("count_books")])
        assert (over.terminated, over.reward, len(over.messages)) == (True, None, 1)
        assert "ZeroDivisionError" in over.info["crash"]
        assert environment.trajectory()["reward"] is None
        assert environment.crashes == crashes


def test_a_fork_continues_the_same_episode_on_its_own(crm: Environment) -> None:
    crm.reset(seed=3)
    crm.step(CREATE)
    twin = crm.fork()
    assert twin.step(LIST).messages[0].text == crm.step(LIST).messages[0].text
    twin.step(Answer("Done."))
    assert (twin.done, crm.done) == (True, False)
    assert len(twin.trajectory()["messages"]) == len(crm.trajectory()["messages"]) + 1


async def test_turns_in_a_loop_see_what_turns_without_one_see(crm: Environment) -> None:
    seen = list[list[str]]()
    for asynchronous in (False, True):
        crm.reset(seed=5)
        results = [await crm.astep(action) if asynchronous else crm.step(action) for action in (CREATE, [LIST, LIST])]
        seen.append([message.text for result in results for message in result.messages])
    assert seen[0] == seen[1]


def test_environments_in_many_threads_leave_the_ledgers_of_the_same_calls_alone() -> None:
    def episode(number: int) -> list[Any]:
        draws, environment = Random(number), Environment("flaky_crm", max_calls=None)
        environment.reset(seed=number % 4, stream=str(number))
        for _ in range(10):
            environment.step([draws.choice((CREATE, LIST)) for _ in range(3)])
        return environment.world.ledger.steps

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(episode, range(24)))
    assert together == [episode(number) for number in range(24)]


def test_an_episode_has_an_intensity_and_faults_of_its_own(crm: Environment) -> None:
    crm.reset(faults=False)
    assert not crm.step(CREATE).messages[0].is_error
    crm.reset(faults=[{"error": {"status": 500}, "tools": "list_*"}])
    assert crm.step(LIST).messages[0].is_error
    crm.reset(intensity=0.5)
    assert crm.trajectory()["intensity"] == 0.5
    with pytest.raises(UsageError):
        crm.reset(intensity=-1)


def test_tools_of_several_servers_have_names_that_models_may_call() -> None:
    environment = Environment("flaky_calendar_mail")
    environment.reset()
    names = [tool["function"]["name"] for tool in environment.tools()]
    assert len(set(names)) == len(names)
    assert all("/" not in name for name in names)
    scenario = Simulator.load("flaky_calendar_mail").scenario
    by_name = {tool["name"]: tool for tool in environment.tools("mcp")}
    reading = next(tool for tool in scenario.domain.tools.values() if tool.name.startswith("list"))
    assert by_name[reading.id.replace("/", "__")]["inputSchema"] == reading.input_schema
    assert environment.step(ToolCall(reading.id.replace("/", "__"), {})).messages[0].is_parsed
    assert environment.world.ledger.newest["step"]["tool"] == reading.id


def test_tasks_have_keys_that_change_with_the_scenario_only(tmp_path: Path) -> None:
    first, again = ([task.key for task in tasks("flaky_crm", range(3), (0.0, None))] for _ in range(2))
    assert first == again
    assert len(set(first)) == 6
    text = "mcp_sim: 1\nname: small\ntools: crm\ntask: {}\n"
    path = tmp_path / "small.yaml"
    keys = list[str]()
    for task in ("A", "B"):
        path.write_text(text.format(task))
        keys.append(next(tasks(path, [0])).key)
    assert keys[0] != keys[1]


def test_a_curriculum_follows_the_success_of_the_agent() -> None:
    curriculum = Curriculum((0.0, 0.5, 1.0), window=10)
    for _ in range(10):
        curriculum.note(success=True)
    assert curriculum.intensity == 0.5
    for _ in range(10):
        curriculum.note(success=False)
    assert curriculum.intensity == 0.0


def test_worlds_of_many_seeds_begin_in_many_threads() -> None:
    simulator = Simulator.load("calm_crm")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert len([*pool.map(simulator.base, range(500))]) == 500
    finally:
        sys.setswitchinterval(interval)
