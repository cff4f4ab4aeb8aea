"""Which values does only one record have: e-mail addresses, SKUs, names of products and teams?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mcp_sim.generate.texts import text_fits
from mcp_sim.generate.times import sense
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, main_type
from mcp_sim.types.lexicon.words import snake, vocabulary

_ONCE = vocabulary(
    "email email_address username user_name login handle slug sku code barcode ean isbn number invoice_number "
    "order_number serial serial_number reference"
)
_NAMED = vocabulary("name title full_name display_name")
_PEOPLE = vocabulary(
    "contact user person customer employee member patient author student teacher guest passenger lead candidate"
)
_NAMESAKES = _PEOPLE | vocabulary("file message comment note email document event review notification")
_WHOLE = vocabulary("name full_name display_name real_name")
_MOST_NUMBERED = 10_000
_PARTS = (("first_name", "given_name"), ("last_name", "family_name", "surname"))


def is_unique(entity: Entity, field: Field, *, namesakes: bool = True) -> bool:
    """Would two records with the same value be a mistake? `namesakes`: not if these are the names of people."""
    if main_type(field.schema) not in {"string", ""} or constants(field.schema):
        return False
    name, noun = snake(field.name), _noun(entity)
    if not namesakes and noun in _PEOPLE and name in _WHOLE:
        return True
    return name in _ONCE or (name in _NAMED and noun not in _NAMESAKES)


def is_name(field: str) -> bool:
    """Is it what a record is called, rather than a code or an address that is its own?"""
    return snake(field) in _NAMED


def once_together(entity: Entity, *, namesakes: bool = True) -> tuple[str, ...]:
    """The fields whose values no two records have in common: () where there are none.

    They are the links of what is nothing but a link: a member of a channel is one once. Without namesakes, they are the
    parts of a person's name.
    """
    if not namesakes and (parts := _name_parts(entity)):
        return parts
    stored = [f for f in entity.fields.values() if f.derived is None and f.name != entity.key]
    links = [f.name for f in stored if f.link is not None and main_type(f.schema) != "array"]
    rest = [f for f in stored if f.link is None and sense(f.name, f.schema) is None]
    kinds = [f.name for f in rest if "enum" in f.schema]
    return (*links, *kinds) if len(links) >= 2 and len(rest) <= 1 and len(kinds) == len(rest) else ()


def _name_parts(entity: Entity) -> tuple[str, ...]:
    """The fields that hold a person's first and last name; none where there are not both."""
    fields = {snake(field.name): field.name for field in entity.fields.values() if field.derived is None}
    parts = tuple(fields[name] for names in _PARTS for name in names if name in fields)
    return parts if len(parts) == len(_PARTS) and _noun(entity) in _PEOPLE else ()


def _noun(entity: Entity) -> str:
    """What the records of an entity are, in a word: of `crm.sales_contact`, contact."""
    return snake(entity.name.rpartition(".")[2]).rsplit("_", 1)[-1]


def another(value: Json, taken: dict[Json, int], schema: Record) -> Json:
    """The value with a number that makes it another; itself where it may have none.

    `taken` has the values that there are, each with the last number that it was given.
    """
    if not isinstance(value, str):
        return value
    for number in range(taken[value] + 1, taken[value] + _MOST_NUMBERED):
        made = numbered(value, number, lambda text: text_fits(text, schema))
        if made is None:
            return value
        if made not in taken:
            taken[value] = number
            return made
    return value


_SPLIT = re.compile(r"(.*?)(@.*|\.[A-Za-z]\w{0,4}|/)?", re.DOTALL)


def numbered(text: str, number: int, allows: Callable[[str], bool]) -> str | None:
    """The text with this number, in a form that is allowed; None where none is."""
    return next(filter(allows, _forms(text, number)), None)


def _forms(text: str, number: int) -> Iterator[str]:
    found = _SPLIT.fullmatch(text)
    stem, ending = (found[1], found[2] or "") if found is not None else (text, "")
    usual = " " if " " in stem else "" if ending.startswith("@") else "_" if "_" in stem else "-"
    return (f"{stem}{joint}{number}{ending}" for joint in dict.fromkeys((usual, "-", "", "_")))
