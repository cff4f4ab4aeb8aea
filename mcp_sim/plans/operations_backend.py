"""The base class of backends that are declared by their operations."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar

from mcp_sim.plans.choices import choice_answer
from mcp_sim.plans.given import Given
from mcp_sim.plans.matching.matched_tools import MatchedTool, match_tool, plans_of, possible_roles
from mcp_sim.plans.matching.tool_profiles import ToolProfile, profiles_by_server
from mcp_sim.plans.operation import Names, Operation, Run
from mcp_sim.plans.outcome import Outcome
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Binding, Request
from mcp_sim.types import Json, Tool, Transition, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import Answer, Backend, Invent, Match, ServerEvidence, backends
from mcp_sim.types.plans import DECLARED, Plan


class OperationsBackend(Backend):
    """A backend that is declared by its operations.

    A subclass declares `operations` and `entities`, and mostly nothing else: tools are matched to operations by the
    words and arguments that these declare, calls are run and rendered here. It overrides a method where its kind of
    store differs.
    """

    operations: ClassVar[Sequence[Operation]] = ()
    """What tools can do, in the order in which a tool's words are compared with them."""
    entities: ClassVar[Sequence[Entity]] = ()
    """What is stored. The first one is that of operations that name none."""
    request: ClassVar[type[Request] | str] = Request
    """The class of requests: a subclass may have methods that several operations use. It may be named as the functions
    of operations are, `module:class`."""
    names: ClassVar[Names] = {}
    """Fact of an outcome -> other names that a result may have for it."""
    idle: ClassVar[frozenset[str]] = frozenset()
    """Names of required arguments that no operation needs, such as `encoding`."""
    lengthy: ClassVar[Collection[str]] = ()
    """Names of operations that may take long: they run what the caller wrote, or compare whole texts."""
    confidence: ClassVar[float] = 0.85
    """How sure a match by words and arguments is."""

    # matching

    def match(self, evidence: ServerEvidence) -> Match | None:
        """Match the tools of each server; tools for which a spec chooses this backend match on any evidence."""
        matched: list[MatchedTool] = []
        for listed in self.profiles(evidence):
            tools = self.candidates(listed)
            matched += self._with_declared(listed, tools, self.accepts(tools, listed), evidence.declared(self.name))
        if not matched:
            return None
        whole = {tool.profile.tool.id for tool in matched} == set(evidence.tools)
        given = self.given(evidence.state, matched, self.entities, is_whole=whole)
        first = next((entity.name for entity in self.entities), None)
        return Match(plans_of(matched, self.name, first), self.entities, given.records, given.rest)

    def profiles(self, evidence: ServerEvidence) -> Sequence[Sequence[ToolProfile]]:
        """Return the profiles of the tools of each server: one for each choice of an argument that selects."""
        return evidence.once(profiles_by_server)

    def _with_declared(
        self,
        listed: Sequence[ToolProfile],
        tools: Sequence[MatchedTool],
        accepted: Sequence[MatchedTool],
        declared: Mapping[str, Mapping[str, Any]],
    ) -> list[MatchedTool]:
        """Return the accepted tools, and those for which a spec chooses this backend.

        They do what the spec declares, or else what their words mean.
        """
        chosen = [tool for tool in tools if tool.profile.tool.id in declared]
        matched = {(tool.profile.tool.id, tool.profile.choice): tool for tool in (*chosen, *accepted)}
        for profile in listed:
            place = profile.tool.id, profile.choice
            operation = self._declared_operation(profile, declared.get(profile.tool.id, {}))
            if operation is not None and (place not in matched or matched[place].name != operation.name):
                arguments = possible_roles(operation.roles, profile)
                matched[place] = MatchedTool(
                    profile, operation, arguments, confidence=1.0, reasons=DECLARED.reasons, source="declared"
                )
        return list(matched.values())

    def _declared_operation(self, profile: ToolProfile, sim: Mapping[str, Any]) -> Operation | None:
        """Return the operation that a spec declares for a tool of this backend, or for a choice, or None."""
        declared = sim.get("choices", {}).get(profile.choice, sim)
        return self.known.get(str(declared.get("operation", ""))) if declared.get("backend") == self.name else None

    def candidates(self, listed: Sequence[ToolProfile]) -> list[MatchedTool]:
        """Return the operations that the tools of a server may mean, at most one for each profile."""
        tools = (next(self.match_tool(profile), None) for profile in listed)
        return [tool for tool in tools if tool is not None]

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations that a tool may mean, the likeliest first."""
        return match_tool(profile, self.operations, self.idle, self.confidence)

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Return the candidates of a server that the server as a whole bears out; none if the evidence is too weak.

        `listed` are the profiles of all tools of the server.
        """
        return tools

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the records that a given state has for these tools, and the rest of the state.

        `is_whole`: the server has no other tools, so that the whole state may be meant.
        """
        return Given(rest=state)

    # answering

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        """Run the operation of the plan, render its outcome, and fail as the tool does where it is refused."""
        if plan.choice is not None:
            return choice_answer(tool, plan, lambda variant: backends[variant.backend]().compile(tool, variant, domain))
        from mcp_sim.plans.rendering.outcomes import outcome_renderer  # noqa: PLC0415 (only calls need it)

        operation = self.planned(tool, plan)
        binding = self.bind(operation, tool, plan, domain)
        render = outcome_renderer(tool, plan, domain, {**self.names, **operation.names})
        run, request_type = self.function(operation), self.request_type

        def answer(turn: Turn, invent: Invent) -> Transition:
            try:
                request = request_type.of(binding, turn, invent)
                outcome: Outcome = run(request)
            except Refused as refused:
                slots = {**turn.call.arguments, **refused.slots}
                return Transition(tool.failure(refused.kind, str(refused), **slots))
            changes = request.changes
            return Transition(render(turn, outcome, changed=bool(changes)), changes, guessed=outcome.guessed)

        return answer

    def may_take_long(self, plan: Plan, domain: Domain) -> bool:
        return any(variant.operation in self.lengthy for variant in plan.variants)

    def bind(self, operation: Operation, tool: Tool, plan: Plan, domain: Domain) -> Binding:
        """Return how a tool calls an operation."""
        mine = [other for other in domain.plans.values() if other.backend == self.name]
        every = [choice for other in mine for choice in (other, *other.choices.values())]
        peers = frozenset(other.operation for other in every)
        bound = replace(self.unbound(operation, _prefix(plan)), tool=tool, peers=peers)
        whole = domain.plans.get(plan.tool, plan)
        bound = replace(bound, entity=plan.entity or bound.entity, selector=whole.choice or "")
        bound = replace(bound, arguments=plan.arguments, fixed=plan.fixed)
        return replace(bound, shared=self.prepare(bound, domain))

    def unbound(self, operation: Operation, prefix: str = "", kept: dict[Hashable, Any] | None = None) -> Binding:
        """Return how Python calls an operation, without a tool. `kept` has what earlier calls prepared for all."""
        own = operation.entity or next((entity.name for entity in self.entities), "")
        return Binding(operation, prefix + own, prefix)

    def prepare(self, binding: Binding, domain: Domain) -> Any:
        """Return what all calls of a tool share, such as the names that its server uses. Called once for each tool."""
        return None

    @cached_property
    def name(self) -> str:
        """The name of the kind."""
        return backends.name_of(self)

    @cached_property
    def known(self) -> Mapping[str, Operation]:
        """The operations by name. Of several with one name, which tools may mean, the first one is it."""
        last = {operation.name: operation for operation in reversed(self.operations)}
        return {operation.name: last[operation.name] for operation in self.operations}

    @property
    def operation_names(self) -> Collection[str]:
        return self.known

    @cached_property
    def request_type(self) -> type[Request]:
        """The class of requests, imported if it is named."""
        return self._imported(self.request) if isinstance(self.request, str) else self.request

    def function(self, operation: Operation) -> Run:
        """Return the function that runs an operation. Imports it if the operation names it."""
        return self._imported(operation.run) if isinstance(operation.run, str) else operation.run

    def _imported(self, reference: str) -> Any:
        """Return what `module:name` refers to in the package of the backend."""
        module, _, name = reference.partition(":")
        package = type(self).__module__.rpartition(".")[0]
        return getattr(import_module(f"{package}.{module}"), name)

    def planned(self, tool: Tool, plan: Plan) -> Operation:
        """Return the operation of a plan. Raises `ValueError` if no operation has its name."""
        operation = self.known.get(plan.operation)
        if operation is None:
            raise ValueError(
                f"{tool.id}: {self.name} has no operation {plan.operation!r}{did_you_mean(plan.operation, self.known)}"
            )
        return operation


def plans_by_prefix(plans: Sequence[Plan]) -> Mapping[str, Sequence[Plan]]:
    """Return plans, and those of their choices, by the prefix of their server if servers have separate state."""
    groups: dict[str, list[Plan]] = {}
    for plan in plans:
        groups.setdefault(_prefix(plan), []).extend((plan, *plan.choices.values()))
    return groups


def _prefix(plan: Plan) -> str:
    """Return the prefix of the server in the name of a plan's entity, if servers have separate state."""
    server, dot, _ = (plan.entity or "").rpartition(".")
    return server + dot
