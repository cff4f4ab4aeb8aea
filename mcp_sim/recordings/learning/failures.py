"""Induce error templates from recorded failures, by cause."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from mcp_sim.plans.refusal import label, noun
from mcp_sim.recordings.learning.samples import Sample, parsed_text
from mcp_sim.recordings.learning.slots import literal
from mcp_sim.spec.sessions import PLACEHOLDER
from mcp_sim.types import Json, Record, ToolResult, canonical
from mcp_sim.types.error_templates import slots_in
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.tools import data_in

_CAUSES = (
    ("not_found", r"not found|not exist|doesn't exist|no such|unknown|could ?n[o']t find|cannot find|\bno \w+ with\b"),
    ("conflict", r"already|duplicate|conflict|\bexists\b"),
    ("missing", r"\b(required|missing)\b"),
    ("invalid", r"invalid|must be|must not|expected|not one of|not allowed|validation"),
)
_MISSING = re.compile(r"'([^']+)' is a required property")
_SHORTEST = 2  # a single letter is in too many texts to be the value of an argument there
_GENERIC = frozenset({"value", "label", "argument", "problem"})  # slots that say what is wrong with a call of any tool


def induce_failures(samples: Sequence[Sample], tools: Mapping[str, Record]) -> dict[str, Record]:
    """Return error templates by tool and cause, as specs declare them."""
    templates = defaultdict[tuple[str, str], list[Json]](list)
    for sample, cause in _failed(samples, tools):
        slots = {**_problem_slot(sample, tools[sample.tool]), **_own_slots(sample)}
        templates[sample.tool, cause].append(_template(sample, slots))
    by_tool: dict[str, Record] = {}
    for tool, cause in sorted(templates):
        by_tool.setdefault(tool, {})[cause] = _usual(templates[tool, cause])
    return by_tool


def _failed(samples: Sequence[Sample], tools: Mapping[str, Record]) -> Iterator[tuple[Sample, str]]:
    """Yield the calls of known tools that failed, each with its cause."""
    succeeded = [sample for sample in samples if not sample.recorded.failed]
    accepted = {(sample.session, canonical(value)) for sample in succeeded for value in sample.arguments.values()}
    for sample in samples:
        if sample.recorded.failed and sample.tool in tools:
            # The simulation's cause is wrong if it misses a record that other calls of the session have found.
            key = canonical(sample.arguments.get(sample.plan.key or ""))
            is_wrong = sample.refusal == "not_found" and (sample.session, key) in accepted
            yield sample, sample.refusal if sample.refusal and not is_wrong else cause_of(sample, tools[sample.tool])


def shared_failures(samples: Sequence[Sample], tools: Mapping[str, Record]) -> Record:
    """Return the error templates of the whole spec, for tools without a recorded failure of a cause.

    They are those that several tools share, or that name what is wrong with the call. Others are about one tool.
    """
    by_cause = defaultdict[str, list[tuple[str, Json]]](list)
    for sample, cause in _failed(samples, tools):
        if cause in {"missing", "invalid", "not_found", "conflict"}:
            slots = {**_generic_slots(sample, cause), **_problem_slot(sample, tools[sample.tool])}
            by_cause[cause].append((sample.tool, _template(sample, slots)))
    shared = {
        cause: [template for _, template in named if _is_shared(template, named)]
        for cause, named in sorted(by_cause.items())
    }
    return {cause: _usual(templates) for cause, templates in shared.items() if templates}


def _is_shared(template: Json, named: Iterable[tuple[str, Json]]) -> bool:
    """Whether a template is that of several tools, or has slots for what they differ in."""
    tools = {tool for tool, other in named if canonical(other) == canonical(template)}
    return len(tools) > 1 or bool(slots_in(template) & _GENERIC)


def _usual(templates: Iterable[Json]) -> Json:
    """Return the most common template, the first of several."""
    listed = list(templates)
    counts = Counter(map(canonical, listed))
    return max(listed, key=lambda template: counts[canonical(template)])


def cause_of(sample: Sample, tool: Record) -> str:
    """Return the kind of a recorded failure: by the inputSchema, else by its text."""
    problems = _problems(sample, tool)
    if problems:
        return "missing" if _MISSING.search(problems[0]) else "invalid"
    text = canonical(sample.recorded.value)
    return next((cause for cause, pattern in _CAUSES if re.search(pattern, text, re.IGNORECASE)), "default")


def _problems(sample: Sample, tool: Record) -> Sequence[str]:
    try:
        return Validator(expanded(tool["inputSchema"])).problems(sample.arguments)
    except (ValueError, KeyError):
        return ()


def _problem_slot(sample: Sample, tool: Record) -> dict[str, str]:
    """Return the slot for the explanation of an invalid argument, as usual libraries word it."""
    problems = _problems(sample, tool)
    message = re.sub(r"^[\w.\[\]]+: ", "", problems[0]) if problems else ""
    return {message: "problem"} if message else {}


def _own_slots(sample: Sample) -> dict[str, str]:
    """Return the values of slots of one tool: its arguments."""
    argument_names = {_plain(value): name for name, value in sample.arguments.items() if _plain(value)}
    return {value: name for value, name in argument_names.items() if len(value) >= _SHORTEST or value.isdigit()}


def _generic_slots(sample: Sample, cause: str) -> dict[str, str]:
    """Return the values of slots that other tools have, too."""
    key = _plain(sample.arguments.get(sample.plan.key or ""))
    entity = sample.plan.entity
    missing = _missing(sample) if cause == "missing" else ""
    slots = {} if entity is None else {label(entity): "label", noun(entity): "noun"}
    return {**slots, sample.tool: "tool", missing: "argument", key: "value"}


def _missing(sample: Sample) -> str:
    """Return the argument that a recorded failure reports as missing."""
    text = canonical(sample.recorded.value)
    return next((name for name in sample.known_arguments if re.search(rf"\b{re.escape(name)}\b", text)), "")


def _plain(value: Json) -> str:
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if is_plain else ""


def _template(sample: Sample, slots: Mapping[str, str]) -> Json:
    """Return a recorded failure with slots, as a spec declares it."""
    if "error" in sample.answer:
        error = cast("Record", sample.answer["error"])
        rpc: Record = {"code": error.get("code", -32603), "message": _filled(str(error.get("message", "")), slots)}
        return {"rpc": rpc}
    parsed: Json = parsed_text(sample.value) if isinstance(sample.value, str) else sample.value
    value = _with_slots(literal(parsed), slots)
    soft: Record = {} if sample.recorded.is_error else {"soft": True}
    structured = sample.answer["result"].get("structuredContent")
    if isinstance(structured, dict):
        body = _wrapped(value, cast("Record", structured), slots) if soft else value
        if isinstance(body, dict):
            return {"structured": cast("Record", body), **soft}
    if isinstance(value, str):
        return {"text": value, **soft} if soft else value
    whole: Record = {"json": value, **soft}
    return whole


def _wrapped(value: Json, structured: Record, slots: Mapping[str, str]) -> Json:
    """Return what a success shows as the structured content of a server shows it: as it is, or below `result`.

    There it may be JSON in a text, which keeps its layout, or a Python literal, which stays a text.
    """
    if structured.keys() != {"result"}:
        return value
    shown = structured["result"]
    if not isinstance(shown, str) or isinstance(value, str):
        return {"result": value}
    if data_in(shown) is None:
        return {"result": _with_slots(literal(shown), slots)}
    return ToolResult(structured).with_data(value).value


def _with_slots(value: Json, slots: Mapping[str, str]) -> Json:
    if isinstance(value, dict):
        parts = cast("Record", value).items()
        shown = {name for name, item in parts if slots.get(_plain(item)) == name}
        return {name: f"{{{name}}}" if name in shown else _with_slots(item, slots) for name, item in parts}
    if isinstance(value, list):
        return [_with_slots(item, slots) for item in cast("list[Json]", value)]
    if isinstance(value, str):
        return _filled(value, slots)
    whole = _plain(value)
    return f"{{{slots[whole]}}}" if whole in slots and len(whole) > 1 else value


def _filled(text: str, slots: Mapping[str, str]) -> str:
    bare = PLACEHOLDER.sub("", text)
    if not any(slots):
        return bare
    pattern = "|".join(re.escape(value) for value in sorted(slots, key=len, reverse=True) if value)
    return re.sub(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", lambda match: f"{{{slots[match[0]]}}}", bare)
