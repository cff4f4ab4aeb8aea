"""How arguments filter records by their fields, and the fields that only arguments show."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from mcp_sim.plans.infer.arguments import OPTIONS
from mcp_sim.plans.infer.features import ToolFeatures
from mcp_sim.plans.infer.fields import KnownFields
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Field
from mcp_sim.types.json_schema.shapes import at, constants, is_nullable, items, main_type, required, types_of
from mcp_sim.types.lexicon.english import last_word, noun_of_id, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import by_word, groups, ordered, table, terms
from mcp_sim.types.plans import Basis, Filter, Operator
from mcp_sim.types.result_schemas import choices_of

_PERIODS = cast("Mapping[str, Operator]", table("arguments.period"))
_BOUND_PREFIXES = cast("Mapping[str, Operator]", by_word("arguments.bound_prefix"))
_BOUND_SUFFIXES = cast("Mapping[str, Operator]", by_word("arguments.bound_suffix"))
_TIME_ENDINGS, _CHANGES = terms("fields.time_ending"), ordered("fields.change_stem")
"""Last words of times, and beginnings of the words of times that no period of a list is about, if there are others."""
_EXACT_ENDINGS = ordered("fields.exact_ending")
"""Endings of fields that are never matched partially."""
_DAYS, _ENDS_OF = terms("arguments.day"), table("fields.period")
_THRESHOLDS, _SIDES = terms("arguments.threshold"), cast("Mapping[str, Operator]", by_word("phrases.side"))
_INCLUSIVE = re.compile(r"\b(?:at or|or equal|equal or|or (?:less|lower|fewer|higher|above|below))\b", re.IGNORECASE)
_FLAG = re.compile(r"(?:include|show|with)_(?P<also>.+)|(?:only|just)_(?P<only>.+)|(?P<alone>.+)_only")
_STATES, _STATES_AFTER = terms("fields.state"), [frozenset(states) for states in groups("states.after").values()]
PARTIAL = re.compile(
    r"\b(fuzz(?:y|ily)|partial(?:ly)?|substring|part of|"
    r"contain(?:s|ing)(?=\W*$| or\b|(?: \w+){0,3} (?:text|string|substring|word|phrase|term|keyword|match)s?))\b",
    re.IGNORECASE,
)
"""A text that contains another one: what contains records is a place, as the folder of "containing the files"."""
_CLAUSE_END = re.compile(r"[.,;:\n]\s|\b(?:and|or)\b")
_TIME_WORDS = re.compile(r"\b(date|time|day|timestamp|iso|month|year|hour|yyyy)", re.IGNORECASE)
NAMED = Basis("inferred", 0.9, ("arguments are named like fields",))
ANY_VALUES = terms("arguments.any")
"""Values of a filter that match everything."""
_PRESENTING = terms("arguments.presenting")
"""First words of flags that control the presentation, not the selection."""
_PRESENTATION = terms("arguments.presentation") | terms("arguments.length") | _PRESENTING | OPTIONS
_SAMPLE_SIZE = 200  # a few states repeat
_REFERENCES = ("_id", "_ids", *ordered("arguments.reason"))
"""Endings of arguments that are not fields of given records: they name other records, or give a reason."""


class FoundFilter(NamedTuple):
    """How an argument filters, and why."""

    rule: Filter
    basis: Basis


def matched_in_part(arguments: Collection[str], about: str) -> Collection[str]:
    """Return the arguments that a description says may be a part of a text: the only one, or those beside the words."""
    clauses = [{*words(clause.lower())} for clause in _CLAUSE_END.split(about) if PARTIAL.search(clause)]
    named = [name for name in arguments if any(clause.issuperset(words(snake(name))) for clause in clauses)]
    return arguments if clauses and len(arguments) == 1 else named


def find_filters(
    arguments: Mapping[str, Record], known: KnownFields, partial: Container[str]
) -> dict[str, FoundFilter]:
    """Return the filters of those arguments that filter by a known field.

    Texts match partially in those that are `partial`.
    """
    filters = {
        name: _filter_of(snake(name), argument, known, partially=name in partial)
        for name, argument in arguments.items()
    }
    return {name: found_filter for name, found_filter in filters.items() if found_filter is not None}


def _filter_of(argument: str, schema: Record, known: KnownFields, *, partially: bool) -> FoundFilter | None:
    if is_time(argument, schema):
        field = known.named.get(argument) or _time_field(known)
        return None if field is None else _found(field, _PERIODS[argument], f"'{argument}' is about a time")
    is_flag = main_type(schema) == "boolean"  # `below_minimum: true` bounds nothing by `true`
    return (
        (_flag_filter(argument, known) if is_flag else None)
        or _equal_filter(argument, schema, known, partially=partially)
        or (None if is_flag else _bound_filter(argument, known))
        or _day_filter(argument, schema, known)
    )


def _found(field: Field, op: Operator, reason: str, **values: Json) -> FoundFilter:
    return FoundFilter(Filter(field.name, op, **values), Basis("inferred", 0.8, (reason,)))


def _equal_filter(argument: str, schema: Record, known: KnownFields, *, partially: bool) -> FoundFilter | None:
    """Return the filter by the field of the argument's name."""
    many = main_type(schema) == "array"
    others = (singular(argument), argument.removesuffix("s")) if many else (plural(argument),)  # `sku` of `skus`
    field = next(filter(None, map(known.find, (argument, *others))), None)
    return None if field is None else _named_filter(field, schema, partially=partially)


