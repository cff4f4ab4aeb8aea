"""The backend of tools that a program answers, and the answers of its hooks and resources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from mcp_sim.generate.invention import inventor
from mcp_sim.libraries import LibraryError
from mcp_sim.programs.loading import failed_at, load_functions, reason
from mcp_sim.programs.results import Contents, Refused, Rpc, contents_of, observation_of, plain
from mcp_sim.programs.watchdog import Overrun, in_thread, watched
from mcp_sim.programs.world import World
from mcp_sim.spec.sources import is_shipped
from mcp_sim.types import Call, Change, Json, Record, Tool, Transition, Turn
from mcp_sim.types.calls import NESTED
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import BadArguments, Crash, McpSimError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, properties, types_of
from mcp_sim.types.kinds import Answer, Backend, Invent, backends
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import PROGRAM, ProgramFunction, parameter_name
from mcp_sim.types.programs import Program as Declared
from mcp_sim.world.consistency import program_findings

if TYPE_CHECKING:
    from mcp_sim.world.world import World as LiveWorld

T = TypeVar("T")

Bind: TypeAlias = Callable[[Turn], Record]
"""Returns the keyword arguments of a function."""


@backends.register(PROGRAM)
class Program(Backend):
    """Calls the function of the program that answers the tool. An exception of the function is a crash."""

    def may_take_long(self, plan: Plan, domain: Domain) -> bool:
        """Return whether the program works on files, repositories or a database, which run what callers wrote.

        Those that do not ship may take long, too: one that looped kept all worlds waiting until the watchdog ended it.
        """
        program = domain.program_of(plan.tool)
        return program is not None and (bool(program.libraries) or not is_shipped(program.path))

    def compile_answer(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        program = domain.program_of(tool.id)
        if program is None:
            raise ValueError(f"{tool.id}: no program answers it")
        function = program.functions[tool.id]
        conforms = function.options.get("conforms") is not False
        return _Call(
            program,
            domain,
            load(program, domain)[function.name],
            _binder(function, tool),
            conforms,
            function.only_reads,
        )


def hook_answer(name: str, program: Declared, domain: Domain) -> Answer | None:
    """Return the answer of a hook of a program, `unknown_tool` or `invalid_arguments`, or None."""
    function = program.hooks.get(name)
    if function is None:
        return None
    names = function.parameters

    def bind(turn: Turn) -> Record:
        known: list[Json] = [turn.tool.name, plain(turn.call.arguments), [*turn.problems]]
        return dict(zip(names, known, strict=False))

    return _Call(program, domain, load(program, domain)[function.name], bind)


def resource_contents(
    function: ProgramFunction, program: Declared, domain: Domain, turn: Turn, invent: Invent, values: Mapping[str, str]
) -> Contents:
    """Return what a function returns for a resource, or None. `values` are the variables of the URI.

    Raises `Crash` if the function fails, or writes.
    """
    given: Record = {parameter_name(name): value for name, value in values.items()}
    call = _Call(program, domain, load(program, domain)[function.name], lambda _: given)
    contents, changes = call.outcome(turn, invent, contents_of)
    if changes:
        place = f"{program.path.name}:{function.line} in {function.name}"
        written = ", ".join(dict.fromkeys(change.entity.removeprefix(program.prefix) for change in changes))
        raise Crash(turn.tool.id, f"{place}: resources only read, but this function writes {written}")
    return contents


def load(program: Declared, domain: Domain) -> dict[str, Callable[..., Any]]:
    """Return the functions of a program, which the user trusts; its file is run once for a domain."""
    at = ("program", program.path)
    if at not in domain.kept:
        domain.kept[at] = load_functions(program.code)
    return domain.kept[at]


@frozen
class _Call:
    """The answer of one function."""

    program: Declared
    domain: Domain
    function: Callable[..., Any]
    bind: Bind
    conforms: bool = True
    only_reads: bool = False
    """Whether the plan of the tool takes for granted that it writes nothing."""

    def __call__(self, turn: Turn, invent: Invent) -> Transition:
        observation, changes = self.outcome(
            turn, invent, lambda value: observation_of(value, turn.tool, conforms=self.conforms)
        )
        findings = [*self._unforeseen(changes), *program_findings(turn, changes, self.domain)] if changes else ()
        return Transition(observation, changes, measured={"findings": findings} if findings else {})

    def _unforeseen(self, changes: Sequence[Change]) -> Iterator[str]:
        """Yield what the function has written although faults take it for one that only reads."""
        entities = dict.fromkeys(change.entity for change in changes if change.op != "reserve")
        written = [entity.removeprefix(self.program.prefix) for entity in entities]
        if written and self.only_reads:
            yield f"writes {', '.join(written)}, but counts as reading: declare @tool(verb=...), without reads=True"

    def outcome(self, turn: Turn, invent: Invent, shown: Callable[[Any], T]) -> tuple[T, tuple[Change, ...]]:
        """Return what is shown of what the function returned or refused, and what it has written."""
        try:
            with watched():
                value, changes = self._result(World(self.domain, self.program.prefix, turn, invent), self.bind(turn))
                # Within the watchdog, since converting a value with millions of items takes long, too.
                return shown(value), changes
        except Overrun as error:
            raise self._crash(turn, error, error.reason) from None
        except Exception as error:
            if isinstance(error, RecursionError) and turn.size >= NESTED:
                raise  # the world's step refuses such a call
            raise self._crash(turn, error, reason(error)) from error

    def _result(self, world: World, arguments: Record) -> tuple[Any, tuple[Change, ...]]:
        """Return what the function returned or refused, and what it has written."""
        try:
            return self.function(world, **arguments), world.changes()
        except (Refused, Rpc) as refusal:
            # What was written before a refusal is in the world's rows only, and ends with it.
            return refusal, ()
        except LibraryError as error:
            return Refused(str(error)), ()  # the program leaves the wording to the library

    def _crash(self, turn: Turn, error: BaseException, why: str) -> Crash:
        return Crash(turn.tool.id, f"{failed_at(error, self.program.path)}: {why}")


def _binder(function: ProgramFunction, tool: Tool) -> Bind:
    """Return the arguments that a function takes, under the names of its parameters.

    One that has no default and is not given is the default of the inputSchema, else None. Functions get copies, so that
    they may change what they get.
    """
    whole_schema = expanded(tool.input_schema)
    schemas = properties(whole_schema)
    names = {argument: function.parameter(argument) for argument in schemas}
    needed = [name for name in function.parameters if name not in function.defaults]
    usual = {names[argument]: schema.get("default") for argument, schema in schemas.items()}
    missing = {name: usual.get(name) for name in needed}
    taken = {*function.parameters}

    def bind(turn: Turn) -> Record:
        bound: Record = {**missing}
        for argument, value in as_object(_with_ints(turn.call.arguments, whole_schema)).items():
            name = names.get(argument) or function.parameter(argument)
            if name in taken:
                bound[name] = value
            elif function.takes_all and argument != function.world:
                bound[argument] = value
        return plain({**bound, **function.fixed})

    return bind


def _with_ints(value: Json, schema: Record) -> Json:
    """Return a value with ints for floats such as 2.0, which are valid, where the schema says `integer`."""
    if not schema:
        return value
    for keyword in ("anyOf", "oneOf"):
        for branch in as_list(schema.get(keyword)):
            value = _with_ints(value, as_object(branch))
    if isinstance(value, float):
        return int(value) if value.is_integer() and "integer" in types_of(schema) else value
    if isinstance(value, dict):
        declared, other = properties(schema), as_object(schema.get("additionalProperties"))
        return {name: _with_ints(inner, declared.get(name, other)) for name, inner in as_object(value).items()}
    if isinstance(value, list):
        first, other = as_list(schema.get("prefixItems")), items(schema)
        return [
            _with_ints(inner, as_object(first[at]) if at < len(first) else other)
            for at, inner in enumerate(as_list(value))
        ]
    return value


_METHOD = "resources/read"


async def read_resource(
    world: LiveWorld, server: str, function: ProgramFunction, uri: str, values: Mapping[str, str], caller: str = ""
) -> Contents:
    """Return what a function of the program of a server shows at a URI, None if there is no such resource.

    `values` are the variables of the URI. Neither state nor time of the world change. The function runs in a thread.
    Raises `Crash`, which the world records.
    """
    domain, call = world.scenario.domain, Call(_METHOD, {"uri": uri}, caller=caller)
    program = next(answering for answering in domain.programs if answering.server == server)
    tool = Tool(_METHOD, server, {"name": _METHOD, "inputSchema": {"type": "object"}})
    try:
        turn = world.turn(call, tool)
    except BadArguments:
        return None  # halves of characters
    try:
        show = partial(resource_contents, function, program, domain, turn, inventor(domain), values)
        return await in_thread(_METHOD, show)
    except McpSimError as error:
        crash = error if isinstance(error, Crash) else Crash(_METHOD, str(error))
        world.crash(call, crash, {})
        raise crash from error
