"""Samples of a benchmark, prompts for the evaluated model and for the judge, and readers of their replies."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from mcp_sim.models.language_model.prompt import Message, encodable
from mcp_sim.models.language_model.reply import Reply, text_after_reasoning
from mcp_sim.types import Json, Record, as_list, as_object, canonical, frozen
from mcp_sim.types.errors import Rejected, UsageError

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

    A folder has a JSONL file per domain, `{domain}_test.jsonl`, as AgentWorldBench has; a line is a turn of a session.
    Raises `UsageError` if there is no file, or no line that can be read.
    """
    files = sorted(folder.glob(PATTERN))
    if not files:
        raise UsageError(f"{folder}: there is no file {PATTERN}; is it the folder of AgentWorldBench?")
    seen, counts, problems, samples = Counter[str](), Counter[str](), list[str](), list[Sample]()
    for file in files:
        for place, line in _lines(file):
            try:
                sample = _sample(line, file, seen)
            except ValueError as error:
                problems.append(f"{place}: {error}")
                continue
            counts[sample.domain] += 1
            if limit is None or counts[sample.domain] <= limit:
                samples.append(sample)
    if not counts and problems:
        raise UsageError("\n".join(shortened(problems)))
    return samples, problems


def shortened(problems: Sequence[str]) -> list[str]:
    """Return the first problems, and how many more there are."""
    more = len(problems) - MAX_REPORTED
    return [*problems[:MAX_REPORTED], *([f"... and {more} more"] if more > 0 else [])]


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


DIMENSIONS = ("format", "factuality", "consistency", "realism", "quality")  # of a judgement
MAX_REMARK = 300  # keeps the answer of a judge within its limit of tokens
MAX_REASONING = 4_000
JUDGE_FILE = "judge_system_prompt.txt"  # the name of a domain's prompt in the public evaluation code

_HEADING = re.compile(r"\A\s*\*\*Environment Observation:\*\*")
_FENCES = re.compile(r"`{3,}")
_REMARKS: Record = {"type": "array", "items": {"type": "string", "maxLength": MAX_REMARK}, "minItems": 0, "maxItems": 5}
_SCORES: Record = {
    "type": "object",
    "properties": {name: {"type": "integer", "minimum": 1, "maximum": 5} for name in DIMENSIONS},
    "required": [*DIMENSIONS],
    "additionalProperties": False,
}
JUDGEMENT: Record = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": MAX_REASONING},
        "strengths": _REMARKS,
        "weaknesses": _REMARKS,
        "scores": _SCORES,
    },
    "required": ["reasoning", "strengths", "weaknesses", "scores"],
    "additionalProperties": False,
}
"""Schema of the judge's reply, for engines that can enforce it."""


# the world model ------------------------------------------------------------------------------------------------------


def prediction_messages(sample: Sample) -> list[Message]:
    """Return the sample's system prompt, the earlier turns with real observations, and the action."""
    system = [{"role": "system", "content": sample.system}] if sample.system else []
    past = [
        {"role": role, "content": text}
        for turn in sample.before
        for role, text in zip(("user", "assistant"), turn, strict=True)
    ]
    return [*system, *past, {"role": "user", "content": sample.action}]


def read_prediction(reply: Reply) -> str:
    """Return the predicted observation: the last tagged block, or the whole reply. Raises `Rejected` if it is empty."""
    text = _observation(_tagged(text_after_reasoning(reply), "predicted_observation"))
    if not text:
        raise Rejected(reply.content, ["the observation is empty"])
    return text


def _tagged(text: str, tag: str) -> str:
    """Return the content of the last block of a tag, closed or not; the whole text if it is missing."""
    return text.rpartition(f"<{tag}>")[2].partition(f"</{tag}>")[0]


def _observation(text: str) -> str:
    return _HEADING.sub("", text).strip()


# the judge ------------------------------------------------------------------------------------------------------------


