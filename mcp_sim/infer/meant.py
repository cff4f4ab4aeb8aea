"""Which field of what there is one of does a name mean: an argument, a place of a result, a noun phrase?"""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.infer.names import Reading, Words
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import singular, vocabulary, words

_LOOSE = vocabulary("new current updated total my the latest remaining final resulting user account")
_ENDINGS = vocabulary("status state list value amount level limit mode setting settings info")
_FACETS = _ENDINGS | vocabulary("service")


def matched(path: str, part: Record, entity: Entity) -> str | None:
    """The field that a name means: the same word for word, or but for words like `new` and `status`."""
    name = path.rsplit(".", 1)[-1]
    kind = main_type(part)
    fits = [name for name, field in entity.fields.items() if not kind or _may_be(main_type(field.schema), kind)]
    for reduce in (joined, _bare, core):
        wanted = reduce(name)
        found = [one for one in fits if wanted and reduce(one) == wanted]
        if len(found) == 1:
            return found[0]
    return None


def _may_be(own: str, kind: str) -> bool:
    """Can a field of one type be what another is of? Of whichever type a field is that says none."""
    return not own or own == kind or (own, kind) == ("integer", "number")


def joined(name: str) -> str:
    return "".join(words(name))


def _bare(name: str) -> str:
    parts = words(name)
    while len(parts) > 1 and parts[0] in _LOOSE:
        parts = parts[1:]
    return "".join(parts)


def core(name: str) -> str:
    parts = [part for part in words(name) if part not in _LOOSE]
    while len(parts) > 1 and parts[-1] in _ENDINGS:
        parts = parts[:-1]
    return "".join(parts)


def field_meant(reading: Reading, shows: Mapping[str, str], entity: Entity) -> str | None:
    noun = "".join(reading.noun)
    near = [name for name in entity.fields if noun and noun in {joined(name), core(name)}]
    near = near or [name for name in dict.fromkeys(shows.values()) if noun and noun in joined(name)]
    return near[0] if len(near) == 1 else None if near else spoken_field(reading, entity)


def spoken_field(reading: Reading, entity: Entity) -> str | None:
    """The field of which a noun phrase says all words: `wifi_status` of `wifi`, the longest that there is."""
    noun, told = reading.noun, {name: _told(name, reading.noun) for name in entity.fields if name != entity.name}
    fitting = [name for name, own in told.items() if own and {*noun[len(own) :]} <= _FACETS]
    return max(fitting, key=lambda name: len(told[name]), default=None)


def _told(field: str, noun: Words) -> Words:
    """The words of a field that a noun phrase begins with: one of `channels` is a channel, and `current_day` a day."""
    parts = words(field)
    bare = parts[next((place for place, part in enumerate(parts) if part not in _LOOSE), 0) :]
    forms = (parts, bare, (*bare[:-1], singular(bare[-1]))) if parts else ()
    return next((own for own in forms if own == noun[: len(own)]), ())
