"""Matchers: conditions on a JSON value, as `arguments:` and `where:` have them.

A matcher is a JSON value, which the value must equal (1 equals 1.0, true is not 1), or a mapping of operators, which
must all hold. A mapping is always operators, so that a misspelt operator is an error and not a value to compare with;
an object to compare with is written `{equals: {...}}`. A missing value is `ABSENT`: it satisfies `not` and
`exists: false` alone.

    equals: VALUE          the same JSON value
    not: MATCHER           the matcher does not hold
    in: [VALUE, ...]       equals one of them
    contains: VALUE        a string has it as a part, a list as an item, an object as a key
    matches: REGEX         a string in which the expression is found; anchor it with ^ and $
    gt, gte, lt, lte: N    a number against a number, a string (such as a date) against a string
    exists: true | false   the value is there, null included
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final, TypeAlias, cast

from pydantic_core import SchemaError, SchemaValidator, core_schema

from mcp_sim.types.errors import did_you_mean

Matcher: TypeAlias = Callable[[Any], bool]
"""Whether a JSON value satisfies the condition. A missing value is passed as `ABSENT`."""


class _Absent(Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""A missing value, as opposed to null."""


def matcher(value: Any) -> Matcher:
    """Compile the matcher of a document. Raises `ValueError` if it is not one."""
    if not isinstance(value, Mapping):
        return _equals(value)
    tests = [_test(name, operand) for name, operand in cast("Mapping[Any, Any]", value).items()]
    if not tests:
        raise ValueError("an empty mapping has no operators; an empty object is written {equals: {}}")
    return tests[0] if len(tests) == 1 else lambda item: all(test(item) for test in tests)


def contradiction(value: Any) -> str | None:
    """Return why nothing satisfies a matcher, if its operators exclude each other; None if something may."""
    if not isinstance(value, Mapping):
        return None
    body = cast("Mapping[str, Any]", value)
    fixed = _fixed(body)
    if fixed is not None:
        return None if any(map(matcher(body), fixed)) else "nothing satisfies this"
    lows, highs = ([body[name] for name in names if name in body] for names in (("gt", "gte"), ("lt", "lte")))
    numbers = [bound for bound in (*lows, *highs) if not isinstance(bound, str)]
    texts = {"matches", "contains"} & body.keys()
    if numbers and (texts or len(numbers) < len(lows) + len(highs)):
        return "nothing satisfies this: no value is both a text and a number"
    if lows and highs and (max(lows) > min(highs) or (max(lows) == min(highs) and not _may_be(body, max(lows)))):
        return f"nothing satisfies this: nothing is above {max(lows)!r} and below {min(highs)!r}"
    return None


def _fixed(body: Mapping[str, Any]) -> list[Any] | None:
    """Return the only values that may satisfy a matcher; None if it lists none."""
    if body.get("exists") is False:
        return [ABSENT]
    return [body["equals"]] if "equals" in body else body.get("in")


def _may_be(body: Mapping[str, Any], bound: Any) -> bool:
    """Whether a value satisfies the bounds of a matcher."""
    return all(_OPERATORS[name](body[name])(bound) for name in ("gt", "gte", "lt", "lte") if name in body)


def equal(value: Any, other: Any) -> bool:
    """Whether two JSON values are the same. 1 = 1.0, but true is not 1; the order of keys does not matter."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, list) and isinstance(other, list):
        ours, theirs = cast("list[Any]", value), cast("list[Any]", other)
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    if isinstance(value, dict) and isinstance(other, dict):
        ours, theirs = cast("dict[str, Any]", value), cast("dict[str, Any]", other)
        return ours.keys() == theirs.keys() and all(equal(ours[name], theirs[name]) for name in ours)
    return value == other


def at_path(value: Any, path: Iterable[str]) -> Any:
    """Return the value at a path through objects (by key) and lists (by index), or ABSENT."""
    for segment in path:
        if isinstance(value, dict):
            value = cast("dict[str, Any]", value).get(segment, ABSENT)
        elif isinstance(value, list) and segment.isdecimal():
            items = cast("list[Any]", value)
            value = items[int(segment)] if int(segment) < len(items) else ABSENT
        else:
            return ABSENT
    return value


def where_test(where: Mapping[str, Any]) -> Matcher:
    """Return a test whether a record has the values, or fulfils the conditions, of a `where`. Its keys are paths."""
    tests = [(name.split("."), matcher(value)) for name, value in where.items()]
    return lambda record: all(matches(at_path(record, path)) for path, matches in tests)


def _test(name: Any, operand: Any) -> Matcher:
    make = _OPERATORS.get(name)
    if make is None:
        known = did_you_mean(str(name), _OPERATORS)
        raise ValueError(f"unknown operator {name!r}{known} (an object to compare with is written {{equals: ...}})")
    return make(operand)


def _equals(wanted: Any) -> Matcher:
    if isinstance(wanted, str):
        return lambda value: value == wanted
    return lambda value: equal(value, wanted)


def _not(operand: Any) -> Matcher:
    inner = matcher(operand)
    return lambda value: not inner(value)


def _in(operand: Any) -> Matcher:
    if not isinstance(operand, list):
        raise ValueError(f"in: {operand!r} is not a list of values")
    wanted = cast("list[Any]", operand)
    return lambda item: any(equal(item, value) for value in wanted)


def _contains(operand: Any) -> Matcher:
    def test(value: Any) -> bool:
        if isinstance(value, list):
            return any(equal(item, operand) for item in cast("list[Any]", value))
        return isinstance(value, str | dict) and isinstance(operand, str) and operand in value

    return test


def _matches(operand: Any) -> Matcher:
    """Return a test that searches with pydantic's engine. Its time is linear in the text: nothing stalls a call."""
    if not isinstance(operand, str):
        raise ValueError(f"matches: {operand!r} is not a regular expression")
    try:
        return SchemaValidator(core_schema.str_schema(pattern=operand, strict=True)).isinstance_python
    except SchemaError as error:
        reason = " ".join(line.strip() for line in str(error).splitlines()[-2:])
        raise ValueError(
            f"matches: {operand!r} cannot be used (no look-around, no back-references): {reason}"
        ) from None


def _order(name: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any], Matcher]:
    def make(operand: Any) -> Matcher:
        if isinstance(operand, str):
            return lambda value: isinstance(value, str) and compare(value, operand)
        if isinstance(operand, bool) or not isinstance(operand, int | float):
            raise ValueError(f"{name}: {operand!r} is neither a number nor a string")
        return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and compare(value, operand)

    return make


def _exists(operand: Any) -> Matcher:
    if not isinstance(operand, bool):
        raise ValueError(f"exists: {operand!r} is neither true nor false")
    return lambda value: (value is not ABSENT) is operand


_OPERATORS: Mapping[str, Callable[[Any], Matcher]] = {
    "equals": _equals,
    "not": _not,
    "in": _in,
    "contains": _contains,
    "matches": _matches,
    "gt": _order("gt", operator.gt),
    "gte": _order("gte", operator.ge),
    "lt": _order("lt", operator.lt),
    "lte": _order("lte", operator.le),
    "exists": _exists,
}
OPERATORS: Final = tuple(_OPERATORS)
"""The names of all operators."""
