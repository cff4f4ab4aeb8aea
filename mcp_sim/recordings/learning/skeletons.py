"""Turn a recorded text into a skeleton: its words, with slots for what the call could have shown there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias, cast

from mcp_sim.backends.rendering.templates import Scope, time_spelling
from mcp_sim.recordings.learning.slots import paths_of_scope
from mcp_sim.recordings.observed import TIME
from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.types import Json
from mcp_sim.types.json_values import NOWHERE
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.result_templates import SLOT

Tokens: TypeAlias = "list[str]"
"""Words, signs, spaces and slots."""

_TOKEN = re.compile(r"\{[A-Za-z_][\w.-]*(?::[^{}\n]+)?\}|\w+|\s|[^\w\s]")
_IGNORED = frozenset({"limit", "offset", "cursor", "more", "failed", "text", "number"})
_NUMBERS = frozenset({"count", "total"})
_JOINTS = (", ", ",", "\n", " ", "; ", " | ")
_SPELLINGS = ("upper", "lower", "capitalize", "title", "spaced")
_LONGEST_SPELLED = 40
_NEAR = 40


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that a slot fills."""

    start: int
    end: int
    slot: str
    rank: int
    """The lowest first."""


def skeleton(text: str, scope: Scope) -> Tokens:
    """Return the tokens of a text, with slots for the values of a scope."""
    found = sorted(_spans(text, scope), key=lambda span: (span.start - span.end, span.rank, span.start))
    chosen: list[Span] = []
    for span in found:
        if all(span.end <= other.start or span.start >= other.end for other in chosen):
            chosen.append(span)
    pieces: list[str] = []
    at = 0
    for span in sorted(chosen, key=lambda span: span.start):
        pieces += [*_plain(text[at : span.start]), span.slot]
        at = span.end
    return [*pieces, *_plain(text[at:])]


def _plain(text: str) -> Tokens:
    """Return the tokens of fixed text, without secrets and what could be read as a slot."""
    bare = PLACEHOLDER.sub("", text)
    bare = SLOT.sub(lambda found: f"({found[1]})", bare) if SLOT.search(bare) else bare
    return _TOKEN.findall(bare)


def tokens_of(text: str) -> Tokens:
    """Return the tokens of a text without slots."""
    return _TOKEN.findall(text)


def _spans(text: str, scope: Scope) -> Iterator[Span]:
    seen = set[str]()
    for rank, (path, value) in enumerate(paths_of_scope(scope)):
        head = path.partition(".")[0]
        if path in seen or head in _IGNORED or not _resolves(path, value, scope):
            continue
        seen.add(path)
        late = 1000 if head in {"before", "arguments"} else 0
        yield from _occurrences(text, path, value, rank + late)
    for name in dict.fromkeys(name for row in scope.rows for name in row):
        column = [value for value in (row.get(name) for row in scope.rows) if isinstance(value, str | int)]
        if len(column) == len(scope.rows) > 0:
            yield from _joined(text, f"rows.{name}", column, 2000, least=1 if len(text.split()) == 1 else 2)
    yield from _times(text, scope)


def _resolves(path: str, value: Json, scope: Scope) -> bool:
    got = scope.get(path)
    return got is not NOWHERE and got is value


def _occurrences(text: str, path: str, value: Json, rank: int) -> Iterator[Span]:
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        return
    if isinstance(value, list):
        plain = [one for one in cast("list[Json]", value) if isinstance(one, str | int)]
        if len(plain) == len(cast("list[Json]", value)):
            yield from _joined(text, path, plain, rank, least=1)
        return
    shown = str(value)
    if isinstance(value, int | float):
        if path in _NUMBERS or len(shown) > 2 or _is_named(text, path, shown):
            yield from _found(text, shown, f"{{{path}}}", rank)
        return
    if len(shown.strip()) < 2:
        return
    yield from _found(text, shown, f"{{{path}}}", rank)
    if len(shown) <= _LONGEST_SPELLED:
        for spelling, other in _spelled(shown):
            yield from _found(text, other, f"{{{path}:{spelling}}}", rank + 500)


def _is_named(text: str, path: str, shown: str) -> bool:
    """Whether a short number follows the name of its field, or a sign of a number."""
    name = path.rpartition(".")[2]
    spelt = r"[ _-]?".join(re.escape(word) for word in words(name)) or re.escape(name)
    last = re.escape((words(name) or [name])[-1])
    return re.search(rf"(?i)(?:{spelt}|\b{last}|#|\bid)\W{{0,4}}{re.escape(shown)}(?!\w)", text) is not None


