"""The base class of backends: kinds of store that tools work on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Protocol, TypeAlias

from mcp_sim.types import Json, Key, Record, Tool, Transition, Turn
from mcp_sim.types.argument_descriptions import confirmation, merge_alternatives, unwrap_call, unwrap_tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import VendorErrors, with_arguments
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.plans import Plan

_DONE = {"create": "created", "update": "changed", "delete": "deleted"}


class Invent(Protocol):
    """Generates values that neither the arguments nor the world determine."""

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        """Return a value for `field` of the record that is being created, valid under `schema`."""
        ...

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        """Return which of `keys`, records of the entity `target`, a reference that was not given leads to.

        The first of them is the choice of the built-in world model.
        """
        ...

    def imagine(self, turn: Turn, schema: Record, about: str) -> Json:
        """Return what the world model says about something, valid under `schema`."""
        ...


Answer: TypeAlias = Callable[[Turn, Invent], Transition]
"""What one tool does, compiled: a pure function of the turn and of `Invent`."""

Tables: TypeAlias = Mapping[str, Mapping[Key, Record]]
"""Records by entity and key, in the order of creation."""


class Backend:
    """A kind of store that tools work on; the plan of a tool names it. It answers from the plan and the state alone.

    Values that they do not determine come from `Invent`, so that the built-in world model and a language model differ
    only in who fills the open fields.
    """

    def may_take_long(self, plan: Plan, domain: Domain) -> bool:
        """Return whether a short call may take long, such as one that runs a statement or a pattern of the caller.

        Such calls run in a thread, so that other worlds go on meanwhile.
        """
        return False

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        """Compile the answer to calls of one tool. Called when the tool is first called; the result serves all worlds.

        A refusal is an observation (`tool.failure(...)`), not an exception. Any exception is a crash.
        """
        raise NotImplementedError  # every kind compiles its own

    def compile_answer(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        """Compile the answer to calls of one tool, whose arguments may be wrapped in a single one.

        A write that the arguments do not confirm is refused. Subclasses override `compile`.
        """
        wrapper = domain.wrappers.get(tool.id)
        if wrapper is None:
            tool = merge_alternatives(tool)
            return _worded(tool, _confirmed(tool, plan, self.compile(tool, plan, domain)))
        bare = merge_alternatives(unwrap_tool(tool, wrapper))
        answer = _worded(bare, _confirmed(bare, plan, self.compile(bare, plan, domain)))
        return lambda turn, invent: answer(replace(turn, call=unwrap_call(turn.call, wrapper)), invent)


def _worded(tool: Tool, answer: Answer) -> Answer:
    """Return the answer with the arguments filled into the failures that the tool words itself."""
    if not (isinstance(tool.render_failure, VendorErrors) and tool.render_failure.own):
        return answer

    def worded(turn: Turn, invent: Invent) -> Transition:
        transition = answer(turn, invent)
        shown = transition.observation
        if not shown.has_slots:
            return transition
        return replace(transition, observation=with_arguments(shown, turn.call.arguments))

    return worded


def _confirmed(tool: Tool, plan: Plan, answer: Answer) -> Answer:
    """Return the answer of a tool that writes nothing unless its flag `confirm` is true, if it has one."""
    flag = confirmation(expanded(tool.input_schema), plan.sets.keys())
    if flag is None:
        return answer
    (name, usual), choice = flag, plan.choice or ""

    def confirmed(turn: Turn, invent: Invent) -> Transition:
        arguments = turn.call.arguments
        verb = plan.choices.get(str(arguments.get(choice)), plan).verb
        if arguments.get(name, usual) is not False or verb not in _DONE:
            return answer(turn, invent)
        return Transition(tool.failure("invalid", f"Nothing was {_DONE[verb]}: {name} must be true", **arguments))

    return confirmed
