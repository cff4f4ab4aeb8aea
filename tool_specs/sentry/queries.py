"""Sentry's query syntax: `key:value`, `!key:value`, wildcards, lists, comparisons, ages, and free text."""

import re
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

TERM = re.compile(r'(!?)([\w.]+(?:\(\))?):(\[[^\]]*\]|[<>]=?"?[^\s"]+"?|"[^"]*"|\S*)|"([^"]*)"|(\S+)')
AGE = re.compile(r"([+-])(\d{1,4})([mhdw])")
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
ORDERS = {
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
}


def terms(query):
    """Return (is negated, key, value) for each term; the key of free text is None."""
    return [
        (negation == "!", key or None, value.strip('"') if key else quoted or word)
        for negation, key, value, quoted, word in TERM.findall(query)
    ]


def holds(term, fields, now):
    """Whether a term holds for fields: texts, numbers, moments, or lists of texts. Free text is sought in `text`."""
    negated, key, value = term
    if key is None:
        return value.lower() in fields["text"].lower()
    if key == "has":
        return bool(fields.get(value)) is not negated
    return matches(fields.get(key), value, now) is not negated


def matches(held, value, now):
    if isinstance(held, list):
        return any(matches(item, value, now) for item in held)
    if value.startswith("["):
        return any(matches(held, item.strip().strip('"'), now) for item in value[1:-1].split(","))
    if held is None:
        return value == ""
    operator = re.match(r"[<>]=?", value)
    if isinstance(held, datetime):
        return moment_matches(held, value, operator and operator[0], now)
    if operator and isinstance(held, int | float):
        number = re.fullmatch(r"[<>]=?(\d+(?:\.\d+)?)", value)
        return bool(number) and ORDERS[operator[0]](held, float(number[1]))
    return fnmatchcase(str(held).lower(), value.lower().replace("[", "[[]"))


def moment_matches(held, value, operator, now):
    """Compare a moment with an age (`-24h`: within it, `+24h`: before it) or a date."""
    age = AGE.fullmatch(value)
    if age:
        since = now - timedelta(**{UNITS[age[3]]: int(age[2])})
        return held >= since if age[1] == "-" else held < since
    text = value.removeprefix(operator or "").strip('"')
    shown = held.isoformat()[: len(text)]
    return ORDERS[operator](shown, text.replace(" ", "T")) if operator else shown == text


def period(text):
    """Return the time that a period such as `14d` means; None if it is none."""
    match = AGE.fullmatch(f"-{text}")
    return match and timedelta(**{UNITS[match[3]]: int(match[2])})
