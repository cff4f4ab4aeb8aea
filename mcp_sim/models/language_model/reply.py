"""Read model replies: strip reasoning and markup, parse JSON, and recognise errors."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn, cast

from mcp_sim.types import Json, Observation, Record, ToolResult
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import canonical

MAX_CHARACTERS = 1_000_000
OPENING, CLOSING = "<predicted_observation>", "</predicted_observation>"
_HEADING = re.compile(r"\A\*\*Environment Observation:\*\*\s*")
_FENCES = re.compile(r"```[A-Za-z]*\n(.*?)\n?```", re.DOTALL)
_STRING = r'("(?:[^"\\]|\\.)*")'
_COMMENTS = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMAS = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""One half of a surrogate pair, as an escape."""
_FENCED = re.compile(r"\A```[A-Za-z]*\n(.*)\n?```\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reply:
    """An engine's reply to one request.

    `usage` has its token counts by name. `reasoning` is the model's reasoning, if the engine separates it. `cached`: it
    comes from the cache.
    """

    content: str
    finish_reason: str | None = None
    usage: dict[str, int] = field(default_factory=dict[str, int])
    reasoning: str = ""
    cached: bool = False


def observation_text(reply: Reply) -> str:
    """Return the observation's text, without reasoning, tags, heading and code fence.

    Raises `Rejected` if the reply is cut off, withheld, too long or empty.
    """
    if reply.finish_reason == "length":
        raise Rejected(reply.content, ["the answer was cut off at the token limit; answer more briefly"])
    if reply.finish_reason == "content_filter":
        raise Rejected(reply.content, ["the engine's content filter withheld the answer"])
    if len(reply.content) > MAX_CHARACTERS:
        raise Rejected(reply.content, [f"the answer has more than {MAX_CHARACTERS:,} characters"])
    text = _without_heading(_tagged(_without_thinking(reply), reply))
    if not text:
        raise Rejected(reply.content, ["the answer is empty"])
    return text


def parse_json(text: str, raw: str) -> Json:
    """Return the JSON value of an observation's text. Raises `Rejected`, with `raw`, if it is not JSON.

    Accepted are also raw control characters in strings, comments, trailing commas, and words around a fenced block,
    which engines and models often add.
    """
    try:
        return _loaded(text)
    except RecursionError:
        raise Rejected(raw, ["the answer is JSON that nests too deeply"]) from None
    except ValueError as error:
        problem = f"the answer is not JSON: {error}"
    for way in (_FENCES.findall(text)[-1:], [text]):
        for written in way:
            try:
                return _loaded(_plain(written))
            except (ValueError, RecursionError):
                continue
    raise Rejected(raw, [problem])


def _loaded(text: str) -> Json:
    def not_json(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    def finite(digits: str) -> float:
        number = float(digits)
        return number if isfinite(number) else not_json(digits)

    value = json.loads(text, strict=False, parse_constant=not_json, parse_float=finite)
    if _HALF.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("a character escape is half of one") from None
    return value


def _plain(text: str) -> str:
    """Return JSON text without comments and trailing commas; strings stay as they are."""
    bare = _COMMENTS.sub(lambda found: found[1] or " ", text)
    return _COMMAS.sub(lambda found: found[1] or "", bare)


def parse_json_or_text(text: str) -> Any:
    """Return the value of a text that is a JSON object or array, else the text itself."""
    if not text.startswith(("{", "[")):
        return text
    try:
        return parse_json(text, text)
    except Rejected:
        return text


def read_observation(reply: Reply, validator: Validator | None) -> Observation:
    """Return the observation in a reply; `validator` is the tool's outputSchema. Raises `Rejected` if it is invalid."""
    text = observation_text(reply)
    value = parse_json_or_text(text) if validator is None else parse_json(text, reply.content)
    if _is_refusal(value):
        return Observation(ToolResult(value["text"], form="text", is_error=True))
    if validator is None:
        return Observation(ToolResult(value, form="text" if isinstance(value, str) else "json"))
    if problems := validator.problems(value):
        raise Rejected("", problems)
    return Observation(ToolResult(value))


def differs_from(truth: Observation, reply: Reply) -> bool:
    """Whether a reply differs from the true observation. The text of an error does not count."""
    try:
        text = observation_text(reply)
    except Rejected:
        return True
    body, value = truth.body, parse_json_or_text(text)
    if not isinstance(body, ToolResult) or body.is_error:
        return not _is_refusal(value)
    return text != body.value.strip() if body.form == "text" else canonical(value) != canonical(body.value)


def _without_thinking(reply: Reply) -> str:
    """Return the text after the reasoning. Chat templates often contain the opening tag, so only the end is sent."""
    text = reply.content.rpartition("</think>")[2]
    if "<think>" in text and not text.lstrip().startswith(("{", "[")):
        raise Rejected(reply.content, ["the answer holds only a thought that never ends"])
    return text


def _tagged(text: str, reply: Reply) -> str:
    """Return the last tagged block, or the whole text if there is none."""
    before, opened, rest = text.rpartition(OPENING)
    if not opened:
        return text
    block, closed, _ = rest.partition(CLOSING)
    if closed:
        return block
    if CLOSING in before:
        return _tagged(before, reply)
    raise Rejected(reply.content, [f"{OPENING} is never closed"])


def _without_heading(text: str) -> str:
    bare = _HEADING.sub("", text.strip())
    fenced = _FENCED.match(bare)
    return (fenced[1] if fenced else bare).strip()


def _is_refusal(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    fields = cast("Record", value)
    return fields.keys() == {"isError", "text"} and fields["isError"] is True and isinstance(fields["text"], str)
