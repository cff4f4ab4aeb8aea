"""What does a tool spec say of plans under `sim:`, and do the tools have what it names?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp_sim.spec.parts.plans import SimPart
from mcp_sim.spec.places import Place
from mcp_sim.spec.python_functions import located, problem
from mcp_sim.types import Record
from mcp_sim.types.argument_unwrapping import wrapper_of
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.shapes import as_object, expanded, properties
from mcp_sim.types.kinds import backends
from mcp_sim.types.plans import CALLER, Also, Among, Children, Envelope, Filter, Owner, Paging, Picked, Swap

_ARGUMENT_KEYS = ("key", "each", "copies", "holder", "within", "query", "sort", "order", "choice")
_NO_PART_OF_PLANS = ("ask", "notify", "blocks", "python")
"""What is said under `sim:` of a tool's answer, and not of what the tool does; and what a plan calls by other names."""

_PAGE_KEYS = ("limit", "offset", "page", "cursor")
_LISTS = ("searched", "only", "positive")
_PARTS = {"swap": Swap, "picked": Picked, "paging": Paging, "envelope": Envelope}
_LISTS_OF_PARTS = {"also": Also, "owners": Owner, "among": Among, "children": Children}


def override(part: SimPart, folder: Path) -> dict[str, Any]:
    """The fields of a plan that the spec fixes, as a plan has them. A function's module may lie in the folder."""
    fixed = {name: getattr(part, name) for name in part.model_fields_set if name not in _NO_PART_OF_PLANS}
    told = {name: value for name, value in fixed.items() if value is not None}
    fixed |= {name: tuple(told[name]) for name in _LISTS if name in told}
    fixed |= {name: kind(**told[name].model_dump()) for name, kind in _PARTS.items() if name in told}
    fixed |= {
        name: tuple(kind(**one.model_dump()) for one in told[name])
        for name, kind in _LISTS_OF_PARTS.items()
        if name in told
    }
    if part.python is not None:
        fixed |= {"backend": "python", "operation": located(part.python, folder)}
    if part.filters is not None:
        fixed["filters"] = {argument: Filter(**one.model_dump()) for argument, one in part.filters.items()}
    if part.requires is not None:
        fixed["requires"] = {field: tuple(values) for field, values in part.requires.items()}
    if part.choices is not None:
        fixed["choices"] = {value: override(one, folder) for value, one in part.choices.items()}
    return fixed


def check_sim(place: Place, sim: Mapping[str, SimPart], tools: Mapping[str, Place], folder: Path) -> None:
    for name, part in sim.items():
        at = place.at(name)
        if name not in tools:
            at.error(f"there is no tool {name!r}{did_you_mean(name, tools)}")
            continue
        if part.backend is not None and part.backend not in backends.names():
            at.at("backend").error(f"unknown backend{did_you_mean(part.backend, backends.names())}")
        if part.python is not None:
            _check_function(at, part, folder)
        _check_arguments(at, part, tools[name].value)
        _doubt_filters(at, part)
        for value, one in (part.choices or {}).items():
            _check_arguments(at.at("choices", value), one, tools[name].value)
            if one.python is not None:
                at.at("choices", value, "python").error("a function answers the whole tool, not one choice of it")


def _check_function(at: Place, part: SimPart, folder: Path) -> None:
    if part.backend is not None or part.operation is not None:
        at.at("python").error("says how the tool works: leave out `backend` and `operation`")
    elif part.python is not None and (reason := problem(located(part.python, folder))) is not None:
        at.at("python").error(f"{part.python} {reason}")


def _check_arguments(at: Place, part: SimPart, tool: Record) -> None:
    """Note the arguments that are named, and which the tool does not have."""
    schema = expanded(tool["inputSchema"])
    known = as_object(schema.get("properties"))
    within = part.within if "within" in part.model_fields_set else wrapper_of(schema)
    for wrapper in within.split(".") if within is not None else ():
        schema = properties(schema).get(wrapper, {})
        known |= properties(schema)
    named = [((key,), getattr(part, key)) for key in _ARGUMENT_KEYS]
    named += [(("positive", index), argument) for index, argument in enumerate(part.positive or ())]
    named += [(("owners", index, "argument"), owner.argument) for index, owner in enumerate(part.owners or ())]
    named += [(("among", index, "argument"), one.argument) for index, one in enumerate(part.among or ())]
    named += [(("children", index, "listed"), one.listed) for index, one in enumerate(part.children or ())]
    named += [(("picked", "argument"), part.picked.argument)] if part.picked is not None else []
    named += [(("sets", argument), argument) for argument in part.sets or ()]
    named += [(("filters", argument), argument) for argument in part.filters or ()]
    named += [(("paging", key), getattr(part.paging, key)) for key in _PAGE_KEYS if part.paging is not None]
    for path, argument in named:
        if argument not in {None, CALLER, *known} and argument.partition(".")[0] not in known:
            at.at(*path).error(f"{tool['name']} has no argument {argument!r}{did_you_mean(argument, known)}")


def _doubt_filters(at: Place, part: SimPart) -> None:
    """Note comparisons in a plan for one record, which is found by equal values."""
    for argument, rule in (part.filters or {}).items() if part.verb in {"get", "update", "delete"} else ():
        if rule.op != "equals":
            at.at("filters", argument, "op").warning(
                f"a {part.verb} finds its record by equal values, not by {rule.op!r}"
            )
