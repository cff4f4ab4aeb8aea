"""Choose the slots of result templates: what of a call always equals what the recorded answers show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import isclose
from typing import TypeAlias, cast

from mcp_sim.plans.rendering.templates import Scope, time_spelling
from mcp_sim.recordings.align import is_id
from mcp_sim.recordings.observed import is_time
from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.types import Json, Record
from mcp_sim.types.json_values import NOWHERE, canonical, map_texts
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.time_formats import parse_time

Shown: TypeAlias = "tuple[Json, Scope]"  # a recorded value, and what a template could show in its place

_COUNTS = ("count", "total")
_ENOUGH = 0.5
"""The share of samples in which a slot of the same name must agree. Half: a field of the same name is the likely
source, and dates or rounding make some samples differ."""
_SHORTEST = 3  # the length from which a text that equals another value is not a coincidence
TODAY = "{now:%Y-%m-%d}"  # the slot of the day of the call
_DEEPEST = 3  # slots of deeper values would be many, and agree by chance
_EXAMINED = 3  # how many values slots are looked for in
_MOST = 0.7
"""The share of samples in which a slot of another name must agree. Higher than for a slot of the same name, since
nothing but the values speaks for it."""


def paths_of_scope(scope: Scope) -> Iterator[tuple[str, Json]]:
    """Yield the paths of slots with their values, the ones that come first before others of the same value."""
    known: Record = {**scope.arguments, **scope.facts, **scope.record}
    yield from _paths(known, "")
    yield from _paths(scope.arguments, "arguments.")
    yield from ((path, value) for path, value in _paths(scope.record, "") if "." in path)


def _paths(value: Record, prefix: str, depth: int = 0) -> Iterator[tuple[str, Json]]:
    for name, inner in value.items():
        if not name.replace("_", "").replace("-", "").isalnum() or name[:1].isdigit():
            continue
        yield f"{prefix}{name}", inner
        if isinstance(inner, dict) and depth < _DEEPEST:
            yield from _paths(cast("Record", inner), f"{prefix}{name}.", depth + 1)


def is_same(value: Json, other: Json) -> bool:
    """Whether two JSON values are equal. A whole number equals a float of its value; a flag equals no number."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, int | float) and isinstance(other, int | float):
        return isclose(value, other)
    return type(value) is type(other) and canonical(value) == canonical(other)


class Unexplained(Exception):
    """Nothing that is known explains the differing values at a place."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name or 'the answer'} differs from call to call, and nothing shows why")


def choose(name: str, shown: Sequence[Shown], *, of_record: bool) -> Json:
    """Return a slot or a constant for a place of this name.

    `of_record`: the place is a field of a record, which is preferred to anything else.
    """
    values = [value for value, _ in shown]
    if all(is_id(name, value) for value in values) and _agreement("key", shown) == 1:
        return "{key}"
    if of_record and _is_slot(name):
        return f"{{{name}}}"
    spelled = _time(name, shown)
    if spelled is not None:
        return spelled
    # The slot of the same name, if it agrees often enough.
    agreements = {path: _agreement(path, shown) for path in (name, snake(name)) if _is_slot(path)}
    best = max(agreements, key=agreements.__getitem__, default=None)
    slot = (f"{{{best}}}" if best is not None and agreements[best] > _ENOUGH else None) or _best(name, shown)
    if slot is not None:
        return slot
    return TODAY if all(value == day_of(scope) for value, scope in shown) else constant(name, values)


def constant(name: str, values: Sequence[Json]) -> Json:
    """Return the value that all calls show. Raises `Unexplained` if they differ: one of them would be wrong."""
    if len({canonical(value) for value in values}) > 1:
        raise Unexplained(name)
    return literal(values[0])


def day_of(scope: Scope) -> str:
    """Return the day of a call, as ISO 8601 has it."""
    return scope.now.strftime("%Y-%m-%d")


def _is_slot(path: str) -> bool:
    return path.replace("_", "").replace("-", "").isalnum() and path[:1].isalpha()


def _agreement(path: str, shown: Sequence[Shown]) -> float:
    agreed = sum(is_same(None if (got := scope.get(path)) is NOWHERE else got, value) for value, scope in shown)
    resolved = any(scope.get(path) is not NOWHERE for _, scope in shown)
    return agreed / len(shown) if resolved else 0.0


def _best(name: str, shown: Sequence[Shown]) -> str | None:
    """Return the slot that agrees in most samples: of several that of the likest name, else the first one."""
    some = sorted(shown, key=lambda pair: -len(str(pair[0])))[:_EXAMINED]
    paths = dict.fromkeys(
        path for value, scope in some for path, other in paths_of_scope(scope) if is_same(other, value)
    )
    agreed = {path: [value for value, scope in shown if is_same(scope.get(path), value)] for path in paths}
    good = {
        path: values
        for path, values in agreed.items()
        if len(values) >= len(shown) * _MOST and (_differ(values) or _is_named_alike(path, name, values[0]))
    }
    if not good:
        return None
    best = min(good, key=lambda path: (-len(good[path]), -_likeness(path, name), len(path)))
    return f"{{{best}}}"


def _is_named_alike(path: str, name: str, value: Json) -> bool:
    """Whether a value that never differs equals another one of a similar name."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and _likeness(path, name) > 0


def _differ(values: Sequence[Json]) -> bool:
    """Whether it is not a coincidence that values are equal to others."""
    is_long = any(isinstance(value, str) and len(value) >= _SHORTEST for value in values)
    return is_long or len({canonical(value) for value in values}) > 1


def _likeness(path: str, name: str) -> int:
    parts = set(snake(path.replace(".", "_")).split("_")) & set(snake(name).split("_"))
    return len(parts) + (1 if path in _COUNTS and any(word in snake(name) for word in _COUNTS) else 0)


def _time(name: str, shown: Sequence[Shown]) -> Json:
    """Return the slot of a time; None if the values are not times."""
    times = [value for value, _ in shown if value is not None]
    if not times or not all(is_time(name, value) for value in times):
        return None
    spelling = time_spelling(times[0])
    path = name if any(name in scope.record for _, scope in shown) else ""
    if path and _is_verbatim(path, shown):
        return f"{{{path}}}"
    if not spelling:
        return f"{{{path}}}" if path else None
    if not path:
        return f"{{now:{spelling}}}"
    return f"{{{path}:{spelling}}}"


def _is_verbatim(path: str, shown: Sequence[Shown]) -> bool:
    """Whether a time that someone has given is shown as it was given."""
    given = [(value, scope.get(path)) for value, scope in shown if value is not None and scope.get(path) is not NOWHERE]
    same = sum(is_same(value, other) for value, other in given)
    moved = sum(not is_same(value, other) and parse_time(value) == parse_time(other) for value, other in given)
    return same > 0 and moved == 0


def literal(value: Json) -> Json:
    """Return a recorded value as a constant. Redacted values are left out."""
    return map_texts(value, lambda text: (PLACEHOLDER.sub("", text) or None) if PLACEHOLDER.search(text) else text)


def most_common(values: Iterable[Json]) -> Json:
    """Return the most common value, the first of equally common ones. Null counts only if all values are null."""
    listed = list(values)
    known = [value for value in listed if value is not None] or listed
    counts = Counter(map(canonical, known))
    return max(known, key=lambda value: counts[canonical(value)], default=None)
