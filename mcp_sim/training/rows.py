"""Rows of training data: an episode as a chat with tools, or as turns whose observations a model is to predict."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

from mcp_sim.types import Record
from mcp_sim.types.grades import Grade
from mcp_sim.types.json_values import canonical
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.trace import observation_of

Words: TypeAlias = Callable[[str], Sequence[str]]


def chat_row(
    messages: Sequence[Record],
    tools: Sequence[Record],
    grade: Grade,
    scenario: Scenario,
    steps: Sequence[Record],
    crash: str,
) -> Record:
    """Return an episode as TRL and verl read it: `messages` and `tools`, and beside them what is known about it.

    `tools` is a JSON text: schemas differ from tool to tool, and the columns of a data set have one type. The reward is
    None if mcp-sim crashed.
    """
    return {
        "messages": [*messages],
        "tools": json.dumps([*tools]),
        "reward": None if crash else grade.reward,
        "reward_guessed": grade.reward_guessed and not crash,
        "outcome": "crashed" if crash else grade.outcome,
        "verdicts": {verdict.id: verdict.outcome for verdict in grade.verdicts},
        **provenance(scenario, steps),
    }


def provenance(scenario: Scenario, steps: Sequence[Record]) -> Record:
    """Return where an episode comes from, and which faults were applied to which of its calls."""
    openings: list[Record] = [step for step in steps if step["entry"] == "reset"]
    opening = openings[-1] if openings else {}
    return {
        "scenario": scenario.name,
        "sha256": scenario.sha256,
        "seed": opening.get("seed"),
        "stream": opening.get("stream", ""),
        "intensity": opening.get("intensity", 1.0) if opening.get("faults", True) else 0.0,
        "faults": [{"call": step["index"], **fault} for step in calls_of(steps) for fault in applied(step)],
        "guessed": any(step["guessed"] for step in calls_of(steps)),
    }


def calls_of(steps: Iterable[Record]) -> list[Record]:
    return [step for step in steps if step["entry"] == "call"]


def applied(step: Record) -> list[Record]:
    return [
        {"id": decided["id"], "kind": decided["kind"]}
        for decided in step["perturbations"]
        if decided["outcome"] == "applied"
    ]


def text_of(step: Record) -> str:
    """Return the text that the agent read after a call."""
    return observation_of(step["served"] or step["truth"]["observation"]).text


def messages_of(steps: Sequence[Record], task: str, answer: str | None, names: Mapping[str, str]) -> list[Record]:
    """Return the chat that the calls of a ledger amount to. `names` are the names of the functions."""
    messages: list[Record] = [{"role": "user", "content": task}]
    for step in calls_of(steps):
        call_id, name = f"call_{step['index']}", names.get(step["tool"], step["tool"])
        function = {"name": name, "arguments": json.dumps(step["arguments"])}
        call = {"id": call_id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call_id, "name": name, "content": text_of(step)})
    return messages if answer is None else [*messages, {"role": "assistant", "content": answer}]


def turn_rows(
    steps: Sequence[Record], system: str, names: Mapping[str, str], words: Words = str.split
) -> Iterator[Record]:
    """Yield a row for each call, as AgentWorldBench has them: all turns, and the number of the one to predict."""
    calls = calls_of(steps)
    actions = [
        json.dumps({"name": names.get(step["tool"], step["tool"]), "arguments": step["arguments"]}) for step in calls
    ]
    observations = [*map(text_of, calls)]
    prompts = [f"### Turn {number}\n**Action:**\n```json\n{action}\n```" for number, action in enumerate(actions, 1)]
    responses = [f"**Environment Observation:**\n{observation}" for observation in observations]
    key = int(sha256("\0".join([*prompts, *responses]).encode()).hexdigest()[:12], 16)
    for number, step in enumerate(calls, 1):
        yield {
            "task": "mcp",
            "id": key,
            "prompt": prompts,
            "response": responses,
            "current_prompt": prompts[number - 1],
            "system_str": system,
            "turn_idx": number,
            "total_turns": len(calls),
            "mask": turn_mask(actions[number - 1], observations[number - 1], words),
            "source": step.get("source", "builtin"),
            "guessed_turn": step["guessed"],
            "faults_of_turn": applied(step),
        }


def digest(row: Record) -> str:
    """Return what is equal for rows of the same content, wherever they come from."""
    seen: Any = [row["messages"], row["tools"]] if "messages" in row else [row["id"], row["turn_idx"]]
    return sha256(canonical(seen).encode()).hexdigest()


KEEP = {"echo": 0.05, "boilerplate": 0.1, "transform": 0.5}
"""The share of turns that is kept of each class; of the others, all."""


def turn_mask(action: str, observation: str, words: Callable[[str], Sequence[str]] = str.split) -> Record:
    """Return the statistics of a turn, its class, and whether it counts for the loss: the same in every process.

    `words` splits a text. White space splits compact JSON hardly at all: use the tokeniser of the model to train.
    """
    acted, seen = set(words(action.lower())), set(words(observation.lower()))
    overlap = len(acted & seen) / len(acted) if acted else 0.0
    novelty = len(seen - acted) / len(seen) if seen else 0.0
    jaccard = len(acted & seen) / len(acted | seen) if acted | seen else 0.0
    ratio = len(observation) / len(action) if action else 0.0
    classes = {
        "echo": overlap >= 0.7 and novelty < 0.3,
        "boilerplate": overlap >= 0.5 and novelty < 0.5,
        "expansion": overlap >= 0.5 and novelty >= 0.5 and ratio > 1.5,
        "retrieval": novelty >= 0.6 and ratio > 1,
        "action": novelty >= 0.5 and ratio <= 1,
        "transform": novelty < 0.5 and ratio < 1,
    }
    category = next((name for name, applies in classes.items() if applies), "other")
    keep = KEEP.get(category, 1.0)
    draw = int(sha256(f"{action}\0{observation}".encode()).hexdigest()[:8], 16) / 2**32
    return {
        "overlap": round(overlap, 4),
        "novelty": round(novelty, 4),
        "jaccard": round(jaccard, 4),
        "length_ratio": round(ratio, 4),
        "category": category,
        "keep_ratio": keep,
        "loss": draw < keep,
    }
