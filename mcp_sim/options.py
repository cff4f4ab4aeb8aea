"""The types of options that several kinds share: how they are written in YAML, and what an editor is told of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from mcp_sim.clock import duration
from mcp_sim.conditions import OPERATORS, matcher
from mcp_sim.types import Json

_CALLS = re.compile(r"(\d+) calls?")
_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1_000, "ms"), (1, "us"))


def duration_text(span: timedelta) -> str:
    """A span in the largest unit that gives a whole number: `90s`, `250ms`."""
    micros = span // timedelta(microseconds=1)
    if micros == 0:
        return "0s"
    size, unit = next((size, unit) for size, unit in _UNITS if micros % size == 0)
    return f"{micros // size}{unit}"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of world time, or of calls: exactly one of the two is set."""

    time: timedelta | None = None
    calls: int | None = None


def span(value: Any) -> Span:
    """`30s` or `5 calls`; raises ValueError on anything else, bare numbers included."""
    if isinstance(value, Span):
        return value
    if isinstance(value, str):
        calls = _CALLS.fullmatch(value.strip())
        return Span(calls=int(calls[1])) if calls else Span(time=duration(value))
    raise ValueError(f"{value!r} is not a span; write a duration (250ms, 30s, 5m, 2h, 1d) or `5 calls`")


def span_text(value: Span) -> str:
    """A span as it is written: `90s`, `5 calls`."""
    if value.time is not None:
        return duration_text(value.time)
    return f"{value.calls} call{'' if value.calls == 1 else 's'}"


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a duration; write 250ms, 30s, 5m, 2h or 1d")
    return duration(value)


def _checked(value: Any) -> Any:
    matcher(value)
    return value


Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    PlainSerializer(duration_text, return_type=str),
    WithJsonSchema(
        {
            "$comment": "duration",
            "type": "string",
            "pattern": r"^\d+(\.\d+)?(us|ms|s|m|h|d)$",
            "examples": ["250ms", "30s", "5m", "2h", "1d"],
        }
    ),
]
"""A span of world time, written `250ms`, `30s`, `5m`, `2h` or `1d`."""

PositiveDuration = Annotated[Duration, Field(gt=timedelta(0))]
"""A span of world time that is not zero."""

SpanText = Annotated[
    Span,
    BeforeValidator(span),
    PlainSerializer(span_text, return_type=str),
    WithJsonSchema(
        {
            "$comment": "duration or calls",
            "type": "string",
            "pattern": r"^\d+( calls?|(\.\d+)?(us|ms|s|m|h|d))$",
            "examples": ["30s", "5 calls"],
        }
    ),
]
"""A stretch of world time or of calls, written `30s` or `5 calls`."""

Count = Annotated[int, Field(strict=True, ge=1)]
"""A whole number from 1."""

CountFromZero = Annotated[int, Field(strict=True, ge=0)]
"""A whole number from 0."""

MatcherSource = Annotated[
    Json,
    BeforeValidator(_checked),
    WithJsonSchema(
        {
            "$comment": "matcher",
            "anyOf": [
                {"type": ["string", "number", "boolean", "null", "array"]},
                {"type": "object", "properties": dict.fromkeys(OPERATORS, True), "additionalProperties": False},
            ],
        }
    ),
]
"""A matcher as it was written, known to be one; `conditions.matcher` compiles it."""
