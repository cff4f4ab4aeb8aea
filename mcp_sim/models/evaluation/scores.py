"""What do judgements come to: from 1 to 5 for each dimension, told from 0 to 100 per domain and for all?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from mcp_sim.types import Record

DIMENSIONS = ("format", "factuality", "consistency", "realism", "quality")

Scores = Mapping[str, int]
"""What a judge gave one prediction, by dimension."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one sample: its scores, or what failed ('': it was not come to)."""

    domain: str
    scores: Scores | None = None
    failed: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """The scores of some samples, from 0 to 100; None where none was judged."""

    samples: int
    scored: int
    unpredicted: int
    unjudged: int
    dimensions: Mapping[str, float | None]
    total: float | None

    def to_json(self) -> Record:
        """As the report has it."""
        return {
            "samples": self.samples,
            "scored": self.scored,
            "failed": {"prediction": self.unpredicted, "judging": self.unjudged},
            "scores": {name: _rounded(value) for name, value in self.dimensions.items()},
            "total": _rounded(self.total),
        }


def standings(outcomes: Sequence[Outcome]) -> dict[str, Standing]:
    """The standing of each domain, by name."""
    domains = sorted({outcome.domain for outcome in outcomes})
    return {name: standing([one for one in outcomes if one.domain == name]) for name in domains}


def standing(outcomes: Sequence[Outcome]) -> Standing:
    """The means over the samples that were scored. A sample's total is the mean of its five scores."""
    judged = [outcome.scores for outcome in outcomes if outcome.scores is not None]
    return Standing(
        samples=len(outcomes),
        scored=len(judged),
        unpredicted=sum(outcome.failed == "prediction" for outcome in outcomes),
        unjudged=sum(outcome.failed == "judging" for outcome in outcomes),
        dimensions={name: _mean(scores[name] for scores in judged) for name in DIMENSIONS},
        total=_mean(fmean(scores.values()) for scores in judged),
    )


def _mean(values: Iterable[float]) -> float | None:
    """The mean as a share of what is possible: 1 is 0, 5 is 100."""
    told = [*values]
    return (fmean(told) - 1) / 4 * 100 if told else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
