"""Which samples does AgentWorldBench hold: what has been done, and what did the real environment show next?

A folder has a JSONL file per domain, `{domain}_test.jsonl`; a line is one turn of a course of actions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_text import canonical

PATTERN = "*_test.jsonl"
MOST_TOLD = 5
"""So many broken lines are told one by one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One turn to be foretold. `before` are the earlier turns: action and real observation.

    `key` names it in a data set, `digest` tells whether it is still the same.
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


def samples_in(folder: Path, limit: int | None) -> list[Sample]:
    """The samples of a folder, of each domain at most the first `limit`. Raises UsageError with every broken line."""
    files = sorted(folder.glob(PATTERN))
    if not files:
        raise UsageError(f"{folder}: there is no file {PATTERN}; is it the folder of AgentWorldBench?")
    seen, problems, found = Counter[str](), list[str](), list[Sample]()
    for file in files:
        for place, line in _lines(file):
            try:
                found.append(_sample(line, file, seen))
            except ValueError as error:
                problems.append(f"{place}: {error}")
    if problems:
        more = f"\n... and {len(problems) - MOST_TOLD} more" if len(problems) > MOST_TOLD else ""
        raise UsageError("\n".join(problems[:MOST_TOLD]) + more)
    return [*_limited(found, limit)]


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
    """The sample of a line. Raises ValueError with what is wrong."""
    body = as_object(json.loads(line))
    if not body:
        raise ValueError("is no JSON object")
    domain = str(body.get("task") or file.name.removesuffix("_test.jsonl")).rpartition("/")[2]
    prompts, responses = _texts(body, "prompt"), _texts(body, "response")
    turn: Json = body.get("turn_idx")
    if not isinstance(turn, int) or isinstance(turn, bool) or not 1 <= turn <= len(responses):
        raise ValueError(f"turn_idx is {turn!r}, and there are {len(responses)} responses")
    if len(prompts) < turn - 1:
        raise ValueError(f"there are {len(prompts)} prompts, too few for turn {turn}")
    action = prompts[turn - 1] if len(prompts) >= turn else _encodable(str(body.get("current_prompt") or ""))
    if not action:
        raise ValueError(f"nothing is asked in turn {turn}")
    before = tuple(zip(prompts[: turn - 1], responses[: turn - 1], strict=True))
    key = _key(f"{domain}/{body.get('id')}/{turn}", seen)
    said = _encodable(str(body.get("system_str") or ""))
    digest = sha256(canonical([said, before, action, responses[turn - 1]]).encode()).hexdigest()[:16]
    return Sample(key, domain, digest, said, before, action, responses[turn - 1])


def _texts(body: Record, name: str) -> list[str]:
    value: Json = body.get(name)
    texts = [value] if isinstance(value, str) else as_list(value)
    if not isinstance(value, str | list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} must be a list of texts")
    return [_encodable(str(text)) for text in texts]


def _encodable(text: str) -> str:
    """The text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _key(name: str, seen: Counter[str]) -> str:
    """The name of a sample; with a number where an earlier one has the same."""
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}#{seen[name]}"
