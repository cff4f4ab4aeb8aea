"""Tools that do several things, split into one tool for each value of an argument."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mcp_sim.infer.descriptions import choices_of
from mcp_sim.infer.names import parse_name
from mcp_sim.infer.server_names import last_segment
from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.shapes import properties, required
from mcp_sim.types.lexicon.english import singular, singular_phrase, snake, vocabulary, words
from mcp_sim.types.plans import Plan

_CHOOSERS = vocabulary(
    "operation action mode command op method verb subcommand operation_type action_type operation_name action_name"
)
_GENERIC = vocabulary(
    "manage manager management managing handle handler control perform execute run do process operate use work crud "
    "tool tools operation operations ops action actions api admin administer"
)
_LISTED = re.compile(r"(?<![\w-])[\w-]+(?:\s*(?:\||,|/|\bor\b)\s*(?:or\s+)?[\w-]+)+")
_REQUIRED = re.compile(r"\b(?:required|needed|necessary|mandatory)\b[^.;]*", re.IGNORECASE)
_READ_ARGUMENTS = vocabulary(
    "query q search search_query search_term search_text keyword keywords limit page_size per_page max_results offset "
    "skip page cursor page_token sort sort_by sort_order order order_by filter filters"
)
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
    found = {id_: _declared_multi_tool(tool, overrides.get(id_, {})) for id_, tool in tools.items()}
    return {id_: one for id_, one in found.items() if one is not None}


def _declared_multi_tool(tool: Tool, overrides: Mapping[str, Any]) -> MultiTool | None:
    """Return the operations of a tool. A spec may declare the argument and further values."""
    inferred = _detect_multi_tool(tool)
    if not {"choice", "choices"} & overrides.keys():
        return inferred if overrides.keys() <= _COMBINABLE else None
    argument = overrides.get("choice") or (inferred.argument if inferred is not None else "")
    if argument not in properties(tool.input_schema):
        return None
    values = [*(inferred.variants if inferred is not None else ()), *overrides.get("choices", {})]
    return _split_tool(tool, argument, values)


def variant_overrides(
    multi_tools: Mapping[str, MultiTool], overrides: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the overrides of each operation, by the id of its tool."""
    found: dict[str, Mapping[str, Any]] = {}
    for id_, one in multi_tools.items():
        override = overrides.get(id_, {})
        for value, variant in one.variants.items():
            known = {**_shared_overrides(override, value), **override.get("choices", {}).get(value, {})}
            found |= {variant.id: known} if known else {}
    return found


def _shared_overrides(overrides: Mapping[str, Any], value: str) -> dict[str, Any]:
    """Return the overrides of the tool that apply to one operation.

    No key names new records or several.
    """
    left_out = {"key"} if parse_name(words(value)).verb in {"create", "list", "search"} else set[str]()
    return {name: overrides[name] for name in overrides if name in _SHARED - left_out}


def split_tools(tools: Mapping[str, Tool], multi_tools: Mapping[str, MultiTool]) -> dict[str, Tool]:
    """Return the tools, with those of several operations split."""
    whole = {id_: tool for id_, tool in tools.items() if id_ not in multi_tools}
    return whole | {variant.id: variant for one in multi_tools.values() for variant in one.variants.values()}


def merge_plans(
    plans: Mapping[str, Plan], multi_tools: Mapping[str, MultiTool], overrides: Mapping[str, Mapping[str, Any]]
) -> dict[str, Plan]:
    """Merge the plans of the operations of each tool.

    The confidence is the average of the choices. A call of a guessed choice is marked as guessed.
    """
    parts = {variant.id for one in multi_tools.values() for variant in one.variants.values()}
    whole = {id_: plan for id_, plan in plans.items() if id_ not in parts}
    return whole | {id_: _merge_variants(one, plans, overrides.get(id_, {})) for id_, one in multi_tools.items()}


def _merge_variants(multi_tool: MultiTool, plans: Mapping[str, Plan], overrides: Mapping[str, Any]) -> Plan:
    id_ = multi_tool.tool.id
    choices = {value: replace(plans[variant.id], tool=id_) for value, variant in multi_tool.variants.items()}
    known = [plan for plan in choices.values() if plan.backend == "records"]
    if not known:
        return next(iter(choices.values()))
    reasons = tuple(f"{multi_tool.argument} = {value}: {_summary(plan)}" for value, plan in choices.items())
    main = next((plan for plan in known if plan.verb in {"update", "create", "delete"}), known[0])
    confidence = round(sum(plan.confidence for plan in choices.values()) / len(choices), 2)
    plan = Plan(id_, main.verb, main.entity, choice=multi_tool.argument, choices=choices)
    declared = {name: getattr(plan, name) for name in ("entity", "choice", "choices") if name in overrides}
    return plan.with_declared(declared).with_basis(confidence, *reasons)


