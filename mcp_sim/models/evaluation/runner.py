"""Predict and judge the samples of a data set, several at a time and none twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Self, TypeAlias

import anyio

from mcp_sim.models.evaluation import messages
from mcp_sim.models.evaluation.messages import Sample
from mcp_sim.models.language_model.endpoint import Ask, Request
from mcp_sim.models.language_model.prompt import Message
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.types import Record, as_object, encode, frozen
from mcp_sim.types.errors import Rejected, Unanswered, UsageError


@dataclass(slots=True)
class Results:
    """A JSONL file of results; the newest line of each sample counts. Failures are lines too, and are tried again."""

    path: Path
    by: str
    """The model that the results come from."""
    lines: dict[str, Record] = field(default_factory=dict[str, Record])

    @classmethod
    def open(cls, path: Path, by: str) -> Self:
        """Open the file with the results of one model. Raises `UsageError` if it has results of another one."""
        lines = _read(path)
        others = {str(line.get("by")) for line in lines.values()} - {by}
        if others:
            raise UsageError(f"{path} holds results of {', '.join(sorted(others))}; choose another --output")
        return cls(path, by, lines)

    def done(self, sample: str, digest: str) -> Record | None:
        """Return the result of a sample; None if it is missing, failed, or has another digest."""
        line = self.lines.get(sample)
        return line if line is not None and line.get("digest") == digest and "failed" not in line else None

    def keep(self, sample: str, digest: str, result: Record) -> Record:
        line = {"sample": sample, "digest": digest, "by": self.by, **result}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as stream:
            stream.write(encode(line) + b"\n")
        self.lines[sample] = line
        return line


def _read(path: Path) -> dict[str, Record]:
    """Return the newest line of each sample; an incomplete last line is removed."""
    try:
        data = path.read_bytes() if path.exists() else b""
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with path.open("r+b") as stream:
                stream.truncate(whole)
        lines = [as_object(json.loads(line)) for line in data[:whole].splitlines() if line.strip()]
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: not a file of results: {error}") from None
    return {str(line.get("sample")): line for line in lines}


Scores = Mapping[str, int]
"""A judge's scores of one prediction, by dimension."""


@frozen
class Outcome:
    """The result of one sample: its scores, or what failed ('': not tried yet)."""

    domain: str
    scores: Scores | None = None
    failed: str = ""
    reason: str = ""


@frozen
class ScoreSummary:
    """The mean scores of some samples, from 0 to 100; None if none was judged."""

    samples: int
    scored: int
    unpredicted: int
    unjudged: int
    dimensions: Mapping[str, float | None]
    total: float | None

    def to_json(self) -> Record:
        """Return the form of the report."""
        return {
            "samples": self.samples,
            "scored": self.scored,
            "failed": {"prediction": self.unpredicted, "judging": self.unjudged},
            "scores": {name: _rounded(value) for name, value in self.dimensions.items()},
            "total": _rounded(self.total),
        }


def summarize_by_domain(outcomes: Sequence[Outcome]) -> dict[str, ScoreSummary]:
    domains = sorted({outcome.domain for outcome in outcomes})
    return {name: summarize([outcome for outcome in outcomes if outcome.domain == name]) for name in domains}


def summarize(outcomes: Sequence[Outcome]) -> ScoreSummary:
    """Return the means over the scored samples. A sample's total is the mean of its five scores."""
    judged = [outcome.scores for outcome in outcomes if outcome.scores is not None]
    return ScoreSummary(
        samples=len(outcomes),
        scored=len(judged),
        unpredicted=sum(outcome.failed == "prediction" for outcome in outcomes),
        unjudged=sum(outcome.failed == "judging" for outcome in outcomes),
        dimensions={name: _mean(scores[name] for scores in judged) for name in messages.DIMENSIONS},
        total=_mean(fmean(scores.values()) for scores in judged),
    )


def _mean(values: Iterable[float]) -> float | None:
    """Return the mean, scaled so that a score of 1 is 0 and 5 is 100."""
    scores = [*values]
    return (fmean(scores) - 1) / 4 * 100 if scores else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


MAX_JUDGE_ATTEMPTS = 3
"""How often a judge is asked whose reply lacks scores. Each is a whole request."""
MAX_UNANSWERED = 20
"""Number of consecutive requests without an answer after which the run ends. Then the endpoint is gone, and the rest
would be reported as wrong answers."""

OnProgress: TypeAlias = Callable[[int, str], None]
"""Called with the number of finished samples, and the key of the last one."""


