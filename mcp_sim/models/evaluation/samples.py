"""Samples of AgentWorldBench: the turns so far, and the real observation that follows.

A folder has a JSONL file per domain, `{domain}_test.jsonl`; a line is one turn of a session.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from mcp_sim.models.language_model.prompt import encodable
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import canonical

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
    key = _key(f"{domain}/{body.get('id')}/{turn}", seen)
    system = encodable(str(body.get("system_str") or ""))
    digest = sha256(canonical([system, before, action, responses[turn - 1]]).encode()).hexdigest()[:16]
    return Sample(key, domain, digest, system, before, action, responses[turn - 1])


def _texts(body: Record, name: str) -> list[str]:
    value: Json = body.get(name)
    texts = [value] if isinstance(value, str) else as_list(value)
    if not isinstance(value, str | list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} must be a list of texts")
    return [encodable(str(text)) for text in texts]


def _key(name: str, seen: Counter[str]) -> str:
    """Return the key of a sample, with a number if an earlier one has the same name."""
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}#{seen[name]}"
