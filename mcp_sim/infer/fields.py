"""Fields of entities, as results, declarations and the filters of lists show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.argument_names import OPTIONS
from mcp_sim.infer.envelopes import SUCCESS
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.filters import bounds_in, is_time
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, items, main_type, properties, property_of, required
from mcp_sim.types.lexicon.english import singular, snake, vocabulary, words
from mcp_sim.types.plans import RECORDLESS

ANY_VALUES = vocabulary("all any both none every everything")
"""Values of a filter that match everything."""

_PRESENTATION_VERBS = vocabulary(
    "include with show only return use as exclude expand embed full no without skip deep recursive fetch"
)
"""First words of flags that control the presentation, not the selection."""

_PRESENTATION_NAMES = vocabulary(
    "language lang locale timezone tz unit units depth scale width height mode view verbosity verbose precision "
    "resolution encoding detailed detail details recursive fuzzy refresh cache strict summary compact simple "
    "desc asc descending ascending sort_field sort_order sortfield sortorder chunk_size batch_size max_depth "
    "max_length max_width"
)


def collect_shown_fields(
    feature_list: Sequence[ToolFeatures], declared: Mapping[str, Entity]
) -> dict[str, dict[str, Field]]:
    """Return the fields of every entity that results and declarations show."""
    shapes: dict[str, list[Record]] = {name: [] for name in declared}
    for features in feature_list:
        if features.verb not in RECORDLESS and features.singleton is None:
            whole = features.verb != "delete" and not (
                features.envelope.record == "" and features.envelope.key is not None
            )
            shapes.setdefault(features.entity, []).extend(
                [_shape_of_record(features)] if whole and _is_record(features) else []
            )
    return {name: _without_alias(name, merge_shown_fields(found), declared.get(name)) for name, found in shapes.items()}


def _without_alias(entity: str, fields: Mapping[str, Field], declared: Entity | None) -> dict[str, Field]:
    """Add declared fields, and remove `order_id` beside the `id` of an order."""
    whole = with_declared(fields, declared)
    if "id" not in {snake(name) for name in whole}:
        return whole
    return {
        name: field for name, field in whole.items() if snake(name) != f"{entity}_id" or _is_declared(name, declared)
    }


def _is_declared(name: str, declared: Entity | None) -> bool:
    return declared is not None and name in declared.fields


def _shape_of_record(features: ToolFeatures) -> Record:
    """Return the schema of the record in a result, without success flags.

    If nothing is required, all fields are usual.
    """
    parts = properties(features.shape)
    if features.verb in {"create", "update"}:
        messages = {"message"} - {snake(name) for name in properties(features.input)}
        left_out = messages if len(parts) > 1 and "message" not in features.entity.split("_") else set[str]()
        parts = {n: part for n, part in parts.items() if not is_success_flag(n, part) and snake(n) not in left_out}
    usual = [name for name, part in parts.items() if "optional" not in str(part.get("description", "")).lower()]
    return {"required": usual, **features.shape, "properties": parts}


def _is_record(features: ToolFeatures) -> bool:
    return main_type(features.shape) == "object" and bool(properties(features.shape))


def merge_shown_fields(shapes: Iterable[Record]) -> dict[str, Field]:
    """Merge the fields that results show, the fullest shape first. The first declaration of a field wins."""
    fields: dict[str, Field] = {}
    for shape in sorted(shapes, key=lambda shape: -len(properties(shape))):
        asked = required(shape)
        for name, schema in properties(shape).items():
            needed = name in asked
            known = fields.get(name)
            fields[name] = Field(name, schema, required=needed) if known is None else known
            if known is not None and needed and not known.required:
                fields[name] = replace(known, required=True)
    return fields


def is_success_flag(name: str, schema: Record) -> bool:
    """Whether a property of a result only says whether the call worked."""
    return main_type(schema) == "boolean" and (snake(name) in SUCCESS or snake(name).endswith("_status"))


def with_declared(fields: Mapping[str, Field], declared: Entity | None) -> dict[str, Field]:
    """Add what the spec declares about fields. A declared link keeps the schema that was seen."""
    merged = dict(fields)
    if declared is None:
        return merged
    for name, declaration in declared.fields.items():
        seen = fields.get(name)
        schema = declaration.schema or (seen.schema if seen else {})
        merged[name] = replace(
            declaration, schema=schema, required=declaration.required or bool(seen and seen.required)
        )
    return merged


def fields_of_filters(unexplained: Sequence[str], schema: Record, *, is_shown: bool) -> Iterator[Field]:
    """Yield a field for each unexplained argument of a list, since a filter must not be ignored.

    `is_shown`: a schema shows the fields of the records. Then only choices and required arguments are new fields. Other
    texts and numbers are fields only if nothing is known of the records.
    """
    needed = required(schema)
    for name in unexplained:
        part = property_of(schema, name)
        if _is_presentation(name, part):
            continue
        if name in needed or not is_shown or _is_choice(part):
            found = _make_field(name, part)
            if found is not None:
                yield found


def _is_presentation(name: str, schema: Record) -> bool:
    """Whether an argument controls the presentation of the answer, not its content."""
    plain, first = snake(name), words(name)[:1]
    flag = main_type(schema) == "boolean" and first and first[0] in _PRESENTATION_VERBS
    settled = schema.get("default") not in (None, "") and not _narrowing_choices(schema)
    return bool(flag) or settled or plain in OPTIONS | _PRESENTATION_NAMES | _PRESENTATION_VERBS


def _is_choice(schema: Record) -> bool:
    return main_type(schema) == "boolean" or bool(_narrowing_choices(schema))


def _narrowing_choices(schema: Record) -> list[Json]:
    values = constants(_one_of(schema))
    return [value for value in values if isinstance(value, str) and snake(value) not in ANY_VALUES]


def _make_field(name: str, part: Record) -> Field | None:
    many, inner, choices = main_type(part) == "array", _one_of(part), _narrowing_choices(part)
    kind = main_type(inner) or "string"
    kept = {word: part for word, part in inner.items() if word not in {"default", "enum", "const", "title"}}
    schema = {**kept, "type": kind, **({"enum": choices} if choices else {})}
    one = singular(name) if many else name
    if kind == "boolean":
        return Field(re.sub(r"^(only|just)_|_only$", "", name), schema)
    if kind in {"integer", "number"}:
        return Field(_strip_bound(one), schema)
    if kind != "string" or many or choices:
        return Field(one, schema) if kind == "string" else None
    return _make_text_field(name, schema)


def _make_text_field(name: str, schema: Record) -> Field:
    bare = "created_at" if is_time(name, schema) else _strip_bound(name)
    return Field(bare, {**schema, "format": "date-time"} if bare != name else schema)


def _one_of(schema: Record) -> Record:
    """Return the schema of one value of a list, or the schema itself."""
    return items(schema) if main_type(schema) == "array" else schema


def _strip_bound(name: str) -> str:
    """Return the field of a bound: `price` of `min_price`, `due` of `due_before`."""
    return next((stem for stem, op in bounds_in(snake(name)) if op not in {"contains", "in"}), name)