@frozen
class JudgePrompts:
    """Prompts of a folder: DOMAIN/judge_system_prompt.txt, as the public evaluation code has them.

    The judge reads the turns before, the current one, the prediction and the real observation under its headings.
    """

    folder: Path

    @classmethod
    def of(cls, folder: Path, domains: Iterable[str]) -> JudgePrompts:
        """Open a folder. Raises `UsageError` if it lacks the prompt of one of the domains."""
        lacking = [path for domain in domains if not (path := folder / domain / JUDGE_FILE).is_file()]
        if lacking:
            raise UsageError(f"--judge-prompts: expected {', '.join(map(str, lacking))}")
        return cls(folder)

    def messages(self, sample: Sample, prediction: str) -> list[Message]:
        """Return the prompt for judging one prediction."""
        earlier = "".join(f"{action}\n{observation}\n\n" for action, observation in sample.before)
        parts = [
            *([f"# Context (Historical Interactions):\n\n{earlier}".rstrip()] if earlier else []),
            f"# Current Turn:\n\n{sample.action}",
            f"**World Model Output (Simulated):**\n```\n{prediction}\n```",
            f"**Ground Truth (Real Output):**\n```\n{_observation(sample.observation)}\n```",
        ]
        system = encodable((self.folder / sample.domain / JUDGE_FILE).read_text(encoding="utf-8").strip())
        return [{"role": "system", "content": system}, {"role": "user", "content": "\n\n".join(parts)}]


def judging_messages(sample: Sample, prediction: str) -> list[Message]:
    """Return our own prompt for judging one prediction."""
    earlier = "\n\n".join(f"{action}\n\n{observation}" for action, observation in sample.before)
    parts = [
        *([f"# Turns before\n\n{_quoted(earlier)}"] if earlier else []),
        f"# Action\n\n{_quoted(sample.action)}",
        f"# Prediction\n\n{_quoted(prediction)}",
        f"# Real observation\n\n{_quoted(_observation(sample.observation))}",
        f"# Answer\n\n{_prompt('answer')}",
    ]
    return [{"role": "system", "content": guidance(sample.domain)}, {"role": "user", "content": "\n\n".join(parts)}]


def read_judgement(reply: Reply) -> Record:
    """Return the scores, strengths and weaknesses of a judge's reply. Raises `Rejected` if a score is missing."""
    text = _tagged(text_after_reasoning(reply), "final_evaluation")
    judgements = [value for value in _objects(text) if "scores" in value]
    judgement = judgements[-1] if judgements else {}
    scores = {name: _score(as_object(judgement.get("scores")).get(name)) for name in DIMENSIONS}
    missing = [name for name, score in scores.items() if score is None]
    if missing:
        raise Rejected(reply.content, [f"the judge gave no score from 1 to 5 for {', '.join(missing)}"])
    remarks = {name: [str(item) for item in as_list(judgement.get(name))] for name in ("strengths", "weaknesses")}
    return {"scores": scores, **remarks}


@lru_cache(maxsize=32)
def guidance(domain: str) -> str:
    """Return the system prompt of the judge for all samples of a domain."""
    special = files("mcp_sim.models.evaluation").joinpath("prompts", "domains", f"{domain}.md")
    parts = [_prompt("judge"), *([special.read_text(encoding="utf-8").strip()] if special.is_file() else [])]
    return "\n\n".join(parts)


def _prompt(name: str) -> str:
    return files("mcp_sim.models.evaluation").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def _quoted(text: str) -> str:
    """Return the text between fences that do not occur in it."""
    fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def _objects(text: str) -> Iterator[Record]:
    decoder, at = json.JSONDecoder(strict=False), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield as_object(value)
        at = text.find("{", end)


def _score(value: Json) -> int | None:
    """Return an integer from 1 to 5, also for `4.0`, `"4"` or `"4/5"`; None for anything else."""
    if isinstance(value, str):
        text = value.removesuffix("/5").strip()
        value = int(text) if text.isdecimal() and len(text) == 1 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(1, 6):
        return None
    return int(value)
