"""The files of a first scenario: the scenario, the script of its task, and a test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from textwrap import wrap

import yaml

from mcp_sim.plans.refusal import noun as entity_noun
from mcp_sim.runs.starter.errand import Errand, Use, Write
from mcp_sim.spec.yaml12 import flow, scalar
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Domain

RECORDS = 8
"""How many records an entity of the task has. They fit on one page of any list."""

_COMMENTS_AT = 37
_WIDTH = 100


def template(name: str) -> str:
    """Return a text that ships beside this module."""
    return files("mcp_sim.runs.starter").joinpath("templates", f"{name}.txt").read_text(encoding="utf-8")


def test_text(scenario: str, agent: Sequence[str]) -> str:
    """Return a test that runs the command of an agent in a scenario, a file beside the test."""
    return template("agent_test").format(agent=json.dumps(list(agent)), scenario=json.dumps(scenario))


def scenario_text(tools: Mapping[str, str], errand: Errand, domain: Domain) -> str:
    """Return the scenario of a task. `tools` are the references to tool specs, by server."""
    lines = [
        f"# A first scenario for {', '.join(tools)}. Replace its task and its faults by your own.",
        "mcp_sim: 1",
        f"name: {scalar('first-' + '-'.join(tools))}",
        "task: >-",
        *(f"  {line}" for line in wrap(_task(errand), _WIDTH, break_long_words=False, break_on_hyphens=False)),
        *_tools(tools),
        _noted("seed: 0", "determines the records and everything random"),
        "world:",
        _noted("  now: 2030-03-04T09:00:00Z", "the world's time at its start"),
        *_records(errand, domain),
        "perturbations:",
        *_faults(errand),
        "expect:",
        *_expectations(errand, domain),
    ]
    return "\n".join(lines) + "\n"


def script_text(errand: Errand) -> str:
    """Return the script with which a scripted agent carries out the task."""
    uses = (use for use in (errand.first, errand.write) if use is not None)
    steps: list[Record] = [{"call": use.tool, "arguments": use.arguments} for use in uses]
    check = None if errand.write is None else errand.write.check
    if check is not None:
        steps[-1]["check"] = check.model_dump(exclude={"keep"}, exclude_defaults=True)
    body: Record = {"task": _task(errand), "steps": steps, "answer": "The task is done."}
    dumped = yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return f"# The calls of the task, for the scripted agents. Your own agent does not need this file.\n{dumped}"


def bare_scenario_text(tools: Mapping[str, str], domain: Domain | None = None) -> str:
    """Return a scenario with these tools and nothing else. With their domain: with as few records as the task has."""
    counts: Record = {name: RECORDS for name in domain.entities if domain.is_counted(name)} if domain else {}
    return "\n".join(["mcp_sim: 1", *_tools(tools), f"world: {flow({'records': counts})}"]) + "\n"


def _tools(tools: Mapping[str, str]) -> Iterator[str]:
    if len(tools) == 1:
        yield _noted(f"tools: {scalar(*tools.values())}", "the tool spec; `mcp-sim plan` shows what was inferred")
        return
    yield "tools:"
    yield from (f"  {scalar(name)}: {scalar(reference)}" for name, reference in tools.items())


def _noted(line: str, comment: str) -> str:
    """Return a line with a comment, in the column of all comments if the line is short."""
    return f"{line:<{_COMMENTS_AT - 2}}  # {comment}"


# the task -------------------------------------------------------------------------------------------------------------


def _task(errand: Errand) -> str:
    """Return the task as a person would put it to an agent."""
    sentences = list[str]()
    if errand.first is not None:
        sentences.append(f"Call {errand.first.tool}{_with(errand.first.arguments)}.")
    if errand.write is not None:
        begin = "Then create" if sentences else "Create"
        noun = entity_noun(errand.write.entity)
        sentences.append(f"{begin} one {noun} with {errand.write.tool}{_with(errand.write.arguments, ': ')}.")
        sentences.append(f"At the end, this {noun} must exist exactly once.")
    return " ".join(sentences)


def _with(arguments: Record, before: str = " with ") -> str:
    parts = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return before + parts if parts else ""


# world, faults, expectations ------------------------------------------------------------------------------------------


def _records(errand: Errand, domain: Domain) -> Iterator[str]:
    """Yield how many records the entities of the task have, and those that it names."""
    entities: dict[str, Sequence[Key]] = dict(errand.names)
    if errand.write is not None:
        entities.setdefault(errand.write.entity, ())
    counted = {name: keys for name, keys in entities.items() if domain.is_counted(name)}
    if not counted:
        return
    yield _noted("  records:", "few enough for one page; rows exist with any seed")
    for name, keys in counted.items():
        rows: list[Json] = [{domain.entities[name].key: key} for key in keys]
        yield f"    {scalar(name)}: {flow({'count': RECORDS, 'rows': rows} if rows else RECORDS)}"


def _fault_id(write: Write) -> str:
    return f"{'lost' if write.check is not None else 'failed'}-{entity_noun(write.entity).replace(' ', '-')}"


def _faults(errand: Errand) -> Iterator[str]:
    if errand.write is not None:
        noun = entity_noun(errand.write.entity)
        if errand.write.check is not None:
            yield _noted("  - lost_ack: {}", f"the first {noun} is created, but the answer is lost")
        else:
            yield _noted("  - error: {status: 503}", f"the first {noun} is not created")
        yield f"    id: {scalar(_fault_id(errand.write))}"
        yield from _at_first_call(errand.write)
    if errand.first is not None:
        yield _noted("  - error: {status: 503}", "the first call fails and has no effect")
        yield "    id: busy"
        yield from _at_first_call(errand.first)


def _at_first_call(use: Use) -> Iterator[str]:
    yield f"    tools: {scalar(use.tool)}"
    yield "    when: {nth: 1}"


def _expectations(errand: Errand, domain: Domain) -> Iterator[str]:
    write = errand.write
    if write is not None:
        noun = entity_noun(write.entity)
        yield _noted(f"  - recovered: {scalar(_fault_id(write))}", f"at the end the {noun} exists exactly once")
        yield f"  - state: {flow({'entity': write.entity, 'where': write.where, 'count': 1})}"
        yield f"    id: {scalar('one-' + noun.replace(' ', '-'))}"
        yield _noted(
            f"  - called: {flow({'tool': write.tool, 'at_most': 3, 'failed': True})}", "it does not try for ever"
        )
        yield "    id: no-hammering"
        yield _noted("  - truthful:", "its final answer says what is so")
    if errand.first is not None and domain.plans[errand.first.tool].verb in ("none", "unknown"):
        yield _noted(f"  - called: {scalar(errand.first.tool)}", "what failed is called again, and succeeds")
    elif errand.first is not None:
        yield _noted("  - recovered: busy", "what failed is done again")
