"""Which id does the next record get: one after its siblings, in their format, that nobody ever had?"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from typing import TypeAlias

from mcp_sim.domain import Entity
from mcp_sim.draws import Draws
from mcp_sim.records.chance import Chance
from mcp_sim.records.timeline import Moment
from mcp_sim.records.values import chance_of, value_maker
from mcp_sim.schemas import main_type
from mcp_sim.types import Key, Record, View

_NUMBERED = re.compile(r"(.*?)(\d+)(\D{0,2})", re.DOTALL)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{7,64}")

MOST_TRIED = 50
"""So many keys are made up before one is told from the others by a number."""

Keys: TypeAlias = Callable[[int, Chance], Key]
"""The key of the index-th record (from 0), from the entity's own numbering or from chance."""


def keys_of(entity: Entity) -> Keys:
    """How the ids of an entity's records are made, compiled."""
    like, schema = entity.key_like, entity.fields[entity.key].schema if entity.key in entity.fields else {}
    if isinstance(like, int):
        first = like
        return lambda index, _chance: first + index
    if isinstance(like, str) and not _is_random(like):
        return _numbered(like)
    if isinstance(like, str):
        return _random(like)
    if main_type(schema) in {"integer", "number"}:
        return lambda index, _chance: index + 1
    return _meant(entity, schema)


def next_key(entity: Entity, keys: Keys, view: View, draws: Draws) -> Key:
    """The key of a record that is created now."""
    last = view.last_key(entity.name)
    following = _after(last, entity.key_like)
    chance = Chance(draws.key + entity.name.encode())
    index = view.count(entity.name)
    key = following if following is not None else keys(index, chance)
    tries = 0
    while is_used(view, entity.name, key):
        index, tries = index + 1, tries + 1
        following = _after(key, entity.key_like)
        key = following if following is not None else keys(index, chance)
        if tries > MOST_TRIED and following is None:
            return _numbered_apart(key if last is None else last, entity.name, view)
    return key


def _numbered_apart(key: Key, entity: str, view: View) -> Key:
    """A key that is new by its number, where all that it could be are taken."""
    number = view.count(entity) + 1
    key = re.sub(r"-\d+$", "", key) if isinstance(key, str) else key
    while is_used(view, entity, made := key + number if isinstance(key, int) else f"{key}-{number}"):
        number += 1
    return made


def is_used(view: View, entity: str, key: Key) -> bool:
    """True where the key names a record, or named one before."""
    return view.get(entity, key) is not None or view.version(entity, key) > 0


def base_keys(entity: Entity, count: int, given: Container[Key], seed: int) -> list[Key]:
    """The keys of `count` generated records, none of them among those that are given."""
    keys, made = keys_of(entity), dict[Key, None]()
    counted, unasked, index = _counts(entity), Chance(b""), 0
    while len(made) < count and index < 50 * (count + 10):
        key = keys(index, unasked if counted else chance_of(seed, entity.name, index, "key"))
        if key not in given and key not in made:
            made[key] = None
        elif not counted and isinstance(key, str):
            key = f"{key}-{index}"
            made[key] = None
        index += 1
    return list(made)


def _counts(entity: Entity) -> bool:
    return isinstance(entity.key_like, int) or (isinstance(entity.key_like, str) and not _is_random(entity.key_like))


def _numbered(like: str) -> Keys:
    found = _NUMBERED.fullmatch(like)
    if found is None:
        return lambda index, _chance: f"{like}-{index + 1}"
    prefix, digits, suffix = found.groups()
    first, width = int(digits), len(digits)
    return lambda index, _chance: f"{prefix}{first + index:0{width}d}{suffix}"


def _random(like: str) -> Keys:
    """Hexadecimal digits (a UUID, a hash) in the places where the example has them."""

    def key(_index: int, chance: Chance) -> str:
        digits = "0123456789ABCDEF" if like.isupper() else "0123456789abcdef"
        letters = [chance.choice(digits) if letter.isalnum() else letter for letter in like]
        if _UUID.fullmatch(like):
            letters[14], letters[19] = "4", chance.choice(digits[8:12])
        return "".join(letters)

    return key


def _meant(entity: Entity, schema: Record) -> Keys:
    make = value_maker(entity.name, entity.key, schema)
    nothing: Record = {}

    def key(_index: int, chance: Chance) -> Key:
        value = make(chance, nothing, Moment.unknown())
        return value if isinstance(value, str | int) else str(value)

    return key


def _after(last: Key | None, like: Key | None) -> Key | None:
    """The key that follows, where ids are counted: same prefix and width as the one before."""
    if isinstance(last, int):
        return last + 1
    if last is None or not isinstance(like, str) or _is_random(like):
        return None
    before, pattern = _NUMBERED.fullmatch(last), _NUMBERED.fullmatch(like)
    if before is None or pattern is None or before[1] != pattern[1] or before[3] != pattern[3]:
        return None
    return f"{before[1]}{int(before[2]) + 1:0{len(before[2])}d}{before[3]}"


def _is_random(like: str) -> bool:
    return bool(_UUID.fullmatch(like) or _HEX.fullmatch(like))
