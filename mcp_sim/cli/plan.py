"""`mcp-sim plan`: show what each tool does to which records, with confidence and reasons, and how to correct it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from fnmatch import fnmatchcase
from itertools import chain, groupby, repeat
from pathlib import Path
from textwrap import wrap

from mcp_sim.cli.files import back_up, replace_file
from mcp_sim.cli.parsing import trust_option
from mcp_sim.cli.terminal import Palette, json_option, note, print_json
from mcp_sim.plans.records.marks import doubts_of
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.inferred_tools import alternatives, corrections
from mcp_sim.spec import yaml12
from mcp_sim.spec.sources import shipped
from mcp_sim.spec.write_overrides import SpecFile, left_out, spec_beside, spec_files, spec_text
from mcp_sim.types import Record
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import UsageError, did_you_mean
from mcp_sim.types.plans import EFFECT, Envelope, Paging, Plan
from mcp_sim.types.readable import table_lines

_GUESS = "a guess"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="a scenario, tool spec or tools/list result: a file, or a shipped name")
    add("--tool", metavar="GLOB", help="only the tools that match, in full, and their entities")
    trust_option(parser)
    json_option(parser, "plans and entities")
    add("--write", action="store_true", help="add plans and entities to the tool spec; a copy is kept as .bak")
    add("--strict", action="store_true", help="exit 1 if a plan is a guess, and write nothing")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if documents have errors, or with --strict if a plan is a guess, 2 if no tool matches."""
    if args.write and args.tool:
        raise UsageError("--write writes all tools; remove --tool")
    scenario = load(args.scenario, trust=args.trust)
    domain = scenario.domain
    plans = _chosen(domain, args.tool)
    names = {plan.entity for plan in plans} if args.tool is not None else {*domain.entities}
    entities = [entity for name, entity in domain.entities.items() if name in names]
    if args.json:
        shown = {plan.tool: {**_plan_as_json(plan), "guesses": doubts_of(plan, domain)} for plan in plans}
        print_json({"tools": shown, "entities": {entity.name: asdict(entity) for entity in entities}})
    else:
        print(_report(domain, plans, entities, in_full=args.tool is not None))
    if args.strict and any(plan in scenario.guesses for plan in plans):
        return 1
    if args.write:
        # Insert what was inferred into the spec of each server; a plain list gets a new spec next to it.
        files = spec_files(args.scenario, args.trust)
        for file in files:
            if file.path in shipped("tool_specs").values():
                raise UsageError(f"{file.path.stem} ships with mcp-sim and cannot be changed; use a copy of it")
        for file in files:
            path = spec_beside(file.path) if file.is_list else file.path
            if file.is_list and path.exists():
                raise UsageError(f"{path} already exists; run mcp-sim plan {path} --write")
            _write_spec(file, path, domain)
    return 0


def _report(domain: Domain, plans: Sequence[Plan], entities: Sequence[Entity], *, in_full: bool) -> str:
    """Return the plans and their entities as text. `in_full`: the plans are chosen ones, shown with all reasons."""
    palette = Palette.of(sys.stdout)
    shown = plan_lines(plans, domain, palette, in_full=in_full)
    return "\n".join([*shown, *entity_lines(entities, palette), *_correction_lines(domain, plans)])


def _chosen(domain: Domain, glob: str | None) -> list[Plan]:
    if glob is None:
        return [*domain.plans.values()]
    named = ((plan, (id_, domain.tools[id_].name)) for id_, plan in domain.plans.items())
    chosen = [plan for plan, names in named if any(fnmatchcase(name, glob) for name in names)]
    if not chosen:
        raise UsageError(f"no tool matches {glob!r}{did_you_mean(glob, domain.tools)}")
    return chosen


def _plan_as_json(plan: Plan) -> Record:
    choices = {value: _plan_as_json(choice) for value, choice in plan.choices.items()}
    judged = {"confidence": plan.confidence, "reasons": plan.reasons, "guessed": plan.guessed}
    return {**asdict(plan), "choices": choices, **judged}


# guesses --------------------------------------------------------------------------------------------------------------


def _correction_lines(domain: Domain, plans: Sequence[Plan]) -> Iterator[str]:
    guessed = {plan.tool for plan in plans if plan.guessed}
    if not guessed:
        return
    count = f"{len(guessed)} of {len(plans)} plans {'is a guess' if len(guessed) == 1 else 'are guesses'}"
    yield f"\n{count}. Confirm or correct them in the tool spec:\n\nsim:"
    other_ways = alternatives(domain)
    for tool, line in corrections(domain).items():
        if tool in guessed:
            yield f"  {line}{f'   # or {other_ways[tool]}' if tool in other_ways else ''}"


