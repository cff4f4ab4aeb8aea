"""Recognise fields whose values are unique, such as e-mail addresses and SKUs, and make values distinct."""

from __future__ import annotations

import re
from collections.abc import Callable

from mcp_sim.generate.shipped_data import word_set
from mcp_sim.generate.texts import text_fits
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, main_type
from mcp_sim.types.lexicon.english import snake

_NAMED = frozenset({"name", "title", "full_name", "display_name"})
_WHOLE = frozenset({"name", "full_name", "display_name", "real_name"})
_MOST_NUMBERED = 10_000  # bounds the search where no numbered text fits the schema
_PARTS = (("first_name", "given_name"), ("last_name", "family_name", "surname"))


def is_unique(entity: Entity, field: Field, *, namesakes: bool = True) -> bool:
    """Return whether a field's values are unique. `namesakes`: whether two people may have the same name."""
    if main_type(field.schema) not in {"string", ""} or constants(field.schema):
        return False
    name, noun = snake(field.name), _noun(entity)
    if not namesakes and noun in word_set("nouns", "namesakes") and name in _WHOLE:
        return True
    return name in word_set("nouns", "unique") or (
        name in _NAMED and noun not in word_set("nouns", "namesakes") | word_set("nouns", "alike")
    )


def is_name(field: str) -> bool:
    """Return whether a field holds the name of a record, rather than a code or an address."""
    return snake(field) in _NAMED


def unique_together(entity: Entity, *, namesakes: bool = True) -> tuple[str, ...]:
    """Return the fields that are unique together, or ().

    They are the links of an entity that consists of links: a user is a member of a channel only once. Without
    `namesakes`, they are the parts of a person's name.
    """
    fields = {snake(field.name): field.name for field in entity.fields.values()}
    parts = tuple(fields[name] for names in _PARTS for name in names if name in fields)
    if not namesakes and len(parts) == len(_PARTS) and _noun(entity) in word_set("nouns", "namesakes"):
        return parts
    stored = [field for field in entity.fields.values() if field.name != entity.key]
    links = [field.name for field in stored if field.is_single_link]
    rest = [field for field in stored if field.link is None and time_meaning(field.name, field.schema) is None]
    kinds = [field.name for field in rest if "enum" in field.schema]
    return (*links, *kinds) if len(links) >= 2 and len(rest) <= 1 and len(kinds) == len(rest) else ()


def _noun(entity: Entity) -> str:
    """Return the noun for an entity's records: `contact` for `crm.sales_contact`."""
    return snake(entity.name.rpartition(".")[2]).rsplit("_", 1)[-1]


def make_distinct(value: Json, taken: dict[Json, int], schema: Record) -> Json:
    """Return the value with a number that makes it distinct, or unchanged if the schema allows no such value.

    `taken` maps each existing value to the last number that was appended to it.
    """
    if not isinstance(value, str):
        return value
    for number in range(taken[value] + 1, taken[value] + _MOST_NUMBERED):
        numbered = with_number(value, number, lambda text: text_fits(text, schema))
        if numbered is None:
            return value
        if numbered not in taken:
            taken[value] = number
            return numbered
    return value


_SPLIT = re.compile(r"(.*?)(@.*|\.[A-Za-z]\w{0,4}|/)?", re.DOTALL)


def with_number(text: str, number: int, allows: Callable[[str], bool]) -> str | None:
    """Insert a number into a text: before an @, a file extension or a final slash. Return None if no form is valid."""
    match = _SPLIT.fullmatch(text)
    stem, ending = (match[1], match[2] or "") if match is not None else (text, "")
    usual = " " if " " in stem else "" if ending.startswith("@") else "_" if "_" in stem else "-"
    forms = (f"{stem}{joint}{number}{ending}" for joint in dict.fromkeys((usual, "-", "", "_")))
    return next(filter(allows, forms), None)
