"""Types of options that several kinds share, and of parts of documents: their YAML form, and their JSON Schema."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from mcp_sim.types import Json
from mcp_sim.types.clock import duration, iso
from mcp_sim.types.conditions import OPERATORS, contradiction, matcher
from mcp_sim.types.frozen import frozen

_CALLS = re.compile(r"(\d+) calls?")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1_000, "ms"), (1, "us"))


class Part(BaseModel):
    """A part of a document. Unknown keys are errors, and values are not converted to other types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    exactly_one: ClassVar[tuple[str, ...]] = ()
    """The fields among which one is written, and no other."""

    @model_validator(mode="after")
    def _has_exactly_one(self) -> Self:
        if self.exactly_one:
            one_of(self, *self.exactly_one)
        return self


def one_of(entry: Part, *keys: str) -> None:
    """Raise `ValueError` unless exactly one of the keys is written."""
    if len(entry.model_fields_set & set(keys)) != 1:
        names = [type(entry).model_fields[key].alias or key for key in keys]
        raise ValueError(f"write exactly one of {', '.join(names)}")


def duration_text(span: timedelta) -> str:
    """Return a duration in the largest unit that gives a whole number: `90s`, `250ms`."""
    micros = span // timedelta(microseconds=1)
    if micros == 0:
        return "0s"
    size, unit = next((size, unit) for size, unit in _UNITS if micros % size == 0)
    return f"{micros // size}{unit}"


@frozen
class Span:
    """A span of world time or of calls: exactly one of the two is set."""

    time: timedelta | None = None
    calls: int | None = None


def span(value: Any) -> Span:
    """Read `30s` or `5 calls`. Raises `ValueError` on anything else, also on bare numbers."""
    if isinstance(value, Span):
        return value
    if isinstance(value, str):
        calls = _CALLS.fullmatch(value.strip())
        return Span(calls=int(calls[1])) if calls else Span(time=duration(value))
    raise ValueError(f"{value!r} is not a span; write a duration (250ms, 30s, 5m, 2h, 1d) or `5 calls`")


def span_text(value: Span) -> str:
    """Return the YAML form of a span: `90s`, `5 calls`."""
    if value.time is not None:
        return duration_text(value.time)
    return f"{value.calls} call{'' if value.calls == 1 else 's'}"


def moment(value: Any) -> datetime:
    """Read a time as documents write it. Raises `ValueError` on anything else."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        raise ValueError(f"{value!r} is not a time; write it as 2029-03-01T09:00:00Z")
    parsed = datetime.fromisoformat(value.upper())
    if not 1900 <= parsed.year < 3000:
        raise ValueError(f"{value!r} is outside the years 1900 to 2999")
    return parsed.astimezone(UTC)


def point(value: Any) -> Span | datetime:
    """Read a span, counted from the world's start, or a time. Raises `ValueError` on anything else."""
    if isinstance(value, datetime) or (isinstance(value, str) and _MOMENT.fullmatch(value)):
        return moment(value)
    try:
        return span(value)
    except ValueError as error:
        raise ValueError(f"{error}, or a time such as 2029-03-01T09:00:00Z") from None


def point_text(value: Span | datetime) -> str:
    """Return the YAML form of a point: `90s`, `5 calls`, `2029-03-01T09:00:00Z`."""
    return iso(value) if isinstance(value, datetime) else span_text(value)


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a duration; write 250ms, 30s, 5m, 2h or 1d")
    return duration(value)


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta(0):
        raise ValueError("must be longer than 0s")
    return value


def _checked(value: Any) -> Any:
    matcher(value)
    problem = contradiction(value)
    if problem is not None:
        raise ValueError(problem)
    return value


def _text(comment: str, pattern: str, *examples: str) -> WithJsonSchema:
    """Return the JSON Schema of an option that is written as a text."""
    return WithJsonSchema({"$comment": comment, "type": "string", "pattern": pattern, "examples": [*examples]})


Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    PlainSerializer(duration_text, return_type=str),
    _text("duration", r"^\d+(\.\d+)?(us|ms|s|m|h|d)$", "250ms", "30s", "5m", "2h", "1d"),
]
"""A span of world time, written `250ms`, `30s`, `5m`, `2h` or `1d`."""

PositiveDuration = Annotated[Duration, AfterValidator(_positive)]
"""A span of world time that is not zero."""

SpanText = Annotated[
    Span,
    BeforeValidator(span),
    PlainSerializer(span_text, return_type=str),
    _text("duration or calls", r"^\d+( calls?|(\.\d+)?(us|ms|s|m|h|d))$", "30s", "5 calls"),
]
"""A span of world time or of calls, written `30s` or `5 calls`."""

Moment = Annotated[datetime, BeforeValidator(moment), WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time, written `2029-03-01T09:00:00Z`."""

Point = Annotated[
    Span | datetime,
    PlainValidator(point),
    PlainSerializer(point_text, return_type=str),
    _text(
        "duration, calls or time",
        r"^\d+( calls?|(\.\d+)?(us|ms|s|m|h|d)|-\d\d-\d\d[Tt].*)$",
        "30s",
        "5 calls",
        "2029-03-01T09:00:00Z",
    ),
]
"""A point in the life of a world: a duration since its start, a number of calls, or a time."""


def per(value: Any) -> Any:
    """Return what a counter is split by: `tool`, `entity` or `arguments.NAME`. Raises `ValueError` for other values."""
    if value is None or value in ("tool", "entity") or re.fullmatch(r"arguments\..+", str(value)):
        return value
    raise ValueError(f"expected tool, entity or arguments.NAME, got {value!r}")


Per = Annotated[
    str,
    BeforeValidator(per),
    WithJsonSchema({"type": "string", "anyOf": [{"enum": ["tool", "entity"]}, {"pattern": r"^arguments\..+"}]}),
]
"""What a counter is split by."""

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
"""A matcher as it was written, checked; `conditions.matcher` compiles it."""
