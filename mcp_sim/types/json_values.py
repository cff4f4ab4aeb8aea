"""JSON values: their types, their text, and paths to their parts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from math import isfinite
from typing import Any, Final, TypeAlias, TypeGuard, cast

from pydantic_core import PydanticSerializationError, from_json, to_json

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys. Never mutated once it is in a world."""

Record: TypeAlias = dict[str, Any]
"""A JSON object: a record of a world, the arguments of a call, a JSON Schema."""

Key: TypeAlias = str | int
"""What identifies a record among those of its entity."""

Path: TypeAlias = tuple[str | int, ...]
"""The names and indexes that lead to a value within another one."""

NOWHERE = object()
"""The result of looking up a path that leads to no value, as opposed to null."""

MOST_WEIGHT = 200_000
"""Items of lists and, each counting FIELD_WEIGHT, fields of objects in a JSON text that is parsed. 300,000 keys in 4
MiB kept all worlds waiting for seconds."""

FIELD_WEIGHT = 10  # a field is a hash and a string of its own, an item only its value

_HALVES = re.compile("[\ud800-\udfff]")
_MAY_HAVE_HALVES = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
"""Surrogates, and escapes of them, which may also be pairs."""

_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


READS: Final = ("get", "list", "search")
"""The verbs whose results show records without a change."""

MISSING: Any = object()
"""Returned if there is no such part."""


def _sorted_encoder() -> Callable[[Any], str]:
    """Return the encoder of canonical texts: what `JSONEncoder.encode` makes anew at each call, made once.

    It takes a third of the time. Values that contain themselves are a `RecursionError`.
    """
    make: Callable[..., Callable[[Any, int], Iterable[str]]] | None = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return _SORTED.encode
    pieces = make(None, _SORTED.default, json.encoder.encode_basestring_ascii, None, ":", ",", True, False, False)
    return lambda value: "".join(pieces(value, 0))


_encode_sorted = _sorted_encoder()


# text -----------------------------------------------------------------------------------------------------------------


def encode(value: Any) -> bytes:
    """Return compact UTF-8 JSON, keys in the order of the value. Halves of characters are replaced."""
    try:
        return to_json(value)
    except (PydanticSerializationError, UnicodeEncodeError):
        return to_json(decode(json.dumps(value, separators=(",", ":"), allow_nan=False)))


def as_text(value: Any) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else encode(value).decode()


def indented(value: Any) -> str:
    """Return JSON as servers write it into a text: indented by 2. Halves of characters are replaced."""
    try:
        return to_json(value, indent=2).decode()
    except (PydanticSerializationError, UnicodeEncodeError):
        return to_json(from_json(encode(value)), indent=2).decode()