@dataclass(slots=True)
class Evaluation:
    """A run over samples. Without `infer` no further sample is predicted, without `judge` none is judged."""

    samples: Sequence[Sample]
    predictions: Results
    judgements: Results | None
    infer: Ask | None
    judge: Ask | None
    on_progress: OnProgress
    judge_prompts: Callable[[Sample, str], list[Message]] = messages.judging_messages
    """Returns the prompt for judging the prediction of a sample."""
    _done: int = 0
    _unanswered: int = 0
    _failures: list[Unanswered] = field(default_factory=list[Unanswered])

    @property
    def lacks_predictions(self) -> bool:
        """Whether there is a sample that is not predicted yet."""
        return any(self.predictions.done(sample.key, sample.digest) is None for sample in self.samples)

    @property
    def lacks_judgements(self) -> bool:
        """Whether there is a sample that is not judged yet."""
        return any(outcome.scores is None for outcome in self.outcomes())

    async def run(self, at_once: int) -> None:
        """Process the samples that are not done yet. Raises `Unanswered` if an endpoint no longer answers."""
        waiting = iter(self.samples)
        async with anyio.create_task_group() as workers:
            for _ in range(min(at_once, len(self.samples))):
                workers.start_soon(self._work, waiting)
        if self._failures:
            raise self._failures[0]

    def outcomes(self) -> Iterator[Outcome]:
        for sample in self.samples:
            line = self.predictions.lines.get(sample.key, {})
            prediction = self.predictions.done(sample.key, sample.digest)
            if prediction is None:
                failed = "prediction" if "failed" in line and line.get("digest") == sample.digest else ""
                yield Outcome(sample.domain, None, failed, str(line.get("failed", "")) if failed else "")
            else:
                yield self._judged(sample, prediction["text"])

    def _judged(self, sample: Sample, text: str) -> Outcome:
        if self.judgements is None:
            return Outcome(sample.domain)
        digest = _digest(sample, text)
        judgement = self.judgements.done(sample.key, digest)
        if judgement is not None:
            return Outcome(sample.domain, judgement["scores"])
        line = self.judgements.lines.get(sample.key, {})
        failed = "failed" in line and line.get("digest") == digest
        return Outcome(sample.domain, None, "judging" if failed else "", str(line["failed"]) if failed else "")

    async def _work(self, waiting: Iterator[Sample]) -> None:
        for sample in waiting:
            if self._failures:
                return
            text = await self._prediction(sample)
            if text is not None:
                await self._judgement(sample, text)
            self._done += 1
            self.on_progress(self._done, sample.key)

    async def _prediction(self, sample: Sample) -> str | None:
        """Return the predicted text, new or stored; None if the prediction fails."""
        kept = self.predictions.done(sample.key, sample.digest)
        if kept is not None:
            return kept["text"]
        if self.infer is None:
            return None
        request = Request(messages.prediction_messages(sample), None, sample.seed, sample.key)
        result = await self._read(self.infer, request, lambda reply: {"text": messages.read_prediction(reply)})
        return self.predictions.keep(sample.key, sample.digest, result).get("text")

    async def _read(self, ask: Ask, request: Request, read: Callable[[Reply], Record]) -> Record:
        """Ask, and return what is read from the reply, or why there is nothing to read.

        The run ends after many consecutive requests without an answer.
        """
        try:
            reply = await ask(request)
            self._unanswered = 0
            reasoning = {"reasoning": reply.reasoning} if reply.reasoning else {}
            return {**read(reply), "raw": reply.content, "usage": reply.usage, **reasoning}
        except Rejected as error:
            return {"failed": str(error), "raw": error.raw}
        except Unanswered as error:
            self._unanswered += 1
            if self._unanswered >= MAX_UNANSWERED:
                self._failures.append(error)
            return {"failed": str(error)}

    async def _judgement(self, sample: Sample, text: str) -> None:
        digest = _digest(sample, text)
        if self.judge is None or self.judgements is None or self.judgements.done(sample.key, digest) is not None:
            return
        result: Record = {}
        for attempt in range(MAX_JUDGE_ATTEMPTS):
            request = Request(self.judge_prompts(sample, text), messages.JUDGEMENT, sample.seed + attempt, sample.key)
            result = await self._read(self.judge, request, messages.read_judgement)
            if not {"failed", "raw"} <= result.keys():
                break
        self.judgements.keep(sample.key, digest, result)


def _digest(sample: Sample, text: str) -> str:
    """Return a digest of the sample and the prediction that a judgement is about."""
    return sha256(f"{sample.digest} {text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
