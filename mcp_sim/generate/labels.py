"""Typical words and codes of text fields whose whole name is known, such as `blood_type`.

In a value, `~` is a digit from 1 to 9, `#` any digit, `@` a letter, `CC` the country code and `{year}` the year in
which the record was created. A rule with `of` holds for records of that kind only.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from mcp_sim.generate.shipped_data import load


class Label(NamedTuple):
    """The possible values of fields whose name, and whose kind of record, match."""

    nouns: re.Pattern[str] | None
    names: re.Pattern[str]
    options: tuple[str, ...]


@cache
def _labels() -> tuple[Label, ...]:
    return tuple(
        Label(
            re.compile(f"(.*_)?(?:{rule['of']})") if "of" in rule else None,
            re.compile(rule["field"]),
            tuple(rule["values"]),
        )
        for rule in load("labels")
    )


@lru_cache(maxsize=4096)
def labels(noun: str, name: str) -> tuple[str, ...]:
    """Return the possible values of a field of such a record, () if none are known."""
    for label in _labels():
        if label.names.fullmatch(name) and (label.nouns is None or label.nouns.fullmatch(noun)):
            return label.options
    return ()
