"""Fields that only arguments show: all that a create or an update takes, and what lists filter by."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from mcp_sim.infer.arguments import OPTIONS
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.filters import bounds_in, is_time
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Field
from mcp_sim.types.json_schema.shapes import at, constants, items, main_type, required
from mcp_sim.types.lexicon.english import singular, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms

ANY_VALUES = terms("arguments.any")
"""Values of a filter that match everything."""
_PRESENTING = terms("arguments.presenting")
"""First words of flags that control the presentation, not the selection."""
_PRESENTATION = terms("arguments.presentation") | _PRESENTING | OPTIONS
_REFERENCES = ("_id", "_ids", *ordered("arguments.reason"))
"""Endings of arguments that are no fields of given records: they name other records, or give a reason."""


def fields_of_arguments(
    features: ToolFeatures, paths: Sequence[str], entities: Container[str], *, is_given: bool, is_shown: bool
) -> Iterator[Field]:
    """Yield the fields that arguments without a role show.

    `is_given`: all records are given, so that only new ones and updates add fields. `is_shown`: results show the fields
    of the records. Then only choices and required arguments of lists are new fields.
    """
    needed, verb = required(features.input), features.verb
    for path in paths:
        schema, name = at(features.input, path), path.rsplit(".", 1)[-1]
        if verb == "create":
            yield Field(name, _without_default(schema), required=path in needed)
        elif verb == "update":
            if not is_given or not snake(path).endswith(_REFERENCES):
                yield Field(_strip_new(name), _without_default(schema))
        elif verb != "delete":
            link = snake(_strip_new(path)).removesuffix("_id")
            if link != features.entity and link in entities:
                yield Field(_strip_new(path), _without_default(schema), link=link)
            elif (
                not is_given
                and not _is_presentation(path, schema)
                and (path in needed or not is_shown or main_type(schema) == "boolean" or narrowing_choices(schema))
            ):
                yield from _filtered_field(path, schema)


def _without_default(schema: Record) -> Record:
    return {word: part for word, part in schema.items() if word != "default"}


def _strip_new(name: str) -> str:
    """Return the field that `new_name` or `newName` sets."""
    parts = words(name)
    if len(parts) < 2 or parts[0] not in {"new", "updated"}:
        return name
    rest = name[len(parts[0]) :].lstrip("_-")
    return rest[:1].lower() + rest[1:]


def _is_presentation(name: str, schema: Record) -> bool:
    """Whether an argument controls the presentation of the answer, not its content."""
    is_flag = main_type(schema) == "boolean" and not _PRESENTING.isdisjoint(words(name)[:1])
    is_settled = schema.get("default") not in (None, "") and not narrowing_choices(schema)
    return is_flag or is_settled or snake(name) in _PRESENTATION


def narrowing_choices(schema: Record) -> list[Json]:
    """Return the texts that an argument, or each value of a list, is limited to, without those like `all`."""
    return [one for one in constants(_one_of(schema)) if isinstance(one, str) and snake(one) not in ANY_VALUES]


def _one_of(schema: Record) -> Record:
    return items(schema) if main_type(schema) == "array" else schema


def _filtered_field(name: str, part: Record) -> Iterator[Field]:
    """Yield the field that an argument of a list filters by, since a filter must not be ignored."""
    many, choices, kind = main_type(part) == "array", narrowing_choices(part), main_type(_one_of(part)) or "string"
    kept = {word: one for word, one in _one_of(part).items() if word not in {"default", "enum", "const", "title"}}
    schema: Record = {**kept, "type": kind, **({"enum": choices} if choices else {})}
    one = singular(name) if many else name
    if kind == "boolean":
        yield Field(re.sub(r"^(only|just)_|_only$", "", name), schema)
    elif kind in {"integer", "number"}:
        yield Field(_strip_bound(one), schema)
    elif kind == "string" and (many or choices):
        yield Field(one, schema)
    elif kind == "string":
        bare = "created_at" if is_time(name, schema) else _strip_bound(name)
        yield Field(bare, {**schema, "format": "date-time"} if bare != name else schema)


def _strip_bound(name: str) -> str:
    """Return the field of a bound: `price` of `min_price`, `due` of `due_before`."""
    return next((stem for stem, op in bounds_in(snake(name)) if op not in {"contains", "in"}), name)
