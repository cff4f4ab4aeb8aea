"""Load the data files of the generator. Each is read once, at its first use.

`data/schema.json` describes the files. A test checks them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from pkgutil import get_data
from typing import Any, TypeVar, cast

T = TypeVar("T")


@cache
def load(file: str) -> Any:
    """Return the contents of a data file."""
    return json.loads(get_data("mcp_sim.generate", f"data/{file}.json") or b"null")


@cache
def word_list(file: str, name: str) -> tuple[str, ...]:
    return tuple(load(file)[name])


@cache
def word_set(file: str, name: str) -> frozenset[str]:
    return frozenset(load(file)[name])


def objects(kind: Callable[..., T], entries: Iterable[dict[str, Any]]) -> tuple[T, ...]:
    """Return entries of a data file as objects of a class. Lists become tuples."""

    def held(value: Any) -> Any:
        return tuple(cast("list[Any]", value)) if isinstance(value, list) else value

    return tuple(kind(**{name: held(value) for name, value in entry.items()}) for entry in entries)


@lru_cache(maxsize=8192)
def rule_for(file: str, name: str, field: str, noun: str = "") -> dict[str, Any] | None:
    """Return the first rule of a list in a data file that is for a field of a kind of record, by names in snake case.

    `field` of a rule is a pattern of names. `of` is one of nouns, which may have words before them; `among` names a
    list of them in `nouns.json`. A rule without one of them is for all.
    """
    rules = _rules(file, name)
    return next((rule for fields, nouns, rule in rules if fields.fullmatch(field) and nouns.fullmatch(noun)), None)


@cache
def _rules(file: str, name: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str], dict[str, Any]], ...]:
    def nouns(rule: dict[str, Any]) -> str:
        kinds = "|".join(word_list("nouns", rule["among"])) if "among" in rule else rule.get("of")
        return f"(.*_)?(?:{kinds})" if kinds else "(?s:.*)"

    rules = load(file)[name] if name else load(file)
    return tuple((re.compile(rule.get("field", "(?s:.*)")), re.compile(nouns(rule)), rule) for rule in rules)
