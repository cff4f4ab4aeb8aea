"""Confidence of plans, with the reasons for and against them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import ParsedName
from mcp_sim.infer.verbs import (
    INSPECTION_VERBS,
    RECORDLESS_VERBS,
    classify_verb,
    find_described_verb,
)
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import at, main_type, properties, required_among
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan

_READS = frozenset({"get", "list", "search"})
_KEY_EVIDENCE = {
    3: (0.1, "an id names the record"),
    2: (0.05, "an argument names the record"),
    1: (-0.15, "the only argument may name the record"),
    0: (0.0, "the spec names the key argument"),
}
_VAGUE_VERBS = vocabulary("perform execute run exec call invoke handle process trigger")
"""Verbs that apply to anything."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a plan is judged by. The schemas are expanded."""

    parsed: ParsedName
    plan: Plan
    entity: Entity
    input: Record
    output: Record
    annotations: Record
    unexplained: tuple[str, ...]


def judge(evidence: Evidence, verbs: int, is_declared: bool) -> tuple[float, tuple[str, ...]]:
    """Return a confidence between 0 and 1, and its reasons.

    `verbs` is the number of kinds of tools that mention the entity.
    """
    weights = [*_from_name(evidence), *_from_other_tools(verbs, is_declared, evidence)]
    weights += _from_arguments(evidence, is_natural=verbs > 1 or is_declared)
    weights += [*_from_output(evidence), *_from_annotations(evidence)]
    total = sum(weight for weight, _ in weights)
    return round(min(0.99, max(0.05, total)), 2), tuple(reason for _, reason in weights)


def _from_name(evidence: Evidence) -> Iterator[tuple[float, str]]:
    parsed, plan = evidence.parsed, evidence.plan
    if parsed.status is not None or plan.fixed:
        assignments = ", ".join(f"{name} = {json.dumps(value)}" for name, value in plan.fixed.items())
        yield (
            (0.65, f"'{parsed.word}' means {assignments}" if parsed.word else f"it leads to {assignments}")
            if assignments
            else (0.4, f"'{parsed.word}' changes a state, unclear which")
        )
    elif parsed.sure:
        yield 0.7, f"'{parsed.word}' means {parsed.verb}"
    elif parsed.verb_from_description:
        yield 0.5, f"its description begins with '{parsed.described_verb}'"
    else:
        yield 0.5, f"'{parsed.word}' may mean {plan.verb}" if parsed.word else "no verb in the name"
    if not parsed.verb_from_description and _description_agrees(parsed, plan):
        yield 0.05, f"its description begins with '{parsed.described_verb}'"
    if plan.how:
        changed = ", ".join(f"{how} {name}" for name, how in plan.how.items())
        yield 0.0, f"the {plan.entity} has this list: {changed}"
    elif plan.verb != parsed.verb and parsed.status is None:
        yield -0.05, f"arguments and result make it {'an' if plan.verb == 'update' else 'a'} {plan.verb}"
    if parsed.batch and plan.each is None:
        yield -0.3, "several records at once"
    if parsed.one_of_a_kind:
        yield -0.2, "the current record, not one of many"


def _description_agrees(parsed: ParsedName, plan: Plan) -> bool:
    """Whether the description begins with a verb that means the same as the plan."""
    verb = classify_verb(parsed.described_verb)
    kinds = [{"get", "list", "search"}, {"create"}, {"update"}, {"delete"}]
    return verb is not None and any({verb, plan.verb} <= kind for kind in kinds)


def _from_other_tools(verbs: int, is_declared: bool, evidence: Evidence) -> Iterator[tuple[float, str]]:
    if is_declared:
        yield 0.15, f"{evidence.entity.name} is declared"
    elif verbs > 1:
        yield 0.1, f"{verbs} kinds of tools mention '{evidence.entity.name}'"
    else:
        lists = evidence.parsed.word in {"list", "enumerate"} and evidence.parsed.plural
        yield -0.1 if lists else -0.15, f"only one kind of tool mentions '{evidence.entity.name}'"


def _from_arguments(evidence: Evidence, *, is_natural: bool) -> Iterator[tuple[float, str]]:
    """Judge the arguments.

    `is_natural`: other tools mention the entity too, so a key may be a name or a path.
    """
    plan = evidence.plan
    if plan.verb in {"get", "update", "delete"}:
        _, score = key_argument(plan.verb, evidence.entity.name, "id", evidence.input)
        score = max(score, 2) if is_natural and snake(plan.key or "") == snake(evidence.entity.key) else score
        yield _key_evidence(evidence, score)
    if plan.verb == "create" and not plan.sets:
        yield -0.3, "takes nothing that a record could hold"
    if plan.verb in _READS:
        lost = required_among(evidence.unexplained, evidence.input)
        if lost:
            yield -0.2, f"unclear what {', '.join(lost)} is for"


