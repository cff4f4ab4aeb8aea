"""`mcp-sim trajectories`: traces as chats and as turns, without repetitions, as JSONL and Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_sim.cli import main
from mcp_sim.training import Environment, ToolCall

CALLS: list[dict[str, Any]] = [
    {"tool": "create_deal", "arguments": {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}},
    {"tool": "list_deals", "arguments": {"limit": 2}},
]


@pytest.fixture
def traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return three traces, of which the first two have the same calls of the same world."""
    calls, paths = tmp_path / "calls.jsonl", list[str]()
    calls.write_text("".join(f"{json.dumps(call)}\n" for call in CALLS))
    for number, seed in enumerate((3, 3, 4)):
        paths.append(str(tmp_path / f"{number}.jsonl"))
        assert main(["play", "flaky_crm", str(calls), "--seed", str(seed), "--trace", paths[-1]]) == 0
    capsys.readouterr()
    return paths


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_chats_are_those_of_the_episodes_and_equal_ones_are_left_out(
    traces: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trajectories", *traces, "-o", str(tmp_path / "chats.jsonl")]) == 0
    assert "2 rows of 3 worlds; 1 left out" in capsys.readouterr().err
    rows = rows_of(tmp_path / "chats.jsonl")
    environment = Environment("flaky_crm")
    environment.reset(seed=3)
    for call in CALLS:
        environment.step(ToolCall(call["tool"], call["arguments"]))
    assert rows[0] == environment.trajectory()
    assert rows[0]["faults"] == [{"call": 1, "id": "lost-deal", "kind": "lost_ack"}]


def test_turns_have_a_mask_and_the_reward_of_their_world(
    traces: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "turns.jsonl"
    assert main(["trajectories", traces[0], "--form", "turns", "--words", "space", "-o", str(path)]) == 0
    assert "2 rows of 1 world; 0 left out" in capsys.readouterr().err
    rows = rows_of(path)
    assert [(row["turn_idx"], row["total_turns"], row["task"]) for row in rows] == [(1, 2, "mcp"), (2, 2, "mcp")]
    assert rows[0]["mask"].keys() >= {"overlap", "novelty", "jaccard", "length_ratio", "category", "loss"}
    assert [row["faults_of_turn"] for row in rows] == [[{"id": "lost-deal", "kind": "lost_ack"}], []]
    assert rows[0]["reward"] is not None


@pytest.mark.parametrize("form", ["chat", "turns"])
def test_parquet_has_the_same_rows(traces: list[str], tmp_path: Path, form: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for suffix in ("jsonl", "parquet"):
        assert main(["trajectories", *traces, "--form", form, "-o", str(tmp_path / f"rows.{suffix}")]) == 0
    table = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    lines = rows_of(tmp_path / "rows.jsonl")
    assert [row["reward"] for row in table] == [row["reward"] for row in lines]
    assert [json.loads(row["faults"]) for row in table] == [row["faults"] for row in lines]
    if form == "chat":
        assert [[message["content"] for message in row["messages"]] for row in table] == [
            [message["content"] for message in row["messages"]] for row in lines
        ]


def test_an_unknown_kind_of_file_or_of_words_is_refused(traces: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trajectories", traces[0], "-o", "rows.csv"]) == 2
    assert main(["trajectories", traces[0], "--form", "turns", "--words", "letters"]) == 2
    assert main(["trajectories", traces[0], "--words", "space"]) == 2
    errors = capsys.readouterr().err
    assert "expected a file that ends in .jsonl or .parquet" in errors
    assert "expected signs, space, or the file of a tokenizer" in errors
    assert "add --form turns" in errors
