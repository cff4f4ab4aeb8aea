"""Of which table is the record that a tool makes, as its arguments and its name tell?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mcp_sim.infer.flags import regular
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import Reading
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import required
from mcp_sim.types.lexicon.words import singular, snake, vocabulary, words

_LENDING = vocabulary("borrow lend rent hire lease loan")
"""Verbs that make a record of what they are done to: a loan, a rental."""


def made_by(reading: Reading, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """The table of what a verb makes: `enroll(student_id, course_id)` an enrollment, `reserve` a reservation."""
    word = next(iter(reading.noun), "") if reading.verb == "unknown" else ""
    if word in _LENDING:
        return made_with(reading.noun[1:], schema, declared)
    names = {snake(name) for name in required(schema)}
    for one in declared.values():
        is_named = len(word) > 3 and one.name.startswith(word[:-1]) and one.name != word
        if is_named and not one.singleton and len(names & {snake(name) for name in one.fields}) > 1:
            return one.name
    return None


def made_of(schema: Record, about: str, tables: Iterable[Entity]) -> str | None:
    """The table that a record is made for under another name: every argument that there must be is a field of it.

    Of several such tables it is the one that the description names.
    """
    names, told = {snake(name) for name in required(schema)}, {singular(word) for word in words(about)}
    found = [one.name for one in tables if len(names) > 2 and names <= {snake(name) for name in one.fields}]
    found = found if len(found) == 1 else [name for name in found if told.issuperset(words(name))]
    return found[0] if len(found) == 1 else None


def made_with(noun: tuple[str, ...], schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """The table of what is made with a record that there is: `book_room(room_number, guest_id, check_in)` a booking."""
    own = declared.get("_".join(noun))
    if own is None or own.singleton or own.inside or key_argument("update", own.name, own.key, schema)[1] < 2:
        return None
    needed = {snake(name) for name in required(schema)}
    fits = {
        one.name: len(needed & {snake(name) for name in one.fields})
        for one in declared.values()
        if not one.singleton and one.inside is None
    }
    best = max(fits, key=lambda name: fits[name])
    is_clear = fits[best] > fits[own.name] and [*fits.values()].count(fits[best]) == 1
    return best if is_clear and fits[best] > 1 and 3 * fits[best] >= 2 * len(needed) else None


def kind_made(noun: tuple[str, ...], schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """The table of which a new record is a kind: `add_rush_order` makes an order; nothing else is spoken of."""
    tables = {words(name): one for name, one in declared.items() if not one.singleton and one.inside is None}
    whole = next((at for at in range(1, len(noun)) if noun[at:] in tables), None)
    if whole is None or noun in tables:
        return None
    kind = tables[noun[whole:]]
    others = any(noun[start:end] in tables for end in range(1, whole + 1) for start in range(end))
    return None if others or key_argument("update", kind.name, kind.key, schema)[1] > 1 else kind.name


def made_or_ended(reading: Reading, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """The table of what is made with a thing, or of a kind of it; or of what is ended, with the thing in it."""
    named = declared.get("_".join(reading.noun))
    if reading.verb == "create":
        return (
            _made_so(reading, declared)
            or made_with(reading.noun, schema, declared)
            or kind_made(reading.noun, schema, declared)
        )
    ends = reading.verb == "update" and reading.status is not None and named is not None
    return _done_with(named, schema, declared) if ends and named is not None else None


def _made_so(reading: Reading, declared: Mapping[str, Entity]) -> str | None:
    """The table of what the verb makes of a thing: `schedule_transfer` one of the scheduled transfers."""
    names = ("_".join((participle, *reading.noun)) for participle in regular(reading.word))
    return next((name for name in names if name in declared and not declared[name].singleton), None)


def _done_with(named: Entity, schema: Record, declared: Mapping[str, Entity]) -> str | None:
    """The record that a call names and in which the thing is only spoken of: `return_boat(hire_id)` ends the hire."""
    if key_argument("update", named.name, named.key, schema)[1] >= 2:
        return None
    asked = {snake(name) for name in required(schema)}
    found = [one.name for one in declared.values() if not one.singleton and f"{one.name}_id" in asked]
    return found[0] if len(found) == 1 else None
