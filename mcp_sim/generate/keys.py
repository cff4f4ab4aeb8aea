"""Generate keys in the format of an entity. Keys of deleted records are not reused."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from functools import lru_cache
from itertools import chain, count, islice
from string import ascii_lowercase, ascii_uppercase, digits
from typing import TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.uniqueness import with_number
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types import Key, Record, View, frozen
from mcp_sim.types.domain import Entity
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import main_type

_NUMBERED = re.compile(r"(.*?)(\d{1,18})(\D{0,2})", re.DOTALL)
_LONGEST_NUMBERED = 1000
"""The longest key that is continued by a number. Callers may choose longer ones."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{7,64}")
_MIXED = re.compile(r"((?:[A-Za-z]+[_-])*(?:[a-z]{1,4}(?=[A-Z\d])|[A-Z]{1,4}(?=[a-z\d]))?)([A-Za-z0-9]{7,32})")
"""A prefix, and a token of letters and digits: `cus_9s6XKzkNRiz8i3`."""

_TURNS = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)")
_LEAST_TURNS = 3
"""In a random token, letters and digits alternate at least as often. Other tokens are words and numbers."""

MAX_TRIES = 50
"""How many keys are drawn before a number is appended to make one unique. By then the possible keys are as good as used
up."""

MAX_NUMBERED = 1000  # bounds the search where a schema accepts none of them
_EXAMPLES = 8  # a letter of 36 that the schema forbids is among so many keys of ten letters
_DRAWN_AGAIN = 8  # by then almost all keys are taken

Draw: TypeAlias = Callable[[int, Chance], Key]
"""Returns the key of the index-th record (from 0): numbered, or drawn."""


@frozen
class KeyMaker:
    """What makes the keys of an entity: a function, and the example that they follow, if any."""

    draw: Draw
    like: Key | None


def key_maker(entity: Entity) -> KeyMaker:
    schema = entity.schema_of(entity.key)
    like = None if entity.key_like is None else _valid_example(entity.key_like, schema)
    return KeyMaker(_draw_by_schema(entity, schema) if like is None else _draw_like(like), like)


def _draw_by_schema(entity: Entity, schema: Record) -> Draw:
    if main_type(schema) in {"integer", "number"}:
        return lambda index, _chance: index + 1
    make = value_maker(entity.name, entity.key, schema)

    def key(_index: int, chance: Chance) -> Key:
        value = make(chance, {}, Moment.unknown())
        return value if isinstance(value, str | int) else str(value)

    return key


def next_key(entity: Entity, keys: KeyMaker, view: View, draws: Draws) -> Key:
    """Return the key of a new record."""
    like = keys.like
    last = view.last_key(entity.name)
    if str(last).isdecimal() and str(like).isdecimal() and int(str(like)) > int(str(last)):
        last = like  # a counter may be ahead of the rows
    following_key = _after(last, like)
    if following_key is not None and not is_used(view, entity.name, following_key):
        return following_key
    chance = Chance(draws.key + entity.name.encode())
    index = view.count(entity.name)
    key = following_key if following_key is not None else keys.draw(index, chance)
    tries = 0
    while is_used(view, entity.name, key):
        index, tries = index + 1, tries + 1
        following_key = _after(key, like)
        key = following_key if following_key is not None else keys.draw(index, chance)
        if tries > MAX_TRIES and following_key is None:
            return _new_by_number(key if last is None else last, entity, view)
    return key


def key_of_copy(entity: Entity, source: Key, view: View) -> Key | None:
    """Return `copy_of_report.docx` for the copy of a record whose key is a name; None if keys are numbers or codes."""
    if entity.key_like is not None or not isinstance(source, str) or _UUID.fullmatch(source) is not None:
        return None
    folder, slash, name = source.rpartition("/")
    allows = validity_test(entity.schema_of(entity.key))
    numbers = ("", *(f"{number}_" for number in range(2, MAX_TRIES)))
    candidates = (f"{folder}{slash}copy_{number}of_{name}" for number in numbers)
    return next((key for key in candidates if allows(key) and not is_used(view, entity.name, key)), None)


def _new_by_number(key: Key, entity: Entity, view: View) -> Key:
    """Make a key unique with a number, for entities whose possible keys are all taken. Valid keys are preferred."""
    numbers = range(view.count(entity.name) + 1, view.count(entity.name) + MAX_NUMBERED)
    if isinstance(key, int):
        return next(key + number for number in numbers if not is_used(view, entity.name, key + number))
    stem, allows = re.sub(r"-\d+$", "", key), validity_test(entity.schema_of(entity.key))
    valid = filter(None, (with_number(stem, number, allows) for number in numbers))
    others = (f"{stem}-{number}" for number in numbers)
    return next(candidate for candidate in chain(valid, others) if not is_used(view, entity.name, candidate))