def _named_filter(field: Field, schema: Record, *, partially: bool) -> FoundFilter:
    many = main_type(schema) == "array"
    is_said = PARTIAL.search(str(schema.get("description", ""))) is not None
    is_part = is_said or (partially and is_loose(field))
    holds = main_type(field.schema) == "array" or (is_part and not many)
    return FoundFilter(Filter(field.name, "contains" if holds else "in" if many else "equals"), NAMED)


def _day_filter(argument: str, schema: Record, known: KnownFields) -> FoundFilter | None:
    """Return the filter of a day by the time of a record."""
    is_written = main_type(schema) == "string" or (argument == "year" and main_type(schema) == "integer")
    field = _time_field(known) if argument in _DAYS and is_written else None
    if field is None or main_type(field.schema) != "string":
        return None
    ends = (
        "_".join(end if word == begin else word for word in words(snake(field.name)))
        for begin, end in _ENDS_OF.items()
        if begin in words(snake(field.name))
    )
    end = next((known.named[name].name for name in ends if name in known.named), None)
    if end is not None:
        reason = f"'{argument}' is a day between '{field.name}' and '{end}'"
        return FoundFilter(Filter(field.name, "contains", until=end), Basis("inferred", 0.8, (reason,)))
    return _found(field, "contains", f"'{argument}' is a day, and '{field.name}' a time")


def threshold_filter(argument: str, schema: Record, known: KnownFields, about: str) -> FoundFilter | None:
    """Return the filter by the only number that a text mentions beside `below` or the like: `low_stock(threshold)`."""
    said = words(about.lower())
    op: Operator | None = next((_SIDES[word] for word in said if word in _SIDES), None)
    if op is not None and _INCLUSIVE.search(about):
        op = "lte" if op == "lt" else "gte"
    is_number = main_type(schema) in {"integer", "number"}
    if snake(argument) not in _THRESHOLDS or op is None or not is_number:
        return None
    numbers = [field for field in known.named.values() if main_type(field.schema) in {"integer", "number"}]
    named = [field for field in numbers if {*words(snake(field.name))} <= {*said}]
    reason = f"'{argument}' bounds '{named[0].name}', which its description mentions" if len(named) == 1 else ""
    return _found(named[0], op, reason, default=schema.get("default")) if reason else None


def is_loose(field: Field) -> bool:
    """Whether a part of the value is enough for a match."""
    is_text = main_type(field.schema) == "string" and not field.schema.keys() & {"enum", "const", "format"}
    return is_text and not snake(field.name).endswith(_EXACT_ENDINGS)


def _bound_filter(argument: str, known: KnownFields) -> FoundFilter | None:
    """Return the filter of a bound, such as `min_price` or `created_after`."""
    for stem, op in bounds_in(argument):
        names = (stem, *(f"{stem}_{ending}" for ending in ("at", "date", "on", "time")), f"date_{stem}", f"{stem}d_at")
        field = next((known.named[name] for name in names if name in known.named), None)
        if field is not None:
            return _found(field, op, f"'{argument}' bounds '{field.name}'")
    return None


def bounds_in(argument: str) -> Iterator[tuple[str, Operator]]:
    """Yield what an argument bounds, and how: `price` and `gte` for `min_price`."""
    for word, op in _BOUND_PREFIXES.items():
        if argument.startswith(f"{word}_"):
            yield argument.removeprefix(f"{word}_"), op
    for word, op in _BOUND_SUFFIXES.items():
        if argument.endswith(f"_{word}"):
            yield argument.removesuffix(f"_{word}"), op


def _flag_filter(argument: str, known: KnownFields) -> FoundFilter | None:
    """Return the filter of `unread`, `unread_only` or `include_archived` by a flag of the records."""
    named = _FLAG.fullmatch(argument)
    word = argument if named is None else named["only"] or named["also"] or named["alone"]
    for name, field in known.named.items():
        plain = name.removeprefix("is_")
        is_flag = main_type(field.schema) == "boolean" and word in {plain, f"un{plain}", f"in{plain}"}
        if is_flag and (named is not None or name != argument):
            also = named is not None and bool(named["also"])
            op, rule = ("not", "unless") if also else ("equals", "only")
            return _found(field, op, f"'{word}' is a value of '{field.name}'", **{rule: word == plain})
    if named is None:
        return None
    return _state_filter(word, known, also=bool(named["also"]))


