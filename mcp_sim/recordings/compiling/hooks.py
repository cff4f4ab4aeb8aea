"""Checks of what a program answers besides its tools: unknown tools, invalid arguments, resources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from mcp_sim.programs.backend import read_resource
from mcp_sim.recordings.compiling.probes import MOST_CRASHES, Probe, short
from mcp_sim.recordings.observed import observe
from mcp_sim.recordings.responders import answer_of
from mcp_sim.types import Record
from mcp_sim.types.errors import BadArguments, Crash
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.programs import Program, ProgramFunction
from mcp_sim.types.scenario import ServerSpec
from mcp_sim.types.surface import Resource, variables

_UNKNOWN = "zz-unknown-404"
_MOST_TOOLS = 8
"""How many tools are called with arguments that violate their inputSchema."""
_MOST_VALUES = 12
"""How many values are tried for a variable of a URI."""


def hook_name(kind: str) -> str:
    """Return what a hook is called in findings."""
    return f"@{kind}"


def resource_name(uri: str) -> str:
    """Return what the function of a resource is called in findings."""
    return f"@resource({uri})"


def hooks_of(program: Program, server: ServerSpec) -> dict[str, ProgramFunction]:
    """Return the functions of a program that answer something else than tools, by their names in findings."""
    hooks = {hook_name(kind): function for kind, function in program.hooks.items() if kind in _TRIED}
    return hooks | {
        resource_name(resource.uri): resource.function for resource in server.resources if resource.function is not None
    }


async def check_hooks(probe: Probe) -> None:
    """Let a program answer an unknown tool and invalid arguments, and show its resources."""
    scenario = probe.world.scenario
    for program in scenario.domain.programs:
        for kind in program.hooks.keys() & _TRIED.keys():
            for tool, arguments in _TRIED[kind](probe):
                await _check_refusal(probe, hook_name(kind), tool, arguments)
        for resource in scenario.servers[program.server].resources:
            if resource.function is not None:
                await _check_resource(probe, program, resource, resource.function)


async def _check_refusal(probe: Probe, hook: str, tool: str, arguments: Record) -> None:
    """Check that a call which the server must refuse fails, without a crash."""
    if sum(finding.tool == hook for finding in probe.findings) >= MOST_CRASHES:
        return
    call = f"{tool}({short(arguments)})"
    probe.checked(hook, "answers")
    try:
        seen = observe(answer_of(await probe.world.fork().call(tool, arguments)))
    except (Crash, BadArguments) as error:
        probe.note(hook, "crash", f"{call} crashed: {str(error).removeprefix(f'{tool}: ')}; expected a failure")
        return
    if not seen.failed:
        probe.note(hook, "advice", f"{call} answered {short(seen.value)}, which does not read like a failure")


def _unknown_tools(_probe: Probe) -> Iterator[tuple[str, Record]]:
    yield "no_such_tool", {"id": _UNKNOWN}


def _invalid_calls(probe: Probe) -> Iterator[tuple[str, Record]]:
    """Yield calls without arguments, and with one of another type, of a few tools that do not allow them."""
    invalid_calls = 0
    for tool, plan in probe.domain.plans.items():
        program = probe.domain.program_of(tool)
        function = None if program is None else program.functions.get(tool)
        if function is not None and function.options.get("validate") is False:
            continue
        valid = Validator(expanded(probe.domain.tools[tool].input_schema))
        usual = probe.succeeded.get(plan.tool, {})
        wrong: list[Record] = [{}, *({**usual, name: {"unexpected": [None]}} for name in islice(usual, 1))]
        invalid = [row for row in wrong if valid.problems(row)]
        yield from ((tool, row) for row in invalid)
        invalid_calls += bool(invalid)
        if invalid_calls >= _MOST_TOOLS:
            return


_TRIED = {"unknown_tool": _unknown_tools, "invalid_arguments": _invalid_calls}


async def _check_resource(probe: Probe, program: Program, resource: Resource, function: ProgramFunction) -> None:
    """Check that a resource is shown, without a crash, and that one which does not exist is not."""
    name, is_shown = resource_name(resource.uri), False
    probe.checked(name, "answers")
    for values in _variables(probe, resource.uri):
        uri = _filled(resource.uri, values)
        try:
            shown = await read_resource(probe.world.fork(), program.server, function, uri, values)
        except Crash as error:
            probe.note(name, "crash", f"reading {uri} crashed: {error.error}; expected contents, or None")
            return
        is_known = _UNKNOWN not in values.values()
        if isinstance(shown, dict) and not is_known:
            probe.note(name, "advice", f"reading {uri} shows something, though nothing has that name; expected None")
        is_shown = is_shown or (isinstance(shown, dict) and is_known)
    if not is_shown:
        probe.note(name, "advice", "is never there: no URI of the trial showed anything")


def _variables(probe: Probe, uri: str) -> Iterator[Mapping[str, str]]:
    """Yield values for the variables of a URI: keys of records, ids in the given state, and one that is unknown."""
    names = [*variables(uri)]
    if not names:
        yield {}
        return
    keys = (key for entity in probe.domain.entities for key, _ in islice(probe.world.view.rows(entity), 3))
    known = dict.fromkeys(str(value) for value in (*keys, *probe.known.ids))
    for value in (*islice(known, _MOST_VALUES), _UNKNOWN):
        yield dict.fromkeys(names, value)


def _filled(uri: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        uri = re.sub(r"\{[^{}]*\b" + re.escape(name) + r"\b[^{}]*\}", lambda _, value=value: value, uri)
    return uri
