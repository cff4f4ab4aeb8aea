"""`mcp-sim plan`: what each tool does to which record, how sure that is, why, and how to correct it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from mcp_sim.cli.files import kept, replace_file
from mcp_sim.cli.plan_lines import entity_lines, plan_lines
from mcp_sim.cli.style import Palette
from mcp_sim.infer import alternatives, corrections
from mcp_sim.simulator.compile import load
from mcp_sim.spec import yaml12
from mcp_sim.spec.sources import shipped
from mcp_sim.spec.write_overrides import SpecFile, left_out, spec_beside, spec_files, spec_text
from mcp_sim.types import Record
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import UsageError, did_you_mean
from mcp_sim.types.plans import Plan

_GUESS = "a guess"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="a scenario, tool spec or tools/list result; a shipped name"
    )
    parser.add_argument("--tool", metavar="GLOB", help="only the tools that match, and their entities")
    parser.add_argument("--json", action="store_true", help="print plans and entities as one JSON object")
    parser.add_argument(
        "--write",
        action="store_true",
        help="put plans and entities into the tool spec: what it says stays, and the file as it was is kept as .bak",
    )
    parser.add_argument("--strict", action="store_true", help="exit 1 where a plan is a guess, and write nothing")


def run(args: argparse.Namespace) -> int:
    """Exit 0, guesses or not; 1 where the documents have errors, or with --strict a guess; 2 where no tool matches."""
    if args.write and args.tool:
        raise UsageError("--write is about all tools: leave --tool out")
    scenario = load(args.scenario)
    domain = scenario.domain
    plans = _chosen(domain, args.tool)
    names = {plan.entity for plan in plans if plan.entity} if args.tool else {*domain.entities}
    entities = [entity for name, entity in domain.entities.items() if name in names]
    if args.json:
        print(json.dumps(_as_json(plans, entities), indent=2, ensure_ascii=False))
    else:
        palette = Palette.of(sys.stdout)
        told = [*plan_lines(plans, palette), *entity_lines(entities, palette), *_correction_lines(domain, plans)]
        print("\n".join(told))
    if args.strict and any(plan in scenario.guesses for plan in plans):
        return 1
    if args.write:
        _write(args.scenario, domain)
    return 0


def _chosen(domain: Domain, glob: str | None) -> list[Plan]:
    if glob is None:
        return [*domain.plans.values()]
    chosen = [plan for id_, plan in domain.plans.items() if _matches(domain, id_, glob)]
    if not chosen:
        raise UsageError(f"no tool matches {glob!r}{did_you_mean(glob, domain.tools)}")
    return chosen


def _matches(domain: Domain, id_: str, glob: str) -> bool:
    return fnmatchcase(id_, glob) or fnmatchcase(domain.tools[id_].name, glob)


def _as_json(plans: Sequence[Plan], entities: Sequence[Entity]) -> Record:
    return {
        "tools": {plan.tool: {**asdict(plan), "guessed": plan.guessed} for plan in plans},
        "entities": {entity.name: asdict(entity) for entity in entities},
    }


# guesses --------------------------------------------------------------------------------------------------------------


def _correction_lines(domain: Domain, plans: Sequence[Plan]) -> Iterator[str]:
    guessed = {domain.tools[plan.tool].name for plan in plans if plan.guessed}
    if not guessed:
        return
    count = f"{len(guessed)} of {len(plans)} plans {'is a guess' if len(guessed) == 1 else 'are guesses'}"
    yield f"\n{count}. Said in the tool spec they are sure; what is wrong here is put right there:\n\nsim:"
    other_ways = alternatives(domain)
    for tool, part in corrections(domain).items():
        if tool in guessed:
            instead = other_ways.get(tool)
            yield f"  {_scalar(tool)}: {_flow(part)}{f'   # or {_flow(instead)}' if instead else ''}"


def _flow(part: Record) -> str:
    return yaml.safe_dump(part, default_flow_style=True, sort_keys=False, width=10**6).strip()


def _scalar(text: str) -> str:
    """A key as YAML writes it: in quotes where it must be."""
    return yaml.safe_dump({text: 0}, allow_unicode=True).rsplit(":", 1)[0]


# --write --------------------------------------------------------------------------------------------------------------


def _write(reference: str, domain: Domain) -> None:
    """Put what was inferred into the spec of each server; a plain list gets one beside it."""
    files = spec_files(reference)
    for file in files:
        if file.path in shipped("tool_specs").values():
            raise UsageError(f"{file.path.stem} ships with mcp-sim and stays as it is: write into a copy of it")
    for file in files:
        path = spec_beside(file.path) if file.is_list else file.path
        if file.is_list and path.exists():
            raise UsageError(f"{path} stands beside {file.path.name} already: mcp-sim plan {path} --write")
        _write_spec(file, path, domain)


def _write_spec(file: SpecFile, path: Path, domain: Domain) -> None:
    beginning = {"mcp_sim": 1, "name": path.stem, "tools": file.path.name}
    before = yaml12.dump(beginning) if file.is_list else file.path.read_bytes().decode("utf-8-sig")
    text = spec_text(before, domain, file.server)
    if text == before:
        print(f"{path} says it all already.", file=sys.stderr)
        return
    copy = kept(path)
    replace_file(path, text)
    instead = f"; name it where {file.path.name} is named" if file.is_list else ""
    print(f"Wrote {path}{f' (before: {copy})' if copy else ''}{instead}.", file=sys.stderr)
    guesses = sum(f"  # {_GUESS}" in line for line in text.splitlines())
    if guesses:
        told = "is a guess" if guesses == 1 else "are guesses"
        print(f"{guesses} of its plans {told}: look below `# {_GUESS}`.", file=sys.stderr)
    if unsaid := ", ".join(left_out(domain, file.server)):
        print(f"Too little is known of {unsaid}: said to touch no records.", file=sys.stderr)
