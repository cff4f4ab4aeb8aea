"""A small real model echoes, repeats itself and runs on. Nothing of that reaches the agent, and the rest is its own."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.engine import OFF, served_texts, texts_in, with_model

from mcp_sim import Simulator
from mcp_sim.models.language_model.reply import parse_json
from mcp_sim.types import Observation
from mcp_sim.types.errors import Crash, Rejected
from mcp_sim.types.scenario import Scenario

Json = Any
TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "integer"}
LEAST_OWN = 0.6
CALLS = int(os.environ.get("MCP_SIM_ENGINE_CALLS", "30"))
"""30 calls in CI, 300 by hand."""
WORLDS = 3
"""Worlds per server, at the same time."""
LIMIT = 600 if CALLS <= 30 else 7_200
"""Seconds for all calls."""
SMALL: Json = {**OFF, "max_tokens": 96, "max_text": 60, "max_items": 2, "max_attempts": 2, "transcript": 2_500}
ARTEFACT = re.compile(
    r"<\|\w+\|>|</?think>|</?predicted_observation>|```|^### (?:Turn|State)|That answer cannot be used"
    r"|\*\*(?:Action|World|Answer|Instruction|Problems|Records|Environment Observation):\*\*",
    re.MULTILINE,
)
"""Marks of the chat, headings of the prompt, our own words about a rejected answer."""
LONG = 40
"""The length from which on a line of the prompt in an answer is no accident."""


def tool(name: str, description: str, arguments: str, **shown: Json) -> Json:
    """Return a tool with texts as arguments, and an outputSchema if its answers have one."""
    names = arguments.split()
    declared: Json = {"name": name, "description": description, "annotations": {"readOnlyHint": True}}
    declared["inputSchema"] = {"type": "object", "properties": dict.fromkeys(names, TEXT), "required": names}
    if shown:
        declared["outputSchema"] = {"type": "object", "properties": shown, "required": [*shown]}
    return declared


SERVERS: dict[str, list[Json]] = {
    "weather": [
        tool("get_forecast", "The forecast for a city.", "city", city=TEXT, summary=TEXT, high_celsius=NUMBER),
        tool("describe_climate", "Describe the climate of a city in one sentence.", "city"),
    ],
    "museum": [
        tool("get_exhibit", "An exhibit of the museum.", "exhibit_id", id=TEXT, title=TEXT, year=NUMBER, story=TEXT),
        tool("explain_period", "Explain a period of art in one sentence.", "period"),
    ],
}
ASKED = {
    "city": ["Lisbon", "Oslo", "Nairobi", "Quito", "Osaka"],
    "exhibit_id": ["exhibit-12", "exhibit-31", "exhibit-7", "exhibit-40"],
    "period": ["Baroque", "Impressionism", "Bauhaus"],
}


@dataclass
class Served:
    """What became of the calls."""

    calls: int = 0
    succeeded: int = 0
    attempts: int = 0
    crashes: list[str] = field(default_factory=list[str])
    artefacts: list[str] = field(default_factory=list[str])
    untrue: list[str] = field(default_factory=list[str])
    """Texts that the ledger does not say to be corrected, and that are not in the reply."""
    texts: list[str] = field(default_factory=list[str])
    letters: Counter[bool] = field(default_factory=Counter[bool])

    @property
    def own(self) -> float:
        return self.letters[True] / max(1, self.letters.total())

    def shown(self) -> str:
        return (
            f"small model: {self.calls} calls, {self.succeeded} succeeded, {self.attempts} attempts, "
            f"{len(self.crashes)} crashes, {len(self.artefacts)} artefacts, {len(self.untrue)} untrue, "
            f"{100 * self.own:.1f} % of the text own"
        )


def scenario_of(folder: Path, name: str, url: str) -> Scenario:
    """Return an open world of one server. What the model is asked is kept in a folder."""
    (folder / f"{name}.json").write_text(json.dumps({"tools": SERVERS[name]}), encoding="utf-8")
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "tools": f"{name}.json", "world": {"open": True}}), encoding="utf-8")
    return with_model(str(path), url, **SMALL, cache=str(folder / "asked"))


async def drive(scenario: Scenario, name: str, seed: int, calls: int, served: Served) -> None:
    """Make calls in one world, and note what was served."""
    async with Simulator(scenario, ledger_keep=calls).open(seed=seed) as world:
        for at in range(calls):
            asked = SERVERS[name][at % len(SERVERS[name])]
            arguments = {key: ASKED[key][(at + seed) % len(ASKED[key])] for key in asked["inputSchema"]["required"]}
            served.calls += 1
            try:
                observation = await world.call(asked["name"], arguments)
            except Crash as crash:
                served.crashes.append(str(crash))
                continue
            note(served, observation, world.ledger.newest["measured"])


def note(served: Served, observation: Observation, measured: Json) -> None:
    served.succeeded += observation.ok
    served.attempts += measured.get("attempts", 0)
    if not measured.get("asked"):
        return
    raw = measured["reply"]["raw"]
    for path, text in served_texts(observation):
        is_own = text in raw or text in parsed_texts(raw)
        is_repaired = any(
            path == place or path.startswith(f"{place}.") or not place for place in measured.get("repaired", ())
        )
        served.letters[is_own] += len(text)
        served.texts.append(text)
        served.artefacts += [text] if ARTEFACT.search(text) else []
        served.untrue += [] if is_own or is_repaired else [f"{path}: {text}"]


def parsed_texts(raw: str) -> set[str]:
    """Return the texts in the JSON of a reply."""
    try:
        return {text for _, text in texts_in(parse_json(raw, raw))}
    except Rejected:
        return set()


def echoes(folder: Path, served: Served) -> Iterator[str]:
    """Yield the served texts that have a line of what the model was asked."""
    asked = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("asked/*/*.json")]
    sent = {
        message["content"] for one in asked for message in one["question"]["messages"] if message["role"] != "assistant"
    }
    lines = {line.strip() for text in sent for line in text.splitlines() if len(line.strip()) >= LONG}
    assert lines
    return (text for text in served.texts if any(line in text for line in lines))


@pytest.mark.time_limit(LIMIT)
async def test_a_small_model_answers_in_its_own_words_without_traces_of_the_prompt(
    small_engine: str, tmp_path: Path
) -> None:
    served = Served()
    async with anyio.create_task_group() as tasks:
        for name in SERVERS:
            scenario = scenario_of(tmp_path, name, small_engine)
            for seed in range(WORLDS):
                tasks.start_soon(drive, scenario, name, seed, CALLS // (WORLDS * len(SERVERS)), served)
    sys.stderr.write(f"\n{served.shown()}\n")
    assert not served.crashes
    assert not served.artefacts
    assert not [*echoes(tmp_path, served)]
    assert not served.untrue
    assert served.own >= LEAST_OWN