def is_used(view: View, entity: str, key: Key) -> bool:
    """Return whether the key identifies a record, or identified one before."""
    return view.get(entity, key) is not None or view.version(entity, key) > 0


def initial_keys(entity: Entity, wanted: int, given: Container[Key], seed: int) -> list[Key]:
    """Return the keys of generated records, none of them among the given ones; fewer than `wanted` if not possible."""
    keys = key_maker(entity)
    if isinstance(keys.like, int) or (isinstance(keys.like, str) and not _is_random(keys.like)):
        unasked = Chance(b"")
        free = (key for index in count() if (key := keys.draw(index, unasked)) not in given)
        return [*islice(free, wanted)]
    # Draw distinct keys. One that is drawn again and again gets a number.
    drawn_keys, allows, numbers = dict[Key, None](), validity_test(entity.schema_of(entity.key)), dict[str, int]()
    for index in count():
        if len(drawn_keys) >= wanted or index > MAX_TRIES + 2 * len(drawn_keys):
            break
        chance = chance_of(seed, entity.name, index, "key")
        key = keys.draw(index, chance)
        for _ in range(_DRAWN_AGAIN):
            if key in given or key in drawn_keys:
                key = keys.draw(index, chance)
        if isinstance(key, str) and (key in given or key in drawn_keys):
            numbers[key] = numbers.get(key, 1) + 1
            key = with_number(key, numbers[key], allows)
        if key is not None and key not in given:
            drawn_keys[key] = None
    return [*drawn_keys]


def _valid_example(like: Key, schema: Record) -> Key | None:
    """Return an example in the type of the key's schema, None if the schema does not allow the keys that follow it.

    A ULID has no letter I, and `bank_a-1` may not follow `bank_a`.
    """
    if main_type(schema) == "string":
        like = str(like)
    elif main_type(schema) == "integer" and str(like).isdecimal():
        like = int(like)
    draw, allows = _draw_like(like), validity_test(schema)
    return like if all(allows(draw(index, Chance(b"%d" % index))) for index in range(_EXAMPLES)) else None


def _draw_like(like: Key) -> Draw:
    if isinstance(like, int):
        return lambda index, _chance: like + index
    return _random(like) if _is_random(like) else _numbered(like)


def _numbered(like: str) -> Draw:
    match = _NUMBERED.fullmatch(like)
    if match is None:
        return lambda index, _chance: f"{like}-{index + 1}"
    prefix, number, suffix = match.groups()
    first, width = int(number), len(number)
    return lambda index, _chance: f"{prefix}{first + index:0{width}d}{suffix}"


def _random(like: str) -> Draw:
    """Return a maker of random keys (UUIDs, hashes, tokens) in the format of an example."""
    match = None if _UUID.fullmatch(like) or _HEX.fullmatch(like) else _mixed(like)
    hexadecimal = "0123456789ABCDEF" if like.isupper() else "0123456789abcdef"
    prefix, alphabet = "", hexadecimal
    if match is not None:
        prefix, token = match.groups()
        capitals = ascii_uppercase if any(letter.isupper() for letter in token) else ""
        alphabet = digits + capitals + (ascii_lowercase if any(letter.islower() for letter in token) else "")
    drawn = [at >= len(prefix) and letter.isalnum() for at, letter in enumerate(like)]

    def key(_index: int, chance: Chance) -> str:
        letters = [chance.choice(alphabet) if is_drawn else like[at] for at, is_drawn in enumerate(drawn)]
        if _UUID.fullmatch(like):
            letters[14], letters[19] = "4", chance.choice(hexadecimal[8:12])
        return "".join(letters)

    return key


def _mixed(like: str) -> re.Match[str] | None:
    match = _MIXED.fullmatch(like)
    return match if match is not None and len(_TURNS.findall(match[2])) >= _LEAST_TURNS else None


def _after(last: Key | None, like: Key | None) -> Key | None:
    """Return the next key with the same prefix and width; None if keys like `like` are not numbered."""
    if last is None:
        return None
    if not isinstance(last, str):
        return int(last) + 1  # a client may have named a record 2.5
    if not isinstance(like, str) or len(last) > _LONGEST_NUMBERED or _is_random(like):
        return None
    before, pattern = _NUMBERED.fullmatch(last), _NUMBERED.fullmatch(like)
    if before is None or pattern is None or before[1] != pattern[1] or before[3] != pattern[3]:
        return None
    return f"{before[1]}{int(before[2]) + 1:0{len(before[2])}d}{before[3]}"


@lru_cache(1024)
def _is_random(like: str) -> bool:
    return bool(_UUID.fullmatch(like) or _HEX.fullmatch(like) or _mixed(like))
