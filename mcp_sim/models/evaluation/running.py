"""How is a data set worked off: each sample foretold and judged, so many at a time, none twice?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias

import anyio

from mcp_sim.models.evaluation.asking import JUDGEMENT, judgement, judging_messages, predicted, prediction_messages
from mcp_sim.models.evaluation.results import Results
from mcp_sim.models.evaluation.samples import Sample
from mcp_sim.models.evaluation.scores import Outcome
from mcp_sim.models.language_model.answer import Reply
from mcp_sim.models.language_model.endpoint import Ask, Request
from mcp_sim.types import Record
from mcp_sim.types.errors import Rejected, Unanswered

MOST_JUDGEMENTS = 3
"""So often a judge is asked whose answer has no scores."""
MOST_SILENT = 20
"""After so many requests in a row without an answer, nobody is there."""

Told: TypeAlias = Callable[[int, str], None]
"""Hears how many samples are done, and which was the last."""


@dataclass(slots=True)
class Evaluation:
    """A run over samples. Without `infer` nothing is foretold, without `judge` nothing judged that is not yet."""

    samples: Sequence[Sample]
    predictions: Results
    judgements: Results | None
    infer: Ask | None
    judge: Ask | None
    told: Told
    _done: int = 0
    _silent: int = 0
    _ended: list[Unanswered] = field(default_factory=list[Unanswered])

    @property
    def lacks_predictions(self) -> bool:
        """Is there a sample that is not foretold yet?"""
        return any(self.predictions.done(sample.key, sample.digest) is None for sample in self.samples)

    @property
    def lacks_judgements(self) -> bool:
        """Is there a sample that is not judged yet?"""
        return any(outcome.scores is None for outcome in self.outcomes())

    async def run(self, at_once: int) -> None:
        """Work off what is not done yet. Raises Unanswered where nobody answers any more."""
        waiting = iter(self.samples)
        async with anyio.create_task_group() as workers:
            for _ in range(min(at_once, len(self.samples))):
                workers.start_soon(self._work, waiting)
        if self._ended:
            raise self._ended[0]

    def outcomes(self) -> Iterator[Outcome]:
        """What became of each sample."""
        for sample in self.samples:
            told = self.predictions.lines.get(sample.key, {})
            prediction = self.predictions.done(sample.key, sample.digest)
            if prediction is None:
                failed = "prediction" if "failed" in told and told.get("digest") == sample.digest else ""
                yield Outcome(sample.domain, None, failed, str(told.get("failed", "")) if failed else "")
            else:
                yield self._judged(sample, prediction["text"])

    def _judged(self, sample: Sample, text: str) -> Outcome:
        if self.judgements is None:
            return Outcome(sample.domain)
        digest = _digest(sample, text)
        found = self.judgements.done(sample.key, digest)
        if found is not None:
            return Outcome(sample.domain, found["scores"])
        told = self.judgements.lines.get(sample.key, {})
        failed = "failed" in told and told.get("digest") == digest
        return Outcome(sample.domain, None, "judging" if failed else "", str(told["failed"]) if failed else "")

    async def _work(self, waiting: Iterator[Sample]) -> None:
        for sample in waiting:
            if self._ended:
                return
            text = await self._prediction(sample)
            if text is not None:
                await self._judgement(sample, text)
            self._done += 1
            self.told(self._done, sample.key)

    async def _prediction(self, sample: Sample) -> str | None:
        """The text that the model foretells, or foretold; None where it fails."""
        kept = self.predictions.done(sample.key, sample.digest)
        if kept is not None:
            return kept["text"]
        if self.infer is None:
            return None
        result = await self._predicted(self.infer, Request(prediction_messages(sample), None, sample.seed, sample.key))
        return self.predictions.keep(sample.key, sample.digest, result).get("text")

    async def _predicted(self, ask: Ask, request: Request) -> Record:
        try:
            reply = await self._answer(ask, request)
            return {"text": predicted(reply), **_said(reply)}
        except Rejected as error:
            return {"failed": str(error), "raw": error.raw}
        except Unanswered as error:
            return {"failed": str(error)}

    async def _judgement(self, sample: Sample, text: str) -> None:
        digest = _digest(sample, text)
        if self.judge is None or self.judgements is None or self.judgements.done(sample.key, digest) is not None:
            return
        result: Record = {}
        for attempt in range(MOST_JUDGEMENTS):
            request = Request(judging_messages(sample, text), JUDGEMENT, sample.seed + attempt, sample.key)
            result = await self._judgement_of(self.judge, request)
            if not {"failed", "raw"} <= result.keys():
                break
        self.judgements.keep(sample.key, digest, result)

    async def _judgement_of(self, ask: Ask, request: Request) -> Record:
        try:
            reply = await self._answer(ask, request)
            return {**judgement(reply), **_said(reply)}
        except Rejected as error:
            return {"failed": str(error), "raw": error.raw}
        except Unanswered as error:
            return {"failed": str(error)}

    async def _answer(self, ask: Ask, request: Request) -> Reply:
        """The answer to one request. Where many in a row have none, the run ends."""
        try:
            reply = await ask(request)
        except Unanswered as error:
            self._silent += 1
            if self._silent >= MOST_SILENT:
                self._ended.append(error)
            raise
        self._silent = 0
        return reply


def _said(reply: Reply) -> Record:
    return {"raw": reply.content, "usage": reply.usage, **({"reasoning": reply.reasoning} if reply.reasoning else {})}


def _digest(sample: Sample, text: str) -> str:
    """Which prediction of which sample a judgement is about."""
    return sha256(f"{sample.digest} {text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
