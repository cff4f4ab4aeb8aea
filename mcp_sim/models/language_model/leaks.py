"""Does an answer show what the agent must not see: the model's thoughts, the prompt's marks, what is withheld?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from mcp_sim.types import Json, Record
from mcp_sim.types.json_text import canonical

MARKS = (
    "<think>",
    "</think>",
    "<predicted_observation>",
    "</predicted_observation>",
    "**Environment Observation:**",
    "**Action:**",
    "**World:**",
    "**Answer:**",
    "**Instruction:**",
    "<|im_start|>",
    "<|im_end|>",
)
"""What stands in a prompt and nowhere else."""

THOUGHT = 120
"""So many characters from the beginning of a thought are no coincidence."""

HIDDEN = "(withheld)"


def leak_problems(value: Json, reasoning: str, withheld: Sequence[str], arguments: Record) -> list[str]:
    """What is wrong with what a model said, in words that do not tell what is withheld.

    What the call's own arguments hold is nothing new to the agent.
    """
    given = canonical(arguments)
    texts = list(_texts(value))
    problems = [
        f"the answer holds {mark!r}, which no real system would show"
        for mark in MARKS
        if mark not in given and any(mark in text for text in texts)
    ]
    thought = reasoning.strip()[:THOUGHT]
    if len(thought) == THOUGHT and any(thought in text for text in texts):
        problems.append("the answer repeats the reasoning")
    known = _plain(given)
    secrets = [secret for secret in map(_plain, withheld) if secret and secret not in known]
    if secrets and any(secret in _plain(text) for text in texts for secret in secrets):
        problems.append("the answer tells what the agent has to find out by itself; leave it out")
    return problems


def without(value: Json, withheld: Sequence[str]) -> Json:
    """A value of which no text holds what is withheld."""
    secrets = [secret for secret in map(_plain, withheld) if secret]
    return _hidden(value, secrets) if secrets else value


def _hidden(value: Json, secrets: Sequence[str]) -> Json:
    match value:
        case dict():
            return {name: _hidden(part, secrets) for name, part in cast("Record", value).items()}
        case list():
            return [_hidden(part, secrets) for part in cast("list[Json]", value)]
        case str():
            return HIDDEN if any(secret in _plain(value) for secret in secrets) else value
        case _:
            return value


def _texts(value: Json) -> Iterator[str]:
    """Every text in a value, names included."""
    left: list[Any] = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            body = cast("Record", one)
            yield from body
            left.extend(body.values())
        elif isinstance(one, list):
            left.extend(cast("list[Any]", one))


def _plain(text: str) -> str:
    """The text in small letters, with single blanks."""
    return " ".join(text.casefold().split())
