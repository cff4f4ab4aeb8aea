"""Samples of AgentWorldBench, the results of an evaluation, and the scores they add up to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Self

from mcp_sim.models.language_model.prompt import encodable
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import canonical, encode

PATTERN = "*_test.jsonl"
MAX_REPORTED = 5  # how many broken lines are listed one by one


@frozen
class Sample:
    """One turn to predict. `before` are the earlier turns: action and real observation.

    `key` identifies it in a data set; `digest` changes with its content.
    """

    key: str
    domain: str
    digest: str
    system: str
    before: tuple[tuple[str, str], ...]
    action: str
    observation: str

    @property
    def seed(self) -> int:
        """The sampling seed of its requests."""
        return int(sha256(self.key.encode("utf-8", "surrogatepass")).hexdigest()[:7], 16)


def samples_in(folder: Path, limit: int | None) -> tuple[list[Sample], list[str]]:
    """Return the samples of a folder, of each domain the first `limit`, and why lines cannot be read.

    Raises `UsageError` if there is no file, or no line that can be read.
    """
    files = sorted(folder.glob(PATTERN))
    if not files:
        raise UsageError(f"{folder}: there is no file {PATTERN}; is it the folder of AgentWorldBench?")
    seen, problems, samples = Counter[str](), list[str](), list[Sample]()
    for file in files:
        for place, line in _lines(file):
            try:
                samples.append(_sample(line, file, seen))
            except ValueError as error:
                problems.append(f"{place}: {error}")
    if not samples and problems:
        raise UsageError("\n".join(shortened(problems)))
    return [*_limited(samples, limit)], problems


def shortened(problems: Sequence[str]) -> list[str]:
    """Return the first problems, and how many more there are."""
    more = len(problems) - MAX_REPORTED
    return [*problems[:MAX_REPORTED], *([f"... and {more} more"] if more > 0 else [])]


def _limited(samples: Sequence[Sample], limit: int | None) -> Iterator[Sample]:
    counts = Counter[str]()
    for sample in samples:
        counts[sample.domain] += 1
        if limit is None or counts[sample.domain] <= limit:
            yield sample


def _lines(file: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield f"{file}:{number}", line
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None


def _sample(line: bytes, file: Path, seen: Counter[str]) -> Sample:
    """Return the sample of a line. Raises `ValueError` with the problem."""
    body = as_object(json.loads(line))
    if not body:
        raise ValueError("is not a JSON object")
    domain = str(body.get("task") or file.name.removesuffix("_test.jsonl")).rpartition("/")[2]
    prompts, responses = _texts(body, "prompt"), _texts(body, "response")
    turn: Json = body.get("turn_idx")
    if not isinstance(turn, int) or isinstance(turn, bool) or not 1 <= turn <= len(responses):
        raise ValueError(f"turn_idx is {turn!r}, and there are {len(responses)} responses")
    if len(prompts) < turn - 1:
        raise ValueError(f"there are {len(prompts)} prompts, too few for turn {turn}")
    action = encodable(str(body.get("current_prompt") or "")) or next(iter(prompts[turn - 1 : turn]), "")
    if not action:
        raise ValueError(f"turn {turn} has no action")
    before = tuple(zip(prompts[: turn - 1], responses[: turn - 1], strict=True))
    name = f"{domain}/{body.get('id')}/{turn}"
    seen[name] += 1
    key = name if seen[name] == 1 else f"{name}#{seen[name]}"
    system = encodable(str(body.get("system_str") or ""))
    digest = sha256(canonical([system, before, action, responses[turn - 1]]).encode()).hexdigest()[:16]
    return Sample(key, domain, digest, system, before, action, responses[turn - 1])


def _texts(body: Record, name: str) -> list[str]:
    value: Json = body.get(name)
    texts = [value] if isinstance(value, str) else as_list(value)
    if not isinstance(value, str | list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} must be a list of texts")
    return [encodable(str(text)) for text in texts]


# results --------------------------------------------------------------------------------------------------------------


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

Scores = Mapping[str, int]  # a judge's scores of one prediction, by dimension


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
