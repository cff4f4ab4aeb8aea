"""R3, R4, R7 of writes: they have the values of the call, under a new key of the usual form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, cast

from support.checker.knowledge import Key, Knowledge
from support.checker.ledger import Answered, Json, Record
from support.checker.records import time_problems
from support.checker.specs import NOWHERE, Specs, given, is_set_whole

Finding = tuple[str, str]

_SIBLINGS = 5
"""The number of known keys from which the form of an entity's keys is derived."""


def write_problems(plan: Record, call: Answered, specs: Specs, knowledge: Knowledge) -> Iterator[Finding]:
    """Yield the violations of the writes of a call; to be called before learning them."""
    puts = [change for change in call.written if change["op"] == "put"]
    mine = [change for change in puts if change["entity"] == plan["entity"]]
    if call.failed:
        return
    if plan["verb"] == "create" and plan["backend"] == "records" and not call.written:
        yield "R3", f"{call.tool} succeeds, but nothing is written"
    if plan["verb"] in {"create", "update"} and len(mine) == 1:
        yield from _said_problems(plan, call, mine[0]["record"])
    if plan["verb"] == "create":
        for change in mine if plan.get("if_exists", "refuse") == "refuse" else ():
            yield from _key_problems(change["entity"], change["key"], call, knowledge)
    for change in puts:
        yield from time_problems(change["entity"], change["key"], change["record"], call.at)
        yield from _link_problems(change, specs, knowledge, puts)


def _said_problems(plan: Record, call: Answered, record: Record) -> Iterator[Finding]:
    """Check R3: written values are those of the arguments."""
    appends = call.arguments.get("append") is True or "append" in call.arguments.values()
    for argument, field in plan["sets"].items() if not appends else ():
        value = given(call, argument)
        if value is NOWHERE or field == "*" or field not in record or not is_set_whole(plan, field):
            continue
        if not _says(record[field], value):
            yield "R3", f"{field} is written as {record[field]!r}, but {argument} was given as {value!r}"


def _says(written: Json, value: Json) -> bool:
    """Whether a written value agrees: texts may hold numbers or partial times, list items additional fields."""
    if value == "" and written is None:
        return True
    if written == value or str(written).lower() == str(value).lower():
        return True
    is_moment = isinstance(written, str) and isinstance(value, str) and value[:4].isdigit() and len(value) > 9
    if is_moment:
        return written[:10] == value[:10] and written[11:].startswith(value[11:])
    if not (isinstance(written, list) and isinstance(value, list)):
        return False
    lines, given_lines = cast("list[Any]", written), cast("list[Any]", value)
    return len(lines) == len(given_lines) and all(map(_says_line, lines, given_lines))


def _says_line(written: Json, value: Json) -> bool:
    if not (isinstance(written, dict) and isinstance(value, dict)):
        return written == value
    line = cast("Record", written)
    return all(name in line and line[name] == item for name, item in cast("Record", value).items())


def _link_problems(change: Record, specs: Specs, knowledge: Knowledge, puts: list[Record]) -> Iterator[Finding]:
    put_keys = {(put["entity"], put["key"]) for put in puts}
    for name, target in specs.links(change["entity"]):
        value = change["record"].get(name)
        for key in cast("list[Json]", value) if isinstance(value, list) else [value]:
            if isinstance(key, str | int) and (target, key) not in put_keys and knowledge.is_absent(target, key):
                yield "R5", f"{change['entity']} {change['key']!r} is written with {name} {key!r}, which is no {target}"


def _key_problems(entity: str, key: Key, call: Answered, knowledge: Knowledge) -> Iterator[Finding]:
    """Check R4: a chosen key is new and of the usual form; R7: counters increase."""
    if any(text and str(text) in str(key) for text in _scalars(call.arguments) if isinstance(text, str) or text == key):
        return  # made of what was given
    siblings = [known for known, fact in knowledge.facts[entity].items() if not fact.referred]
    if key in knowledge.facts[entity]:
        yield "R4", f"the new {entity} has the key {key!r}, which was used before"
    if key in knowledge.facts[entity] or knowledge.own_ids:
        return
    shapes = Counter(look(known) for known in siblings)
    if sum(shapes.values()) >= _SIBLINGS and look(key) not in shapes:
        yield "R4", f"the new {entity} has the key {key!r}, unlike {siblings[-1]!r}"
    created = [known for known in siblings if knowledge.facts[entity][known].made]
    if created and all(_number(known) is not None for known in (*created, key)):
        last = created[-1]
        if look(last) == look(key) and cast("int", _number(last)) > cast("int", _number(key)):
            yield "R7", f"the new {entity} has the key {key!r}, after {last!r}"


def look(key: Key) -> tuple[str, ...]:
    """Return the form of a key: type, length of hexadecimal ones, letters around a counter, whether it is a path."""
    if isinstance(key, int):
        return ("integer",)
    if re.fullmatch(r"/?([^/\s]+/)+[^/\s]+", key):
        return ("path", key[:1] if key.startswith("/") else "")
    if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", key):
        return ("uuid",)
    if re.fullmatch(r"[0-9a-f]{7,64}", key):
        return ("hex", str(len(key)))
    if re.search(r"[A-Za-z]\d|\d[A-Za-z]", key) and not re.fullmatch(r"[A-Za-z]+[-_]?\d+", key):
        return ("token", re.sub(r"[A-Za-z0-9]+$", "", key))
    if " " in key:
        return ("words",)
    return ("text", re.sub(r"\d+", "#", key))


def _number(key: Key) -> int | None:
    """Return the counter of a key, or None."""
    if isinstance(key, int):
        return key
    match = re.fullmatch(r"[A-Za-z]+[-_]?(\d+)", key)
    return int(match[1]) if match is not None else None


def _scalars(value: Json) -> Iterator[Any]:
    """Yield every text and number in the arguments."""
    parts: Iterable[Json] = ()
    if isinstance(value, dict):
        parts = cast("Record", value).values()
    elif isinstance(value, list):
        parts = cast("list[Json]", value)
    elif isinstance(value, str | int | float):
        yield value
    for item in parts:
        yield from _scalars(item)
