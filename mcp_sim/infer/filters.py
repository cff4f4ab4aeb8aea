"""Fields that arguments name, and how arguments filter by them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import constants, main_type
from mcp_sim.types.lexicon.english import plural, singular, snake
from mcp_sim.types.plans import Filter, Operator

_SYNONYMS = (
    ("title", "name", "subject", "summary"), ("body", "content", "text", "message", "comment"),
    ("description", "notes", "note", "details"), ("due_date", "due", "due_at", "deadline"),
    ("start", "start_time", "start_date", "starts_at", "start_at"),
    ("end", "end_time", "end_date", "ends_at", "end_at"),
    ("assignee", "assigned_to", "owner", "assignee_id", "owner_id"), ("status", "state"), ("tags", "labels"),
    ("email", "email_address"),
    ("balance", "initial_deposit", "initial_balance", "opening_balance", "starting_balance", "opening_deposit"),
    ("path", "filename", "file_name", "file_path", "filepath"), ("phone", "phone_number"), ("category", "type", "kind"),
)  # fmt: skip
_BOUNDS: Mapping[Operator, re.Pattern[str]] = {
    "gte": re.compile(r"min_(.+)|(.+)_min|minimum_(.+)|(.+)_(?:gte|ge|from|since|at_least|start|minimum|lower_?bound)"),
    "lte": re.compile(r"max_(.+)|(.+)_max|maximum_(.+)|(.+)_(?:lte|le|to|until|at_most|end|maximum|upper_?bound)"),
    "gt": re.compile(r"(.+)_(?:gt|after|greater_than|above|over)|after_(.+)"),
    "lt": re.compile(r"(.+)_(?:lt|before|less_than|below|under)|before_(.+)"),
    "contains": re.compile(r"(.+)_(?:contains|like|includes|substring|prefix)"),
    "in": re.compile(r"(.+)_in"),
}
TIMES: dict[str, Operator] = {
    "since": "gte", "after": "gt", "from": "gte", "from_date": "gte", "date_from": "gte", "start_date": "gte",
    "time_min": "gte", "start_time": "gte", "start": "gte", "from_time": "gte", "until": "lte", "before": "lt",
    "to": "lte", "to_date": "lte", "date_to": "lte", "end_date": "lte", "time_max": "lte", "end_time": "lte",
    "end": "lte", "to_time": "lte", "oldest": "gte", "newer_than": "gt", "latest": "lte", "older_than": "lt",
}  # fmt: skip
_TIME_FIELDS = (
    "date", "start", "start_time", "start_date", "starts_at", "start_at", "due", "due_date", "due_at", "deadline",
    "occurred_at", "timestamp", "time",
)  # fmt: skip
"""Usual names of the time of a record, the most usual first."""
_TIME_NAME = re.compile(r"(.+_)?(date|start|time|timestamp|datetime|due|at|on)")
_CHANGE_NAME = re.compile(r"(.+_)?(creat|updat|modif|delet|birth|expir|clos|complet|resolv|arriv|end|last)\w*(_.+)?")
"""Names of times that no period of a list is about, if records have others."""
_DAYS = frozenset({"date", "day", "month", "year"})
_FLAG = re.compile(r"(?:include|show|with)_(?P<also>.+)|(?:only|just)_(?P<only>.+)|(?P<alone>.+)_only")
_PARTIAL = re.compile(r"\b(fuzzy|fuzzily|partial|partially|substring|part of)\b", re.IGNORECASE)
_TIME_WORDS = re.compile(r"\b(date|time|day|timestamp|iso|month|year|hour|yyyy)", re.IGNORECASE)


@dataclass(frozen=True)
class KnownFields:
    """What is known of an entity when arguments get roles: its name, its key, its fields by snake-case name."""

    entity: str
    key: str
    fields: Mapping[str, str]
    schemas: Mapping[str, Record]
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    """Linked entity -> the field that links to it."""

    def find(self, argument: str) -> str | None:
        """Return the field that an argument's snake-case name means, or None."""
        return self.by_name(argument) or self.by_synonym(argument)

    def by_name(self, argument: str) -> str | None:
        """Return the field that has the argument's name, or nearly so."""
        tries = (argument, argument.removeprefix("new_"), argument.removeprefix("updated_"))
        own = f"{self.entity}_"
        for name in dict.fromkeys((*tries, argument.removeprefix(own), f"is_{argument}", f"{argument}_id")):
            if name in self.fields:
                return self.fields[name]
        stem = argument.removesuffix("_id")
        return self.links.get(stem)

    def by_synonym(self, argument: str) -> str | None:
        """Return the field whose name means the same as the argument's."""
        argument = argument.removeprefix(f"{self.entity}_")
        group = next((names for names in _SYNONYMS if argument in names), ())
        found = [self.fields[name] for name in group if name in self.fields]
        return found[0] if len(found) == 1 else None


