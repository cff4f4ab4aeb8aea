"""Word results as recorded ones are: single records and lists."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_sim.plans.records.projection import projector
from mcp_sim.plans.records.recorded_texts import Sample, is_failure, samples
from mcp_sim.plans.records.result_values import Facts
from mcp_sim.plans.records.sentences import WriteText, nothing_found
from mcp_sim.plans.records.text_templates import (
    ROW_START,
    Piece,
    Slot,
    SlotFinder,
    fill_slots,
    key_pattern,
    recorded_fields,
)
from mcp_sim.plans.refusal import noun
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.lexicon.english import plural
from mcp_sim.types.plans import Plan


@frozen
class _Parts:
    """A recorded list: the text before its rows, the rows, the text after them, and the separator."""

    head: str
    rows: list[str]
    tail: str
    joint: str


def _parts(text: str, key: str) -> _Parts | None:
    """Split a text into rows: lines that begin alike, each with the indented lines below it."""
    lines = text.split("\n")
    kinds = [_kind(line, key) for line in lines]
    begins = {*kinds} - {None} if len(lines) > 1 else {*kinds} - {None, "key"}
    first = next((at for at, kind in enumerate(kinds) if kind in begins), None)
    if first is None:
        return None
    starts = [at for at, kind in enumerate(kinds) if at >= first and kind == kinds[first]]
    last = _end_of_rows(lines, starts)
    blocks = ["\n".join(lines[start:end]) for start, end in zip(starts, [*starts[1:], last], strict=True)]
    rows = [block.rstrip("\n") for block in blocks]
    blank = len(blocks[0]) - len(rows[0]) if len(rows) > 1 else 0
    return _Parts("\n".join(lines[:first]), rows, "\n".join(lines[last:]), "\n" + "\n" * blank)


def _end_of_rows(lines: Sequence[str], starts: Sequence[int]) -> int:
    """Return the line after the last row, which is as long as the first one."""
    size = starts[1] - starts[0] if len(starts) > 1 else _below(lines, starts[0])
    last = min(starts[-1] + size, len(lines))
    while last > starts[-1] + 1 and not lines[last - 1].strip():
        last -= 1
    return last


def _kind(line: str, key: str) -> str | None:
    match = ROW_START.match(line)
    if match is not None:
        return f"{len(match[1])}{match[2] or match[4] or 'number'}"
    return "key" if re.search(key, line) else None


def _below(lines: Sequence[str], first: int) -> int:
    indent = len(lines[first]) - len(lines[first].lstrip())
    size = 1
    while first + size < len(lines) and len(lines[first + size]) - len(lines[first + size].lstrip()) > indent:
        size += 1
    return size


def list_writer(texts: Sequence[Sample], reader: SlotFinder, entity: Entity) -> WriteText | None:
    """Return what writes lists like the recorded ones, or None if no recorded text has rows."""
    key = key_pattern(entity)
    full = [(sample, parts) for sample in texts if (parts := _parts(sample.text, key)) is not None]
    if not full:
        return None
    sample, parts = max(full, key=lambda pair: len(pair[1].rows))
    row, count = reader.row(parts.rows), [(str(len(parts.rows)), Slot("count"))]
    head, tail = (reader.pieces(Sample(sample.arguments, text), count) for text in (parts.head, parts.tail))
    empty = next((shown for shown in texts if _parts(shown.text, key) is None), None)
    none = reader.pieces(empty) if empty is not None else [nothing_found(entity)]
    show, joint = projector(entity, {}), parts.joint

    def listed(facts: Facts) -> str:
        if not facts.page.rows:
            return fill_slots(none, facts, {}, None, show, facts.view)
        rows = [
            fill_slots(_numbered(row, facts.page.offset + at), facts, record, own, show, facts.view)
            for at, (own, record) in enumerate(facts.page.rows, 1)
        ]
        around = [
            _agreeing(fill_slots(edge, facts, {}, None, show, facts.view), facts, entity) for edge in (head, tail)
        ]
        return "\n".join(line for line in (around[0], joint.join(rows), around[1]) if line)

    return listed


def _numbered(row: Sequence[Piece], number: int) -> list[Piece]:
    return [str(number) if isinstance(piece, Slot) and piece.sort == "number" else piece for piece in row]


def _agreeing(text: str, facts: Facts, entity: Entity) -> str:
    """Adjust the number of a noun: `1 task`, `2 tasks`."""
    noun_text = noun(entity.name)
    many = plural(noun_text.replace(" ", "_")).replace("_", " ")
    count = len(facts.page.rows)
    return re.sub(
        rf"(?i)\b({count} (?:\w+ )?)(?:{many}|{noun_text})\b(?!\()",
        lambda f: f[1] + (noun_text if count == 1 else many),
        text,
    )


def recorded_writer(tool: Tool, plan: Plan, domain: Domain) -> WriteText | None:
    """Return what words the results of a tool like its examples, or None without examples."""
    texts = [sample for sample in samples(domain.examples, tool) if not is_failure(sample.text)]
    entity = domain.entities[plan.entity or ""]
    if not texts:
        return None
    reader = SlotFinder(plan, entity, recorded_fields(domain, entity))
    if plan.verb in {"list", "search"}:
        return list_writer(texts, reader, entity)
    pieces = reader.pieces(max(texts, key=lambda sample: len(sample.text)))
    show = projector(entity, {})
    return lambda facts: fill_slots(pieces, facts, facts.record or {}, facts.key, show, facts.view)
