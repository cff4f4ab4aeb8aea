"""World models bound to a scenario, and the steps of the world that are compiled for its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from mcp_sim.simulator.world_step import Source, WorldStep, refused
from mcp_sim.types import Memories, Record, Tool, Transition, Turn
from mcp_sim.types.calls import Request
from mcp_sim.types.domain import Concealed
from mcp_sim.types.errors import Crash, Unmatched
from mcp_sim.types.json_schema.validation import FORMATS, RESULT_FORMATS, Validator
from mcp_sim.types.kinds import ImmediatePredictor, Predictor, RequestPredictor, world_models
from mcp_sim.types.plans import Plan
from mcp_sim.types.programs import PROGRAM
from mcp_sim.types.scenario import Scenario, WorldModelEntry, route
from mcp_sim.types.surface import NO_INTERACTION
from mcp_sim.types.tools import in_reach
from mcp_sim.world.consistency import firm_inspection, inspection


class Bindings:
    """The bound world models of a scenario. The step of a tool is compiled at its first call."""

    def __init__(
        self, scenario: Scenario, predictors: Sequence[tuple[WorldModelEntry, Predictor]], fallback: Predictor | None
    ) -> None:
        self._scenario, self._predictors, self._fallback = scenario, predictors, fallback
        self._steps = dict[str, WorldStep]()

    @classmethod
    async def open(cls, scenario: Scenario, concealed: Sequence[Concealed], stack: AsyncExitStack) -> Bindings:
        """Bind the world models of a scenario, which do not reveal what is concealed."""
        bound = [(model, await _bind(model, scenario, concealed, stack)) for model in scenario.world_models]
        needs_builtin = any(entry.world_model.fallback for entry in scenario.world_models)
        builtin = world_models["builtin"]()
        fallback = await stack.enter_async_context(builtin.bind(scenario.domain)) if needs_builtin else None
        return cls(scenario, bound, fallback)

    async def concealing(self, concealed: Sequence[Concealed], stack: AsyncExitStack) -> Bindings:
        """Return the same bindings, with other ones of the world models that could reveal what is concealed."""
        bound = [
            (
                entry,
                await _bind(entry, self._scenario, concealed, stack) if entry.world_model.makes_records else predictor,
            )
            for entry, predictor in self._predictors
        ]
        return Bindings(self._scenario, bound, self._fallback)

    async def request(self, server: str, request: Request, memories: Memories) -> Record | None:
        """Return the answer of the first world model of a server that answers requests other than calls.

        None if it is missing, or if the last one leaves it to the next. Raises `Crash`.
        """
        tools = [self._scenario.domain.tools[tool] for tool in self._scenario.servers[server].tools]
        for entry, predictor in self._predictors:
            is_asked = not tools or any(entry.answers(tool, self._scenario.domain) for tool in tools)
            if not is_asked or not isinstance(predictor, RequestPredictor):
                continue
            try:
                return await predictor.request(request, memories)
            except Unmatched as error:
                if not entry.passes_on:
                    raise Crash(request.method, error.reason) from None
        return None

    def step(self, tool: Tool) -> WorldStep:
        """Return the world's step for a tool."""
        if tool.id not in self._steps:
            self._steps[tool.id] = self._compile(tool)
        return self._steps[tool.id]

    def _compile(self, tool: Tool) -> WorldStep:
        from mcp_sim.generate.instances import Instances  # noqa: PLC0415 (listing tools must not wait for it)

        scenario, domain = self._scenario, self._scenario.domain
        plan = domain.plans.get(tool.id) or Plan(tool.id, "unknown")
        answering = [id(entry) for entry in route(scenario.world_models, tool, domain)]
        output, is_program = self._output(tool), plan.backend == PROGRAM
        return WorldStep(
            arguments=Validator(tool.input_schema, FORMATS),
            output=output,
            inspect=inspection(plan, domain),
            inspect_firmly=firm_inspection(plan, domain),
            stubs=tuple(stub for stub in scenario.stubs if in_reach((stub.tool,), tool)),
            sources=tuple(
                self._source(tool, entry, predictor) for entry, predictor in self._predictors if id(entry) in answering
            ),
            interaction=scenario.interactions.get(tool.id, NO_INTERACTION),
            planned_output=output if is_program or output is None else Validator(output.schema, RESULT_FORMATS),
            repair=None if tool.output_schema is None or is_program else Instances(tool.output_schema).nearest,
            is_lenient=tool.server in scenario.servers and scenario.servers[tool.server].arguments == "lenient",
            refuse=program_hook(scenario, "invalid_arguments", tool.server) or refused,
        )

    def _source(self, tool: Tool, entry: WorldModelEntry, predictor: Predictor) -> Source:
        is_planned, is_alone = entry.kind == "builtin", len(self._scenario.world_models) == 1
        return Source(
            predictor,
            entry.world_model.max_attempts,
            self._fallback if entry.world_model.fallback else None,
            "" if is_planned and is_alone else entry.kind,
            self._judges_arguments(tool.id, entry),
            is_planned,
            entry.world_model.is_local,
            predictor.predict_at_once if isinstance(predictor, ImmediatePredictor) else None,
        )

    def _output(self, tool: Tool) -> Validator | None:
        """Return what checks the results of a tool; None for those of a program that may violate the schema."""
        program = self._scenario.domain.program_of(tool.id)
        is_free = program is not None and program.functions[tool.id].options.get("conforms") is False
        return None if tool.output_schema is None or is_free else Validator(tool.output_schema)

    def _judges_arguments(self, tool: str, entry: WorldModelEntry) -> bool:
        """Whether calls of a tool whose arguments violate the inputSchema are answered like others."""
        program = self._scenario.domain.program_of(tool)
        if program is None:
            return entry.world_model.judges_arguments
        return program.functions[tool].options.get("validate") is False


async def _bind(
    entry: WorldModelEntry, scenario: Scenario, concealed: Sequence[Concealed], stack: AsyncExitStack
) -> Predictor:
    domain = replace(scenario.domain, concealed=tuple(concealed)) if concealed else scenario.domain
    return await stack.enter_async_context(entry.world_model.bind(domain))


def program_hook(scenario: Scenario, name: str, server: str) -> Callable[[Turn], Awaitable[Transition]] | None:
    """Return what the program of a server answers instead of the server; None if it leaves that to the server.

    It runs in a thread, since it may take long.
    """
    domain = scenario.domain
    tools = scenario.servers[server].tools if server in scenario.servers else ()
    programs = (
        domain.programs
        if len(scenario.servers) == 1
        else [program for program in domain.programs if not program.functions.keys().isdisjoint(tools)]
    )
    if not any(name in program.hooks for program in programs):
        return None
    from mcp_sim.generate.invention import inventor  # noqa: PLC0415 (servers without programs start without it)
    from mcp_sim.programs.backend import hook_answer  # noqa: PLC0415 (servers without programs start without it)
    from mcp_sim.programs.watchdog import in_thread  # noqa: PLC0415 (servers without programs start without it)

    answers = (hook_answer(name, program, domain) for program in programs)
    answer = next((answered for answered in answers if answered is not None), None)
    invent = inventor(domain)
    return None if answer is None else lambda turn: in_thread(turn.tool.id, lambda: answer(turn, invent))
