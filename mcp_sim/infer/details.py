"""What do the given state, the names in a result and the words of a query add to a plan?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from mcp_sim.infer.arguments import Roles
from mcp_sim.infer.given import Given
from mcp_sim.infer.looks import Look
from mcp_sim.infer.meant import matched
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import at, constants, main_type, properties
from mcp_sim.types.lexicon.words import singular, snake, vocabulary, words

_LOOKED_AT = 200
WHO = vocabulary("username user_name user author owner creator created_by sender reporter requester user_id login by")


def from_state(roles: Roles, entity: Entity, given: Given, declared: Mapping[str, Entity]) -> dict[str, str]:
    """Fields that say who did it, where the state tells who that is: under a usual name, or as some records have it."""
    named = {name for name in entity.fields if snake(name) in WHO} - {*roles.sets.values(), entity.key}
    singles = [one for one in declared.values() if one.singleton] if named else []
    scope = {*words(given.scopes.get(entity.name, ""))}
    near = [one for one in singles if {*words(given.scopes.get(one.name, one.name))} & scope]
    who = {snake(name): f"{one.name}.{name}" for one in near or singles for name in one.fields}
    usual = ("current_user", "username", "user", "user_id", "current_user_id", "me")
    found = next((who[name] for name in usual if name in who), None)
    places = {name: who.get(snake(name), found) for name in named}
    told = {name: _told_by(name, given.records.get(entity.name, ()), near or singles, given) for name in named}
    places |= {name: place for name, place in told.items() if place is not None}
    return {name: place for name, place in places.items() if place is not None}


def _told_by(field: str, rows: Sequence[Record], singles: Sequence[Entity], given: Given) -> str | None:
    """What there is one of and holds the value that some records have: the owner's address, an account's number."""
    held = {value for row in islice(rows, _LOOKED_AT) if isinstance(value := row.get(field), str) and len(value) > 2}
    for one in singles:
        for record in given.records.get(one.name, ()):
            found = next((name for name, value in record.items() if isinstance(value, str) and value in held), None)
            if found is not None:
                return f"{one.name}.{found}"
    return None


def renamed(look: Look, entity: Entity) -> dict[str, str]:
    """Places of one record in the result that hold fields under other names: `order_id` is its `id`."""
    if look.verb not in {"get", "create", "update"} or look.envelope.record is None:
        return {}
    base = look.envelope.record
    found: dict[str, str] = {}
    for name, part in properties(at(look.output, base)).items():
        short = snake(name).removeprefix(f"{entity.name}_").removeprefix(f"{entity.name.rsplit('_', 1)[-1]}_")
        field = entity.key if short == "id" else matched(short, part, entity)
        if name not in entity.fields and field is not None:
            found[f"{base}.{name}" if base else name] = field
    return found


def searched(look: Look, roles: Roles, entity: Entity) -> tuple[str, ...]:
    """The text fields that a query looks at: the one by which the tool's name says that it searches, those that the
    descriptions of the query and of the tool name, else all.
    """
    if roles.query is None:
        return ()
    by, *what = look.reading.after or ("",)
    if by == "by" and "_".join(what) in entity.fields:
        return ("_".join(what),)
    texts = [name for name, field in entity.fields.items() if name != entity.key and _is_text(field)]
    about = str(properties(look.input)[roles.query].get("description", ""))
    places = " ".join(hit[1] for hit in _PLACES.finditer(look.tool.description))
    return tuple(_named(texts, about) or _named(texts, places) or texts)


_PLACES = re.compile(r"\b(?:by|in|across|against)\b((?:(?!\breturn)[^.;\n]){1,80})", re.IGNORECASE)
"""Where a description says in which fields is searched."""


def _named(fields: Sequence[str], about: str) -> list[str]:
    """The fields all of whose words a text says."""
    said = {one for word in words(about.lower().replace("e-mail", "email")) for one in (word, singular(word))}
    return [name for name in fields if said.issuperset(words(name))]


def _is_text(field: Field) -> bool:
    dated = str(field.schema.get("format", "")).startswith(("date", "time", "uuid"))
    plain = main_type(field.schema) in {"string", ""} and not dated and field.link is None and field.derived is None
    return plain and not constants(field.schema)