def _spelled(value: str) -> Iterator[tuple[str, str]]:
    forms = {
        "upper": value.upper(),
        "lower": value.lower(),
        "capitalize": value.capitalize(),
        "title": value.title(),
        "spaced": value.replace("_", " "),
    }
    seen = {value}
    for spelling in _SPELLINGS:
        if forms[spelling] not in seen:
            seen.add(forms[spelling])
            yield spelling, forms[spelling]


def _found(text: str, value: str, slot: str, rank: int) -> Iterator[Span]:
    before = r"(?<!\w)" if value[:1].isalnum() else ""
    after = r"(?!\w)" if value[-1:].isalnum() else ""
    for found in re.finditer(f"{before}{re.escape(value)}{after}", text):
        yield Span(found.start(), found.end(), slot, rank)


def _joined(text: str, path: str, values: Sequence[Json], rank: int, least: int) -> Iterator[Span]:
    """Yield where the values of a list are, one after another."""
    if len(values) < least or not values:
        return
    for joint in _JOINTS if len(values) > 1 else _JOINTS[:1]:
        joined = joint.join(map(str, values))
        if len(joined) > 1:
            spelled = "" if joint == _JOINTS[0] else ":join " + joint.replace("\n", "\\n")
            yield from _found(text, joined, f"{{{path}{spelled}}}", rank)


def _times(text: str, scope: Scope) -> Iterator[Span]:
    """Yield the times in a text: those of a field whose name comes before, else the time of the call."""
    for found in TIME.finditer(text):
        spelling = time_spelling(found[0])
        if spelling:
            near = text[max(0, found.start() - _NEAR) : found.start()].lower()
            fields = [name for name in scope.record if (words(name) or [name])[0].lower() in near]
            path = next((name for name in fields if name.endswith(("at", "time", "date", "on"))), None)
            path = path or next(iter(fields), "now")
            yield Span(found.start(), found.end(), f"{{{path}:{spelling}}}", 5000)


# merging --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The skeleton of one text, with what a template could show there."""

    tokens: Tokens
    scope: Scope

    @property
    def slots(self) -> int:
        return sum(token.startswith("{") and len(token) > 1 for token in self.tokens)


def merged(found: Sequence[Skeleton]) -> str:
    """Return one text with slots for several: what some lack because its slots are empty there is optional.

    Where texts differ otherwise, the most common one counts.
    """
    groups: dict[str, list[Skeleton]] = {}
    for one in found:
        groups.setdefault("".join(one.tokens), []).append(one)
    ordered = sorted(groups.values(), key=lambda group: (-group[0].slots, -len(group)))
    usual = max(groups.values(), key=len)
    base = next((group for group in ordered if len(group) * 2 >= len(usual) or group is usual), ordered[0])
    parts = [(token, False) for token in base[0].tokens]
    for group in ordered:
        if group is not base:
            parts = _with(parts, base[0], group[0])
    return _written(parts)


_Part: TypeAlias = "tuple[str, bool]"
"""A token, and whether it is optional."""


def _with(parts: list[_Part], base: Skeleton, other: Skeleton) -> list[_Part]:
    """Return the tokens with the optional ones that another skeleton shows."""
    match = SequenceMatcher(None, [token for token, _ in parts], other.tokens, autojunk=False)
    found: list[_Part] = []
    for kind, i, j, k, m in match.get_opcodes():
        mine, theirs = parts[i:j], other.tokens[k:m]
        if kind == "delete" and _is_empty([token for token, _ in mine], other.scope):
            found += [(token, True) for token, _ in mine]
        elif kind == "insert" and _is_empty(theirs, base.scope):
            found += [(token, True) for token in theirs]
        else:
            found += mine
    return found


def _is_empty(tokens: Sequence[str], scope: Scope) -> bool:
    """Whether tokens hold slots, and one of them has no value in a scope."""
    paths = [found[1] for token in tokens if (found := SLOT.fullmatch(token)) is not None]
    return bool(paths) and any(scope.get(path) in (NOWHERE, None, "", [], {}, False) for path in paths)


def _written(parts: Sequence[_Part]) -> str:
    text, is_open = "", False
    for token, optional in parts:
        if optional != is_open:
            text += "{?" if optional else "?}"
            is_open = optional
        text += token
    return text + ("?}" if is_open else "")
