"""Results of an evaluation: the files that hold them, and the scores they add up to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Self

from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import encode


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
        """Append the result of a sample."""
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


DIMENSIONS = ("format", "factuality", "consistency", "realism", "quality")

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
    """Return the summary of each domain, by name."""
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
        dimensions={name: _mean(scores[name] for scores in judged) for name in DIMENSIONS},
        total=_mean(fmean(scores.values()) for scores in judged),
    )


def _mean(values: Iterable[float]) -> float | None:
    """Return the mean, scaled so that a score of 1 is 0 and 5 is 100."""
    scores = [*values]
    return (fmean(scores) - 1) / 4 * 100 if scores else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
