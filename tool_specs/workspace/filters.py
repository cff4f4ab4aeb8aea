"""Filters and sorts of the queries of a simulated workspace."""

from datetime import timedelta

from objects import author
from properties import TYPES, moment, property_of
from text import Wrong, array, invalid, mapping, plain

EMPTY = ("is_empty", "is_not_empty")
SAME = ("equals", "does_not_equal")
WITHIN = ("contains", "does_not_contain")
DAYS = {"past_week": (-7, 0), "past_month": (-30, 0), "past_year": (-365, 0), "this_week": (-7, 7), "next_week": (0, 7),
        "next_month": (0, 30), "next_year": (0, 365)}  # fmt: skip
ORDERS = ("greater_than", "less_than", "greater_than_or_equal_to", "less_than_or_equal_to")
DATES = ("equals", "before", "after", "on_or_before", "on_or_after", *DAYS, *EMPTY)
CONDITIONS = {
    **dict.fromkeys(("title", "rich_text", "url", "email", "phone_number"),
                    (*SAME, *WITHIN, "starts_with", "ends_with", *EMPTY)),
    **dict.fromkeys(("number", "unique_id"), (*SAME, *ORDERS, *EMPTY)),
    **dict.fromkeys(("multi_select", "people", "relation", "created_by", "last_edited_by"), (*WITHIN, *EMPTY)),
    **dict.fromkeys(("select", "status"), (*SAME, *EMPTY)),
    **dict.fromkeys(("date", "created_time", "last_edited_time"), DATES),
    "checkbox": SAME,
    "files": EMPTY,
}  # fmt: skip
"""The conditions of a filter, by the type of the property."""
WANTED = {"number": (int | float, "a number"), "unique_id": (int | float, "a number"), "checkbox": (bool, "a boolean")}
"""What values other than texts are compared with."""


def content(schema, row):
    """Return what filters and sorts compare: a text, a number, a list of names or ids, or None."""
    kind = schema["type"]
    if kind in ("created_time", "last_edited_time"):
        return row[kind]
    if kind in ("created_by", "last_edited_by"):
        return [author(row, kind)]
    value = row["properties"].get(schema["id"])
    if kind in ("title", "rich_text"):
        return plain(value or [])
    if kind == "date":
        return value and value["start"]
    return bool(value) if kind == "checkbox" else value


def condition(schemas, given, now, path="body.filter"):
    """Return the test of a filter, a function of a page. Raises `Wrong`."""
    for name, combine in (("and", all), ("or", any)):
        if name in mapping(given, path):
            parts = [
                condition(schemas, inner, now, f"{path}.{name}[{at}]")
                for at, inner in enumerate(array(given[name], f"{path}.{name}"))
            ]
            return lambda row: combine(fits(row) for fits in parts)
    schema = filtered(schemas, given)
    kind = schema["type"]
    if kind not in given:
        other = next((name for name in given if name in TYPES), "undefined")
        raise Wrong("The property type in the database does not match the property type of the filter provided: "
                    f"database property {kind} does not match filter {other}")  # fmt: skip
    tests = mapping(given[kind], f"{path}.{kind}")
    if not tests or not tests.keys() <= {*CONDITIONS[kind]}:
        lines = (
            f"{path}.{kind}.{condition_name} should be defined, instead was `undefined`."
            for condition_name in CONDITIONS[kind]
        )
        raise Wrong("\n".join(["body failed validation. Fix one:", *lines]))
    fitting = [test(kind, name, wanted, now, f"{path}.{kind}.{name}") for name, wanted in tests.items()]
    return lambda row: all(fits(content(schema, row)) for fits in fitting)


def filtered(schemas, given):
    """Return the property, or the timestamp, that a filter or a sort names."""
    stamp = given.get("timestamp")
    if stamp in ("created_time", "last_edited_time"):
        return {"id": stamp, "type": stamp}
    schema = property_of(schemas, given.get("property"))
    if schema is None:
        raise Wrong(f"Could not find property with name or id: {given.get('property')}")
    return schema


def test(kind, name, wanted, now, path):
    """Return the test of one condition, a function of the content of a property."""
    if name in EMPTY:
        return lambda have: (have in (None, "", [])) == (name == "is_empty")
    if kind in ("date", "created_time", "last_edited_time"):
        return dates(name, wanted, now, path)
    kinds, shown = WANTED.get(kind, (str, "a string"))
    if not isinstance(wanted, kinds) or isinstance(wanted, bool) != (kinds is bool):
        raise invalid(path, shown, wanted)
    negated = name.startswith("does_not")
    compare = COMPARISONS["contains" if name == "does_not_contain" else "equals" if negated else name]
    wanted = wanted.casefold() if isinstance(wanted, str) else wanted
    return lambda have: compare(folded(have), wanted) != negated


def folded(have):
    if isinstance(have, list):
        return [text.casefold() for text in have]
    return have.casefold() if isinstance(have, str) else have


COMPARISONS = {
    "equals": lambda have, wanted: have == wanted,
    "contains": lambda have, wanted: wanted in (have or ""),
    "starts_with": lambda have, wanted: (have or "").startswith(wanted),
    "ends_with": lambda have, wanted: (have or "").endswith(wanted),
    "greater_than": lambda have, wanted: have is not None and have > wanted,
    "less_than": lambda have, wanted: have is not None and have < wanted,
    "greater_than_or_equal_to": lambda have, wanted: have is not None and have >= wanted,
    "less_than_or_equal_to": lambda have, wanted: have is not None and have <= wanted,
    "before": lambda have, wanted: have < wanted,
    "after": lambda have, wanted: have > wanted,
    "on_or_before": lambda have, wanted: have <= wanted,
    "on_or_after": lambda have, wanted: have >= wanted,
}


def dates(name, wanted, now, path):
    """Return the test of a condition on dates. A date without a time is compared by its day."""
    if name in DAYS:
        start = now.date() - timedelta(days=now.weekday() if name == "this_week" else 0)
        first, last = (start + timedelta(days=days) for days in DAYS[name])
        return lambda have: have is not None and first <= moment(have, path).date() <= last
    limit, compare = moment(wanted, path), COMPARISONS[name]
    by_day = len(wanted) == len("2029-03-01")

    def holds(have):
        if have is None:
            return False
        time = moment(have, path)
        return compare(time.date(), limit.date()) if by_day else compare(time, limit)

    return holds


def ordered(schemas, rows, sorts):
    """Return rows in the order of sorts, those without a value last. Raises `Wrong`."""
    for at, sort in reversed([*enumerate(array(sorts, "body.sorts"))]):
        schema = filtered(schemas, mapping(sort, f"body.sorts[{at}]"))
        keys = {row["id"]: rank(schema, content(schema, row)) for row in rows}
        full = [row for row in rows if keys[row["id"]] is not None]
        empty = [row for row in rows if keys[row["id"]] is None]
        full.sort(key=lambda row, keys=keys: keys[row["id"]], reverse=sort.get("direction") == "descending")
        rows = full + empty
    return rows


def rank(schema, value):
    """Return the sort key of a value: the place of an option, a text without regard to case."""
    if value in (None, "", []):
        return None
    if schema["type"] in ("select", "status"):
        return next(
            (at for at, option in enumerate(schema[schema["type"]]["options"]) if option["name"] == value), None
        )
    if isinstance(value, list):
        return [str(item).casefold() for item in value]
    return value.casefold() if isinstance(value, str) else value