def _state_filter(word: str, known: KnownFields, *, also: bool) -> FoundFilter | None:
    """Return the filter of `include_done` or `done_only` by the state that means it: `completed`."""
    alike = {word}.union(*(states for states in _STATES_AFTER if word in states))
    for name in sorted(_STATES & known.named.keys()):
        field = known.named[name]
        states = (*choices_of(field.schema), *(row.get(field.name) for row in known.rows[:_SAMPLE_SIZE]))
        state = next((choice for choice in states if snake(str(choice)) in alike), None)
        if state is not None:
            op, rule = ("not", "unless") if also else ("equals", "only")
            return _found(field, op, f"'{word}' means the state '{state}'", **{rule: state})
    return None


def is_time(argument: str, schema: Record) -> bool:
    """Whether an argument begins or ends a period. `from` and `to` may also be places or accounts."""
    if snake(argument) not in {"from", "to"}:
        return snake(argument) in _PERIODS
    description = str(schema.get("description", "")).lower()
    return str(schema.get("format", "")).startswith(("date", "time")) or bool(_TIME_WORDS.search(description))


def _time_field(known: KnownFields) -> Field | None:
    """Return the field with the time of a record: its own date, or else the time of its creation."""
    of_changes = [name for name in known.named if any(word.startswith(_CHANGES) for word in words(name))]
    own = (name for name in known.named if last_word(name) in _TIME_ENDINGS and name not in of_changes)
    return next((known.named[name] for name in (*own, "created_at", "created") if name in known.named), None)


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
        link = noun_of_id(snake(name)) or snake(name)
        is_own = noun_of_id(singular(snake(name))) == features.entity  # the key, whatever the records call it
        if verb == "create":
            yield Field(name, _without_default(schema), required=path in needed)
        elif verb == "update":
            is_field = not (is_given and snake(path).endswith(_REFERENCES)) and features.calculates(path) is None
            yield from [_updated_field(path, schema, features)] if is_field else []
        elif link != features.entity and link in entities:
            yield Field(name, _without_default(schema), link=link, link_is_guessed=True)
        elif not is_given and not is_own and (path in needed or not is_shown or narrowing_choices(schema)):
            yield from _filtered_field(path, schema)


def _updated_field(path: str, schema: Record, features: ToolFeatures) -> Field:
    """Return the field that an argument of an update shows: a list if values are added to it or removed from it.

    Its default may be null although only another type is declared. Then nothing has set it before.
    """
    is_unset = schema.get("default", "") is None and "type" in schema and not is_nullable(schema)
    schema = {**schema, "type": [*types_of(schema), "null"]} if is_unset else schema
    name, schema = path.rsplit(".", 1)[-1], _without_default(schema)
    if features.enters is not None and path in required(features.input) and main_type(schema) != "array":
        return Field(plural(singular(name)), {"type": "array", "items": schema})
    return Field(_strip_new(name), schema)


def _without_default(schema: Record) -> Record:
    return {word: value for word, value in schema.items() if word != "default"}


def _strip_new(name: str) -> str:
    """Return the field that `new_name` or `newName` sets."""
    parts = words(name)
    if len(parts) < 2 or parts[0] not in {"new", "updated"}:
        return name
    rest = name[len(parts[0]) :].lstrip("_-")
    return rest[:1].lower() + rest[1:]


def is_presentation(name: str, schema: Record) -> bool:
    """Whether an argument controls the presentation of the answer, not its content."""
    is_flag = main_type(schema) == "boolean" and not _PRESENTING.isdisjoint(words(name)[:1])
    is_settled = schema.get("default") not in (None, "") and not narrowing_choices(schema)
    return is_flag or is_settled or snake(name) in _PRESENTATION


def narrowing_choices(schema: Record) -> list[Json]:
    """Return the texts that an argument, or each value of a list, is limited to, without those like `all`."""
    return [
        constant
        for constant in constants(_one_of(schema))
        if isinstance(constant, str) and snake(constant) not in ANY_VALUES
    ]


def _one_of(schema: Record) -> Record:
    return items(schema) if main_type(schema) == "array" else schema


def _filtered_field(name: str, subschema: Record) -> Iterator[Field]:
    """Yield the field that an argument of a list filters by, since a filter must not be ignored."""
    many, schema = main_type(subschema) == "array", _value_schema(subschema)
    kind = schema["type"]
    if is_presentation(name, subschema) or kind not in {"boolean", "integer", "number", "string"}:
        return
    bare = name if many or "enum" in schema or kind == "boolean" else _filtered_name(name, subschema)
    is_bound_of_time = kind == "string" and bare != name
    yield Field(singular(bare) if many else bare, {**schema, "format": "date-time"} if is_bound_of_time else schema)


def _value_schema(schema: Record) -> Record:
    """Return the schema of the values that an argument filters by."""
    choice, choices = _one_of(schema), narrowing_choices(schema)
    kept = {word: value for word, value in choice.items() if word not in {"default", "enum", "const", "title"}}
    return {**kept, "type": main_type(choice) or "string", **({"enum": choices} if choices else {})}


def _filtered_name(name: str, schema: Record) -> str:
    """Return the field of a bound: `price` of `min_price`, `created_at` of `since`."""
    return "created_at" if is_time(name, schema) else next((stem for stem, _ in bounds_in(snake(name))), name)