def _key_evidence(evidence: Evidence, score: int) -> tuple[float, str]:
    if evidence.plan.key is not None and evidence.entity.open and score < 2:
        known = bool(properties(evidence.output))
        return (0.0 if known else -0.1), "a record exists for every key"
    if evidence.entity.singleton:
        return 0.0, f"there is only one {evidence.entity.name}"
    if evidence.plan.key is not None:
        return _KEY_EVIDENCE[score]
    if evidence.plan.filters and (evidence.plan.verb != "get" or len(evidence.plan.filters) > 1):
        return 0.05, f"{' and '.join(evidence.plan.filters)} identify the record"
    if evidence.plan.filters:
        return -0.05, "found by a field, not by its key"
    if evidence.parsed.one_of_a_kind and evidence.plan.verb == "get":
        return 0.0, "it names none: the current record is meant"
    return -0.3, "no argument names the record"


def _from_output(evidence: Evidence) -> Iterator[tuple[float, str]]:
    plan, output = evidence.plan, evidence.output
    if not properties(output):
        return
    envelope = plan.envelope
    if plan.verb in {"list", "search"} and evidence.parsed.word == "count" and envelope.total is not None:
        yield 0.1, f"how many there are, at '{envelope.total}'"
    elif plan.verb in {"list", "search"}:
        yield (0.1, f"rows at '{envelope.rows}'") if envelope.rows is not None else (-0.3, "its result holds no rows")
    elif plan.verb == "delete":
        is_confirmed = envelope.success is not None or envelope.key is not None
        yield (0.1, "its result confirms") if is_confirmed else (0.0, "its result shows no record")
    else:
        yield _record_evidence(evidence, properties(at(output, envelope.record)) if envelope.record is not None else {})


def _record_evidence(evidence: Evidence, shown: Record) -> tuple[float, str]:
    if any(snake(name) == snake(evidence.entity.key) for name in shown):
        return 0.1, f"its result is the {evidence.entity.name}"
    if evidence.plan.envelope.key is not None:
        return 0.05, "its result holds the id"
    if main_type(evidence.output) != "object" or not set(shown) & set(evidence.entity.fields):
        return -0.2, "its result is not a record"
    return 0.0, "its result is a part of the record"


def _from_annotations(evidence: Evidence) -> Iterator[tuple[float, str]]:
    reads = evidence.annotations.get("readOnlyHint")
    is_read = evidence.plan.verb in _READS
    if reads is True:
        yield (0.05, "read-only") if is_read else (-0.4, "annotated as read-only")
    elif reads is False and is_read:
        yield -0.2, "annotated as changing something"
    elif evidence.annotations.get("destructiveHint") is True and evidence.plan.verb == "delete":
        yield 0.05, "destructive"


def judge_recordless(name: str, verb: str, tool: Tool, *, is_mentioned: bool) -> tuple[float, tuple[str, ...]]:
    """Return the confidence that a tool touches no records, and its reasons.

    `verb` is the verb of its name that touches none. `is_mentioned`: other tools work on something that its name or its
    arguments mention.
    """
    weights = [
        *_evidence_for_recordless(name, verb, tool),
        *_evidence_against_recordless(tool, is_mentioned=is_mentioned),
    ]
    total = sum(weight for weight, _ in weights)
    return round(min(0.95, max(0.05, total)), 2), tuple(reason for _, reason in weights)


def _evidence_for_recordless(name: str, verb: str, tool: Tool) -> Iterator[tuple[float, str]]:
    yield 0.35, "the name has no verb of records" if verb or not name else f"'{name}' names no record"
    described_verb = find_described_verb(tool.description)
    if verb:
        yield (0.1 if verb in _VAGUE_VERBS else 0.2), f"'{verb}' touches no records"
    if described_verb in RECORDLESS_VERBS | INSPECTION_VERBS:
        yield (
            (0.05 if described_verb in _VAGUE_VERBS else 0.15 if verb else 0.2),
            f"its description begins with '{described_verb}'",
        )
    if not properties(tool.input_schema):
        yield 0.05, "it takes no arguments"


def _evidence_against_recordless(tool: Tool, *, is_mentioned: bool) -> Iterator[tuple[float, str]]:
    if is_mentioned:
        yield -0.1, "other tools work on something it mentions"
    else:
        yield 0.1, "no other tool works on anything it mentions"
    if tool.annotations.get("destructiveHint") is True:
        yield -0.3, "annotated as destructive"
    elif tool.annotations.get("readOnlyHint") is True:
        yield 0.05, "read-only"
