"""Tools that do several things, split into one tool for each value of an argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcp_sim.plans.infer.names import Words, last_segment, parse_name
from mcp_sim.types import Tool
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import properties, required
from mcp_sim.types.lexicon.english import singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_schemas import choices_of

_CHOOSERS, _TOOL_WORDS = terms("arguments.chooser"), terms("phrases.tool_words")
_READ_ARGUMENTS = terms(
    *(f"arguments.{kind}" for kind in ("query", "limit", "offset", "page", "cursor", "sort", "order"))
) - terms("fields.naming")
_MIN_VERBS = 2
"""Number of choices that must be verbs of records. One such word, such as `list`, is also the name of a format."""

_SHARED = frozenset({"entity", "key"})
"""Overrides of a tool that apply to each of its operations."""

_COMBINABLE = frozenset({"choice", "choices"}) | _SHARED
"""Overrides that a tool with several operations may have. With others it has one operation."""


@frozen
class MultiTool:
    """A tool with several operations: the argument that chooses one, and a tool for each of its values."""

    tool: Tool
    argument: str
    variants: Mapping[str, Tool]


def find_multi_tools(tools: Mapping[str, Tool], overrides: Mapping[str, Mapping[str, Any]]) -> dict[str, MultiTool]:
    """Return the tools with several operations, unless a spec declares a single one."""
    multi_tools = {id_: _find_multi_tool(tool, overrides.get(id_, {})) for id_, tool in tools.items()}
    return {id_: tool for id_, tool in multi_tools.items() if tool is not None}


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
    if parse_name(_words_of(tool)).sure:
        return "", []
    for name, schema in properties(tool.input_schema).items():
        choices = choices_of(schema) if snake(name) in _CHOOSERS else []
        values = [value for value in choices if isinstance(value, str)]
        if sum(parse_name(words(value)).sure for value in values) >= _MIN_VERBS:
            return name, values
    return "", []


def _words_of(tool: Tool) -> Words:
    return tuple(word for word in words(last_segment(tool.name)) if word not in _TOOL_WORDS)


def _make_variant(tool: Tool, argument: str, value: str) -> Tool:
    """Return the tool as if it had only this operation: writes take no query, and new records no optional id."""
    schema, noun = tool.input_schema, _words_of(tool)
    verb = parse_name(words(value)).verb
    entity = singular_phrase(noun)
    ids = {"id", f"{entity}_id", f"{entity.rsplit('_', 1)[-1]}_id"} if verb == "create" else set[str]()
    ids -= {*map(snake, required(schema))}
    left_out = ids | (set[str]() if verb in {"list", "search", "unknown"} else _READ_ARGUMENTS)
    parts = properties(schema).items()
    rest = {name: row for name, row in parts if name != argument and snake(name) not in left_out}
    body = {**schema, "properties": rest, "required": [name for name in rest if name in required(schema)]}
    named = {"name": "_".join(_variant_name(value, noun)), "inputSchema": body, "annotations": {}}
    return replace(tool, id=f"{tool.id}#{value}", definition={**tool.definition, **named})


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
    return whole | {variant.id: variant for tool in multi_tools.values() for variant in tool.variants.values()}


def variant_overrides(
    multi_tools: Mapping[str, MultiTool], overrides: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the overrides of each operation, by the id of its tool. No key names new records or several."""
    by_variant: dict[str, Mapping[str, Any]] = {}
    for id_, tool in multi_tools.items():
        declared = overrides.get(id_, {})
        for value, variant in tool.variants.items():
            is_keyed = parse_name(words(value)).verb not in {"create", "list", "search"}
            shared = {name: declared[name] for name in _SHARED if name in declared and (is_keyed or name != "key")}
            by_variant[variant.id] = {**shared, **declared.get("choices", {}).get(value, {})}
    return {id_: declared for id_, declared in by_variant.items() if declared}


def merge_plans(
    plans: Mapping[str, Plan], multi_tools: Mapping[str, MultiTool], overrides: Mapping[str, Mapping[str, Any]]
) -> dict[str, Plan]:
    """Merge the plans of the operations of each tool.

    The confidence is the average of the choices. A call of a guessed choice is marked as guessed.
    """
    parts = {variant.id for tool in multi_tools.values() for variant in tool.variants.values()}
    whole = {id_: plan for id_, plan in plans.items() if id_ not in parts}
    return whole | {id_: _merge_variants(tool, plans, overrides.get(id_, {})) for id_, tool in multi_tools.items()}


def _merge_variants(multi_tool: MultiTool, plans: Mapping[str, Plan], declared: Mapping[str, Any]) -> Plan:
    id_ = multi_tool.tool.id
    choices = {value: replace(plans[variant.id], tool=id_) for value, variant in multi_tool.variants.items()}
    known = [plan for plan in choices.values() if plan.backend == "records"]
    if not known:
        return next(iter(choices.values()))
    reasons = (f"{multi_tool.argument} = {value}: {plan.verb} {plan.entity or ''}" for value, plan in choices.items())
    main = next((plan for plan in known if plan.verb in {"update", "create", "delete"}), known[0])
    confidence = round(sum(plan.confidence for plan in choices.values()) / len(choices), 2)
    plan = Plan(id_, main.verb, main.entity, choice=multi_tool.argument, choices=choices)
    kept = {name: getattr(plan, name) for name in ("entity", "choice", "choices") if name in declared}
    return plan.with_declared(kept).with_basis(confidence, *map(str.strip, reasons))
