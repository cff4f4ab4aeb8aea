"""What did the model answer, once reasoning and wrapping are taken off? Rejected where nothing is left."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn

from mcp_sim.types import Json
from mcp_sim.types.errors import Rejected

MOST_CHARACTERS = 1_000_000
OPENING, CLOSING = "<predicted_observation>", "</predicted_observation>"
_HEADING = re.compile(r"\A\*\*Environment Observation:\*\*\s*")
_FENCES = re.compile(r"```[A-Za-z]*\n(.*?)\n?```", re.DOTALL)
_STRING = r'("(?:[^"\\]|\\.)*")'
_COMMENTS = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMAS = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""How a character begins, or ends, that takes two escapes."""
_FENCED = re.compile(r"\A```[A-Za-z]*\n(.*)\n?```\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reply:
    """What an engine sent back for one request. `usage` has its token counts by name.

    `reasoning` is what it thought, where the engine tells it apart; `cached`: it was answered before, and kept.
    """

    content: str
    finish_reason: str | None = None
    usage: dict[str, int] = field(default_factory=dict[str, int])
    reasoning: str = ""
    cached: bool = False


def observed(reply: Reply) -> str:
    """The text of the observation, without thinking, tags, heading and code fence."""
    if reply.finish_reason == "length":
        raise Rejected(reply.content, ["the answer was cut off at the token limit; answer more briefly"])
    if reply.finish_reason == "content_filter":
        raise Rejected(reply.content, ["the engine's content filter withheld the answer"])
    if len(reply.content) > MOST_CHARACTERS:
        raise Rejected(reply.content, [f"the answer has more than {MOST_CHARACTERS:,} characters"])
    text = _without_heading(_tagged(_without_thinking(reply), reply))
    if not text:
        raise Rejected(reply.content, ["the answer is empty"])
    return text


def parsed(text: str, raw: str) -> Json:
    """The JSON value of an observation.

    Raw control characters in strings are let pass, as some engines emit them; so are comments, commas before a closing
    bracket, and words around a fenced block, which models like to add.
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
    """The text without comments, and without commas before a closing bracket; strings stay as they are."""
    bare = _COMMENTS.sub(lambda found: found[1] or " ", text)
    return _COMMAS.sub(lambda found: found[1] or "", bare)


def json_or_text(text: str) -> Any:
    """The value of a text that is a JSON object or array, else the text itself."""
    if not text.startswith(("{", "[")):
        return text
    try:
        return parsed(text, text)
    except Rejected:
        return text


def _without_thinking(reply: Reply) -> str:
    """What follows the reasoning. Chat templates often open the thought themselves, so only its end is seen."""
    text = reply.content.rpartition("</think>")[2]
    if "<think>" in text and not text.lstrip().startswith(("{", "[")):
        raise Rejected(reply.content, ["the answer holds only a thought that never ends"])
    return text


def _tagged(text: str, reply: Reply) -> str:
    """The last tagged block, or the whole where there is none."""
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