def decode(data: bytes | str) -> Any:
    """Return the value of a JSON text. Raises `ValueError`.

    JavaScript cuts texts within a character, and writes the half that is left as an escape, which no UTF-8 can hold:
    it is replaced.
    """
    try:
        return from_json(data, allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # of a text that itself holds halves, it is a TypeError
        text = data if isinstance(data, str) else data.decode("utf-8", "surrogatepass")
        if not _MAY_HAVE_HALVES.search(text):
            raise
        # Two parsers in C: to replace each of a million escapes by a function of ours takes seconds.
        with suppress(ValueError, RecursionError):
            return from_json(
                _HALVES.sub("\ufffd", json.dumps(json.loads(text), ensure_ascii=False)), allow_inf_nan=False
            )
        if isinstance(error, TypeError):
            raise ValueError("half a character outside a text") from None
        raise


def well_formed(value: Json) -> Json:
    """Replace halves of characters by U+FFFD; a clean value is returned itself."""
    try:
        to_json(value)
    except (PydanticSerializationError, UnicodeEncodeError):
        return decode(json.dumps(value))
    return value


def decode_strict(text: str) -> Any:
    """Return the value of a JSON text, and raise `ValueError` also for numbers too large to be written again."""
    value = decode(text)
    canonical(value)
    return value


def is_number(value: Json) -> bool:
    """Return whether a value is a number. In Python, true and false are numbers, too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def rounded(amount: float, digits: int | None = 2) -> float | None:
    """Return an amount with so many digits; None if it is larger than any number of a client."""
    try:
        return round(amount, digits) if isfinite(amount) else None
    except OverflowError:  # an integer may be larger than any float
        return None


def multiplied(left: float, right: float) -> float | None:
    """Return a product; None if it is larger than any number of a client."""
    try:
        product = left * right
        return product if isfinite(product) else None
    except OverflowError:
        return None


def is_key(value: Json) -> TypeGuard[Key]:
    """Return whether a value can be a key of a record."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def has_many_values(data: bytes) -> bool:
    """Whether a JSON text weighs more than MOST_WEIGHT. It is not parsed for it, since that may take long."""
    if _signs(data) <= MOST_WEIGHT // FIELD_WEIGHT:
        return False
    if b"\\" in data:  # an escaped quotation mark ends no text
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Each text is a value or the name of one, and has two marks. To split at millions of them takes a second.
    if data.count(b'"') > 2 * (MOST_WEIGHT + 1):
        return True
    bare = b"".join(data.split(b'"')[::2])
    return _signs(bare) + (FIELD_WEIGHT - 1) * bare.count(b":") > MOST_WEIGHT


def _signs(data: bytes) -> int:
    """Return how many lists and objects begin in a JSON text, and how many of their values follow others."""
    return sum(map(data.count, (b",", b"[", b"{")))


def canonical(value: Any) -> str:
    """Return a text that is equal for equal JSON values, whatever the order of keys: the key of draws and counters."""
    return _encode_sorted(value)


def nests_deeper(value: Any, most: int) -> bool:
    """Whether a value has more than `most` levels of lists and objects. Deeper levels are not visited."""
    level: list[Any] = [value]
    for _ in range(most):
        level = [inner for item in level for inner in inner_values(item)]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


def inner_values(value: Any) -> Iterable[Any]:
    """Return the items of a list or the values of an object; nothing for another value."""
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def objects_in(value: Json) -> Iterator[Record]:
    """Yield the objects anywhere in a value, each before those inside it."""
    if isinstance(value, dict):
        yield cast("Record", value)
    for inner in inner_values(value):
        yield from objects_in(inner)


def leaves(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield the values within a value that are not lists or objects, with their paths."""
    if isinstance(value, dict):
        for name, inner in cast("Record", value).items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        for at, inner in enumerate(cast("list[Json]", value)):
            yield from leaves(inner, (*path, at))
    else:
        yield path, value


def paired_leaves(first: Json, other: Json, missing: Json, path: Path = ()) -> Iterator[tuple[Path, Json, Json]]:
    """Yield the parts of two values at the same paths: down to their leaves, or where their kinds differ.

    `missing` is yielded for a part that only the other value has.
    """
    if isinstance(first, dict) and isinstance(other, dict):
        ours, theirs = cast("Record", first), cast("Record", other)
        for name in dict.fromkeys((*ours, *theirs)):
            yield from paired_leaves(ours.get(name, missing), theirs.get(name, missing), missing, (*path, name))
    elif isinstance(first, list) and isinstance(other, list):
        pairs = zip_longest(cast("list[Json]", first), cast("list[Json]", other), fillvalue=missing)
        for at, (mine, its) in enumerate(pairs):
            yield from paired_leaves(mine, its, missing, (*path, at))
    else:
        yield path, first, other


def texts_in(value: Json) -> Iterator[tuple[Path, str]]:
    """Yield the texts within a value, with their paths."""
    return ((path, leaf) for path, leaf in leaves(value) if isinstance(leaf, str))


def map_leaves(value: Json, change: Callable[[Json], Json]) -> Json:
    """Return a value with what `change` makes of each value within it that is not a list or object."""
    if isinstance(value, dict):
        return {name: map_leaves(inner, change) for name, inner in cast("Record", value).items()}
    if isinstance(value, list | tuple):
        return [map_leaves(item, change) for item in cast("list[Json]", value)]
    return change(value)


def map_texts(value: Json, change: Callable[[str], Json]) -> Json:
    """Return a value with what `change` makes of each text within it. Names stay."""
    return map_leaves(value, lambda leaf: change(leaf) if isinstance(leaf, str) else leaf)


# paths ----------------------------------------------------------------------------------------------------------------


def value_at(value: Json, path: str) -> Any:
    """Return the value at a dotted path (`address.city`); '' is the whole, NOWHERE is returned for a missing one."""
    for segment in path.split(".") if path else ():
        if not isinstance(value, dict) or segment not in value:
            return NOWHERE
        value = cast("Record", value)[segment]
    return value


def values_at(value: Json, parts: Sequence[str]) -> Iterator[Json]:
    """Yield the values at a path; a part `*` matches every element of a list and every value of an object."""
    if not parts:
        yield value
    elif parts[0] == "*":
        held = cast("Record | list[Json]", value) if isinstance(value, dict | list) else []
        for item in held.values() if isinstance(held, dict) else held:
            yield from values_at(item, parts[1:])
    elif isinstance(value, dict) and parts[0] in value:
        yield from values_at(cast("Record", value)[parts[0]], parts[1:])


def nest_paths(values: Record, record: Record) -> Record:
    """Return values by path as values by field of a record: `address.city` becomes the `address` with that city."""
    paths = {path: value for path, value in values.items() if "." not in path or path in record}
    for path in [path for path in values if path not in paths]:
        field = path.partition(".")[0]
        held = {field: paths.get(field, record.get(field))}
        paths[field] = with_value(held, path.split("."), values[path])[field]
    return paths


def in_list(value: Json) -> list[Json]:
    """Return the value if it is a list, else a list with the value alone."""
    return cast("list[Json]", value) if isinstance(value, list) else [value]


def as_key(value: Json) -> Json:
    """Return a value as the key of a record: a list or an object as its JSON."""
    return canonical(value) if isinstance(value, list | dict) else value


def with_value(record: Record, parts: Sequence[str], value: Json) -> Record:
    """Return the record with another value at a path; missing objects on the way are created."""
    first, *rest = parts
    if not rest:
        return {**record, first: value}
    inner: Json = record.get(first)
    return {**record, first: with_value(cast("Record", inner) if isinstance(inner, dict) else {}, rest, value)}


def to_integer(value: Json) -> Json:
    """Convert a float without a fraction to an integer, also in a list. Other values stay."""
    if isinstance(value, list):
        return [to_integer(item) for item in cast("list[Json]", value)]
    return int(value) if is_integral_float(value) else value


def is_integral_float(value: Json) -> bool:
    """Whether a value is a float without a fraction."""
    return isinstance(value, float) and value.is_integer()


def get_part(value: Json, path: Path) -> Any:
    """Return the part of a value at a path, `MISSING` if it is missing."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str) and step in value:
            value = cast("Record", value)[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(cast("list[Json]", value)):
            value = cast("list[Json]", value)[step]
        else:
            return MISSING
    return value


def replace_part(value: Json, path: Path, new: Json) -> Json:
    """Return the value with another part at a path. The parent of the path must exist."""
    if not path:
        return new
    step, *rest = path
    if isinstance(value, list) and isinstance(step, int):
        items = list(cast("list[Json]", value))
        items[step] = replace_part(items[step], tuple(rest), new)
        return items
    body = cast("Record", value)
    return {**body, cast("str", step): replace_part(body.get(cast("str", step)), tuple(rest), new)}


def without_part(value: Json, path: Path) -> Json:
    """Return the value without the part at a path, and unchanged if there is no such part."""
    if not path or get_part(value, path) is MISSING:
        return value
    *parents, last = path
    parent: Json = get_part(value, tuple(parents))
    kept: Json = (
        [item for at, item in enumerate(cast("list[Json]", parent)) if at != last]
        if isinstance(parent, list)
        else {name: inner for name, inner in cast("Record", parent).items() if name != last}
    )
    return replace_part(value, tuple(parents), kept)


def replace_shown(value: Json, path: str | None, new: Json) -> Json:
    """Return the value with another total, cursor and so on, if it has one at this dotted path."""
    where = None if path is None else split_path(path)
    return value if where is None or get_part(value, where) is MISSING else replace_part(value, where, new)


def split_path(path: str) -> Path:
    """Return the path of a dotted text; the empty text is the whole result."""
    return tuple(path.split(".")) if path else ()
