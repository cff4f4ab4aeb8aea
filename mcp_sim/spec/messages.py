"""Error messages for invalid documents, made from pydantic's errors: path, value and nearest valid choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mcp_sim.spec.yaml12 import Path
from mcp_sim.types import Json
from mcp_sim.types.errors import did_you_mean

LONGEST_VALUE = 60  # a problem fits on a line

MOST_MESSAGES = 1000
"""The most messages about a value: more than a person reads. Each looks for the nearest valid key."""

_TYPES = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "mapping_type": "a mapping",
    "none_required": "null",
}


class _Located(NamedTuple):
    """An error of pydantic: its path in the document, and whether it comes from a branch of a union."""

    path: Path
    is_branch: bool
    detail: ErrorDetails


def error_messages(error: ValidationError, model: type[BaseModel], value: Json) -> Iterator[tuple[Path, str]]:
    """Yield each invalid path (relative to the value) with a message. The branches of a union share one message."""
    by_path: dict[Path, list[_Located]] = {}
    for detail in error.errors(include_url=False, include_context=True):
        located = _located(detail, value)
        by_path.setdefault(located.path, []).append(located)
    inner = {path[:length] for path in by_path for length in range(len(path))}
    for path, errors in islice(by_path.items(), MOST_MESSAGES):
        if path in inner and all(problem.is_branch for problem in errors):
            continue
        yield path, _combined([problem.detail for problem in errors], model, path)
    if len(by_path) > MOST_MESSAGES:
        yield (), f"has {len(by_path) - MOST_MESSAGES} more problems like these"


LARGEST_SHOWN = 1024
"""The bits of the largest number that is shown. Python writes none of more than 4,300 digits."""


def shown(value: Json) -> str:
    """Return a value as a message shows it: shortened, and only the type of a container."""
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() if value.bit_length() > LARGEST_SHOWN:
            return f"a number of {value.bit_length()} bits"
        case _:
            text = repr(value)
            return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _located(detail: ErrorDetails, value: Json) -> _Located:
    """Drop the parts of pydantic's location that the document lacks: names of union branches and of first fields."""
    path: list[str | int] = []
    is_branch = False
    for key in detail["loc"]:
        if isinstance(value, dict) and key in value:
            value = cast("dict[Any, Json]", value)[key]
            path.append(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(cast("list[Json]", value)):
            value = cast("list[Json]", value)[key]
            path.append(key)
        else:
            is_branch = True
    if detail["type"] == "missing" and detail["loc"]:
        path.append(detail["loc"][-1])
    return _Located(tuple(path), is_branch, detail)


def _combined(details: list[ErrorDetails], model: type[BaseModel], path: Path) -> str:
    """Return one message for all errors at one path."""
    expected = list(dict.fromkeys(_TYPES[detail["type"]] for detail in details if detail["type"] in _TYPES))
    others = [detail for detail in details if detail["type"] not in _TYPES]
    if others and not (expected and all(detail["type"] == "none_required" for detail in others)):
        return "; or ".join(dict.fromkeys(_message(detail, model, path) for detail in others))
    value = details[0]["input"]
    wants_string = any(detail["type"] == "string_type" for detail in details)
    hint = f'; quote it: "{value}"' if wants_string and isinstance(value, int | float) else ""
    return f"expected {' or '.join(expected)}, got {shown(value)}{hint}"


def _message(detail: ErrorDetails, model: type[BaseModel], path: Path) -> str:
    context: Mapping[str, Any] = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return "is missing; the first line is `mcp_sim: 1`" if path == ("mcp_sim",) else "is missing"
        case "extra_forbidden":
            return f"unknown key{did_you_mean(str(path[-1]), _keys(model, path[:-1]))}"
        case "value_error":
            return str(context["error"])
        case "literal_error" | "enum":
            return f"expected {context['expected']}, got {shown(detail['input'])}{_near(detail['input'], context)}"
        case "too_short" | "string_too_short":
            return "must not be empty"
        case "greater_than_equal":
            return f"must be at least {context['ge']}, got {shown(detail['input'])}"
        case "less_than_equal":
            return f"must be at most {context['le']}, got {shown(detail['input'])}"
        case _:
            message = detail["msg"].replace("Input should be", "must be").replace("Input should", "must")
            return f"{message[:1].lower()}{message[1:]}, got {shown(detail['input'])}"


def _near(value: Json, context: Mapping[str, Any]) -> str:
    choices = [choice.strip("'") for choice in str(context["expected"]).replace(" or ", ", ").split(", ")]
    near = did_you_mean(value, choices) if isinstance(value, str) else ""
    return near if near.startswith("; did") else ""


def _keys(model: type[BaseModel], path: Path) -> list[str]:
    """Return the valid keys at a path under a model."""
    types: list[Any] = [model]
    for segment in path:
        types = [inner for known in types for inner in _below(known, segment)]
    models = [known for known in types if isinstance(known, type) and issubclass(known, BaseModel)]
    return [field.alias or name for known in models for name, field in known.model_fields.items()]


def _below(known: Any, segment: str | int) -> Iterator[Any]:
    """Yield the types that are valid under a key of a type."""
    if isinstance(known, type) and issubclass(known, BaseModel):
        field = known.model_fields.get(str(segment))
        if field is not None:
            yield from _members(field.annotation)
    elif get_origin(known) is not None and get_args(known):
        yield from _members(get_args(known)[-1])


def _members(known: Any) -> Iterator[Any]:
    """Yield a type without `Annotated`, and each member of a union separately."""
    if get_origin(known) is Annotated:
        yield from _members(get_args(known)[0])
    elif get_origin(known) in (Union, UnionType):
        for member in get_args(known):
            yield from _members(member)
    else:
        yield known
