"""Load the data files of the generator. Each is read once, at its first use.

`data/schema.json` describes the files. A test checks them.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pkgutil import get_data
from typing import Any


@cache
def load(file: str) -> Any:
    """Return the contents of a data file."""
    return json.loads(get_data("mcp_sim.generate", f"data/{file}.json") or b"null")


@cache
def word_list(file: str, name: str) -> tuple[str, ...]:
    """Return a list of words of a data file."""
    return tuple(load(file)[name])


@cache
def word_set(file: str, name: str) -> frozenset[str]:
    """Return a list of words of a data file as a set."""
    return frozenset(load(file)[name])


@cache
def patterns(file: str, name: str, value: str) -> tuple[tuple[re.Pattern[str], Any], ...]:
    """Return the rules of a list in a data file: the pattern of field names of each, and one of its values."""
    return tuple((re.compile(rule["field"]), rule[value]) for rule in load(file)[name])
