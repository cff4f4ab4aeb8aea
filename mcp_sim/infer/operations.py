"""Tools that do several things, split into one tool for each value of an argument."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mcp_sim.infer.descriptions import choices_of
from mcp_sim.infer.names import Words, parse_name
from mcp_sim.infer.server_names import last_segment
from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.shapes import properties, required
from mcp_sim.types.lexicon.english import singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan

_CHOOSERS, _TOOL_WORDS = terms("arguments.chooser"), terms("phrases.tool_words")
_READ_ARGUMENTS = terms("arguments.of_reads")
_LISTED = re.compile(r"(?<![\w-])[\w-]+(?:\s*(?:\||,|/|\bor\b)\s*(?:or\s+)?[\w-]+)+")
_REQUIRED = re.compile(r"\b(?:required|needed|necessary|mandatory)\b[^.;]*", re.IGNORECASE)
_MIN_VERBS = 2
"""Number of choices that must be verbs of records."""

_SHARED = frozenset({"entity", "key"})
"""Overrides of a tool that apply to each of its operations."""

_COMBINABLE = frozenset({"choice", "choices"}) | _SHARED
"""Overrides that a tool with several operations may have. With others it has one operation."""


@dataclass(frozen=True, slots=True)
class MultiTool:
    """A tool with several operations: the argument that chooses one, and a tool for each of its values."""

    tool: Tool
    argument: str
    variants: Mapping[str, Tool]


def find_multi_tools(tools: Mapping[str, Tool], overrides: Mapping[str, Mapping[str, Any]]) -> dict[str, MultiTool]:
    """Return the tools with several operations, unless a spec declares a single one."""
    found = {id_: _find_multi_tool(tool, overrides.get(id_, {})) for id_, tool in tools.items()}
    return {id_: one for id_, one in found.items() if one is not None}


def _find_multi_tool(tool: Tool, declared: Mapping[str, Any]) -> MultiTool | None:
    """Return the operations of a tool. A spec may declare the argument and further values."""
    argument, values = _find_choice(tool)
    if {"choice", "choices"} & declared.keys():
        argument, values = declared.get("choice") or argument, [*values, *declared.get("choices", {})]
    elif declared.keys() - _COMBINABLE:
        return None
    if not values or argument not in properties(tool.input_schema):
        return None
    return MultiTool(tool, argument, {value: _make_variant(tool, argument, value) for value in values})


def _find_choice(tool: Tool) -> tuple[str, list[str]]:
    """Return the argument that chooses an operation, and its values. '' if the name of the tool has a verb."""
    noun = _noun_of(tool)
    if noun and parse_name(noun).sure:
        return "", []
    for name, part in properties(tool.input_schema).items():
        values = _values(part) if snake(name) in _CHOOSERS else []
        if sum(map(_is_sure, values)) >= _MIN_VERBS:
            return name, values
    return "", []


def _noun_of(tool: Tool) -> Words:
    return tuple(word for word in words(last_segment(tool.name)) if word not in _TOOL_WORDS)


def _values(schema: Record) -> list[str]:
    """Return the values of an argument: an enum, or a list in the description that is mostly verbs."""
    listed_values = [value for value in choices_of(schema) if isinstance(value, str)]
    if listed_values:
        return listed_values
    runs = [re.findall(r"[\w-]+", run[0]) for run in _LISTED.finditer(str(schema.get("description", "")))]
    listed = max(([word for word in run if word != "or"] for run in runs), key=len, default=list[str]())
    return listed if 2 * sum(map(_is_sure, listed)) > len(listed) else []


def _is_sure(value: str) -> bool:
    return bool(words(value)) and parse_name(words(value)).sure


def _make_variant(tool: Tool, argument: str, value: str) -> Tool:
    """Return the tool as if it had only this operation."""
    schema, noun = tool.input_schema, _noun_of(tool)
    required_for = {name for name, part in properties(schema).items() if _is_required_for(part, value)}
    left_out = _unused_arguments(value, noun)
    rest = {
        name: part
        for name, part in properties(schema).items()
        if name != argument and (snake(name) not in left_out or name in required_for)
    }
    needed = [name for name in rest if name in required(schema) | required_for]
    body = {**schema, "properties": rest, "required": needed}
    named = {"name": "_".join(_variant_name(value, noun)), "inputSchema": body, "annotations": {}}
    return replace(tool, id=f"{tool.id}#{value}", definition={**tool.definition, **named})


def _is_required_for(schema: Record, value: str) -> bool:
    """Whether the description requires it for the operation: `The title (required for create and update)`."""
    required_for = {word for run in _REQUIRED.findall(str(schema.get("description", ""))) for word in words(run)}
    return set(words(value)) <= required_for


def _unused_arguments(value: str, noun: Words) -> frozenset[str]:
    """Return the arguments that an operation does not use: writes take no query, and new records have no id."""
    verb = parse_name(words(value)).verb
    if verb in {"list", "search", "unknown"}:
        return frozenset()
    entity = singular_phrase(noun)
    ids = {"id", f"{entity}_id", f"{entity.rsplit('_', 1)[-1]}_id"} if verb == "create" else set[str]()
    return _READ_ARGUMENTS | ids


def _variant_name(value: str, noun: Words) -> Words:
    """Return the words of the operation's name: `list_notes` for `list` of a tool for notes."""
    parts = words(value)
    parsed = parse_name(parts)
    if not noun or {singular(word) for word in parsed.noun} & {singular(word) for word in noun}:
        return parts
    place = next((at + 1 for at, word in enumerate(parts) if parse_name((word,)).word), 1)
    named = noun if parsed.verb in {"list", "search"} else (*noun[:-1], singular(noun[-1]))
    return (*parts[:place], *named, *parts[place:])


