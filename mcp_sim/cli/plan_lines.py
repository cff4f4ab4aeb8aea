"""How are plans and entities told to people, one line each and what they say below?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from textwrap import wrap

from mcp_sim.cli.style import Palette
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.plans import Also, Envelope, Paging, Plan

_WIDTH = 100
_OPERATORS = {
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
    "contains": "contains",
    "in": "is one of",
    "not": "is not",
}


# tools ----------------------------------------------------------------------------------------------------------------


def plan_lines(plans: Sequence[Plan], palette: Palette) -> Iterator[str]:
    """What each tool does, how sure that is, and why."""
    rows = [("TOOL", "VERB", "ENTITY", "SURE"), *map(_heads, plans)]
    widths = [max(len(word) for word in column) for column in zip(*rows, strict=True)]
    yield palette.bold(_row(rows[0], widths))
    for plan in plans:
        row = _row(_heads(plan), widths)
        yield palette.yellow(f"{row}  a guess") if plan.guessed else row
        for label, text in _details(plan):
            yield from (palette.dim(line) for line in _labelled(label, text))


def _heads(plan: Plan) -> tuple[str, str, str, str]:
    return plan.tool, plan.verb, plan.entity or "-", f"{plan.confidence:.2f}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _details(plan: Plan) -> Iterator[tuple[str, str]]:
    texts = {
        "works as": " ".join(name for name in (plan.backend, plan.operation) if name not in {"", "records"}),
        "with": ", ".join(f"{name} = {argument}" for name, argument in plan.arguments.items()),
        "each": plan.each or "",
        "key": plan.key or "",
        "copies": plan.copies or "",
        "sets": ", ".join(
            [
                *_pairs(plan.sets),
                *(f"{name} = {json.dumps(fixed)}" for name, fixed in plan.fixed.items()),
                *(f"{name} = {place}" for name, place in plan.from_state.items()),
            ]
        ),
        "how": ", ".join(f"{how} {name}" for name, how in plan.how.items()),
        "requires": ", ".join([*_requirements(plan), *(f"{name} > 0" for name in plan.positive)]),
        "login": plan.login or "",
        "caller": plan.caller or "",
        "exists": "" if plan.if_exists == "refuse" else plan.if_exists,
        "inside": plan.holder or "",
        "next id": plan.counter or "",
        "also": ", ".join(map(_also, plan.also)),
        "swaps": f"{plan.swap.field}: {plan.swap.old} for {plan.swap.new}" if plan.swap else "",
        "choice": f"{plan.choice}: {', '.join(plan.choices)}" if plan.choice else "",
        "filters": ", ".join(_filters(plan)),
        "text": f"{plan.query} in {', '.join(plan.searched)}" if plan.query else "",
        "order": ", ".join(name for name in (plan.sort, plan.order) if name),
        "pages": _paging(plan.paging),
        "result": _envelope(plan.envelope),
        "shows": ", ".join(f"{place} = {field}" for place, field in plan.shows.items() if place != field),
        "only": ", ".join(plan.only),
        "picks": f"{plan.picked.argument} of {plan.picked.field}" if plan.picked else "",
        "of whom": ", ".join(f"{one.argument}: {one.link or f'{one.listed} of {one.entity}'}" for one in plan.owners),
        "with it": ", ".join(f"{one.entity} of each of {one.listed}" for one in plan.children),
        "among": ", ".join(f"{one.argument}: {one.field} of {one.entity} {one.by}" for one in plan.among),
        "within": plan.within or "",
        "because": "; ".join(plan.reasons),
    }
    yield from ((label, text) for label, text in texts.items() if text)


def _requirements(plan: Plan) -> Iterator[str]:
    for name, values in plan.requires.items():
        yield f"{name} is {' or '.join(json.dumps(value) for value in values)}"


def _also(one: Also) -> str:
    asked = f" (from {json.dumps(one.requires)})" if one.requires is not None else ""
    return f"{one.how} {one.entity}.{one.field}{asked}"


def _pairs(sets: Mapping[str, str]) -> Iterator[str]:
    for argument, field in sets.items():
        yield argument if argument.rsplit(".", 1)[-1] in {field, "*"} else f"{argument} -> {field}"


def _filters(plan: Plan) -> Iterator[str]:
    for argument, rule in plan.filters.items():
        if rule.only is not None:
            yield f"{argument}: {rule.field} is {rule.only!r}"
        elif rule.unless is not None:
            yield f"{argument}: else {rule.field} is not {rule.unless!r}"
        elif rule.op == "equals":
            yield argument if argument == rule.field else f"{argument}: {rule.field}"
        else:
            yield f"{argument}: {rule.field} {_OPERATORS[rule.op]}"


def _paging(paging: Paging) -> str:
    if not paging.is_asked and paging.most is not None:
        return f"at most {paging.most}"
    if not paging.is_asked:
        return ""
    names = ", ".join(name for name in (paging.limit, paging.offset, paging.page, paging.cursor) if name)
    return f"{names} ({paging.size} where none is asked for{f', at most {paging.most}' if paging.most else ''})"


def _envelope(envelope: Envelope) -> str:
    places = ((part.name, getattr(envelope, part.name)) for part in fields(envelope) if part.name != "echoes")
    told = [f"{name} at {place}" if place else f"the {name} itself" for name, place in places if place is not None]
    return ", ".join([*told, *(f"{path} as given" for path in envelope.echoes)])


def _labelled(label: str, text: str) -> list[str]:
    indent = " " * 13
    return wrap(text, _WIDTH, initial_indent=f"    {label:<9}", subsequent_indent=indent, break_long_words=False)


# entities -------------------------------------------------------------------------------------------------------------


def entity_lines(entities: Sequence[Entity], palette: Palette) -> Iterator[str]:
    """The entities, their keys and their fields; nothing where there are none."""
    if not entities:
        return
    rows = [(entity.name, entity.key, "" if entity.key_like is None else str(entity.key_like)) for entity in entities]
    heads = ("ENTITY", "KEY", "LIKE")
    widths = [max(len(word) for word in column) for column in zip(heads, *rows, strict=True)]
    yield ""
    yield palette.bold(_row(heads, widths))
    for entity, row in zip(entities, rows, strict=True):
        yield _row(row, widths)
        told = ", ".join(_field(field) for field in entity.fields.values() if field.name != entity.key)
        yield from (palette.dim(line) for line in _labelled("fields", told))


def _field(field: Field) -> str:
    if field.derived is not None:
        return f"{field.name} (derived from {field.derived})"
    return f"{field.name} -> {field.link}" if field.link is not None else field.name