def _summary(plan: Plan) -> str:
    text = f"{plan.verb} {plan.entity or ''}".strip()
    return f"{text} (a guess)" if plan.guessed else text


def _detect_multi_tool(tool: Tool) -> MultiTool | None:
    noun = _noun_of(tool)
    for argument, schema in properties(tool.input_schema).items():
        values = _values(schema) if "_".join(words(argument)) in _CHOOSERS else []
        if sum(map(_is_sure, values)) >= _MIN_VERBS and not (noun and parse_name(noun).sure):
            return _split_tool(tool, argument, values)
    return None


def _noun_of(tool: Tool) -> tuple[str, ...]:
    return tuple(word for word in words(last_segment(tool.name)) if word not in _GENERIC)


def _split_tool(tool: Tool, argument: str, values: Iterable[str]) -> MultiTool:
    return MultiTool(
        tool, argument, {value: _make_variant(tool, argument, value, _noun_of(tool)) for value in dict.fromkeys(values)}
    )


def _values(schema: Record) -> list[str]:
    """Return the values of an argument: an enum, or a list in the description that is mostly verbs."""
    listed_values = [value for value in choices_of(schema) if isinstance(value, str)]
    if listed_values:
        return listed_values
    runs = [re.findall(r"[\w-]+", run[0]) for run in _LISTED.finditer(str(schema.get("description", "")))]
    listed = max(([word for word in run if word != "or"] for run in runs), key=len, default=list[str]())
    return [*dict.fromkeys(listed)] if 2 * sum(map(_is_sure, listed)) > len(listed) else []


def _is_sure(value: str) -> bool:
    return bool(words(value)) and parse_name(words(value)).sure


def _make_variant(tool: Tool, argument: str, value: str, noun: tuple[str, ...]) -> Tool:
    """Return the tool as if it had only this operation."""
    schema = tool.input_schema
    rest = {name: part for name, part in _variant_arguments(tool, value, noun).items() if name != argument}
    asked = required(schema)
    needed = [name for name in rest if name in asked or _is_required_for(rest[name], value)]
    body = {**schema, "properties": rest, "required": needed}
    definition = {
        **tool.definition,
        "name": "_".join(_variant_name(value, noun)),
        "inputSchema": body,
        "annotations": {},
    }
    return replace(tool, id=f"{tool.id}#{value}", definition=definition)


def _variant_arguments(tool: Tool, value: str, noun: tuple[str, ...]) -> dict[str, Record]:
    """Return the arguments of the operation. Writes take no query, and new records have no id."""
    verb, parts = parse_name(words(value)).verb, properties(tool.input_schema)
    if verb in {"list", "search", "unknown"}:
        return parts
    left_out = _READ_ARGUMENTS
    if verb == "create":
        entity = singular_phrase(noun)
        left_out |= {"id", f"{entity}_id", f"{entity.rsplit('_', 1)[-1]}_id"}
    return {name: part for name, part in parts.items() if snake(name) not in left_out or _is_required_for(part, value)}


def _is_required_for(schema: Record, value: str) -> bool:
    """Whether the description requires it for the operation: `The title (required for create and update)`."""
    required_for = {word for run in _REQUIRED.findall(str(schema.get("description", ""))) for word in words(run)}
    return set(words(value)) <= required_for


def _variant_name(value: str, noun: tuple[str, ...]) -> Iterator[str]:
    """Yield the words of the operation's name: `list_notes` for `list` of a tool for notes."""
    parts = words(value)
    nouns_in_value = {singular(word) for word in parse_name(parts).noun}
    nouns = {singular(word) for word in noun}
    if not noun or nouns_in_value & nouns:
        yield from parts
        return
    place = next((at + 1 for at, word in enumerate(parts) if parse_name((word,)).word), 1)
    many = parse_name(parts).verb in {"list", "search"}
    named = noun if many else (*noun[:-1], singular(noun[-1]))
    yield from (*parts[:place], *named, *parts[place:])
