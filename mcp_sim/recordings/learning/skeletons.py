"""Turn recorded texts into skeletons: their words, with slots for what the call could have shown there."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from mcp_sim.plans.rendering.templates import Scope, time_spelling
from mcp_sim.recordings.learning.slots import TODAY, day_of, paths_of_scope
from mcp_sim.recordings.observed import TIME
from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.types import NOWHERE, Json, canonical, frozen
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.result_templates import SLOT, SPELLINGS
from mcp_sim.types.time_formats import parse_time

Tokens: TypeAlias = "list[str]"  # words, signs, spaces and slots

_TOKEN = re.compile(r"\w+|\s|[^\w\s]")
_IGNORED = frozenset({"limit", "offset", "cursor", "more", "failed", "text", "number"})
_NUMBERS = frozenset({"count", "total"})
_JOINTS = (", ", ",", "\n", " ", "; ", " | ")
_DOUBT = 3000  # what is added to the rank of short numbers that may be there by chance
_LONGEST_SPELLED = 80  # longer texts are not shown in another spelling, such as a slug
_NEAR = 40  # how far before a time its label is looked for, in characters
_NOUN_OF_TIME = re.compile(
    r"(^|_)(at|on|time|date|created|updated|modified|timestamp|due|until|since)$|(At|On|Date|Time)$"
)
_SIGNS_OF_TABLES = frozenset("{};\n")  # what the entries of a table cannot have
_LONGEST_CHOICE = 40  # longer values are data rather than one of a few choices
_SUPPORT = 0.6  # the share of the texts that must show a value wherever there is one, for its slot to count
_SURE = 0.8  # the share of the texts that must show a short number where there is one
_DISTINCTIVE = 12
"""The length from which a value in a text is there for a reason, even if other texts do not show theirs."""


@frozen
class Span:
    """A part of a text that a slot fills."""

    start: int
    end: int
    slot: str
    rank: int
    """The lowest first."""
    is_doubtful: bool = False
    """Whether it shows a short number that may be there by chance."""


def skeleton(text: str, scope: Scope) -> Tokens:
    """Return the tokens of a text, with slots for the values of a scope."""
    return _tokens(text, (span for span in _spans(text, scope) if not span.is_doubtful), {})


def merged(shown: Sequence[tuple[str, Scope]]) -> str:
    """Return the most common skeleton of texts of one form. A part with a slot that others have or lack is optional.

    Words that follow from a flag are a table. A slot counts if most texts show its value wherever there is one; that of
    a short number, if it also differs.
    """
    spans_by_text = [[*_spans(text, scope)] for text, scope in shown]
    support = {
        slot: _support(slot, spans_by_text, shown) for slot in {span.slot for spans in spans_by_text for span in spans}
    }
    differing = _differing(spans_by_text, shown)
    kept = (
        [span for span in spans if _is_borne_out(span, support[span.slot], is_differing=span.slot in differing)]
        for spans in spans_by_text
    )
    forms = [tuple(_tokens(text, spans, support)) for (text, _), spans in zip(shown, kept, strict=True)]
    counts = Counter(forms)
    flagged = _by_flag(forms, [scope for _, scope in shown]) if len(counts) > 1 else None
    if flagged is not None:
        return flagged
    usual = max(counts, key=lambda tokens: (counts[tokens], sum(map(_is_slot, tokens))))
    for other in counts:
        short, whole = sorted((usual, other), key=len)
        start = next((at for at, token in enumerate(short) if token != whole[at]), len(short))
        end = len(whole) - len(short) + start
        if whole[end:] == short[start:] and any(map(_is_slot, whole[start:end])):
            return "".join([*whole[:start], "{?", *whole[start:end], "?}", *whole[end:]])
    return "".join(usual)


def _by_flag(forms: Sequence[Sequence[str]], scopes: Sequence[Scope]) -> str | None:
    """Return the text of skeletons that differ in one place, if a flag decides what is there; else None."""
    start = _common(forms)
    rests = [form[start:] for form in forms]
    length = _common([rest[::-1] for rest in rests])
    choices = ["".join(rest[: len(rest) - length]) for rest in rests]
    if any(set(choice) & _SIGNS_OF_TABLES or len(choice) > _LONGEST_CHOICE for choice in choices):
        return None
    flags = (path for scope in scopes for path, value in paths_of_scope(scope) if isinstance(value, bool))
    for path in dict.fromkeys(flags):
        values = ["" if (value := scope.get(path)) in (NOWHERE, None) else canonical(value) for scope in scopes]
        table = dict(zip(values, choices, strict=True))
        if [table[value] for value in values] == choices:
            entries = ";".join(f"{value}={choice}" for value, choice in sorted(table.items()))
            return "".join([*forms[0][:start], f"{{{path}:{entries}}}", *rests[0][len(rests[0]) - length :]])
    return None


def _common(forms: Sequence[Sequence[str]]) -> int:
    """Return how many tokens all skeletons begin with."""
    different = (at for at, tokens in enumerate(zip(*forms, strict=False)) if len(set(tokens)) > 1)
    return next(different, min(map(len, forms)))


def _is_slot(token: str) -> bool:
    return SLOT.fullmatch(token) is not None


def _support(slot: str, spans_by_text: Sequence[Sequence[Span]], shown: Sequence[tuple[str, Scope]]) -> float:
    """Return the share of texts that show the value of a slot, of those where it has one."""
    inner = SLOT.fullmatch(slot)
    path = inner[1] if inner is not None else ""
    known = [scope.get(path) not in (NOWHERE, None, "", [], {}, False) for _, scope in shown]
    has = [any(span.slot == slot for span in spans) for spans in spans_by_text]
    return sum(has) / max(1, sum(is_known or other for is_known, other in zip(known, has, strict=True)))


def _differing(spans_by_text: Sequence[Sequence[Span]], shown: Sequence[tuple[str, Scope]]) -> set[str]:
    """Return the slots of short numbers that are not the same in all texts."""
    values = defaultdict[str, set[str]](set)
    for spans, (text, _) in zip(spans_by_text, shown, strict=True):
        for span in spans:
            values[span.slot].add(text[span.start : span.end])
    return {slot for slot, different in values.items() if len(different) > 1}


def _is_borne_out(span: Span, support: float, *, is_differing: bool) -> bool:
    if span.is_doubtful:
        return support >= _SURE and is_differing
    return support >= _SUPPORT or span.end - span.start >= _DISTINCTIVE


def _tokens(text: str, spans: Iterable[Span], support: Mapping[str, float]) -> Tokens:
    by_priority = sorted(
        spans,
        key=lambda candidate: (
            candidate.start - candidate.end,
            -round(support.get(candidate.slot, 0), 1),
            candidate.rank,
            candidate.start,
        ),
    )
    chosen: list[Span] = []
    for span in by_priority:
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
    bare = SLOT.sub(lambda match: f"({match[1]})", bare) if SLOT.search(bare) else bare
    return _TOKEN.findall(bare)


def _spans(text: str, scope: Scope) -> Iterator[Span]:
    seen = set[str]()
    for rank, (path, value) in enumerate(paths_of_scope(scope)):
        head = path.partition(".")[0]
        if path in seen or head in _IGNORED or scope.get(path) is not value:
            continue
        seen.add(path)
        late = 1000 if head in {"before", "arguments"} else 0
        yield from _occurrences(text, path, value, rank + late)
    for name in dict.fromkeys(name for row in scope.rows for name in row):
        column = [value for value in (row.get(name) for row in scope.rows) if isinstance(value, str | int)]
        if len(column) == len(scope.rows) > 0:
            yield from _joined(text, f"rows.{name}", column, 2000, least=1 if len(text.split()) == 1 else 2)
    # Times belong to a field whose name comes before, else to the call.
    fields = [name for name in {**scope.record, **scope.defaults} if _may_be_time(name, scope)]
    for match in TIME.finditer(text):
        spelling = time_spelling(match[0])
        if spelling:
            near = text[max(0, match.start() - _NEAR) : match.start()].lower()
            places = {name: near.rfind((words(name) or [name])[0].lower()) for name in fields}
            path = max(places, key=lambda name: places[name], default="now")
            path = path if places.get(path, -1) >= 0 else "now"
            yield Span(match.start(), match.end(), f"{{{path}:{spelling}}}", 5000)
    yield from _found(text, day_of(scope), TODAY, 6000)


def _occurrences(text: str, path: str, value: Json, rank: int) -> Iterator[Span]:
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        return
    if isinstance(value, list):
        plain = [item for item in cast("list[Json]", value) if isinstance(item, str | int)]
        if len(plain) == len(cast("list[Json]", value)):
            yield from _joined(text, path, plain, rank, least=1)
        return
    shown = str(value)
    if isinstance(value, int | float) or (shown.isdecimal() and len(shown) == 1):
        is_sure = isinstance(value, int | float) and (path in _NUMBERS or len(shown) > 2)
        is_doubtful = not is_sure and not _is_named(text, path, shown)
        spans = _found(text, shown, f"{{{path}}}", rank + _DOUBT * is_doubtful)
        yield from (replace(span, is_doubtful=is_doubtful) for span in spans)
        return
    if len(shown.strip()) < 2:
        return
    yield from _found(text, shown, f"{{{path}}}", rank)
    if len(shown) <= _LONGEST_SPELLED:
        seen = {shown}
        for spelling, spell in SPELLINGS.items():
            other = spell(shown)
            if other not in seen and len(other) > 1:
                seen.add(other)
                yield from _found(text, other, f"{{{path}:{spelling}}}", rank + 500)


def _is_named(text: str, path: str, shown: str) -> bool:
    """Whether a short number follows the name of its field, or a sign of a number."""
    name = path.rpartition(".")[2]
    spelt = r"[ _-]?".join(re.escape(word) for word in words(name)) or re.escape(name)
    last = re.escape((words(name) or [name])[-1])
    return re.search(rf"(?i)(?:{spelt}|\b{last}|#|\bid)\W{{0,4}}{re.escape(shown)}(?!\w)", text) is not None


def _found(text: str, value: str, slot: str, rank: int) -> Iterator[Span]:
    is_number = value.isdecimal()
    before = r"(?<![\w.-])" if is_number and len(value) < 3 else r"(?<!\w)" if value[:1].isalnum() else ""
    before = rf"(?:{before}|(?<=\bx))" if is_number else before  # 3 in x3
    after = r"(?!\w|[.,:]\d)" if is_number else r"(?!\w)" if value[-1:].isalnum() else ""
    for match in re.finditer(f"{before}{re.escape(value)}{after}", text):
        yield Span(match.start(), match.end(), slot, rank)


def _joined(text: str, path: str, values: Sequence[Json], rank: int, least: int) -> Iterator[Span]:
    """Yield where the values of a list are, one after another."""
    if len(values) < least or not values:
        return
    for joint in _JOINTS if len(values) > 1 else _JOINTS[:1]:
        joined = joint.join(map(str, values))
        if len(joined) > 1:
            spelled = "" if joint == _JOINTS[0] else ":join " + joint.replace("\n", "\\n")
            yield from _found(text, joined, f"{{{path}{spelled}}}", rank)


def _may_be_time(name: str, scope: Scope) -> bool:
    value = scope.get(name)
    return parse_time(value) is not None or (value in (None, NOWHERE) and _NOUN_OF_TIME.search(name) is not None)
