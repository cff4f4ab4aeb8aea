"""Read model replies: strip reasoning and markup, parse JSON, and recognise errors."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from math import isfinite
from typing import NoReturn, TypeVar

from mcp_sim.types import Attempt, Json, frozen
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_values import nests_deeper

T = TypeVar("T")

MAX_CHARACTERS = 1_000_000  # longer ones are repetitions until the tokens ran out, and are read several times
CUT_OFF = "the answer was cut off"
NOT_JSON = "the answer is not JSON"
MAX_DEPTH = 64
"""Maximum nesting depth of JSON. Deeper ones would exceed Python's recursion limit where they are compared."""
TOO_DEEP = f"the answer nests more than {MAX_DEPTH} levels deep"
COMPLAINT = "That answer cannot be used."  # what a model reads about a rejected answer, after its problems
OPENING, CLOSING = "<predicted_observation>", "</predicted_observation>"
_HEADING = re.compile(r"(?:\A\s*|\n)\*\*Environment Observation:\*\*[ \t]*\n?")
_TURN = re.compile(
    r"(?:\A\s*+|(?<!\n)\n++)"
    r"(?:### (?:Turn \d+|State)\n|\*\*(?:Action|World|Answer|Environment Observation):\*\*|\*\*Problems:\*\*\n- )"
    rf"|(?:\A|(?<!\s)[^\S\n]*+\n)\s*+{re.escape(COMPLAINT)}"
)
"""The beginning of a part of the prompt, within a reply that repeats it or goes on by itself.

This pattern and those below take time linear in the reply: a run of white space, or a text that is never closed, is
read once.
"""
_FENCES = re.compile(r"```[A-Za-z]*\n(.*?)\n?```", re.DOTALL)
_STRING = r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))'
_COMMENTS = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMAS = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # one half of a surrogate pair, as an escape
_HALF_FENCED = re.compile(r"\A```[A-Za-z]*\n(.*)\Z|\A(.*)\n```\Z", re.DOTALL)
_FENCED = re.compile(r"\A```[A-Za-z]*\n(.*?)\n?```\Z", re.DOTALL)


@frozen
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


def newest_readable(
    reply: Reply, rejected: Sequence[Attempt], read: Callable[[Reply], T], *, is_last: bool
) -> tuple[Reply, T]:
    """Return a reply, and what `read` makes of it; at the last attempt those of the newest reply that it can read.

    Three replies with a contradiction that can be corrected are better than a crash over the fourth, which was cut off.
    Raises `Rejected` if it can read no reply.
    """
    reasons = list[Rejected]()
    for candidate in (reply, *_earlier_replies(rejected, reply.usage)) if is_last else (reply,):
        try:
            return candidate, read(candidate)
        except Rejected as error:
            reasons.append(error)
    raise reasons[0]


def _earlier_replies(rejected: Sequence[Attempt], usage: dict[str, int]) -> Iterator[Reply]:
    """Yield the rejected replies of a call, newest first."""
    for attempt in reversed(rejected):
        content = attempt.raw.rpartition("</think>\n\n")[2]
        was_cut_off = any(problem.startswith(CUT_OFF) for problem in attempt.problems)
        if content:
            yield Reply(content, "length" if was_cut_off else None, usage)


def ended(reply: Reply, *, is_plain: bool = False) -> Reply:
    """Return a reply that was cut off as one that ended: JSON with what is open closed, prose up to the last word.

    `is_plain`: the text is served as it is, so that it may begin like JSON without being any.
    """
    if reply.finish_reason != "length":
        return reply
    text = reply.content.rstrip()
    start = re.search(r"[{\[]", text)
    if start is not None and text[: start.start()].strip() in ("", "**Environment Observation:**", OPENING, "```json"):
        closed = next((closing for closing in _closings(text[start.start() :]) if _is_json(closing)), None)
        if closed is not None or not is_plain:
            return reply if closed is None else replace(reply, content=closed, finish_reason="stop")
    if OPENING in text and CLOSING not in text.rpartition(OPENING)[2]:
        text = text.rpartition(OPENING)[2]
    words = text.rpartition(" ")[0] or text
    return replace(reply, content=words, finish_reason="stop")


def _closings(text: str) -> Iterator[str]:
    """Yield JSON that begins as a text does: what is open is closed, at last without the last part."""
    stack, before = list[str](), ("", "")
    is_text, is_escaped = False, False
    for at, character in enumerate(text):
        if is_text:
            is_text = is_escaped or character != '"'
            is_escaped = character == "\\" and not is_escaped
        elif character == '"':
            is_text = True
        elif character in "{[":
            stack.append("}" if character == "{" else "]")
        elif character in "}]" and stack:
            stack.pop()
        elif character == ",":
            before = text[:at], "".join(reversed(stack))
    closing = "".join(reversed(stack))
    # In this order, which keeps the most: the text that was cut off, the value before it, all but the last part.
    yield from (f'{text}"{closing}', f"{text}{closing}", "".join(before))