def find_filters(arguments: Mapping[str, Record], known: KnownFields) -> dict[str, Filter]:
    """Return the filters of those arguments that filter by a known field."""
    spans = {name for name, part in arguments.items() if is_time(name, part)}
    found = {
        name: _find_filter(snake(name), part, known, is_span=len(spans) == 2 and name in spans)
        for name, part in arguments.items()
    }
    return {name: rule for name, rule in found.items() if rule is not None}


def _find_filter(argument: str, schema: Record, known: KnownFields, *, is_span: bool) -> Filter | None:
    """Return the filter of an argument. `is_span`: it begins or ends a period, and another one ends or begins it."""
    if is_span:
        return _time_filter(known.fields.get(argument) or _time_field(known), TIMES[argument])
    flag = _flag_filter(argument, known) if main_type(schema) == "boolean" else None
    found = flag or _equal_filter(argument, schema, known) or _bound_filter(argument, known)
    if found is None and is_time(argument, schema):
        return _time_filter(_time_field(known), TIMES[argument])
    if found is None and argument in _DAYS and main_type(schema) in {"string", ""}:
        return _time_filter(_time_field(known), "contains")
    return found


def _time_filter(field: str | None, op: Operator) -> Filter | None:
    return Filter(field, op) if field is not None else None


def _equal_filter(argument: str, schema: Record, known: KnownFields) -> Filter | None:
    """Return the filter by the field of the argument's name, or by the key if it names several records."""
    many = main_type(schema) == "array"
    found = known.find(argument) or known.find(singular(argument) if many else plural(argument))
    if argument in {"ids", plural(known.entity)} or (many and _is_key_list(argument, known.entity)):
        found = found or known.key
    if found is None:
        return None
    is_loose = not many and _PARTIAL.search(str(schema.get("description", "")))
    return Filter(found, "contains" if is_loose else _equality(known.schemas.get(found, {}), many))


def _bound_filter(argument: str, known: KnownFields) -> Filter | None:
    """Return the filter of a bound, such as `min_price` or `created_after`."""
    for stem, op in bounds_in(argument):
        field = _bounded_field(stem, known)
        if field is not None:
            return Filter(field, op)
    return None


def bounds_in(argument: str) -> Iterator[tuple[str, Operator]]:
    """Yield what an argument bounds, and how: `price` and `gte` for `min_price`."""
    for op, pattern in _BOUNDS.items():
        hit = pattern.fullmatch(argument)
        for stem in filter(None, hit.groups() if hit is not None else ()):
            yield str(stem), op


def _flag_filter(argument: str, known: KnownFields) -> Filter | None:
    """Return the filter of `unread`, `unread_only` or `include_archived`, by a flag or a state of the records."""
    named = _FLAG.fullmatch(argument)
    word = argument if named is None else named["only"] or named["also"] or named["alone"]
    found = _flag_value(word, known)
    if found is None or (named is None and found[0] == known.fields.get(argument)):
        return None
    field, value = found
    return Filter(field, "not", unless=value) if named is not None and named["also"] else Filter(field, only=value)


def _flag_value(word: str, known: KnownFields) -> tuple[str, Json] | None:
    """Return the field and its value in records that a word describes: `read` and False for `unread`."""
    for name, own in known.fields.items():
        plain, schema = name.removeprefix("is_").removeprefix("has_"), known.schemas.get(own, {})
        if main_type(schema) == "boolean" and word in {plain, f"un{plain}", f"not_{plain}"}:
            return own, word == plain
        if name in {"status", "state"} and word in constants(schema):
            return own, word
    return None


def _is_key_list(argument: str, entity: str) -> bool:
    """Whether an argument names several records: `task_ids`, `task_refs`, `task_keys`."""
    return argument in {f"{entity}_{ending}" for ending in ("ids", "refs", "keys", "references", "uuids")}


def is_time(argument: str, schema: Record) -> bool:
    """Whether an argument begins or ends a period. `from` and `to` may also be places or accounts."""
    if snake(argument) not in {"from", "to"}:
        return snake(argument) in TIMES
    description = str(schema.get("description", "")).lower()
    return str(schema.get("format", "")).startswith(("date", "time")) or bool(_TIME_WORDS.search(description))


def _time_field(known: KnownFields) -> str | None:
    """Return the field with the time of a record: its own date, or else the time of its creation."""
    own = [name for name in [*known.fields][::-1] if _TIME_NAME.fullmatch(name) and not _CHANGE_NAME.fullmatch(name)]
    texts = (name for name in own if main_type(known.schemas.get(known.fields[name], {})) in {"string", ""})
    names = (*_TIME_FIELDS, *texts, "created_at", "created")
    return next((known.fields[name] for name in names if name in known.fields), None)


def _equality(field_schema: Record, many: bool) -> Operator:
    if main_type(field_schema) == "array":
        return "contains"
    return "in" if many else "equals"


def _bounded_field(stem: str, known: KnownFields) -> str | None:
    for name in (stem, f"{stem}_at", f"{stem}_date", f"{stem}_on", f"date_{stem}", f"{stem}_time", f"{stem}d_at"):
        if name in known.fields:
            return known.fields[name]
    return known.find(stem)
