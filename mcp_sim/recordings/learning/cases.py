"""Induce the result templates of a tool: one for each case that its recorded answers show."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias, cast

from mcp_sim.plans.rendering.templates import Scope, filled_parts
from mcp_sim.recordings.align import is_id
from mcp_sim.recordings.learning.json_forms import induce
from mcp_sim.recordings.learning.samples import Sample
from mcp_sim.recordings.learning.skeletons import merged, skeleton
from mcp_sim.recordings.learning.slots import Unexplained
from mcp_sim.recordings.observed import TIME, is_wrapped
from mcp_sim.spec.parts.content import ResultPart, template_of
from mcp_sim.types import NOWHERE, Json, Record, canonical, frozen, is_key, leaves
from mcp_sim.types.result_templates import SLOT

Condition: TypeAlias = "tuple[str, Json]"

_LONGEST_CHOICE = 24  # longer values are data rather than one of a few choices
_CHOICE = re.compile(r"[\w.:/-]+")
_MOST_LINES = 60
"""Longer texts are documents of the recorded world. The time to align them grows with the square of their lines."""
_WORD = re.compile(r"[A-Za-z]{2,}")
_FEWEST_WORDS = 2  # fixed texts with fewer words are data
_WORDS = 3  # how many fixed words at the beginning of a text identify its case


def induce_results(samples: Sequence[Sample]) -> list[Record]:
    """Return the result templates for the successful calls of a tool, as a spec declares them."""
    groups: dict[Hashable, list[Sample]] = {}
    if any(isinstance(sample.value, str) and sample.value.count("\n") > _MOST_LINES for sample in samples):
        raise Unexplained(f"a text of more than {_MOST_LINES} lines")
    for sample in samples:
        groups.setdefault(_signature(sample), []).append(sample)
    if not groups:
        return []
    ordered = sorted(groups.values(), key=len)
    rest = ordered.pop()
    cases: list[Record] = []
    while ordered:
        case = _next_case(ordered, rest)
        if case is None:
            break
        group, condition = case
        if group is rest:
            rest = ordered.pop()
        else:
            ordered.remove(group)
        cases.append({"when": dict([condition]), **_template(group)})
    # What no condition separates is answered as the most common group is.
    mixed = [sample for group in ordered if type(group[0].value) is type(rest[0].value) for sample in group]
    return [*cases, _template([*rest, *mixed])]


def _next_case(groups: Sequence[list[Sample]], rest: list[Sample]) -> tuple[list[Sample], Condition] | None:
    """Return a group that a condition separates from all others."""
    for group in (*groups, rest):
        others = [sample for other in (*groups, rest) if other is not group for sample in other]
        for condition in _conditions(group[0]):
            if all(_holds(condition, sample) for sample in group) and not any(
                _holds(condition, other) for other in others
            ):
                return group, condition
    return None


def _conditions(sample: Sample) -> Iterator[Condition]:
    if not sample.rows:
        yield "rows", 0
    for name, value in sample.arguments.items():
        if isinstance(value, bool) or _may_choose(name, value):
            yield f"arguments.{name}", value
    yield from ((f"arguments.{name}", None) for name in sample.known_arguments if name not in sample.arguments)


def _may_choose(name: str, value: Json) -> bool:
    """Whether an argument may choose the form of the answer: a word, and no id."""
    is_word = isinstance(value, str) and len(value) <= _LONGEST_CHOICE and _CHOICE.fullmatch(value) is not None
    return is_word and not is_id(name, value)


def _holds(condition: Condition, sample: Sample) -> bool:
    path, wanted = condition
    got = sample.scope.get(path)
    if path == "rows":
        return len(cast("list[Json]", got)) == wanted
    if wanted is None:
        return got is NOWHERE or got is None
    return got == wanted and isinstance(got, bool) == isinstance(wanted, bool)


def _signature(sample: Sample) -> Hashable:
    """Return what answers of one case have in common."""
    value = sample.value
    if isinstance(value, dict):
        return "object", frozenset(cast("Record", value))
    if isinstance(value, list):
        return "list", sample.is_blocks
    text = str(value)
    listed = _split(text, sample.scope)
    tokens = skeleton(text if listed is None else listed.head, sample.scope)
    fixed = [token for token in tokens if token.isalpha()]
    return "text", bool(sample.rows), *fixed[:_WORDS]


def _template(samples: Sequence[Sample]) -> Record:
    shown = [(sample.value, sample.scope) for sample in samples]
    if all(isinstance(value, str) for value, _ in shown):
        return {"text": induce_text([(cast("str", value), scope) for value, scope in shown])}
    body = [pair for pair in shown if isinstance(pair[0], dict | list)] or shown
    indents = [indent for sample in samples if (indent := _indent(sample)) is not None]
    layout = {"indent": max(set(indents), key=indents.count)} if indents else {}
    blocks = {"block_per_row": True} if any(sample.is_blocks for sample in samples) else {}
    whole = induce(body)
    if len(samples) == 1 and _has_data(whole):
        raise Unexplained("numbers or lists that one call shows")
    return {
        "json": {"result": whole} if all(is_wrapped(sample.answer) for sample in samples) else whole,
        **layout,
        **blocks,
    }


def _has_data(template: Json) -> bool:
    """Whether a template has numbers or list items of its own, as what a server computes. Other calls would differ."""
    return any(
        (isinstance(leaf, int | float) and not isinstance(leaf, bool))
        or (isinstance(leaf, str) and any(isinstance(key, int) for key in path) and not SLOT.search(leaf))
        for path, leaf in leaves(template)
    )


def unexplained_text(results: Sequence[Record], samples: Sequence[Sample]) -> Sample | None:
    """Return a sample of a text template that is right for no text, but for times; None if each is for some.

    A right template may be wrong for others: the simulation need not have the records that the real server had.
    """
    parts = [ResultPart.model_validate(result) for result in results]
    cases = defaultdict[int, list[Sample]](list)
    for sample in samples:
        numbers = (at for at, case in enumerate(parts) if all(_holds(pair, sample) for pair in case.when.items()))
        cases[next(numbers, len(parts))].append(sample)
    for number, case in enumerate(parts):
        shown = [(filled_parts(template_of(case), sample.scope), sample) for sample in cases[number]]
        right = any(TIME.sub("", text) == TIME.sub("", str(sample.value)) for text, sample in shown)
        if case.text is not None and shown and not right:
            return shown[0][1]
    return None


def is_memorised(result: Record, *, served: bool) -> bool:
    """Whether a template only repeats the data of answers: lists, words, numbers without slots.

    `served`: the simulation has answered these calls, too; otherwise nothing but flags may be fixed.
    """
    if "json" in result:
        value: Json = result["json"]
        has_data = any(not isinstance(leaf, bool) and leaf is not None for _, leaf in leaves(value))
        return SLOT.search(canonical(value)) is None and has_data and (isinstance(value, list) or not served)
    text = canonical(result["text"])
    return SLOT.search(text) is None and len(_WORD.findall(text)) < _FEWEST_WORDS


def _indent(sample: Sample) -> int | None:
    """Return the indentation of the JSON in an answer; None if it is in one line."""
    content: Sequence[Mapping[str, Json]] = sample.answer.get("result", {}).get("content") or []
    text = str(content[0].get("text", "")) if content else ""
    match = re.match(r"[{\[]\n( +)\S", text)
    if match is None:
        return None
    try:
        json.loads(text)
    except ValueError:
        return None
    return min(len(match[1]), 8)


# texts ----------------------------------------------------------------------------------------------------------------


ShownText: TypeAlias = "tuple[str, Scope]"


@frozen
class _Listed:
    """A text that lists rows: what is before them, each row with its scope, and what is after them."""

    head: str
    rows: Sequence[ShownText]
    tail: str
    between: str


def induce_text(shown: Sequence[ShownText]) -> Json:
    """Return the `text` of a template for recorded texts."""
    split = [(_split(text, scope), scope) for text, scope in shown]
    listed = [(listing, scope) for listing, scope in split if listing is not None]
    several = [listing is not None for listing, scope in split if len(scope.rows) > 1]
    if listed and (sum(several) * 2 > len(several) or not several):
        row = merged([row for listing, _ in listed for row in listing.rows])
        head = _around([(listing.head, scope) for listing, scope in listed])
        tail = _around([(listing.tail, scope) for listing, scope in listed])
        joints = [listing.between for listing, _ in listed if len(listing.rows) > 1]
        between = max(set(joints), key=joints.count) if joints else "\n"
        line: Record = {"rows": row, **({} if between == "\n" else {"between": between})}
        return [*head, line, *tail]
    return merged(shown)


def _around(shown: Sequence[ShownText]) -> list[str]:
    """Return the text before or after rows, as a list without or with it."""
    texts = [(text, scope) for text, scope in shown if text]
    if len(texts) * 2 <= len(shown):
        return []
    return [merged([(text, _bare(scope)) for text, scope in texts])]


def _bare(scope: Scope) -> Scope:
    return Scope(scope.arguments, scope.now, scope.start, scope.record, (), scope.facts)


def _split(text: str, scope: Scope) -> _Listed | None:
    """Split a text into the rows that a call found; None if it does not show them on lines of their own."""
    lines = text.split("\n")
    if not scope.rows:
        return None
    places = dict[int, Record]()
    for row in scope.rows:
        # The line that shows most values of the row.
        values = [str(value) for value in row.values() if is_key(value)]
        distinctive = [value for value in values if len(value) > 1]
        scores = {
            at: sum(len(value) for value in distinctive if value in line)
            for at, line in enumerate(lines)
            if at not in places
        }
        best = max(scores, key=lambda at: (scores[at], -at), default=None)
        at = best if best is not None and scores[best] >= 2 else None
        if at is not None:
            places[at] = row
    if len(places) * 2 < len(scope.rows) or (len(places) == 1 and len(lines) == 1 and len(scope.rows) > 1):
        return None
    starts = sorted(places)
    size = min((b - a for a, b in pairwise(starts)), default=0)
    end = min(len(lines), starts[-1] + size) if len(starts) > 1 else _end_of_only(lines, starts[-1])
    bounds = [*starts, end]
    blocks = ["\n".join(lines[a:b]) for a, b in pairwise(bounds)]
    joints = [re.search(r"\n*$", block) for block in blocks]
    between = "\n" + (joints[0][0] if joints[0] is not None and len(blocks) > 1 else "")
    numbered = enumerate(zip(blocks, starts, strict=True), 1)
    rows = [(block.rstrip("\n"), scope.of_row(at, places[line])) for at, (block, line) in numbered]
    return _Listed("\n".join(lines[: starts[0]]), rows, "\n".join(lines[end:]), between)


def _end_of_only(lines: Sequence[str], first: int) -> int:
    """Return the end of the only row: the lines below it that are indented deeper."""
    indent = len(lines[first]) - len(lines[first].lstrip())
    end = first + 1
    while end < len(lines) and lines[end].strip() and len(lines[end]) - len(lines[end].lstrip()) > indent:
        end += 1
    return end
