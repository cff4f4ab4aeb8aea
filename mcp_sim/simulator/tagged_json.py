"""Tagged JSON: write the memory of a world as JSON and read the same values back. Reading runs no code.

A text is `[nodes, root]`. A reference is the number of a node, or a JSON scalar in a list of one. Nodes come after the
nodes that they refer to, so that long chains need no recursion and shared values stay shared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any, cast

from rpds import HashTrieMap

from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.errors import McpSimError
from mcp_sim.types.frozen import is_frozen
from mcp_sim.types.json_values import decode, encode

MICROSECOND = timedelta(microseconds=1)  # the finest time that Python has: nothing is lost
SCALARS = (str, int, float, bool, type(None))


class TaggedJsonError(McpSimError):
    """A value that has no tagged form, or a text that is not tagged JSON."""


def dumps(value: Any) -> bytes:
    """Return the text of JSON values, tuples (also named), sets, maps, times, dataclasses. Raises `TaggedJsonError`."""
    nodes, numbers, kept = list[Any](), dict[int, int](), list[Any]()
    stack = [(value, False)]
    while stack:
        item, is_ready = stack.pop()
        if type(item) in SCALARS or id(item) in numbers:
            continue
        tag, parts = _split(item)
        if is_ready:
            nodes.append([*tag, *(_reference(inner, numbers) for inner in parts)])
            numbers[id(item)] = len(nodes) - 1
            kept.append((item, parts))
        else:
            kept.append(parts)  # keeps ids unique while they are in use
            stack.append((item, True))
            stack += [(inner, False) for inner in parts]
    return encode([nodes, _reference(value, numbers)])


def loads(text: bytes) -> Any:
    """Return the value of a text. Raises `TaggedJsonError`."""
    try:
        nodes, root = decode(text)
        values = list[Any]()
        for node in nodes:
            values.append(_restored(node, values))
        return _value(root, values)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise TaggedJsonError(f"not a text of tagged JSON: {error}") from error


def _reference(value: Any, numbers: Mapping[int, int]) -> Any:
    return [value] if type(value) in SCALARS else numbers[id(value)]


def _split(value: Any) -> tuple[list[Any], list[Any]]:
    """Return the tag of a value and its parts."""
    match value:
        case tuple() if type(value) is tuple:  # pyright: ignore[reportUnknownArgumentType] (a tuple of anything)
            return ["tuple"], list(cast("tuple[Any, ...]", value))
        case list():
            return ["list"], cast("list[Any]", value)
        case dict():
            return ["dict"], _flat(cast("dict[Any, Any]", value).items())
        case HashTrieMap():
            return ["map"], _flat(sorted(cast("HashTrieMap[Any, Any]", value).items(), key=lambda item: repr(item[0])))
        case frozenset():
            return ["frozenset"], sorted(cast("frozenset[Any]", value), key=repr)
        case datetime():
            return ["datetime", value.isoformat()], []
        case timedelta():
            return ["timedelta", value // MICROSECOND], []
        case _ if value is ABSENT:
            return ["absent"], []
        case _ if hasattr(value, "__dataclass_params__") or _is_named_tuple(type(value)):
            cls = cast("type[Any]", type(value))
            names = [*cls._fields] if _is_named_tuple(cls) else [field.name for field in fields(value) if field.init]
            return ["data", cls.__module__, cls.__qualname__, names], [getattr(value, name) for name in names]
        case _:
            raise TaggedJsonError(f"a {type(value).__name__} cannot be stored")


def _is_named_tuple(cls: Any) -> bool:
    return issubclass(cls, tuple) and hasattr(cast("Any", cls), "_fields")


def _flat(items: Iterable[tuple[Any, Any]]) -> list[Any]:
    return [item for pair in items for item in pair]


def _restored(node: list[Any], values: list[Any]) -> Any:
    """Return the value of a node from the values before it."""
    tag, *rest = node
    if tag == "absent":
        return ABSENT
    if tag == "datetime":
        return datetime.fromisoformat(rest[0])
    if tag == "timedelta":
        return rest[0] * MICROSECOND
    if tag == "data":
        module, name, names, *references = rest
        # A frozen dataclass or a named tuple that is already imported. Nothing else is ever created by name.
        kind: Any = getattr(sys.modules.get(module), name, None)
        if not isinstance(kind, type) or not (is_frozen(kind) or _is_named_tuple(kind)):
            raise TaggedJsonError(f"{module}.{name} is not a known class")
        return cast("type[Any]", kind)(**dict(zip(names, _all(references, values), strict=True)))
    return _MAKERS[tag](_all(rest, values))


def _pairs(parts: list[Any]) -> dict[Any, Any]:
    return dict(zip(parts[::2], parts[1::2], strict=True))


_MAKERS: Mapping[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "list": list,
    "dict": _pairs,
    "map": lambda parts: HashTrieMap(_pairs(parts)),
    "frozenset": frozenset,
}


def _all(references: list[Any], values: list[Any]) -> list[Any]:
    return [_value(reference, values) for reference in references]


def _value(reference: Any, values: list[Any]) -> Any:
    return cast("list[Any]", reference)[0] if isinstance(reference, list) else values[reference]
