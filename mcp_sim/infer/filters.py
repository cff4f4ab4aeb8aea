"""By which field, and how, does an argument narrow a list?"""

from __future__ import annotations

import re

from mcp_sim.infer.known import Known
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import plural, singular, snake
from mcp_sim.types.plans import Filter, Operator

BOUNDS: tuple[tuple[str, Operator], ...] = (
    (r"min_(?P<f>.+)|(?P<g>.+)_min|minimum_(?P<h>.+)|(?P<i>.+)_(gte|ge|from|since|at_least|start)", "gte"),
    (r"max_(?P<f>.+)|(?P<g>.+)_max|maximum_(?P<h>.+)|(?P<i>.+)_(lte|le|to|until|at_most|end)", "lte"),
    (r"(?P<f>.+)_(lowerbound|lower_bound|minimum)", "gte"),
    (r"(?P<f>.+)_(upperbound|upper_bound|maximum)", "lte"),
    (r"(?P<f>.+)_(gt|after|greater_than|above|over)|after_(?P<g>.+)", "gt"),
    (r"(?P<f>.+)_(lt|before|less_than|below|under)|before_(?P<g>.+)", "lt"),
    (r"(?P<f>.+)_(contains|like|includes|substring|prefix)", "contains"),
    (r"(?P<f>.+)_in", "in"),
)
TIMES: dict[str, Operator] = {
    "since": "gte", "after": "gt", "from": "gte", "from_date": "gte", "date_from": "gte", "start_date": "gte",
    "time_min": "gte", "start_time": "gte", "start": "gte", "from_time": "gte", "until": "lte", "before": "lt",
    "to": "lte", "to_date": "lte", "date_to": "lte", "end_date": "lte", "time_max": "lte", "end_time": "lte",
    "end": "lte", "to_time": "lte", "oldest": "gte", "newer_than": "gt", "latest": "lte", "older_than": "lt",
}  # fmt: skip
_TIME_FIELDS = (
    "date",
    "start",
    "start_time",
    "start_date",
    "occurred_at",
    "timestamp",
    "time",
    "created_at",
    "created",
)
_TIMELY_ENDINGS = ("_start", "_datetime", "_timestamp", "_start_time", "_start_date")
_LOOSELY = re.compile(r"\b(fuzzy|fuzzily|partial|partially|substring|part of)\b", re.IGNORECASE)
_TIMELY = re.compile(r"\b(date|time|day|timestamp|iso|month|year|hour|yyyy)", re.IGNORECASE)


def filtered_by(argument: str, schema: Record, known: Known, spans: set[str]) -> Filter | None:
    """What an argument narrows. `spans`: the arguments that begin or end a stretch of time, if both are there."""
    many = main_type(schema) == "array"
    if len(spans) == 2 and argument in spans:
        timed = known.fields.get(argument) or _time_field(known)
        return Filter(timed, TIMES[argument]) if timed else None
    found = known.named(argument) or (None if argument in known.nested else known.synonym(argument))
    found = found or known.field_of(singular(argument) if many else plural(argument))
    if found is None and (argument in {"ids", plural(known.entity)} or (many and _are_keys(argument, known.entity))):
        found = known.key
    if found is None and argument in known.nested and not many:
        found = known.nested[argument]
    if found is not None:
        is_loose = not many and _LOOSELY.search(str(schema.get("description", "")))
        return Filter(found, "contains" if is_loose else _equality(known.schemas.get(found, {}), many))
    for pattern, op in BOUNDS:
        hit = re.fullmatch(pattern, argument)
        stem = next((part for part in hit.groupdict().values() if part), None) if hit else None
        bounded = _bounded_field(stem, known) if stem else None
        if bounded is not None:
            return Filter(bounded, op)
    if is_time(argument, schema):
        timed = _time_field(known)
        return Filter(timed, TIMES[argument]) if timed else None
    if argument in {"date", "day", "month", "year"} and main_type(schema) in {"string", ""}:
        timed = _time_field(known)
        return Filter(timed, "contains") if timed else None
    return None


def _are_keys(argument: str, entity: str) -> bool:
    """Are several named by an argument: `task_ids`, `task_refs`, `task_keys`?"""
    return argument in {f"{entity}_{ending}" for ending in ("ids", "refs", "keys", "references", "uuids")}


def is_time(argument: str, schema: Record) -> bool:
    """Does an argument begin or end a stretch of time? `from` and `to` may be places, or accounts."""
    if snake(argument) not in {"from", "to"}:
        return snake(argument) in TIMES
    told = str(schema.get("description", "")).lower()
    return str(schema.get("format", "")).startswith(("date", "time")) or bool(_TIMELY.search(told))


def _time_field(known: Known) -> str | None:
    """The field that says when something is: one of the usual names, else one that ends so (`event_start`)."""
    usual = [known.fields[name] for name in _TIME_FIELDS if name in known.fields]
    ending = [own for name, own in known.fields.items() if name.endswith(_TIMELY_ENDINGS)]
    return next(iter((*usual, *ending)), None)


def _equality(field_schema: Record, many: bool) -> Operator:
    if main_type(field_schema) == "array":
        return "contains"
    return "in" if many else "equals"


def _bounded_field(stem: str, known: Known) -> str | None:
    for name in (stem, f"{stem}_at", f"{stem}_date", f"{stem}_on", f"date_{stem}", f"{stem}_time", f"{stem}d_at"):
        if name in known.fields:
            return known.fields[name]
    return known.field_of(stem)
