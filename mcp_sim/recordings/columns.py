"""The columns of a measurement: what each compares of a recorded answer and the answer of a simulation.

A column marks a call with numbers from 0 to 1, or not at all if it does not apply. `docs/recording.md` describes each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, cast

from mcp_sim.recordings.align import Alignment
from mcp_sim.recordings.known import Fact, KnownValues
from mcp_sim.recordings.observed import LONGEST_READ, MOST_READ, TIME, Observed, masked, parsed, shortened, values_in
from mcp_sim.spec.yaml12 import dotted
from mcp_sim.types import Json, Record, canonical, frozen
from mcp_sim.types.json_values import paired_leaves

_MOST_NAMED = 5  # a cause is one line of a table
_LONGEST_SHOWN = 120  # a cause is one line of a table
_NOTHING = "(nothing)"  # is compared with what only one of two values has


@frozen
class Shown:
    """The known values that a call showed, as recorded and in the simulation."""

    recorded: Counter[str]
    served: Counter[str]


@frozen
class Comparison:
    """A recorded call, and the answer of the simulation."""

    seq: int
    arguments: Record
    recorded: Observed
    served: Observed | None
    """None if the simulation crashed."""
    alignment: Alignment
    known: KnownValues
    """The values that were known before the answer."""
    shown: Shown
    before: Shown | None
    """What the same call showed when it was last made; None if it is the first."""
    repeated: Sequence[Fact]
    """The facts that an earlier answer showed, and that the recorded answer shows again."""
    leaked: Sequence[str] | None
    """The values of other recorded worlds that the answer shows; None if there are no others."""


@frozen
class Mark:
    """What a column gives a call. A column's score is the mean over its groups of the mean of their marks."""

    value: float
    reason: str = ""
    """Why it is not 1."""
    group: str = ""


Half = Literal["form", "behaviour"]  # what a column measures: how answers look, or what the server does


@frozen
class Column:
    """A column of a measurement."""

    name: str
    half: Half
    marks: Callable[[Comparison], Iterator[Mark]]


# outcome --------------------------------------------------------------------------------------------------------------


def _outcome(call: Comparison) -> Iterator[Mark]:
    group = "failed" if call.recorded.failed else "succeeded"
    if call.served is None:
        yield Mark(0.0, "the simulation crashed", group)
    elif call.served.failed == call.recorded.failed:
        yield Mark(1.0, group=group)
    else:
        yield Mark(0.0, f"the recorded call {group}, and this one did not", group)


# structure ------------------------------------------------------------------------------------------------------------


def _structure(call: Comparison) -> Iterator[Mark]:
    if call.recorded.is_error:
        return
    if call.served is None or call.served.is_error:
        yield Mark(0.0, "the answer is an error")
    elif call.recorded.is_data:
        wanted, is_data = paths_of(call.recorded.value), isinstance(call.served.value, dict | list)
        served = paths_of(call.served.value) if is_data else frozenset[str]()
        value = _f1(Counter(wanted), Counter(served))
        missing, extra = (", ".join(sorted(paths)[:_MOST_NAMED]) for paths in (wanted - served, served - wanted))
        reasons = [f"missing: {missing}"] if missing else []
        yield Mark(value, "; ".join([*reasons, *([f"unexpected: {extra}"] if extra else [])]))
    elif isinstance(call.recorded.value, str) and call.recorded.value:
        # Pairs of neighbouring words. Known values, numbers and times count as equal.
        text = call.served.value if isinstance(call.served.value, str) else canonical(call.served.value)
        ours = call.alignment.served()
        pairs = _pairs(call.recorded.value, lambda word: word in call.alignment or word in call.known)
        value = _f1(pairs, _pairs(text, lambda word: word in ours or word in call.known))
        yield Mark(value, "" if value == 1 else "the text is worded differently")
    else:
        kind, other = (_kind(each) for each in (call.recorded, call.served))
        yield Mark(float(kind == other), "" if kind == other else f"recorded {kind}, answered {other}")


def paths_of(value: Json) -> frozenset[str]:
    """Return the paths in a value, without indexes, and with the type of each value.

    The whole value is not a path unless it is empty: all objects would have that in common.
    """
    paths = set[str]()
    _add_paths(value, "$", paths)
    return frozenset(paths)


