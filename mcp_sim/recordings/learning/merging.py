"""Merge the skeletons of several texts into one text with slots.

Texts are aligned line by line, and lines token by token. Where they differ, a part is found that fits most of them: an
optional one, a slot with a text for a missing value, a table of texts by value, else the most common one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TypeAlias

from mcp_sim.plans.rendering.templates import Scope, fill_text
from mcp_sim.recordings.learning.skeletons import Skeleton, Tokens
from mcp_sim.recordings.learning.slots import Unexplained, paths_of_scope
from mcp_sim.recordings.observed import TIME
from mcp_sim.types import NOWHERE, Json
from mcp_sim.types.result_templates import SLOT

_MOST_TEXTS = 40  # each text is aligned with all lines of the others: more would take long, and show few new forms
_ALIKE = 0.5
"""How alike lines must be to be the same line of two texts. Lower, and unrelated lines become one form with a slot;
higher, and a line whose values are long is taken for two forms."""
_LONGEST_ENTRY = 40  # a longer value is a title or a sentence of the data

Variant: TypeAlias = "tuple[str, Scope]"
"""What one text has in some place, with slots, and what it could show."""


@dataclass(slots=True)
class _Column:
    """A line that several texts have."""

    lines: dict[int, Tokens] = field(default_factory=dict[int, Tokens])
    """By the number of the text."""

    def likeness(self, line: Tokens) -> float:
        return max(
            _likeness(line, other) for other in {"".join(tokens): tokens for tokens in self.lines.values()}.values()
        )


def merged(skeletons: Sequence[Skeleton]) -> str:
    """Return one text with slots for several."""
    some = [*skeletons][:_MOST_TEXTS]
    scopes = [skeleton.scope for skeleton in some]
    columns = list[_Column]()
    for number in sorted(range(len(some)), key=lambda at: -len(some[at].tokens)):
        tokens = some[number].tokens
        ends = [-1, *(at for at, sign in enumerate(tokens) if sign == "\n"), len(tokens)]
        columns = _with_text(columns, number, [tokens[before + 1 : after] for before, after in pairwise(ends)])
    columns = [*_joined(columns, len(some))]
    text, joint = "", ""
    for column in columns:
        line, is_optional = _merged_line(column, scopes)
        if line is None:
            continue
        if not is_optional:
            text += joint + line
            joint = "\n"
        else:
            text += f"{{?{joint}{line}?}}" if joint else f"{{?{line}\n?}}"
    return text


def _likeness(first: Tokens, other: Tokens) -> float:
    """Return the share of tokens, but for spaces, that two lines have in common."""
    mine, theirs = (Counter(token for token in line if not token.isspace()) for line in (first, other))
    total = mine.total() + theirs.total()
    return 2 * (mine & theirs).total() / total if total else 1.0


def _with_text(columns: list[_Column], number: int, lines: Sequence[Tokens]) -> list[_Column]:
    """Align a text with columns so that the lines in common are as alike as possible."""
    gains = [[column.likeness(line) - _ALIKE for line in lines] for column in columns]
    best = [[0.0] * (len(lines) + 1) for _ in range(len(columns) + 1)]
    for i in range(len(columns) - 1, -1, -1):
        for j in range(len(lines) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + gains[i][j])
    merged_columns, i, j = list[_Column](), 0, 0
    while i < len(columns) or j < len(lines):
        if i < len(columns) and j < len(lines) and best[i][j] == best[i + 1][j + 1] + gains[i][j] and gains[i][j] >= 0:
            columns[i].lines[number] = lines[j]
            merged_columns.append(columns[i])
            i, j = i + 1, j + 1
        elif j == len(lines) or (i < len(columns) and best[i][j] == best[i + 1][j]):
            merged_columns.append(columns[i])
            i += 1
        else:
            merged_columns.append(_Column({number: lines[j]}))
            j += 1
    return merged_columns


def _joined(columns: Sequence[_Column], texts: int) -> Iterator[_Column]:
    """Join two neighbours if each text has exactly one of them: they are forms of the same line."""
    left = [*columns]
    while left:
        column = left.pop(0)
        if left and column.lines.keys().isdisjoint(left[0].lines) and len(column.lines) + len(left[0].lines) == texts:
            column = _Column({**column.lines, **left.pop(0).lines})
        yield column


def _merged_line(column: _Column, scopes: Sequence[Scope]) -> tuple[str | None, bool]:
    """Return a line, None if it is left out, and whether it is optional."""
    line = _merged_tokens([(tokens, scopes[number]) for number, tokens in sorted(column.lines.items())])
    if len(column.lines) == len(scopes):
        return line, False
    optional = sum((number in column.lines) == _has_values(line, scope) for number, scope in enumerate(scopes))
    always = len(column.lines)
    if SLOT.search(line) and "??" not in line and "{?" not in line and optional >= max(always, len(scopes) - always):
        return line, True
    return (line, False) if always * 2 >= len(scopes) else (None, False)


def _has_values(text: str, scope: Scope) -> bool:
    return bool(fill_text(f"{{?{text}?}}", scope))


# within a line --------------------------------------------------------------------------------------------------------


def _merged_tokens(variants: Sequence[tuple[Tokens, Scope]]) -> str:
    """Return one line for several of the same kind."""
    counts = Counter("".join(tokens) for tokens, _ in variants)
    base = max((tokens for tokens, _ in variants), key=lambda tokens: (counts["".join(tokens)], _slots(tokens)))
    if len(counts) == 1:
        return "".join(base)
    places = [_places(base, tokens) for tokens, _ in variants]
    stable = [at for at in range(len(base)) if all(at in place for place in places)]
    text = ""
    for before, after in pairwise([-1, *stable, len(base)]):
        parts = [("".join(_between(tokens, place, before, after)), scope)
                 for (tokens, scope), place in zip(variants, places, strict=True)]  # fmt: skip
        text += fitting_part(parts) + (base[after] if after < len(base) else "")
    return text


def _slots(tokens: Tokens) -> int:
    return sum(SLOT.fullmatch(token) is not None for token in tokens)


def _places(base: Tokens, tokens: Tokens) -> Mapping[int, int]:
    """Return where the tokens of a line are in another one."""
    blocks = SequenceMatcher(None, base, tokens, autojunk=False).get_matching_blocks()
    worded = [block for block in blocks if not all(map(str.isspace, base[block.a : block.a + block.size]))]
    return {block.a + step: block.b + step for block in worded for step in range(block.size)}


def _between(tokens: Tokens, places: Mapping[int, int], before: int, after: int) -> Tokens:
    """Return the tokens between two places of the base."""
    start = places[before] + 1 if before >= 0 else 0
    return tokens[start : places.get(after, len(tokens))]


def fitting_part(parts: Sequence[Variant]) -> str:
    """Return the part of a template that is right for most texts; the simplest of several.

    Raises `Unexplained` if each is wrong for more than half of them.
    """
    counts = Counter(text for text, _ in parts)
    if len(counts) == 1:
        return parts[0][0]
    wanted = [(_masked(fill_text(text, scope)), scope) for text, scope in parts]
    best, most = counts.most_common(1)[0]
    for candidate in dict.fromkeys(_candidates(counts, wanted)):
        right = sum(_masked(fill_text(candidate, scope)) == text for text, scope in wanted)
        if right > most or (right == most and SLOT.search(candidate) and not SLOT.search(best)):
            best, most = candidate, right
    if most * 2 < len(parts):
        raise Unexplained(best.strip())
    return best


def _masked(text: str) -> str:
    return TIME.sub("<time>", text)


def _candidates(counts: Counter[str], wanted: Sequence[tuple[str, Scope]]) -> Iterator[str]:
    """Yield parts that may be right for all texts, simple ones first."""
    ordered = [text for text, _ in counts.most_common()]
    worded, fixed = ([text for text in ordered if bool(SLOT.search(text)) == has] for has in (True, False))
    plain = [text for text in worded if "??" not in text and "{?" not in text]
    yield from ordered
    yield from (f"{{?{text}?}}" for text in plain)
    for slotted in plain:
        for other in fixed:
            if _can_be_entry(other):
                yield from _alternatives(slotted, other)
    # Tables of texts by a flag that decides which one is shown.
    if any(text and (not _can_be_entry(text) or len(text) > _LONGEST_ENTRY) for text, _ in wanted):
        return
    known = (path for _, scope in wanted for path, value in paths_of_scope(scope) if isinstance(value, bool))
    for path in dict.fromkeys(path for path in known if not path.startswith("before.")):
        table = dict[str, str]()
        pairs = [(_name_of(scope.get(path)), text) for text, scope in wanted]
        if all(name is not None and table.setdefault(name, text) == text for name, text in pairs) and len(table) > 1:
            entries = ";".join(f"{name}={text}" for name, text in sorted(table.items()))
            yield f"{{{path}:{entries}}}"


def _alternatives(text: str, other: str) -> Iterator[str]:
    """Yield what shows a part, or another text where its slot has no value."""
    if SLOT.fullmatch(text) and not other.endswith("?"):
        yield f"{text[:-1]}??{other}}}"
    for slot in SLOT.finditer(text):
        yield f"{{?{text}?}}{{{slot[1]}:={other}}}"


def _can_be_entry(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_ENTRY * 3 and not set(text) & set("{}\n;") and "??" not in text


def _name_of(value: Json) -> str | None:
    """Return the name of a flag in a table, '' for a missing one; None for another value."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is NOWHERE or value is None else None
