"""JSON as text: one compact form for what is written, one sorted form for what is compared; how deep does it nest?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from pydantic_core import PydanticSerializationError, from_json, to_json

_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def encode(value: Any) -> bytes:
    """Compact UTF-8 JSON, keys in the order of the value. Lone surrogates are written as escapes."""
    try:
        return to_json(value)
    except (PydanticSerializationError, UnicodeEncodeError):
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def decode(data: bytes | str) -> Any:
    """The value of a JSON text; raises ValueError."""
    return from_json(data, allow_inf_nan=False)


def decode_strict(text: str) -> Any:
    """The same for a text of somebody else's: what holds a number too large to be told is no JSON either."""
    value = decode(text)
    canonical(value)
    return value


def canonical(value: Any) -> str:
    """Equal for equal JSON values, whatever the order of their keys: what draws and counters are keyed on."""
    return _SORTED.encode(value)


def nests_deeper(value: Any, most: int) -> bool:
    """Does a value have more levels of lists and objects than that? No more levels are counted than tell it."""
    level: list[Any] = [value]
    for _ in range(most + 1):
        level = [inner for one in level for inner in _parts(one)]
        if not level:
            return False
    return True


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()