def _add_paths(value: Json, path: str, paths: set[str]) -> None:
    """Add the paths in a value: those of the first MOST_READ parts of each object or list."""
    if isinstance(value, dict):
        sign, parts = "{}", ((f"{path}.{name}", inner) for name, inner in cast("Record", value).items())
    elif isinstance(value, list):
        sign, parts = "[]", ((f"{path}[]", item) for item in cast("list[Json]", value))
    else:
        paths.add(f"{path}: {_type(value)}")
        return
    if not value or path != "$":
        paths.add(f"{path}{sign}")
    for at, element in islice(parts, MOST_READ):
        _add_paths(element, at, paths)


def _type(value: Json) -> str:
    names = ((bool, "flag"), (int | float, "number"), (str, "string"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _kind(observed: Observed) -> str:
    """Return the type of an answer that is neither data nor text."""
    if isinstance(observed.value, str):
        return ", ".join(sorted(set(observed.blocks))) or "no content"
    return "data" if observed.is_data else _type(observed.value)


_WORD = re.compile(r"\w[\w./:@-]*|[^\w\s]")
_SPACED = re.compile(r"\w[\w./:@-]*|\s+|[^\w\s]")
_NUMBER = re.compile(r"-?[\d.,:%-]+")


def _pairs(text: str, is_known: Callable[[str], bool]) -> Counter[Hashable]:
    words = ["<start>"]
    for word in _WORD.findall(TIME.sub(" <time> ", text[:LONGEST_READ])):
        if is_known(word) or is_known(word.strip(".:")):
            words.append("<value>")
        else:
            words.append("<number>" if _NUMBER.fullmatch(word) else word.lower())
    return Counter(zip(words, [*words[1:], "<end>"], strict=True))


# text -----------------------------------------------------------------------------------------------------------------

_LAYOUT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\w[\w./:@-]*|\s+|[^\w\s]')
"""A part of a JSON text: a string, a number or word, white space, a sign."""


def _text(call: Comparison) -> Iterator[Mark]:
    """Compare the text as an agent reads it: with its white space, its order, and the names in JSON."""
    if call.served is None:
        yield Mark(0.0, "the simulation crashed")
    elif call.recorded.text or call.served.text:
        value = _layout_likeness(call, call.served)
        yield Mark(value, "" if value == 1 else "the text is laid out or worded differently")


def _layout_likeness(call: Comparison, served: Observed) -> float:
    ours = call.alignment.served()
    wanted = _layout(call.recorded.text, lambda word: word in call.alignment or word in call.known)
    other = _layout(served.text, lambda word: word in ours or word in call.known)
    return _f1(wanted, other)


def _layout(text: str, is_known: Callable[[str], bool]) -> Counter[Hashable]:
    """Return the pairs of neighbouring parts of a text. Values of JSON, known values, numbers and times are equal."""
    is_json = isinstance(parsed(text), dict | list)
    parts = ["<start>"]
    timeless = text[:LONGEST_READ] if is_json else TIME.sub("<time>", text[:LONGEST_READ])
    for match in (_LAYOUT if is_json else _SPACED).finditer(timeless):
        token = match[0]
        is_name = is_json and token[0] == '"' and timeless[match.end() : match.end() + 2].lstrip()[:1] == ":"
        if is_name or token.isspace():
            parts.append(token)
        elif (is_json and token[0] == '"') or is_known(token) or is_known(token.strip(".:")):
            parts.append("<value>")
        else:
            parts.append("<number>" if _NUMBER.fullmatch(token) else token)
    return Counter(zip(parts, [*parts[1:], "<end>"], strict=True))


# values ---------------------------------------------------------------------------------------------------------------


def _echo(call: Comparison) -> Iterator[Mark]:
    """Mark which known values an answer shows."""
    wanted, served = Counter[str](), call.shown.served
    for name, number in call.shown.recorded.items():
        wanted[call.alignment.name(name)] += number
    if call.recorded.is_error or not (wanted or served):
        return
    missing, extra = (", ".join(map(repr, list(names)[:_MOST_NAMED])) for names in (wanted - served, served - wanted))
    reasons = [f"not shown: {missing}"] if missing else []
    yield Mark(_f1(wanted, served), "; ".join([*reasons, *([f"shown in addition: {extra}"] if extra else [])]))


def _read_your_writes(call: Comparison) -> Iterator[Mark]:
    """Mark each value that an earlier call gave as an argument, and that the recorded answer shows."""
    if call.recorded.is_error:
        return
    given = {name for name, _ in values_in(call.arguments)}
    for name in call.shown.recorded:
        seen = call.known.seen(name)
        if seen.source == "argument" and not seen.is_part and seen.seq < call.seq and name not in given:
            is_shown = call.alignment.name(name) in call.shown.served
            yield Mark(float(is_shown), "" if is_shown else f"not shown: {name!r}, written by call {seen.seq}")


def _gone(call: Comparison) -> Iterator[Mark]:
    """Mark each value that the same call showed when it was made before, and does not any more."""
    if call.before is None:
        return
    given = {name for name, _ in values_in(call.arguments)}
    for name in call.before.recorded.keys() - call.shown.recorded.keys() - given:
        served = call.alignment.name(name)
        was_shown, is_shown = served in call.before.served, served in call.shown.served
        reason = f"still shown: {served!r}" if is_shown else "" if was_shown else f"was never shown: {served!r}"
        yield Mark(float(was_shown and not is_shown), reason)


def _follows(call: Comparison) -> Iterator[Mark]:
    """Mark whether the facts of known records are those that the simulation showed before."""
    for fact in call.repeated:
        reason = f"{fact.identity}.{fact.field}: showed {fact.before!r} before, now {fact.now!r}"
        yield Mark(float(fact.now == fact.before), "" if fact.now == fact.before else reason)


def _leaks(call: Comparison) -> Iterator[Mark]:
    """Mark whether an answer is free of values of other recorded worlds."""
    if call.leaked is not None:
        leaked = ", ".join(map(repr, call.leaked[:_MOST_NAMED]))
        yield Mark(float(not leaked), f"shows values of another recorded world: {leaked}" if leaked else "")


# exact ----------------------------------------------------------------------------------------------------------------


def _exact(call: Comparison) -> Iterator[Mark]:
    """Mark whether the answers are the same, data and text, but for ids, times and durations."""
    if call.served is None:
        yield Mark(0.0)
        return
    recorded, served = call.recorded, call.served
    reason = _difference(masked(call.alignment.translate(recorded.value)), masked(served.value))
    if not reason and (recorded.text or served.text):
        texts = masked(call.alignment.translate(parsed(recorded.text))), masked(parsed(served.text))
        reason = _difference(*texts)
        if not reason and _layout_likeness(call, served) < 1:
            reason = "the text has another layout"
    if recorded.blocks != served.blocks:
        reason = f"content blocks: recorded {_listed(recorded.blocks)}, answered {_listed(served.blocks)}"
    if recorded.is_error != served.is_error:
        reason = "isError differs"
    yield Mark(float(not reason), reason)


def _difference(recorded: Json, served: Json) -> str:
    """Return the first difference of two values; '' if they are equal. A flag is not a number."""
    for path, ours, theirs in paired_leaves(recorded, served, _NOTHING):
        if ours != theirs or isinstance(ours, bool) != isinstance(theirs, bool):
            shown = (shortened(value, _LONGEST_SHOWN) for value in (ours, theirs))
            return "{}: recorded {}, answered {}".format(dotted(("$", *path)), *shown)
    return ""


def _listed(blocks: Sequence[str]) -> str:
    return ", ".join(blocks) or "none"


# counting -------------------------------------------------------------------------------------------------------------


def _f1(wanted: Counter[Any], served: Counter[Any]) -> float:
    """Return the harmonic mean of precision and recall; 1 if both are empty."""
    total = wanted.total() + served.total()
    return 2 * (wanted & served).total() / total if total else 1.0


COLUMNS: Sequence[Column] = (
    Column("structure", "form", _structure),
    Column("text", "form", _text),
    Column("exact", "form", _exact),
    Column("outcome", "behaviour", _outcome),
    Column("read_your_writes", "behaviour", _read_your_writes),
    Column("gone", "behaviour", _gone),
    Column("echo", "behaviour", _echo),
    Column("follows", "behaviour", _follows),
    Column("leaks", "behaviour", _leaks),
)
