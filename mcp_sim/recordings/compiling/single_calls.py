"""Checks of single calls: what does not exist is not found, and tools that create by their names write something.

Also of what a program answers besides its tools: unknown tools, invalid arguments, resources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.programs.backend import read_resource
from mcp_sim.recordings.compiling.probes import MOST_CRASHES, Kind, Probe, short
from mcp_sim.recordings.observed import observe
from mcp_sim.recordings.responders import answer_of
from mcp_sim.types import Json, Key, Record, View, leaves
from mcp_sim.types.domain import Entity
from mcp_sim.types.errors import BadArguments, Crash
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, main_type, properties
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import Program, ProgramFunction
from mcp_sim.types.scenario import ServerSpec
from mcp_sim.types.surface import Resource, variables

_UNKNOWN_NUMBER, _UNKNOWN_TEXT = 987_654, "zz-unknown-404"
_CONSTRAINTS = frozenset({"pattern", "format", "minLength", "maxLength"})
_NOTHING = re.compile(
    r"\b(no|not|none|nothing|never|without|0|zero|already|empty|missing|unknown|invalid)\b", re.IGNORECASE
)


async def check_unknown(probe: Probe, plan: Plan) -> None:
    """Ask for a record that does not exist: the call must fail, or say that there was nothing."""
    entity, verb = probe.domain.entities.get(plan.entity or ""), probe.intent(plan)
    if entity is None or entity.open or plan.key is None or verb not in {"get", "update", "delete"}:
        return
    whole = expanded(probe.domain.tools[plan.tool].input_schema)
    schema = properties(whole).get(plan.key)
    if schema is None or main_type(schema) not in {"string", "integer", "number", ""} or "enum" in schema:
        return
    key = _unknown_key(plan, entity, schema)
    arguments = {**usual_arguments(probe, plan), plan.key: key}
    if Validator(whole).problems(arguments):
        return
    world = probe.world.fork()
    before = world.view
    seen = await probe.call(plan.tool, arguments, world)
    probe.checked(plan.tool, "unknown ids")
    if seen is None or seen.failed or says_nothing(seen.value, arguments if verb == "get" else None):
        return
    made_record = world.view.get(entity.name, key) is not None and entity.natural
    is_certain = is_about(probe, plan, entity) and not made_record and not (verb == "delete" and entity.natural)
    message = f"{plan.tool}({short(arguments)}) answered {short(seen.value)}, though there is no {entity.name} {key!r}"
    if is_changed(before, world.view):
        message += ", and wrote something"
    wrong: Kind = "lifecycle" if is_certain else "advice"
    probe.note(plan.tool, wrong, f"{message}; expected a failure, or an answer that says that nothing was found")


def usual_arguments(probe: Probe, plan: Plan) -> Record:
    """Return arguments with which a tool has succeeded, else the likeliest ones."""
    known = probe.succeeded.get(plan.tool)
    nothing: Record = {}
    return known if known is not None else next(probe.arguments.sets(plan, probe.intent(plan)), nothing)


def _unknown_key(plan: Plan, entity: Entity, schema: Record) -> Key:
    if main_type(schema) in {"integer", "number"} or (not schema and isinstance(entity.key_like, int)):
        return _UNKNOWN_NUMBER
    if schema.keys() & _CONSTRAINTS:
        value = value_maker("", plan.key or "", schema)(chance_of("unknown", plan.tool), {}, Moment.unknown())
        return value if isinstance(value, str | int) else _UNKNOWN_TEXT
    return _UNKNOWN_TEXT


def says_nothing(value: Json, asked: Record | None = None) -> bool:
    """Whether a result that is not a failure says that nothing was found or affected.

    `asked`: the arguments of a read, whose data may show these and nothing else.
    """
    if value in (None, "", [], {}, 0) or isinstance(value, str | bool):
        return not value or (isinstance(value, str) and _NOTHING.search(value) is not None)
    given = [leaf for _, leaf in leaves(asked or {})]
    negative = [leaf in (None, 0, "") or _is_negative(leaf) for _, leaf in leaves(value) if leaf not in given]
    if asked is not None:
        return all(negative)
    return any(negative) or any(item in ([], {}) for item in as_object(value).values())


def _is_negative(leaf: Json) -> bool:
    return isinstance(leaf, str) and _NOTHING.search(leaf) is not None


def is_changed(before: View, after: View) -> bool:
    """Whether records were written between two versions of a state."""
    for entity in after.entities():
        known = before.written(entity)
        for key, written in after.written(entity).items():
            if key not in known or known[key].record is not written.record:
                return True
    return False


def is_about(probe: Probe, plan: Plan, entity: Entity) -> bool:
    """Whether a tool is about whole records of an entity: its name has the noun of the entity, and nothing else."""
    parsed = probe.names[plan.tool]
    nouns = {probe.names[tool].noun for tool in probe.makers.get(entity.name, ())}
    noun = tuple(entity.name.rpartition(".")[2].split("_"))
    return not parsed.after and (parsed.noun in nouns or parsed.noun == noun or not parsed.noun)


def own_plans(probe: Probe, entity: Entity, *verbs: str) -> list[Plan]:
    return [plan for plan in probe.domain.plans.values() if plan.entity == entity.name and probe.intent(plan) in verbs]


async def check_writes(probe: Probe, plan: Plan) -> None:
    """Check that a tool writes something if it creates what other tools or resources show."""
    resources = [resource for server in probe.world.scenario.servers.values() for resource in server.resources]
    functions = [resource.function for resource in resources if resource.function is not None]
    is_shown = plan.verb == "create" and any(plan.entity in function.effects.reads for function in functions)
    if plan.tool not in probe.succeeded or not (is_shown or _creates_by_name(probe, plan)):
        return
    for arguments in probe.arguments.sets(plan, "create", "new"):
        world = probe.world.fork()
        seen = await probe.call(plan.tool, arguments, world)
        if seen is None or seen.failed or says_nothing(seen.value):
            continue
        if not is_changed(probe.world.view, world.view):
            message = f"{plan.tool}({short(arguments)}) answered {short(seen.value)}, but has written nothing"
            expected = f"expected a new {' '.join(probe.names[plan.tool].noun)}"
            probe.note(plan.tool, "resource" if is_shown else "lifecycle", f"{message}; {expected}")
        return


def _creates_by_name(probe: Probe, plan: Plan) -> bool:
    """Whether the name of a tool says that it creates what others read or delete by their names."""
    parsed = probe.names[plan.tool]
    others = [name for tool, name in probe.names.items() if tool != plan.tool and name.noun == parsed.noun]
    has_others = any(other.sure and other.verb in {"get", "list", "search", "delete"} for other in others)
    return parsed.verb == "create" and parsed.sure and not parsed.after and has_others


# hooks ----------------------------------------------------------------------------------------------------------------


_MOST_TOOLS = 8  # how many tools are called with arguments that violate their inputSchema
_MOST_VALUES = 12  # how many values are tried for a variable of a URI


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
    yield "no_such_tool", {"id": _UNKNOWN_TEXT}


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
        is_known = _UNKNOWN_TEXT not in values.values()
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
    for value in (*islice(known, _MOST_VALUES), _UNKNOWN_TEXT):
        yield dict.fromkeys(names, value)


def _filled(uri: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        uri = re.sub(r"\{[^{}]*\b" + re.escape(name) + r"\b[^{}]*\}", lambda _, value=value: value, uri)
    return uri
