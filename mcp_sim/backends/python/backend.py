"""Tools that are answered by a Python function of the spec's author."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from mcp_sim.types import Json, Observation, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.kinds import Answer, Backend, Invent, backends
from mcp_sim.types.plans import Plan


@backends.register("python")
class Python(Backend):
    """Calls the function that the plan's operation names, with the turn.

    The function returns a value, an Observation (such as a failure) or a Transition with changes. Results are validated
    and committed like those of other tools. An exception is recorded as a crash.
    """

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        compute, is_declared = _load_function(plan.operation), tool.output_schema is not None

        def answer(turn: Turn, _invent: Invent) -> Transition:
            made = compute(turn)
            if isinstance(made, Transition):
                return made
            return Transition(made if isinstance(made, Observation) else _observation(made, is_declared=is_declared))

        return answer


def _observation(value: Json, *, is_declared: bool) -> Observation:
    if is_declared:
        return Observation(ToolResult(value))
    return Observation(ToolResult(value, form="text" if isinstance(value, str) else "json"))


def _load_function(reference: str) -> Callable[..., Any]:
    """Return the function at `module:function` or `FILE.py:function`; its module is run.

    Raises `DocumentError` if the module fails or has no such function.
    """
    module, _, name = reference.rpartition(":")
    try:
        found = getattr(_load_module(module), name)
    except Exception as error:
        reason = f"{name} cannot be loaded: {type(error).__name__}: {error}"
        raise DocumentError([Problem(module, 0, "", reason)]) from error
    if not callable(found):
        raise DocumentError([Problem(module, 0, "", f"{name} is not a function")])
    return found


def _load_module(module: str) -> ModuleType:
    if not module.endswith(".py"):
        return import_module(module)
    spec = spec_from_file_location(Path(module).stem, module)
    if spec is None or spec.loader is None:
        raise ImportError(f"{module} is not a Python module")
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
