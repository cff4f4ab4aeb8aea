"""Guess what a tool may do to which records, other than its plan says, from what its calls take, show and change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.infer.keys import noun_of_key
from mcp_sim.recordings.align import is_id
from mcp_sim.recordings.learning.effects import may_have_other_plan, owners_of
from mcp_sim.recordings.learning.samples import Sample
from mcp_sim.recordings.observed import key_of, leaves, normal
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import canonical
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.plans import RECORDLESS

_SURE = 0.9
"""The confidence from which on a plan that answers calls is not doubted."""
_MOST_ENTITIES = 2
"""How many entities are tried for a tool."""
_MOST_PARTS = 2
"""How many plans are tried for a tool."""


def hypotheses(samples: Sequence[Sample], domain: Domain) -> dict[str, list[Record]]:
    """Return other plans by tool, as a spec declares them under `sim:`, the likeliest first."""
    owners = owners_of(samples, domain)
    found: dict[str, list[Record]] = {}
    for tool in dict.fromkeys(sample.tool for sample in samples):
        own = [sample for sample in samples if sample.tool == tool and not sample.recorded.failed]
        if own and may_have_other_plan(own[0]) and _is_doubtful(own):
            parts = [part for entity in _entities(own, domain, owners) for part in _parts(own, entity, samples, owners)]
            unlike = {canonical(part): part for part in parts if not _is_planned(part, own[0])}
            found |= {tool: [*unlike.values()][:_MOST_PARTS]} if unlike else {}
    return found


def _is_doubtful(own: Sequence[Sample]) -> bool:
    """Whether a plan is little more than a guess, or refuses calls that the real server answers."""
    plan = own[0].plan
    failed = sum(not sample.served for sample in own)
    return plan.verb in RECORDLESS or plan.confidence < _SURE or failed * 2 > len(own)


def _is_planned(part: Record, sample: Sample) -> bool:
    """Whether the plan of a tool is the same already."""
    plan = sample.plan
    return (part["verb"], part["entity"], part.get("key")) == (plan.verb, plan.entity, plan.key) and (
        "sets" not in part or part["sets"] == plan.sets
    )


def _entities(own: Sequence[Sample], domain: Domain, owners: Mapping[str, str]) -> list[Entity]:
    """Return the entities that a tool may work on: those whose keys, fields or name its calls mention."""
    named = {argument for sample in own for argument in sample.arguments}
    shown = {key_of(path) for sample in own for path, _ in leaves(sample.value)}
    values = [owners.get(normal(leaf) or "") for sample in own for _, leaf in leaves(sample.arguments)]

    def weight(entity: Entity) -> float:
        fields = {*entity.fields}
        overlap = len(named & fields) + len(shown & fields) / 2
        is_named = bool({*words(entity.name)} & {*words(own[0].tool)})
        is_given = entity.name in domain.given
        return overlap + 2 * is_named + 2 * is_given + 4 * (entity.name in values) + (entity.name == own[0].plan.entity)

    whole = [entity for entity in domain.entities.values() if entity.inside is None and not entity.singleton]
    ranked = sorted(((weight(entity), entity) for entity in whole), key=lambda one: (-one[0], one[1].name))
    return [entity for likeness, entity in ranked if likeness > 1][:_MOST_ENTITIES]


def _parts(
    own: Sequence[Sample], entity: Entity, samples: Sequence[Sample], owners: Mapping[str, str]
) -> Iterator[Record]:
    """Yield what a tool may do to records of an entity."""
    key = _key_argument(own, entity, owners)
    given = [*dict.fromkeys(name for sample in own for name in sample.arguments if name != key)]
    base: Record = {"entity": entity.name}
    sets = {name: name for name in own[0].known_arguments if name != key}
    plan = own[0].plan
    may_write = plan.verb not in {"get", "list", "search"}
    if key is not None:
        is_gone = may_write and _is_gone(own, key, samples)
        if is_gone:
            yield {"verb": "delete", **base, "key": key}
        if may_write and given:
            yield {"verb": "update", **base, "key": key, "sets": sets}
        if not is_gone:
            yield {"verb": "get", **base, "key": key}
        return
    if may_write and any(sample.fresh for sample in own):
        yield {"verb": "create", **base, "sets": sets}
    if plan.verb != "create" and (
        any(isinstance(leaf, list) for sample in own for leaf in _parts_of(sample.value)) or not given
    ):
        filters = {name: {"field": name} for name in given if name in entity.fields}
        yield {"verb": "list", **base, **({"filters": filters} if filters else {})}


def _parts_of(value: Json) -> Sequence[Json]:
    return [value, *as_object(value).values()]


def _key_argument(own: Sequence[Sample], entity: Entity, owners: Mapping[str, str]) -> str | None:
    """Return the argument that names a record of an entity."""
    names = [*dict.fromkeys(name for sample in own for name in sample.known_arguments)]
    given = [(name, value) for sample in own for name, value in sample.arguments.items() if is_id(name, value)]
    valued = [name for name, value in given if owners.get(normal(value) or "") == entity.name]
    named = [name for name in names if name == entity.key or noun_of_key(name) == entity.name]
    used = {name for sample in own for name in sample.arguments}
    both = [name for name in named if name in valued]
    return next((name for name in (*both, *named, *valued) if name in used), None)


def _is_gone(own: Sequence[Sample], key: str, samples: Sequence[Sample]) -> bool:
    """Whether records are gone after the calls of a tool.

    Later calls with their keys fail. If there are none, and a tool takes only keys, later answers lack what the same
    calls showed before.
    """
    pairs = [(sample, other) for sample in own for other in samples if other.session == sample.session]
    later = [other.recorded.failed for sample, other in pairs
             if other.seq > sample.seq and _takes(other, sample.arguments.get(key))]  # fmt: skip
    if not later and all({*sample.arguments} == {key} for sample in own):
        later = [gone for sample in own for gone in _absences(sample, normal(sample.arguments[key]) or "", samples)]
    return bool(later) and all(later)


def _takes(sample: Sample, value: Json) -> bool:
    return normal(value) in {normal(leaf) for leaf in sample.arguments.values()}


def _absences(sample: Sample, key: str, samples: Sequence[Sample]) -> Iterator[bool]:
    """Yield for the later answers of calls that have shown a key before whether they lack it."""
    word, shown = re.compile(rf"(?<!\w){re.escape(key)}(?!\w)"), dict[str, bool]()
    for other in samples:
        if other.session == sample.session and not _takes(other, key):
            call, shows = canonical([other.tool, other.arguments]), word.search(canonical(other.value)) is not None
            if other.seq < sample.seq:
                shown[call] = shows
            elif shown.get(call):
                yield not shows