def split_tools(tools: Mapping[str, Tool], multi_tools: Mapping[str, MultiTool]) -> dict[str, Tool]:
    """Return the tools, with those of several operations split."""
    whole = {id_: tool for id_, tool in tools.items() if id_ not in multi_tools}
    return whole | {variant.id: variant for one in multi_tools.values() for variant in one.variants.values()}


def variant_overrides(
    multi_tools: Mapping[str, MultiTool], overrides: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the overrides of each operation, by the id of its tool."""
    found = {
        variant.id: _overrides_of(value, overrides.get(id_, {}))
        for id_, one in multi_tools.items()
        for value, variant in one.variants.items()
    }
    return {id_: declared for id_, declared in found.items() if declared}


def _overrides_of(value: str, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the overrides of a tool that apply to one operation. No key names new records or several."""
    is_keyed = parse_name(words(value)).verb not in {"create", "list", "search"}
    shared = {name: declared[name] for name in declared if name in _SHARED and (is_keyed or name != "key")}
    return {**shared, **declared.get("choices", {}).get(value, {})}


def merge_plans(
    plans: Mapping[str, Plan], multi_tools: Mapping[str, MultiTool], overrides: Mapping[str, Mapping[str, Any]]
) -> dict[str, Plan]:
    """Merge the plans of the operations of each tool.

    The confidence is the average of the choices. A call of a guessed choice is marked as guessed.
    """
    parts = {variant.id for one in multi_tools.values() for variant in one.variants.values()}
    whole = {id_: plan for id_, plan in plans.items() if id_ not in parts}
    return whole | {id_: _merge_variants(one, plans, overrides.get(id_, {})) for id_, one in multi_tools.items()}


def _merge_variants(multi_tool: MultiTool, plans: Mapping[str, Plan], declared: Mapping[str, Any]) -> Plan:
    id_ = multi_tool.tool.id
    choices = {value: replace(plans[variant.id], tool=id_) for value, variant in multi_tool.variants.items()}
    known = [plan for plan in choices.values() if plan.backend == "records"]
    if not known:
        return next(iter(choices.values()))
    reasons = (f"{multi_tool.argument} = {value}: {_summary(plan)}" for value, plan in choices.items())
    main = next((plan for plan in known if plan.verb in {"update", "create", "delete"}), known[0])
    confidence = round(sum(plan.confidence for plan in choices.values()) / len(choices), 2)
    plan = Plan(id_, main.verb, main.entity, choice=multi_tool.argument, choices=choices)
    kept = {name: getattr(plan, name) for name in ("entity", "choice", "choices") if name in declared}
    return plan.with_declared(kept).with_basis(confidence, *reasons)


def _summary(plan: Plan) -> str:
    text = f"{plan.verb} {plan.entity or ''}".strip()
    return f"{text} (a guess)" if plan.guessed else text
