"""Rows of training data: what they hold, their masks, and that equal episodes are equal rows."""

from __future__ import annotations

import json

import pytest

from mcp_sim.training import Answer, Environment, ToolCall
from mcp_sim.training.rows import digest, messages_of, turn_mask, turn_rows

CALLS = [ToolCall("list_deals", {"limit": 2}), ToolCall("get_contact", {"contact_id": "con_00001"})]


def episode(seed: int) -> Environment:
    environment = Environment("flaky_crm")
    environment.reset(seed=seed)
    for call in CALLS:
        environment.step(call)
    environment.step(Answer("Done."))
    return environment


def test_the_chat_of_a_ledger_is_that_of_its_episode() -> None:
    environment = episode(7)
    chat = messages_of(environment.world.ledger.steps, environment.task, "Done.", {})
    assert chat == environment.trajectory()["messages"]


def test_equal_episodes_are_equal_rows_and_others_differ() -> None:
    rows = [episode(seed).trajectory() for seed in (7, 7, 8)]
    first, again, other = map(digest, rows)
    assert first == again != other


def test_turns_have_all_prompts_and_the_number_of_the_one_to_predict() -> None:
    environment = episode(7)
    rows = list(turn_rows(environment.world.ledger.steps, "You are a server.", {}))
    assert [row["turn_idx"] for row in rows] == [1, 2]
    assert {row["total_turns"] for row in rows} == {2}
    assert rows[0]["prompt"] == rows[1]["prompt"]
    assert rows[1]["current_prompt"] == rows[1]["prompt"][1]
    action = json.loads(rows[0]["current_prompt"].split("```json\n")[1].removesuffix("\n```"))
    assert action == {"name": "list_deals", "arguments": {"limit": 2}}
    assert environment.trajectory()["messages"][2]["content"] in rows[0]["response"][0]


@pytest.mark.parametrize(
    ("action", "observation", "category"),
    [
        ("set the lamp to red", "set the lamp to red", "echo"),
        ("set the lamp to red", "the lamp is set now to blue", "boilerplate"),
        ("list the files", "the files are " + " ".join(f"list{number}.txt" for number in range(40)), "expansion"),
        ("find ada", " ".join(f"row {number} with words" for number in range(9)), "retrieval"),
        ("click the button with a long description of it", "ok done", "action"),
        ("a b c d e f g h i j", "a b x", "transform"),
    ],
)
def test_masks_have_the_class_of_their_statistics_and_are_the_same_each_time(
    action: str, observation: str, category: str
) -> None:
    mask = turn_mask(action, observation)
    assert mask["category"] == category
    assert mask == turn_mask(action, observation)


def test_of_echoes_about_one_in_twenty_counts() -> None:
    kept = sum(turn_mask(f"set {number} on", f"set {number} on")["loss"] for number in range(2000))
    assert 60 <= kept <= 140
