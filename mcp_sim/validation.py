"""Is a value valid under a JSON Schema, and if not, why? jsonschema-rs judges, jsonschema words the reasons.

The two agree outside fractional `multipleOf` and regular-expression dialects. `format` is annotation only, and a
pattern that the judge cannot compile is not enforced (`check` reports it).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import jsonschema_rs

from mcp_sim.types import Json, Record

LONGEST_SENTENCE = 300
MOST_SENTENCES = 10


class Validator:
    """One schema, compiled once. References to other documents are never followed."""

    __slots__ = ("_judge", "is_valid", "schema")

    def __init__(self, schema: Record) -> None:
        self.schema = schema
        self._judge = compiled(schema)
        self.is_valid = self._judge.is_valid

    def problems(self, value: Json) -> tuple[str, ...]:
        """What is wrong with a value, each as `path: reason`; empty where it is valid."""
        if self.is_valid(value):
            return ()
        from jsonschema.validators import Draft202012Validator, validator_for  # noqa: PLC0415 (80 ms, errors only)

        wording = validator_for(self.schema, default=Draft202012Validator)(self.schema)
        errors = sorted(wording.iter_errors(value), key=lambda error: [str(part) for part in error.absolute_path])
        sentences = [_sentence(list(error.absolute_path), error.message) for error in errors[:MOST_SENTENCES]]
        return tuple(sentences) or self._judged(value)

    def _judged(self, value: Json) -> tuple[str, ...]:
        """The judge's own words, for the few values on which the two libraries differ."""
        errors = list(self._judge.iter_errors(value))[:MOST_SENTENCES]
        return tuple(_sentence(list(error.instance_path), error.message) for error in errors)


def compiled(schema: Record) -> jsonschema_rs.Validator:
    """The judge for a schema, without the patterns it cannot compile. Raises ValueError on a schema that is none."""
    try:
        return jsonschema_rs.validator_for(schema, validate_formats=False, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        lenient = without_patterns(schema)
        if lenient == schema:
            raise ValueError(str(error).partition("\n")[0]) from None
        try:
            return jsonschema_rs.validator_for(lenient, validate_formats=False, offline=True)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as still:
            raise ValueError(str(still).partition("\n")[0]) from None


def without_patterns(schema: Json) -> Json:
    """The schema without the patterns that cannot be compiled."""
    if isinstance(schema, list):
        return [without_patterns(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    kept = cast("dict[str, Any]", schema)
    return {
        name: without_patterns(value)
        for name, value in kept.items()
        if not (name == "pattern" and isinstance(value, str) and not compiles(value))
    }


def compiles(pattern: str) -> bool:
    """Can both judges use this pattern?"""
    try:
        re.compile(pattern)
        jsonschema_rs.validator_for({"pattern": pattern}, validate_formats=False, offline=True)
    except (re.error, OverflowError, RecursionError, ValueError, jsonschema_rs.ValidationError):
        return False
    return True


def _sentence(path: Sequence[str | int], message: str) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    text = message
    if len(message) > LONGEST_SENTENCE:  # the message holds the value, which may be megabytes
        text = f"{message[: LONGEST_SENTENCE // 2]} ... {message[-LONGEST_SENTENCE // 3 :]}"
    return f"{where}: {text}" if where else text