def _is_json(text: str) -> bool:
    try:
        load_json(text)
    except ValueError:
        return False
    return True


def observation_text(reply: Reply) -> str:
    """Return the text of the observation in a reply, as it is between the tags if there are any.

    Reasoning, a heading and a code fence around JSON are dropped. Raises `Rejected` if the reply is cut off, withheld
    or too long.
    """
    if len(reply.content) > MAX_CHARACTERS:
        raise Rejected(reply.content, [f"the answer has more than {MAX_CHARACTERS:,} characters"])
    text = text_after_reasoning(reply)
    tagged = _tagged(text, reply)
    if tagged is not None:
        return tagged[1:-1] if len(tagged) > 1 and tagged[0] == tagged[-1] == "\n" else tagged
    heading, turn = _HEADING.search(text), _TURN.match(text)
    bare = text[heading.end() :] if heading is not None and (turn is not None or heading.start() == 0) else text
    own = _TURN.split(bare, maxsplit=1)[0]
    if not own.strip() and bare.strip():
        raise Rejected(reply.content, ["the answer repeats the turn; answer with the observation alone"])
    return _without_fence(own)


def text_after_reasoning(reply: Reply) -> str:
    """Return the text after the reasoning. Raises `Rejected` if the reply is cut off, withheld or only reasoning."""
    if reply.finish_reason == "length":
        raise Rejected(reply.content, [f"{CUT_OFF} at the token limit; answer more briefly"])
    if reply.finish_reason == "content_filter":
        raise Rejected(reply.content, ["the engine's content filter withheld the answer"])
    # Chat templates often contain the opening tag of the reasoning, so only its end is sent.
    text = reply.content.rpartition("</think>")[2]
    # In JSON it may be data.
    if "<think>" in text and not text.lstrip().startswith(("{", "[")):
        raise Rejected(reply.content, ["the answer holds only a thought that never ends"])
    return text if text == reply.content else text.lstrip()


def parse_json(text: str, raw: str) -> Json:
    """Return the JSON value of an observation's text. Raises `Rejected`, with `raw`, if it is not JSON.

    Accepted are also raw control characters in strings, comments, trailing commas, and words around a fenced block,
    which engines and models often add. A half of a surrogate pair becomes a question mark.
    """
    try:
        return load_json(text)
    except ValueError as error:
        problem = TOO_DEEP if TOO_DEEP in error.args else f"{NOT_JSON}: {error}"
    for written in (*_FENCES.findall(text)[-1:], text) if problem != TOO_DEEP else ():
        try:
            bare = _COMMENTS.sub(lambda match: match[1] or " ", written)
            bare = _COMMAS.sub(lambda match: match[1] or "", bare)
            return load_json(bare)
        except ValueError as error:
            problem = TOO_DEEP if TOO_DEEP in error.args else problem
    raise Rejected(raw, [problem])


def load_json(text: str) -> Json:
    """Return the value of JSON text. Raises `ValueError` for what is not JSON, too deep, or has too large numbers."""

    def not_json(name: str) -> NoReturn:
        raise ValueError(f"{name} is not JSON")

    def finite(digits: str) -> float:
        number = float(digits)
        return number if isfinite(number) else not_json(digits)

    def whole(digits: str) -> int:
        return int(digits) if len(digits) < sys.float_info.max_10_exp else not_json(f"a number of {len(digits)} digits")

    try:
        # The standard library, which accepts the raw line breaks that models write into texts.
        value = json.loads(text, strict=False, parse_constant=not_json, parse_float=finite, parse_int=whole)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if text.count("[") + text.count("{") > MAX_DEPTH and nests_deeper(value, MAX_DEPTH):
        raise ValueError(TOO_DEEP)
    if _HALF.search(text):
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value


def _tagged(text: str, reply: Reply) -> str | None:
    """Return the text of the last tagged block, or None."""
    before, opened, rest = text.rpartition(OPENING)
    if not opened:
        return None
    block, closed, _ = rest.partition(CLOSING)
    if closed:
        return block
    if CLOSING in before:
        return _tagged(before, reply)
    raise Rejected(reply.content, [f"{OPENING} is never closed"])


def _without_fence(text: str) -> str:
    """Return the text in a code fence that is the whole text; a fence within a text belongs to it.

    A fence that is never opened, or never closed, is left out too.
    """
    bare = text.strip()
    fenced = _FENCED.match(bare)
    if fenced is not None:
        return fenced[1]
    half = _HALF_FENCED.match(bare) if bare.count("```") == 1 else None
    return text if half is None else half[1] or half[2] or ""
