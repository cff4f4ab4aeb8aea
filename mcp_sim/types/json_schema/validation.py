"""Validate values under a JSON Schema. jsonschema-rs decides, jsonschema explains.

The two agree except for fractional `multipleOf` and regular-expression dialects. `format` is an annotation, except in
arguments, which must have formats as any usual validation library accepts them, and in results, which must have them as
strict clients do. A pattern that jsonschema-rs cannot compile is not enforced (`check` reports it).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time
from functools import lru_cache, partial
from ipaddress import ip_address
from typing import Any, Final, cast
from uuid import UUID

import jsonschema_rs

from mcp_sim.types import Json, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import count_unfolded

LONGEST_SENTENCE = 300  # keeps both ends, which say where and why
MOST_SENTENCES = 10  # an agent corrects a few at a time
MOST_EXPLAINED = 1_000
MOST_CHECKED = 100_000
"""Schemas that unfold to more than MOST_EXPLAINED schemas are not explained, and those beyond MOST_CHECKED are refused:
the time of both doubles with each definition that refers to another one twice."""


class Validator:
    """One schema, compiled once. References to other documents are never followed."""

    __slots__ = ("_checker", "_error_finder", "is_valid", "schema")

    def __init__(self, schema: Record, formats: Mapping[str, Callable[[str], bool]] | None = None) -> None:
        """Compile a schema. `formats` are those to check, with their tests; None checks no formats."""
        self.schema = schema
        self._checker = compiled(schema, formats)
        self._error_finder: Any = None
        self.is_valid = self._checker.is_valid

    def problems(self, value: Json) -> tuple[str, ...]:
        """Return what is wrong with a value, each as `path: reason`; empty if it is valid."""
        if self.is_valid(value):
            return ()
        if self._error_finder is None:
            self._error_finder = _error_finder(self.schema)
        try:
            problems: list[Any] = list(self._error_finder(value))
        except RecursionError:  # the value is too deep for jsonschema
            problems = []
        errors = sorted(problems, key=lambda error: [str(item) for item in error.absolute_path])
        sentences = [_sentence(list(error.absolute_path), error.message) for error in errors[:MOST_SENTENCES]]
        return tuple(sentences) or self._checker_problems(value)

    def invalid_parts(self, value: Json) -> list[tuple[str | int, ...]]:
        """Return the paths of the parts of a value that violate the schema; empty if it is valid."""
        invalid_parts = list[tuple[str | int, ...]]()
        for error in self._checker.iter_errors(value):
            path = tuple(error.instance_path)
            unexpected: Any = getattr(error.kind, "unexpected", None)
            invalid_parts += [path] if unexpected is None else [(*path, item) for item in unexpected]
        return invalid_parts

    def _checker_problems(self, value: Json) -> tuple[str, ...]:
        """Return the explanations of jsonschema-rs, if those of jsonschema are missing or the two libraries differ."""
        errors = list(self._checker.iter_errors(value))[:MOST_SENTENCES]
        return tuple(_sentence(list(error.instance_path), error.message) for error in errors)


@frozen
class _Error:
    """The one explanation of a value that would have too many."""

    absolute_path: tuple[str | int, ...] = ()
    message: str = "does not match its schema"


def _error_finder(schema: Record) -> Callable[[Json], Iterable[Any]]:
    """Return what explains the errors of a value; it finds none where only jsonschema-rs is sure to come to an end."""
    if count_unfolded(schema) > MOST_EXPLAINED:
        return lambda _: (_Error(),)
    is_endless = count_unfolded(schema, back=MOST_EXPLAINED) > MOST_EXPLAINED  # jsonschema goes round until it crashes
    if is_endless or _has_key(schema, "patternProperties"):  # it matches names with an engine that may take for ever
        return lambda _: ()
    from jsonschema import validators  # noqa: PLC0415 (80 ms, errors only)

    usual = validators.validator_for(schema, default=validators.Draft202012Validator)
    return cast("Any", validators).extend(usual, {"pattern": _pattern_errors})(schema).iter_errors


def _pattern_errors(_dialect: Any, pattern: str, value: Json, _schema: Json) -> Iterator[Exception]:
    """Check the keyword `pattern` with jsonschema-rs: Python's own engine can be stalled by a value."""
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415 (80 ms, errors only)

    if isinstance(value, str) and not compiled({"pattern": pattern}).is_valid(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _has_key(schema: Json, key: str) -> bool:
    """Whether a key occurs anywhere in the schema, as a keyword or otherwise."""
    if isinstance(schema, list):
        return any(_has_key(item, key) for item in cast("list[Any]", schema))
    if not isinstance(schema, dict):
        return False
    body = cast("dict[str, Any]", schema)
    return key in body or any(_has_key(item, key) for item in body.values())


def compiled(schema: Record, formats: Mapping[str, Callable[[str], bool]] | None = None) -> jsonschema_rs.Validator:
    """Compile a schema, without the patterns that cannot be compiled. Raises `ValueError` if it is not a schema."""
    if count_unfolded(schema) > MOST_CHECKED:
        raise ValueError(
            f"its parts refer to each other too often: a value would have to fit more than {MOST_CHECKED:,} of them"
        )
    checked: dict[str, Any] = {"validate_formats": formats is not None, "formats": {**(formats or {})}, "offline": True}
    try:
        return jsonschema_rs.validator_for(schema, **checked)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        lenient = without_patterns(schema)
        if lenient == schema:
            raise ValueError(str(error).partition("\n")[0]) from None
        try:
            return jsonschema_rs.validator_for(lenient, **checked)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as still:
            raise ValueError(str(still).partition("\n")[0]) from None


def without_patterns(schema: Json) -> Json:
    """Return the schema without the patterns that cannot be compiled, and with the others as they can be."""
    if isinstance(schema, list):
        return [without_patterns(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    kept = cast("dict[str, Any]", schema)
    forms = {"pattern": enforceable(kept["pattern"])} if isinstance(kept.get("pattern"), str) else {}
    rest = {name: without_patterns(value) for name, value in kept.items() if name not in forms}
    return {**rest, **{name: form for name, form in forms.items() if form is not None}}


def compiles(pattern: str) -> bool:
    """Whether jsonschema-rs can compile this pattern."""
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, validate_formats=False, offline=True)
    except (ValueError, jsonschema_rs.ValidationError):
        return False
    return True


_CAPTURING = re.compile(r"(?<!\\)\((?:\?P?<(?P<name>[A-Za-z_]\w*)>|(?!\?))")
_REFERRING = re.compile(r"\(\?P=(\w+)\)|\\k<(\w+)>")


def enforceable(pattern: str) -> str | None:
    """Return the pattern as jsonschema-rs can compile it, with numbers for named groups; None if it cannot."""
    if compiles(pattern):
        return pattern
    numbers = {match["name"]: at for at, match in enumerate(_CAPTURING.finditer(pattern), 1)}
    unnamed = _CAPTURING.sub("(", _REFERRING.sub(lambda at: f"\\{numbers.get(at[1] or at[2], 0)}", pattern))
    form = unnamed.replace("\\A", "^").replace("\\Z", "$")
    return form if form != pattern and compiles(form) else None


def _sentence(path: Sequence[str | int], message: str) -> str:
    where = "".join(f"[{segment}]" if isinstance(segment, int) else f".{segment}" for segment in path).removeprefix(".")
    text = message
    if len(message) > LONGEST_SENTENCE:  # the message holds the value, which may be megabytes
        text = f"{message[: LONGEST_SENTENCE // 2]} ... {message[-LONGEST_SENTENCE // 3 :]}"
    return f"{where}: {text}" if where else text


_EMAIL = re.compile(r"(?:[^<>]*<)?[^@\s<>]+@[^@\s<>]+>?")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_UNCHECKED = (
    "duration hostname idn-email idn-hostname iri iri-reference json-pointer regex relative-json-pointer uri-reference "
    "uri-template"
)


def _is_whole(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.fullmatch(text) is not None


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def is_valid(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return is_valid


def _moment(text: str) -> object:
    """Parse a date, or a date with a time, in any ISO 8601 form, or seconds since 1970."""
    return float(text) if text.isdecimal() else datetime.fromisoformat(text.strip().upper())


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    **dict.fromkeys(_UNCHECKED.split(), lambda _: True),
    **dict.fromkeys(("date", "date-time"), _parses(_moment)),
    "time": _parses(lambda text: time.fromisoformat(text.strip().upper())),
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "uuid": _parses(UUID),
    **dict.fromkeys(("ipv4", "ipv6"), _parses(ip_address)),
}
"""Format -> whether a text has it. Formats that real servers rarely check are always valid."""

_IN_URIS = r"(?:[a-z0-9._~!$&'()*+,;=:@/-]|%[0-9a-f]{2})"

_STRICT: Final[Mapping[str, str]] = {
    "byte": r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
    "duration": r"P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?|P\d+W",
    "email": r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@"
    r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?",
    "uri": rf"[a-z][a-z0-9+.-]*:(?://\[[0-9a-f:.]+\]|{_IN_URIS}){_IN_URIS}*(?:\?(?:{_IN_URIS}|\?)*)?(?:#(?:{_IN_URIS}|\?)*)?",
    "url": r"(?:https?|ftp)://[^\s/]+(?:/\S*)?",
    "uuid": r"(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
}
"""Formats that jsonschema-rs checks in some dialects only, or less strictly than ajv-formats, which the official
TypeScript client uses."""

RESULT_FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    name: lru_cache(maxsize=4096)(partial(_is_whole, re.compile(pattern, re.IGNORECASE)))
    for name, pattern in _STRICT.items()
}
"""Format -> whether a text in a result has it, besides the formats that jsonschema-rs checks by itself. Lists show the
same texts again and again."""
