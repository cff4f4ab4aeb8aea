"""How sure is a plan, and what speaks for and against it?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import Reading
from mcp_sim.infer.verbs import verb_meant
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import at, main_type, properties, required
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import Plan

_LOOKING = frozenset({"get", "list", "search"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is looked at to judge a plan; the schemas are expanded."""

    reading: Reading
    plan: Plan
    entity: Entity
    input: Record
    output: Record
    annotations: Record
    unexplained: tuple[str, ...]


def judged(evidence: Evidence, verbs: int, is_declared: bool) -> tuple[float, tuple[str, ...]]:
    """A number in (0, 1) and the reasons for it. `verbs`: how many kinds of tools speak of the entity."""
    weights = [*_from_name(evidence), *_from_company(verbs, is_declared, evidence)]
    weights += _from_arguments(evidence, is_natural=verbs > 1 or is_declared)
    weights += [*_from_output(evidence), *_from_annotations(evidence)]
    total = sum(weight for weight, _ in weights)
    return round(min(0.99, max(0.05, total)), 2), tuple(reason for _, reason in weights)


def _from_name(evidence: Evidence) -> Iterator[tuple[float, str]]:
    reading, plan = evidence.reading, evidence.plan
    if reading.status is not None or plan.fixed:
        told = ", ".join(f"{name} = {json.dumps(value)}" for name, value in plan.fixed.items())
        yield (
            (0.65, f"'{reading.word}' means {told}" if reading.word else f"it leads to {told}")
            if told
            else (0.4, f"'{reading.word}' changes a state, unclear which")
        )
    elif reading.sure:
        yield 0.7, f"'{reading.word}' means {reading.verb}"
    elif reading.told:
        yield 0.5, f"its description begins with '{reading.said}'"
    else:
        yield 0.5, f"'{reading.word}' may mean {plan.verb}" if reading.word else "no verb in the name"
    if not reading.told and _says_the_same(reading, plan):
        yield 0.05, f"its description begins with '{reading.said}'"
    if plan.how:
        changed = ", ".join(f"{how} {name}" for name, how in plan.how.items())
        yield 0.0, f"the {plan.entity} has such a list: {changed}"
    elif plan.verb != reading.verb and reading.status is None:
        yield -0.05, f"arguments and result make it {'an' if plan.verb == 'update' else 'a'} {plan.verb}"
    if reading.batch:
        yield -0.3, "several records at once"
    if reading.one_of_a_kind:
        yield -0.2, "one of a kind, not one of many"


def _says_the_same(reading: Reading, plan: Plan) -> bool:
    """Does the description begin with a verb that means what the plan does?"""
    said = verb_meant(reading.said)
    kinds = [{"get", "list", "search"}, {"create"}, {"update"}, {"delete"}]
    return said is not None and any({said, plan.verb} <= kind for kind in kinds)


def _from_company(verbs: int, is_declared: bool, evidence: Evidence) -> Iterator[tuple[float, str]]:
    if is_declared:
        yield 0.15, f"{evidence.entity.name} is declared"
    elif verbs > 1:
        yield 0.1, f"{verbs} kinds of tools speak of a '{evidence.entity.name}'"
    else:
        lists = evidence.reading.word in {"list", "enumerate"} and evidence.reading.plural
        yield -0.1 if lists else -0.15, f"only one kind of tool speaks of a '{evidence.entity.name}'"


def _from_arguments(evidence: Evidence, *, is_natural: bool) -> Iterator[tuple[float, str]]:
    """`is_natural`: a key that is a name or a path is believed, since other tools speak of the entity too."""
    plan = evidence.plan
    if plan.verb in {"get", "update", "delete"}:
        _, score = key_argument(plan.verb, evidence.entity.name, "id", evidence.input)
        score = max(score, 2) if is_natural and snake(plan.key or "") == snake(evidence.entity.key) else score
        yield _key_told(evidence, score)
    if plan.verb == "create" and not plan.sets:
        yield -0.3, "takes nothing that a record could hold"
    if plan.verb in _LOOKING:
        lost = [name for name in evidence.unexplained if name in required(evidence.input)]
        if lost:
            yield -0.2, f"unclear what {', '.join(lost)} is for"


def _key_told(evidence: Evidence, score: int) -> tuple[float, str]:
    if evidence.plan.key is not None and evidence.entity.open and score < 2:
        known = bool(properties(evidence.output))
        return (0.0 if known else -0.1), "there is one for whatever is asked for"
    if evidence.plan.key is not None:
        return _KEY_TOLD[score]
    if evidence.plan.filters and (evidence.plan.verb != "get" or len(evidence.plan.filters) > 1):
        return 0.05, f"{' and '.join(evidence.plan.filters)} tell which record it is"
    if evidence.plan.filters:
        return -0.05, "found by a field, not by its key"
    if evidence.reading.one_of_a_kind and evidence.plan.verb == "get":
        return 0.0, "it names none, and means the one of now"
    return -0.3, "no argument names the record"


_KEY_TOLD = {
    3: (0.1, "an id names the record"),
    2: (0.05, "an argument names the record"),
    1: (-0.15, "the only argument may name the record"),
    0: (0.0, "the spec names the key argument"),
}


def _from_output(evidence: Evidence) -> Iterator[tuple[float, str]]:
    plan, output = evidence.plan, evidence.output
    if not properties(output):
        return
    envelope = plan.envelope
    if plan.verb in {"list", "search"} and evidence.reading.word == "count" and envelope.total is not None:
        yield 0.1, f"how many there are, at '{envelope.total}'"
    elif plan.verb in {"list", "search"}:
        yield (0.1, f"rows at '{envelope.rows}'") if envelope.rows is not None else (-0.3, "its result holds no rows")
    elif plan.verb == "delete":
        told = envelope.success is not None or envelope.key is not None
        yield (0.1, "its result confirms") if told else (0.0, "its result says nothing of a record")
    else:
        yield _record_told(evidence, properties(at(output, envelope.record)) if envelope.record is not None else {})


def _record_told(evidence: Evidence, shown: Record) -> tuple[float, str]:
    if any(snake(name) == snake(evidence.entity.key) for name in shown):
        return 0.1, f"its result is the {evidence.entity.name}"
    if evidence.plan.envelope.key is not None:
        return 0.05, "its result holds the id"
    if main_type(evidence.output) != "object" or not set(shown) & set(evidence.entity.fields):
        return -0.2, "its result is no record"
    return 0.0, "its result is a part of the record"


def _from_annotations(evidence: Evidence) -> Iterator[tuple[float, str]]:
    reads = evidence.annotations.get("readOnlyHint")
    looks = evidence.plan.verb in _LOOKING
    if reads is True:
        yield (0.05, "read-only") if looks else (-0.4, "said to be read-only")
    elif reads is False and looks:
        yield -0.2, "said to change something"
    elif evidence.annotations.get("destructiveHint") is True and evidence.plan.verb == "delete":
        yield 0.05, "destructive"
