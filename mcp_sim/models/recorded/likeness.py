"""Whether a call is a recorded one, but for values that differ from run to run: times, generated ids, secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.types import Json, Record, frozen
from mcp_sim.types.conditions import equal
from mcp_sim.types.json_values import NOWHERE, map_leaves, paired_leaves
from mcp_sim.types.time_formats import parse_time

Renamed = Mapping[str, str]  # values of a recording, as texts -> the values that this run has in their place

_FORMS = (
    re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    re.compile(r"[0-9A-HJKMNP-TV-Z]{26}"),
    re.compile(r"[0-9a-f]{12,64}"),
    re.compile(r"\d{10}(?:\d{3})?(?:\.\d+)?"),
)
"""Forms of generated values: UUID, ULID, hexadecimal, time in seconds or milliseconds."""
_PLAIN = str | int | float  # values that may be generated
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
        is_like = all(
            equal(ours, theirs)
            or (isinstance(ours, _PLAIN) and isinstance(theirs, _PLAIN) and _is_alike(ours, theirs, names))
            for _, ours, theirs in self._compared(recorded, given)
        )
        may_differ = (value in known or PLACEHOLDER.fullmatch(value) or is_own(value) for value in names)
        return names if is_like and all(may_differ) else None

    def differences(self, recorded: Record, given: Record) -> Iterator[str]:
        """Yield where the given arguments differ from recorded ones, as phrases."""
        for path, ours, theirs in self._compared(recorded, given):
            if theirs is NOWHERE:
                yield f"{path} is missing"
            elif ours is NOWHERE:
                yield f"{path} was not given"
            elif not equal(ours, theirs):
                yield f"{path} was {ours!r:.80}, not {theirs!r:.80}"

    def _compared(self, recorded: Record, given: Record) -> Iterator[tuple[str, Json, Json]]:
        """Yield the parts of both at the same paths; `NOWHERE` for one that is missing. Ignored parts are left out."""
        for path, ours, theirs in paired_leaves(recorded, given, NOWHERE):
            names = [str(step) for step in path]
            prefixes = [".".join(names[:size]) for size in range(1, len(names) + 1)] if self.ignored else []
            if not any(fnmatchcase(prefix, glob) for prefix in prefixes for glob in self.ignored):
                yield ".".join(names), ours, theirs


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


def pairs(recorded: Json, served: Json) -> Iterator[tuple[str, str]]:
    """Yield the generated values of a recorded answer with those at the same place of the answer that was served."""
    for path, ours, theirs in paired_leaves(recorded, served, None):
        name = next((step for step in reversed(path) if isinstance(step, str)), "")
        if isinstance(ours, str) and isinstance(theirs, str) and ours != theirs:
            yield from _pairs_in_text(ours, theirs)
        elif isinstance(ours, int) and isinstance(theirs, int) and ours != theirs and _ID_NAME.search(name):
            yield str(ours), str(theirs)


_TOKEN = re.compile(r"[\w.:+-]*\w")
_MIXED = re.compile(r"(?=.*[A-Za-z])(?=.*\d).+")


def _pairs_in_text(recorded: str, served: str) -> Iterator[tuple[str, str]]:
    """Yield the tokens of letters and digits, and generated values, in which two texts of one form differ."""
    ours, theirs = _TOKEN.findall(recorded), _TOKEN.findall(served)
    for first, other in zip(ours, theirs, strict=False) if len(ours) == len(theirs) else ():
        if first != other and (_have_one_form(first, other) or (_MIXED.fullmatch(first) and _MIXED.fullmatch(other))):
            yield first, other
