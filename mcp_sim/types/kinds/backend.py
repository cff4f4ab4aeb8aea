"""What is a backend: which tools does it claim, and how does it answer them?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

from mcp_sim.types import Json, Key, Record, Tool, Transition, Turn
from mcp_sim.types.argument_unwrapping import unwrap_call, unwrap_tool
from mcp_sim.types.domain import Domain, Entity, Example
from mcp_sim.types.plans import Plan

T = TypeVar("T")


class Invent(Protocol):
    """Fills in a field that neither the arguments nor the world determine."""

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        """A value for `field` of the record under way, valid under `schema`."""
        ...

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        """Which of these records of `target` a reference leads to that nobody gave; the first is the world's choice."""
        ...


Answer: TypeAlias = Callable[[Turn, Invent], Transition]
"""What one tool does, compiled: a pure function of the turn, and of what `Invent` fills in."""

Tables: TypeAlias = Mapping[str, Mapping[Key, Record]]
"""Records by entity and key, in the order of creation."""


@dataclass(frozen=True, slots=True)
class ServerEvidence:
    """What is known of one server before anything is inferred: its tools by id, and the state that is given (or None).

    `examples` are recorded calls, `found` what `once` has found.
    """

    tools: Mapping[str, Tool]
    state: Json = None
    examples: Sequence[Example] = ()
    found: dict[Callable[..., Any], Any] = field(default_factory=dict[Callable[..., Any], Any])

    def once(self, find: Callable[[Iterable[Tool]], T]) -> T:
        """What these tools are found to be, found out once for all backends that ask."""
        if find not in self.found:
            self.found[find] = find(self.tools.values())
        return self.found[find]


@dataclass(frozen=True, slots=True)
class Match:
    """The tools that a backend takes to be its own.

    `plans` say how it would answer them, and how sure it is: those that are a guess lose against any other claim, and
    against records. `entities` are what these tools work on, `records` what the given state holds of them, and `state`
    is what is left of the given state for others.
    """

    plans: Sequence[Plan] = ()
    entities: Sequence[Entity] = ()
    records: Mapping[str, Sequence[Record]] = field(default_factory=dict[str, Sequence[Record]])
    state: Json = None


class Backend:
    """A way for tools to work on the world, chosen by a plan. It answers from the plan and the state alone.

    Whatever is not determined is asked of `Invent`, so that the built-in world model and a language model differ only
    in who fills the open fields.
    """

    order: ClassVar[int] = 1000
    """The place in which the backend is asked for its tools; backends of one place are asked by name."""

    def match(self, evidence: ServerEvidence) -> Match | None:
        """The tools of a server that work this way, by the evidence of all of them together; None where none does.

        Evidence is names, schemas and descriptions, never one vendor's name. What is claimed surely (confidence at
        least 0.6) is not looked at by the inference of records.
        """
        return None

    def complete_tables(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """The records that a world begins with, given and made up, and what these plans need beside them."""
        return tables

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        """The closure that answers calls of this tool, by whoever may call it."""
        raise NotImplementedError  # every kind compiles its own

    def compile_answer(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        """The closure that answers calls of this tool; whoever must be logged in and is not is refused."""
        answer = self._compiled(tool, plan, domain)
        if plan.login is None:
            return answer
        entity, _, field = plan.login.rpartition(".")

        def guarded(turn: Turn, invent: Invent) -> Transition:
            session = turn.view.get(entity, entity) or {}
            if session.get(field):
                return answer(turn, invent)
            told = "Not logged in. Please log in first."
            return Transition(tool.failure("unauthorized", told, **turn.call.arguments))

        return guarded

    def _compiled(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        """What is compiled, asked for what stands in the argument that holds all others, where there is one."""
        within = plan.within
        if within is None:
            return self.compile(tool, plan, domain)
        answer = self.compile(unwrap_tool(tool, within), plan, domain)
        return lambda turn, invent: answer(replace(turn, call=unwrap_call(turn.call, within)), invent)


BACKENDS_WITHOUT_MATCH = frozenset({"any_record", "python", "records", "schema_only", "summaries"})
"""The backends of tools that nobody claims: inferred or said, and not loaded before a tool is called."""