# --write --------------------------------------------------------------------------------------------------------------


def _write_spec(file: SpecFile, path: Path, domain: Domain) -> None:
    beginning = {"mcp_sim": 1, "name": path.stem, "tools": file.path.name}
    before = yaml12.dump(beginning) if file.is_list else file.path.read_bytes().decode("utf-8-sig")
    text = spec_text(before, domain, file.server)
    if text == before:
        note(f"{path} is already complete.")
        return
    copy = back_up(path)
    replace_file(path, text)
    instead = f"; use it instead of {file.path.name}" if file.is_list else ""
    note(f"Wrote {path}{f' (before: {copy})' if copy else ''}{instead}.")
    guesses = sum(f"  # {_GUESS}" in line for line in text.splitlines())
    if guesses:
        what = "is a guess" if guesses == 1 else "are guesses"
        note(f"{guesses} of its plans {what}, marked with `# {_GUESS}`.")
    if unknown := ", ".join(left_out(domain, file.server)):
        note(f"Could not infer what these tools do: {unknown}; written as `verb: none`.")


_WIDTH = 100
_INDENT = 29  # the column of the values of fields
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


def plan_lines(plans: Sequence[Plan], domain: Domain, palette: Palette, *, in_full: bool) -> Iterator[str]:
    """Yield what each tool does, for each field of its plan the value, its source and confidence, and why it guesses.

    `in_full`: with the reasons for each field, and the plans of choices.
    """
    entries = [(plan.tool, plan) for plan in plans]
    if in_full:
        entries = [pair for plan in plans for pair in ((plan.tool, plan), *_plans_of_choices(plan))]
    rows = [("TOOL", "VERB", "ENTITY", "SURE", "SOURCE"), *(_heads(name, plan) for name, plan in entries)]
    heading, *texts = table_lines(rows)
    yield palette.bold(heading)
    for text, (_, plan) in zip(texts, entries, strict=True):
        yield palette.yellow(f"{text}  a guess") if plan.guessed else text
        yield from _details(plan, palette) if in_full else _overview(plan, palette)
        doubts = "; ".join(doubts_of(plan, domain))
        yield from (palette.yellow(line) for line in _labelled("guessed", doubts) if doubts)


def _plans_of_choices(plan: Plan) -> Iterator[tuple[str, Plan]]:
    yield from ((f"{plan.tool} {plan.choice}={value}", choice) for value, choice in plan.choices.items())


def _heads(name: str, plan: Plan) -> tuple[str, str, str, str, str]:
    origins = (plan.basis[field].source for field in ("verb", "entity") if field in plan.basis)
    sources: list[str] = [*dict.fromkeys(origins)]
    return name, plan.verb, plan.entity or "-", f"{plan.confidence:.2f}", " + ".join(sources) or "-"


def _overview(plan: Plan, palette: Palette) -> Iterator[str]:
    for name, text in _shown_fields(plan):
        if name not in {"verb", "entity"}:
            yield from _field_lines(plan, name, text, palette)
    effect = [plan.basis[name].reasons for name in EFFECT if name in plan.basis]
    because = "; ".join(dict.fromkeys(chain.from_iterable(effect)))
    yield from (palette.dim(line) for line in _labelled("because", because) if because)


def _details(plan: Plan, palette: Palette) -> Iterator[str]:
    for basis, group in groupby(_shown_fields(plan), key=lambda pair: plan.basis.get(pair[0])):
        for name, text in group:
            yield from _field_lines(plan, name, text, palette)
        if basis is not None and basis.reasons:
            indent = " " * _INDENT
            yield from (palette.dim(f"{indent}{line}") for line in _wrapped(f"because {'; '.join(basis.reasons)}"))


def _field_lines(plan: Plan, name: str, text: str, palette: Palette) -> Iterator[str]:
    """Yield a field of a plan, with the source and the confidence of its value."""
    basis = plan.basis.get(name)
    judged = "-" if basis is None else f"{basis.source:<8} {basis.confidence:.2f}"
    paint = palette.yellow if plan.is_guessed(name) else palette.dim
    head = f"    {name:<10}{judged}" if len(name) < 10 else f"    {name} {judged}"
    for before, line in zip(chain([head], repeat("")), _wrapped(text)):  # noqa: B905 (endless)
        yield paint(f"{before:<{_INDENT - 1}} {line}")


def _wrapped(text: str) -> list[str]:
    return wrap(text, _WIDTH - _INDENT, break_long_words=False, break_on_hyphens=False)


