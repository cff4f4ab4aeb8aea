"""Answers under the idempotency keys that tools take as arguments.

A world keeps the newest `KEPT`, and about `MOST_BYTES` of them. They are part of its version: forks share them, a reset
forgets them, and repeating the steps of a ledger leads to the same ones. The keys of requests, by which a transport
makes a request once, are something else (`idempotency`): there a repetition is not a second call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from rpds import HashTrieMap

from mcp_sim.types import KeptAnswer, Observation, Step, ToolResult
from mcp_sim.types.calls import scope_of
from mcp_sim.types.json_values import canonical, decode
from mcp_sim.world.trace import observation_bytes, observation_of

KEPT = 1000
"""The most answers that a world keeps; then the oldest is forgotten. No agent makes as many calls between a call and
its repetition."""

MOST_BYTES = 16 * 1024 * 1024
"""The most bytes of kept answers; then the oldest is forgotten. A world in a flood of large answers must not crowd out
the others."""


@dataclass(slots=True)
class KeptAnswers:
    """The kept answers of a world by key. It is persistent: `after` returns another one that shares its structure."""

    answers: HashTrieMap[str, KeptAnswer]
    order: HashTrieMap[int, tuple[str, int]]
    """Keys and numbers of calls, by consecutive numbers from `first`, the oldest. A key that was forgotten and used
    again occurs more than once."""
    first: int = 0
    size: int = 0
    """About how many bytes the answers have."""

    def get(self, key: str, now: datetime, expires: float | None) -> KeptAnswer | None:
        """Return the answer under a key, unless it is missing or has expired (after so many seconds)."""
        known = self.answers.get(key)
        is_expired = known is not None and expires is not None and now - known.at >= timedelta(seconds=expires)
        return None if is_expired else known

    def after(self, step: Step, key: str) -> KeptAnswers:
        """Return the answers with that of a step, which says that it is kept."""
        truth = None if step.truth is None else step.truth.observation
        observation = truth if step.keeps == "truth" and truth is not None else step.served
        assert observation is not None
        scope = scope_of(step.tool, canonical(step.arguments))
        return self.added(key, KeptAnswer(scope, step.index, step.at, Observation(observation.body)))

    def added(self, key: str, answer: KeptAnswer) -> KeptAnswers:
        """Return the answers with another one; the oldest are forgotten if there are too many or too large ones."""
        answers, first, size = self.answers, self.first, self.size + _size(answer)
        if key in answers:
            size -= _size(answers[key])
        answers = answers.insert(key, answer)
        order = self.order.insert(first + len(self.order), (key, answer.index))
        while len(order) > KEPT or (size > MOST_BYTES and len(order) > 1):
            oldest, index = order[first]
            order, first = order.remove(first), first + 1
            if oldest in answers and answers[oldest].index == index:
                size -= _size(answers[oldest])
                answers = answers.remove(oldest)
        return KeptAnswers(answers, order, first, size)

    def to_json(self) -> list[Any]:
        """Return the answers, oldest first."""
        order = (self.order[self.first + place] for place in range(len(self.order)))
        known = ((key, self.answers.get(key), index) for key, index in order)
        return [
            [key, answer.scope, index, answer.at.isoformat(), decode(observation_bytes(answer.observation))]
            for key, answer, index in known
            if answer is not None and answer.index == index
        ]

    @classmethod
    def from_json(cls, rows: Sequence[Sequence[Any]]) -> KeptAnswers:
        """Return what `to_json` wrote."""
        kept = NO_ANSWERS
        for key, scope, index, at_, observation in rows:
            kept = kept.added(key, KeptAnswer(scope, index, datetime.fromisoformat(at_), observation_of(observation)))
        return kept


NO_ANSWERS = KeptAnswers(HashTrieMap(), HashTrieMap())


def _size(answer: KeptAnswer) -> int:
    body = answer.observation.body
    return len(body.encoded) if isinstance(body, ToolResult) else 0
