"""Evidence for and against the plan of a tool: other tools, arguments, the result, annotations."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from mcp_sim.plans.infer.arguments import key_argument
from mcp_sim.plans.infer.evidence import Attribute, Evidence
from mcp_sim.plans.infer.features import ToolFeatures
from mcp_sim.plans.infer.states import find_deadline
from mcp_sim.plans.infer.verbs import INSPECTION_VERBS, QUALIFIERS, RECORDLESS_VERBS, classify_verb
from mcp_sim.types.domain import Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import RECORDLESS, Plan

_NUMBERS = frozenset({"integer", "number"})
_READS = frozenset({"get", "list", "search"})
_SAME_KIND = (_READS, frozenset({"create"}), frozenset({"update"}), frozenset({"delete"}))
_KEY_EVIDENCE = {
    3: (0.1, "an id names the record"),
    2: (0.05, "an argument names the record"),
    1: (-0.15, "the only argument may name the record"),
    0: (0.0, "the spec names the key argument, or it is the only id by which tools ask for such a record"),
}
_VAGUE_VERBS, _LATE = terms("verbs.vague"), terms("states.late")


def count_verbs(feature_list: Sequence[ToolFeatures]) -> dict[str, int]:
    """Return the number of kinds of tools that mention each entity."""
    verbs: dict[str, set[str]] = defaultdict(set)
    for features in feature_list:
        if features.verb not in RECORDLESS:
            verbs[features.entity].add(features.verb)
    return {entity: len(verb) for entity, verb in verbs.items()}


@frozen
class PlanFacts:
    """A planned tool, and what its plan is judged by."""

    features: ToolFeatures
    plan: Plan
    entity: Entity
    verbs: int
    """The number of kinds of tools that mention the entity."""
    is_declared: bool
    held: frozenset[str]
    """The fields that given records have."""

    def evidence(self, attribute: Attribute, weight: float, reason: str) -> Evidence:
        """Return evidence about the value that an attribute has in the plan."""
        return Evidence(self.plan.tool, attribute, getattr(self.plan, attribute, None), weight, reason)


def read_plan(facts: PlanFacts) -> Iterator[Evidence]:
    """Yield the evidence for and against a plan, besides what chose its verb and its entity."""
    parsed, plan = facts.features.parsed, facts.plan
    if facts.features.parsed.status is not None and plan.fixed:
        changed = ", ".join(f"{name} = {json.dumps(value)}" for name, value in plan.fixed.items())
        yield facts.evidence("verb", 0.25, f"'{parsed.word}' means {changed}")
    described = classify_verb(parsed.described_verb)
    if not parsed.verb_from_description and any({described, plan.verb} <= kind for kind in _SAME_KIND):
        yield facts.evidence("verb", 0.05, f"its description begins with '{parsed.described_verb}'")
    if parsed.batch:
        yield facts.evidence("verb", -0.3, "several records at once")
    yield from _from_other_tools(facts)
    if state := _unknown_state(facts):
        yield facts.evidence("verb", -0.3, f"no field says which are '{state}'")
    if plan.verb in {"get", "update", "delete"}:
        yield facts.evidence("key", *_key_evidence(facts))
    yield from _from_fields(facts)
    annotations, is_read = facts.features.tool.annotations, facts.plan.verb in _READS
    reads = annotations.get("readOnlyHint")
    if reads is True:
        yield facts.evidence("verb", *((0.05, "read-only") if is_read else (-0.4, "annotated as read-only")))
    elif reads is False and is_read:
        yield facts.evidence("verb", -0.2, "annotated as changing something")
    elif annotations.get("destructiveHint") is True and facts.plan.verb == "delete":
        yield facts.evidence("verb", 0.05, "destructive")


def _from_fields(facts: PlanFacts) -> Iterator[Evidence]:
    if facts.plan.verb == "create" and not facts.plan.sets:
        yield facts.evidence("fields", -0.3, "takes nothing that a record could hold")
    if _sets_number_apart(facts):
        yield facts.evidence("fields", -0.3, "no given record has the number that it takes")


def _unknown_state(facts: PlanFacts) -> str:
    """Return the state that the name of a list asks for, if no field says which records have it."""
    noun, plan = facts.features.parsed.noun, facts.plan
    state = next(iter(noun), "") if plan.verb == "list" and noun[1:] in {(), words(plan.entity or "")} else ""
    is_known = find_deadline(facts.features.tool.name, plan, facts.entity) or (plan.fixed and state not in _LATE)
    return state if state in QUALIFIERS and not is_known else ""


def _sets_number_apart(facts: PlanFacts) -> bool:
    """Whether all that an update sets are numbers that given records lack: the `amount` paid of a `fine`."""
    plan, parts = facts.plan, properties(facts.features.input)
    kinds = {main_type(parts.get(path, {})) for path in plan.sets}
    is_apart = facts.held.isdisjoint(name.partition(".")[0] for name in plan.sets.values())
    return bool(facts.held and kinds) and kinds <= _NUMBERS and is_apart and plan.verb == "update" and not plan.fixed


def _from_other_tools(facts: PlanFacts) -> Iterator[Evidence]:
    name, parsed = facts.entity.name, facts.features.parsed
    if facts.is_declared:
        yield facts.evidence("entity", 0.15, f"{name} is declared")
    elif facts.verbs > 1:
        yield facts.evidence("entity", 0.1, f"{facts.verbs} kinds of tools mention '{name}'")
    else:
        lists = parsed.word == "list" and parsed.plural
        yield facts.evidence("entity", -0.1 if lists else -0.15, f"only one kind of tool mentions '{name}'")


def _key_evidence(facts: PlanFacts) -> tuple[float, str]:
    """Return the weight of the argument that names the record.

    A name or a path counts if other tools mention the entity.
    """
    plan, entity = facts.plan, facts.entity
    if plan.key is None:
        return _without_key(facts)
    _, score = key_argument(plan.verb, entity.name, "id", facts.features.input)
    is_natural = (facts.verbs > 1 or facts.is_declared) and snake(plan.key) == snake(entity.key)
    score = max(score, 2) if is_natural else score
    if entity.open and score < 2:
        return (0.0 if properties(facts.features.output) else -0.1), "a record exists for every key"
    return _KEY_EVIDENCE[score]


def _without_key(facts: PlanFacts) -> tuple[float, str]:
    plan, entity = facts.plan, facts.entity
    if entity.singleton:
        return 0.0, f"there is only one {entity.name}"
    if plan.filters and (plan.verb != "get" or len(plan.filters) > 1):
        return 0.05, f"{' and '.join(plan.filters)} identify the record"
    if plan.filters:
        return -0.05, "found by a field, not by its key"
    if facts.features.parsed.one_of_a_kind and plan.verb == "get":
        return -0.2, "it names none: the current record is meant"
    return -0.3, "no argument names the record"


def read_recordless(features: ToolFeatures, *, is_mentioned: bool) -> Iterator[Evidence]:
    """Yield the evidence that a tool touches no records, and that against it.

    `is_mentioned`: other tools work on something that its name or its arguments mention.
    """
    evidence = partial(Evidence, features.tool.id, "verb", "none")
    name, verb, described = features.parsed.word, features.parsed.recordless_verb, features.parsed.described_verb
    yield evidence(0.35, "the name has no verb of records" if verb or not name else f"'{name}' names no record")
    if verb:
        yield evidence(0.1 if verb in _VAGUE_VERBS else 0.2, f"'{verb}' touches no records")
    if described in RECORDLESS_VERBS | INSPECTION_VERBS:
        weight = 0.05 if described in _VAGUE_VERBS else 0.15 if verb else 0.2
        yield evidence(weight, f"its description begins with '{described}'")
    if is_mentioned:
        yield evidence(-0.15, "other tools work on something it mentions")  # what it may change: a guess
    else:
        yield evidence(0.1, "no other tool works on anything it mentions")
    if features.tool.annotations.get("destructiveHint") is True:
        yield evidence(-0.3, "annotated as destructive")
