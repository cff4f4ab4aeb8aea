"""How is a model asked for the next observation, and another one for its judgement; what of the answers counts?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from mcp_sim.models.evaluation.samples import Sample
from mcp_sim.models.evaluation.scores import DIMENSIONS
from mcp_sim.models.language_model.answer import Reply
from mcp_sim.models.language_model.prompt import Message
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.shapes import as_list, as_object

LONGEST_REMARK = 300
LONGEST_REASONING = 4_000

_HEADING = re.compile(r"\A\s*\*\*Environment Observation:\*\*")
_FENCES = re.compile(r"`{3,}")
_REMARKS: Record = {
    "type": "array",
    "items": {"type": "string", "maxLength": LONGEST_REMARK},
    "minItems": 0,
    "maxItems": 5,
}
_SCORES: Record = {
    "type": "object",
    "properties": {name: {"type": "integer", "minimum": 1, "maximum": 5} for name in DIMENSIONS},
    "required": [*DIMENSIONS],
    "additionalProperties": False,
}
JUDGEMENT: Record = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": LONGEST_REASONING},
        "strengths": _REMARKS,
        "weaknesses": _REMARKS,
        "scores": _SCORES,
    },
    "required": ["reasoning", "strengths", "weaknesses", "scores"],
    "additionalProperties": False,
}
"""What binds the judge's answer, where its engine can bind one."""


# the world model ------------------------------------------------------------------------------------------------------


def prediction_messages(sample: Sample) -> list[Message]:
    """The sample's own system prompt, the turns before as they really were, and the action."""
    system = [{"role": "system", "content": sample.system}] if sample.system else []
    past = [
        {"role": role, "content": text}
        for turn in sample.before
        for role, text in zip(("user", "assistant"), turn, strict=True)
    ]
    return [*system, *past, {"role": "user", "content": sample.action}]


def predicted(reply: Reply) -> str:
    """The observation that a model foretells: the last tagged block, or all of it. Raises Rejected where it is none."""
    text = _observation(_tagged(_spoken(reply), "predicted_observation"))
    if not text:
        raise Rejected(reply.content, ["the observation is empty"])
    return text


def _spoken(reply: Reply) -> str:
    """What follows the reasoning. Raises Rejected where the answer was cut off, or is a thought alone."""
    if reply.finish_reason == "length":
        raise Rejected(reply.content, ["the answer was cut off at the token limit"])
    if reply.finish_reason == "content_filter":
        raise Rejected(reply.content, ["the engine's content filter withheld the answer"])
    text = reply.content.rpartition("</think>")[2]
    if "<think>" in text:
        raise Rejected(reply.content, ["the answer holds only a thought that never ends"])
    if not text.strip():
        raise Rejected(reply.content, ["the answer is empty"])
    return text


def _tagged(text: str, tag: str) -> str:
    """What stands in the last block of a tag, closed or not; the whole text where there is none."""
    return text.rpartition(f"<{tag}>")[2].partition(f"</{tag}>")[0]


def _observation(text: str) -> str:
    return _HEADING.sub("", text).strip()


# the judge ------------------------------------------------------------------------------------------------------------


def judging_messages(sample: Sample, prediction: str) -> list[Message]:
    """What a judge is told of one prediction."""
    earlier = "\n\n".join(f"{action}\n\n{observation}" for action, observation in sample.before)
    parts = [
        *([f"# Turns before\n\n{_quoted(earlier)}"] if earlier else []),
        f"# Action\n\n{_quoted(sample.action)}",
        f"# Prediction\n\n{_quoted(prediction)}",
        f"# Real observation\n\n{_quoted(_observation(sample.observation))}",
        f"# Answer\n\n{_prompt('answer')}",
    ]
    return [{"role": "system", "content": guidance(sample.domain)}, {"role": "user", "content": "\n\n".join(parts)}]


def judgement(reply: Reply) -> Record:
    """Scores, strengths and weaknesses of a judge's answer. Raises Rejected where not every score is there."""
    said = _last_object(_tagged(_spoken(reply), "final_evaluation"))
    scores = {name: _score(as_object(said.get("scores")).get(name)) for name in DIMENSIONS}
    missing = [name for name, score in scores.items() if score is None]
    if missing:
        raise Rejected(reply.content, [f"the judge gave no score from 1 to 5 for {', '.join(missing)}"])
    remarks = {name: [str(one) for one in as_list(said.get(name))] for name in ("strengths", "weaknesses")}
    return {"scores": scores, **remarks}


@lru_cache(maxsize=32)
def guidance(domain: str) -> str:
    """What a judge is told of all samples of a domain."""
    special = files("mcp_sim.models.evaluation").joinpath("prompts", "domains", f"{domain}.md")
    parts = [_prompt("judge"), *([special.read_text(encoding="utf-8").strip()] if special.is_file() else [])]
    return "\n\n".join(parts)


def _prompt(name: str) -> str:
    return files("mcp_sim.models.evaluation").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def _quoted(text: str) -> str:
    """The text between fences that it does not hold itself."""
    fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def _last_object(text: str) -> Record:
    """The last JSON object in a text that holds scores."""
    found = [value for value in _objects(text) if "scores" in value]
    return found[-1] if found else {}


def _objects(text: str) -> Iterator[Record]:
    """The JSON objects in a text, one after the other."""
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
    """A whole number from 1 to 5, also as `4.0`, `"4"` or `"4/5"`; None for anything else."""
    if isinstance(value, str):
        told = value.removesuffix("/5").strip()
        value = int(told) if told.isdecimal() and len(told) == 1 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(1, 6):
        return None
    return int(value)
