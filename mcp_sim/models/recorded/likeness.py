"""Whether a call is a recorded one, but for values that differ from run to run: times, generated ids, secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, cast

from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.types import Json, Record
from mcp_sim.types.conditions import equal
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import map_leaves
from mcp_sim.types.time_formats import parse_time

Renamed = Mapping[str, str]  # values of a recording, as texts -> the values that this run has in their place

_FORMS = (
    re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    re.compile(r"[0-9A-HJKMNP-TV-Z]{26}"),
    re.compile(r"[0-9a-f]{12,64}"),
    re.compile(r"\d{10}(?:\d{3})?(?:\.\d+)?"),
)
"""Forms of generated values: UUID, ULID, hexadecimal, time in seconds or milliseconds."""
LONGEST_WITH_SECRETS = 10_000  # the most characters of a text in which secrets are looked for

_PREFIXED = re.compile(r"([A-Za-z]+[-_])(\w{8,})")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_ID_NAME = re.compile(r"(?:^|_)(?:id|number|key)$|[a-z]Id$")


@frozen
class Likeness:
    """Compares arguments. `ignored` are globs of paths that are not compared, such as `meta.*`."""

    ignored: Sequence[str] = ()

    def renamed(self, recorded: Record, given: Record, known: Renamed, is_own: Callable[[str], bool]) -> Renamed | None:
        """Return what must be renamed for recorded arguments to be the given ones, with what is known.

        `is_own` says whether a recorded value was the caller's own, not one that the server had shown: only these may
        differ in every run. None if the arguments differ in more.
        """
        names = dict(known)
        is_like = self._is_like(recorded, given, "", names)
        may_differ = (value in known or PLACEHOLDER.fullmatch(value) or is_own(value) for value in names)
        return names if is_like and all(may_differ) else None

    def differences(self, recorded: Json, given: Json, path: str = "") -> Iterator[str]:
        """Yield where the given arguments differ from recorded ones, as phrases."""
        if isinstance(recorded, dict) and isinstance(given, dict):
            ours, theirs = cast("Record", recorded), cast("Record", given)
            for name in dict.fromkeys((*ours, *theirs)):
                at = f"{path}.{name}" if path else name
                if name not in theirs:
                    yield f"{at} is missing"
                elif name not in ours:
                    yield f"{at} was not given"
                else:
                    yield from self.differences(ours[name], theirs[name], at)
        elif not self._is_ignored(path) and not equal(recorded, given):
            yield f"{path} was {recorded!r:.80}, not {given!r:.80}"

    def _is_like(self, recorded: Json, given: Json, path: str, substitutes: dict[str, str]) -> bool:
        if self._is_ignored(path) or equal(recorded, given):
            return True
        match recorded, given:
            case dict(), dict():
                ours, theirs = cast("Record", recorded), cast("Record", given)
                names = [name for name in dict.fromkeys((*ours, *theirs)) if not self._is_ignored(_below(path, name))]
                return all(
                    name in ours
                    and name in theirs
                    and self._is_like(ours[name], theirs[name], _below(path, name), substitutes)
                    for name in names
                )
            case list(), list():
                pairs = list(zip(cast("list[Json]", recorded), cast("list[Json]", given), strict=False))
                is_whole = len(cast("list[Json]", recorded)) == len(cast("list[Json]", given))
                return is_whole and all(
                    self._is_like(ours, theirs, _below(path, at), substitutes)
                    for at, (ours, theirs) in enumerate(pairs)
                )
            case ((str() | int() | float()), (str() | int() | float())):
                return _is_alike(recorded, given, substitutes)
            case _:
                return False

    def _is_ignored(self, path: str) -> bool:
        return bool(path) and any(fnmatchcase(path, glob) for glob in self.ignored)


def _below(path: str, name: str | int) -> str:
    return f"{path}.{name}" if path else str(name)


def _is_alike(recorded: Any, given: Any, names: dict[str, str]) -> bool:
    """Whether two values are the same in their runs; notes which stand for each other."""
    ours, theirs = str(recorded), str(given)
    if ours in names or theirs in names.values():
        return names.get(ours) == theirs
    if isinstance(recorded, str) and (renamed(recorded, names) == given or _is_secret(recorded, given, names)):
        return True
    is_volatile = not isinstance(recorded, bool) and not isinstance(given, bool) and _have_one_form(ours, theirs)
    if is_volatile:
        names[ours] = theirs
    return is_volatile


def _is_secret(recorded: str, given: Any, names: dict[str, str]) -> bool:
    """Whether a text is a recorded one whose secrets were redacted; notes the secrets."""
    hidden = PLACEHOLDER.findall(recorded)
    if not hidden or not isinstance(given, str) or len(given) > LONGEST_WITH_SECRETS:
        return False
    pattern = "(.+)".join(map(re.escape, PLACEHOLDER.split(recorded)))
    whole = re.fullmatch(pattern, given, re.DOTALL)
    secrets = zip(hidden, whole.groups(), strict=True) if whole else ()
    fresh = dict[str, str]()
    is_same = whole is not None and all(
        names.get(item, fresh.setdefault(item, value)) == value for item, value in secrets
    )
    names.update(fresh if is_same else {})
    return is_same


def _have_one_form(value: str, other: str) -> bool:
    """Whether two texts are both times, or both generated ids of one form."""
    if _TIME.match(value) and _TIME.match(other):
        return parse_time(value) is not None and parse_time(other) is not None
    if len(value) == len(other) and any(form.fullmatch(value) and form.fullmatch(other) for form in _FORMS):
        return True
    ours, theirs = _PREFIXED.fullmatch(value), _PREFIXED.fullmatch(other)
    if ours is None or theirs is None or ours[1] != theirs[1] or len(value) != len(other):
        return False
    return all(any(map(str.isdigit, tail)) for tail in (ours[2], theirs[2]))


# answers --------------------------------------------------------------------------------------------------------------


def renamed(value: Json, names: Renamed) -> Json:
    """Replace recorded values by those of this run, also inside longer strings."""
    if not names:
        return value
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")

    def change(leaf: Json) -> Json:
        if isinstance(leaf, str):
            return pattern.sub(lambda match: names[match[0]], leaf)
        if not isinstance(leaf, int) or isinstance(leaf, bool) or str(leaf) not in names:
            return leaf
        new = names[str(leaf)]
        return int(new) if new.isdecimal() else new

    return map_leaves(value, change)


def pairs(recorded: Json, served: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the generated values of a recorded answer with those at the same place of the answer that was served."""
    match recorded, served:
        case dict(), dict():
            theirs = cast("Record", served)
            for inner, value in cast("Record", recorded).items():
                yield from pairs(value, theirs.get(inner), inner)
        case list(), list():
            for ours, other in zip(cast("list[Json]", recorded), cast("list[Json]", served), strict=False):
                yield from pairs(ours, other, name)
        case str(), str() if recorded != served:
            yield from _pairs_in_text(recorded, served)
        case int(), int() if recorded != served and _ID_NAME.search(name):
            yield str(recorded), str(served)
        case _:
            return


_TOKEN = re.compile(r"[\w.:+-]*\w")
_MIXED = re.compile(r"(?=.*[A-Za-z])(?=.*\d).+")


def _pairs_in_text(recorded: str, served: str) -> Iterator[tuple[str, str]]:
    """Yield the tokens of letters and digits, and generated values, in which two texts of one form differ."""
    ours, theirs = _TOKEN.findall(recorded), _TOKEN.findall(served)
    for first, other in zip(ours, theirs, strict=False) if len(ours) == len(theirs) else ():
        if first != other and (_have_one_form(first, other) or (_MIXED.fullmatch(first) and _MIXED.fullmatch(other))):
            yield first, other