def _shown_fields(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the fields that are set, or declared to be unset, with their values."""
    for name, value in _VALUES.items():
        text = value(plan) or ("none" if name in plan.basis else "")
        if text:
            yield name, text


def _pairs(sets: Mapping[str, str]) -> Iterator[str]:
    for argument, field in sets.items():
        yield argument if argument.rsplit(".", 1)[-1] in {field, "*"} else f"{argument} -> {field}"


def _filters(plan: Plan) -> Iterator[str]:
    for argument, rule in plan.filters.items():
        if rule.only is not None:
            yield f"{argument}: {rule.field} is {rule.only!r}"
        elif rule.unless is not None:
            yield f"{argument}: else {rule.field} is not {rule.unless!r}"
        elif rule.until:
            yield f"{argument}: {rule.field} to {rule.until}"
        elif rule.op == "equals":
            yield argument if argument == rule.field else f"{argument}: {rule.field}"
        else:
            yield f"{argument}: {rule.field} {_OPERATORS[rule.op]}"


def _paging(paging: Paging) -> str:
    names = ", ".join(name for name in (paging.limit, paging.offset, paging.page, paging.cursor) if name)
    if names:
        names += f" (default {paging.size}{f', max {paging.most}' if paging.most else ''})"
    elif paging.most is not None:
        names = f"at most {paging.most}"
    ordering = " ".join(name for name in (paging.sort, paging.order) if name)
    return ", ".join(text for text in (names, f"by {ordering}" if ordering else "") if text)


def _envelope(envelope: Envelope) -> str:
    places = ((field.name, getattr(envelope, field.name)) for field in fields(envelope))
    shown = [
        f"{name} at {place}" if place else f"the {name} itself" for name, place in places if isinstance(place, str)
    ]
    renamed = [f"{path} = {name}" for path, name in envelope.shows.items() if path != name]
    return ", ".join([*shown, *(f"{path} as given" for path in envelope.echoes), *renamed])


def _idempotency(plan: Plan) -> str:
    if plan.idempotency is None:
        return ""
    expires = plan.idempotency.expires
    return plan.idempotency.key if expires is None else f"{plan.idempotency.key}, for {expires:g} s"


_VALUES: Mapping[str, Callable[[Plan], str]] = {
    "verb": lambda plan: plan.verb,
    "entity": lambda plan: plan.entity or "",
    "key": lambda plan: plan.key or "",
    "backend": lambda plan: plan.backend if plan.backend != "records" else "",
    "copies": lambda plan: plan.copies or "",
    "holder": lambda plan: plan.holder or "",
    "each": lambda plan: plan.each or "",
    "sets": lambda plan: ", ".join(_pairs(plan.sets)),
    "fixed": lambda plan: ", ".join(f"{name} = {json.dumps(value)}" for name, value in plan.fixed.items()),
    "how": lambda plan: ", ".join(f"{how} {name}" for name, how in plan.how.items()),
    "if_exists": lambda plan: plan.if_exists if plan.if_exists != "refuse" else "",
    "choice": lambda plan: plan.choice or "",
    "choices": lambda plan: ", ".join(plan.choices),
    "filters": lambda plan: ", ".join(_filters(plan)),
    "query": lambda plan: plan.query or "",
    "paging": lambda plan: _paging(plan.paging),
    "envelope": lambda plan: _envelope(plan.envelope),
    "idempotency": _idempotency,
}
"""Field of a plan -> its value as text; empty if it is not set."""


def _labelled(label: str, text: str) -> Iterator[str]:
    lines = wrap(text, _WIDTH - 14, break_long_words=False, break_on_hyphens=False)
    yield from (f"    {label if not at else '':<10}{line}" for at, line in enumerate(lines))


# entities -------------------------------------------------------------------------------------------------------------


def entity_lines(entities: Sequence[Entity], palette: Palette) -> Iterator[str]:
    """Yield the entities with their keys and fields; nothing if they are missing."""
    if not entities:
        return
    rows = [(entity.name, entity.key, "" if entity.key_like is None else str(entity.key_like)) for entity in entities]
    heading, *texts = table_lines([("ENTITY", "KEY", "LIKE"), *rows])
    yield ""
    yield palette.bold(heading)
    for entity, text in zip(entities, texts, strict=True):
        yield text
        others = [field for field in entity.fields.values() if field.name != entity.key]
        names = ", ".join(f"{field.name} -> {field.link}" if field.link else field.name for field in others)
        yield from (palette.dim(line) for line in _labelled("fields", names))
