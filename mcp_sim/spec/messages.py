"""What does pydantic complain of, in plain sentences that name the place, the value and the nearest valid choice?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mcp_sim.spec.yaml12 import Path
from mcp_sim.types import Json
from mcp_sim.types.errors import did_you_mean

LONGEST_VALUE = 60

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


class _Found(NamedTuple):
    """One complaint: where in the value as it was written, whether it came out of a union, and about what."""

    path: Path
    is_branch: bool
    detail: ErrorDetails


def sentences(error: ValidationError, model: type[BaseModel], value: Json) -> Iterator[tuple[Path, str]]:
    """Each place (relative to the value) with what is wrong there. The branches of a union make one sentence."""
    found = [_located(detail, value) for detail in error.errors(include_url=False, include_context=True)]
    by_path: dict[Path, list[_Found]] = {}
    for complaint in found:
        by_path.setdefault(complaint.path, []).append(complaint)
    for path, complaints in by_path.items():
        if all(complaint.is_branch for complaint in complaints) and any(
            len(other) > len(path) and other[: len(path)] == path for other in by_path
        ):
            continue
        yield path, _together([complaint.detail for complaint in complaints], model, path)


def shown(value: Json) -> str:
    """A value as a message shows it."""
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case _:
            text = repr(value)
            return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _located(detail: ErrorDetails, value: Json) -> _Found:
    """The parts of pydantic's location that the document has; others name a branch of a union, or a first field."""
    path: list[str | int] = []
    is_branch = False
    for part in detail["loc"]:
        if isinstance(value, dict) and part in value:
            value = cast("dict[Any, Json]", value)[part]
            path.append(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(cast("list[Json]", value)):
            value = cast("list[Json]", value)[part]
            path.append(part)
        else:
            is_branch = True
    if detail["type"] == "missing" and detail["loc"]:
        path.append(detail["loc"][-1])
    return _Found(tuple(path), is_branch, detail)


def _together(details: list[ErrorDetails], model: type[BaseModel], path: Path) -> str:
    """One sentence for all complaints of one place."""
    wanted = list(dict.fromkeys(_TYPES[detail["type"]] for detail in details if detail["type"] in _TYPES))
    others = [detail for detail in details if detail["type"] not in _TYPES]
    if others and not (wanted and all(detail["type"] == "none_required" for detail in others)):
        return "; or ".join(dict.fromkeys(_sentence(detail, model, path) for detail in others))
    return f"must be {' or '.join(wanted)}, not {shown(details[0]['input'])}{_quote_hint(details)}"


def _quote_hint(details: list[ErrorDetails]) -> str:
    value = details[0]["input"]
    wants_string = any(detail["type"] == "string_type" for detail in details)
    return f'; quote it: "{value}"' if wants_string and isinstance(value, int | float) else ""


def _sentence(detail: ErrorDetails, model: type[BaseModel], path: Path) -> str:
    context: Mapping[str, Any] = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return f"unknown key{did_you_mean(str(path[-1]), _keys(model, path[:-1]))}"
        case "value_error":
            return str(context["error"])
        case "literal_error" | "enum":
            return f"must be {context['expected']}, not {shown(detail['input'])}{_near(detail['input'], context)}"
        case "too_short" | "string_too_short":
            return "must not be empty"
        case "greater_than_equal":
            return f"must be at least {context['ge']}, not {shown(detail['input'])}"
        case "less_than_equal":
            return f"must be at most {context['le']}, not {shown(detail['input'])}"
        case _:
            message = detail["msg"].replace("Input should be", "must be").replace("Input should", "must")
            return f"{message[:1].lower()}{message[1:]}, not {shown(detail['input'])}"


def _near(value: Json, context: Mapping[str, Any]) -> str:
    choices = [choice.strip("'") for choice in str(context["expected"]).replace(" or ", ", ").split(", ")]
    near = did_you_mean(value, choices) if isinstance(value, str) else ""
    return near if near.startswith("; did") else ""


def _keys(model: type[BaseModel], path: Path) -> list[str]:
    """The keys that may stand at a path under a model."""
    types: list[Any] = [model]
    for part in path:
        types = [inner for known in types for inner in _below(known, part)]
    models = [known for known in types if isinstance(known, type) and issubclass(known, BaseModel)]
    return [field.alias or name for known in models for name, field in known.model_fields.items()]


def _below(known: Any, part: str | int) -> Iterator[Any]:
    """The types that may stand under a key of a type."""
    if isinstance(known, type) and issubclass(known, BaseModel):
        field = known.model_fields.get(str(part))
        if field is not None:
            yield from _members(field.annotation)
    elif get_origin(known) is not None and get_args(known):
        yield from _members(get_args(known)[-1])


def _members(known: Any) -> Iterator[Any]:
    """A type without `Annotated`, and each member of a union by itself."""
    if get_origin(known) is Annotated:
        yield from _members(get_args(known)[0])
    elif get_origin(known) in (Union, UnionType):
        for member in get_args(known):
            yield from _members(member)
    else:
        yield known
