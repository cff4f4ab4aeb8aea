"""Statements of a text about records: keys that it names, and fields that it labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from support.checker.knowledge import Knowledge
from support.checker.ledger import Answered, Record
from support.checker.specs import READS, given_key

Finding = tuple[str, str]

_DISTINCT = re.compile(r"(?=.*\d)[\w-]{4,}")
"""Keys that hardly occur in a text by chance."""


def prose_problems(plan: Record, call: Answered, knowledge: Knowledge) -> Iterator[Finding]:
    """Yield violations of a text: it names a deleted record, or labels a field with another value."""
    if call.failed or call.value is not None or plan["verb"] not in READS:
        return
    entity = plan["entity"]
    for key in knowledge.gone(entity):
        if isinstance(key, str) and _DISTINCT.fullmatch(key) and _names(call.text, key):
            yield "R1", f"{entity} {key!r} is told of, but it is gone"
    key = given_key(plan, call)
    fact = knowledge.of(entity, key)
    if fact is None or not fact.exists or plan["verb"] != "get":
        return
    for name, value in fact.written.items():
        answered = _labelled(call.text, name)
        if isinstance(value, str) and answered is not None and value and answered != " ".join(value.split()):
            yield "R3", f"{entity} {key!r}: {name} is told as {answered!r}, but {value!r} was written"


def _names(text: str, key: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", text) is not None


def _labelled(text: str, name: str) -> str | None:
    """Return the text after `Name:` on a line of its own."""
    label = r"[ _]?".join(re.escape(word) for word in re.findall(r"[A-Z]?[a-z0-9]+", name))
    match = re.search(rf"(?im)^[\W_]*{label}[\W_]*:[ *_]*(\S.*?)[ *_]*$", text) if label else None
    return " ".join(match[1].split()) if match is not None else None
