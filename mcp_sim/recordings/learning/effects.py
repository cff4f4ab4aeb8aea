"""Correct plans that recordings contradict: other entities, values that a tool sets itself, rows that it hides."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.infer.keys import noun_of_key
from mcp_sim.recordings.align import is_id
from mcp_sim.recordings.learning.entities import ShownRecord, shown_records
from mcp_sim.recordings.learning.json_forms import paired_rows
from mcp_sim.recordings.learning.samples import Sample
from mcp_sim.recordings.learning.slots import is_same
from mcp_sim.recordings.observed import is_time, leaves, normal
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import NOWHERE, canonical
from mcp_sim.types.plans import RECORDLESS

_SHORTEST_KEY = 4
"""The length from which a key is that of one entity only."""
_KEY_NAMES = frozenset({"id", "key", "name", "uuid"})
_ONE = frozenset({"get", "update", "delete"})
_MANY = frozenset({"list", "search"})
_SIZES = (50, 100, 200, 500, 1000)
"""Usual sizes of pages."""
NOW = "{now}"
"""The value under `fixed` that is the time of the call."""


def corrections(samples: Sequence[Sample], domain: Domain) -> dict[str, Record]:
    """Return corrections of plans by tool, as a spec declares them under `sim:`."""
    owners = owners_of(samples, domain)
    found: dict[str, Record] = {}
    for tool in dict.fromkeys(sample.tool for sample in samples):
        own = [sample for sample in samples if sample.tool == tool and not sample.recorded.failed]
        parts: Record = {}
        if own and may_have_other_plan(own[0]):
            parts = {**_other_entity(own, owners), **_own_values(own, samples), **_hidden_rows(own), **_page_size(own)}
            if not parts and len(own) > 1 and sum(not sample.served for sample in own) * 2 > len(own):
                parts = {"verb": "none"}  # what always fails answers better from its arguments alone
        found |= {tool: parts} if parts else {}
    return found


def may_have_other_plan(sample: Sample) -> bool:
    """Whether a tool works on records, or on nothing that is known."""
    return not sample.plan.choices and sample.plan.backend in {"records", "schema_only"}


# entities -------------------------------------------------------------------------------------------------------------


def owners_of(samples: Sequence[Sample], domain: Domain) -> dict[str, str]:
    """Return the entity of each key that the simulation has shown, or has created."""
    found: dict[str, str] = {}
    for sample in samples:
        entity = domain.entities.get(sample.plan.entity or "")
        if entity is not None and sample.served:
            keys = [sample.scope.record.get(entity.key), *(row.get(entity.key) for row in sample.rows)]
            found |= {name: entity.name for key in keys if (name := normal(key)) is not None}
    return found


def _other_entity(own: Sequence[Sample], owners: Mapping[str, str]) -> Record:
    """Return the entity whose keys a tool takes or shows, if its plan has another one."""
    plan = own[0].plan
    for name in own[0].known_arguments:
        given = [_owner_of(name, sample.arguments.get(name), owners) for sample in own]
        named = {entity for entity in given if entity is not None}
        if len(named) == 1 and (entity := named.pop()) != plan.entity and _may_be_key(name, own):
            verb = plan.verb if plan.verb in _ONE else "get" if _reads(own) else "update"
            return {"verb": verb, "entity": entity, "key": name}
    shown = [owners[key] for sample in own for key in _keys_in(sample) if key in owners]
    usual = max(dict.fromkeys(shown), key=shown.count, default=None)
    if plan.verb in _MANY and any(sample.rows for sample in own):
        return {}
    if usual is not None and usual != plan.entity and (plan.verb in _MANY or plan.verb in RECORDLESS):
        return {"verb": plan.verb if plan.verb in _MANY else "list", "entity": usual}
    return {}


def _owner_of(name: str, value: Json, owners: Mapping[str, str]) -> str | None:
    """Return the entity with this key. A short number says nothing, unless the argument is named after the entity."""
    key = normal(value) or ""
    entity = owners.get(key)
    if entity is None or not is_id(name, value):
        return None
    return entity if len(key) >= _SHORTEST_KEY or noun_of_key(name) == entity else None


def _may_be_key(name: str, own: Sequence[Sample]) -> bool:
    """Whether an argument may be the key of what a tool works on, since its plan has no key, or mostly fails."""
    plan = own[0].plan
    if plan.verb in _MANY:
        return False
    failed = sum(not sample.served for sample in own)
    return plan.key is None or (plan.key == name and failed * 2 > len(own))


def _reads(own: Sequence[Sample]) -> bool:
    """Whether a tool takes nothing but the key of what it shows."""
    return all(len(sample.arguments) <= 1 for sample in own)


def _keys_in(sample: Sample) -> Iterator[str]:
    """Yield the values in an answer that may be keys, except those that the call has given."""
    given = {normal(value) for value in sample.arguments.values()}
    for path, value in leaves(sample.value):
        name = normal(value)
        if path and name is not None and name not in given and len(name) >= _SHORTEST_KEY:
            yield from [name] if str(path[-1]).lower() in _KEY_NAMES else []


# values ---------------------------------------------------------------------------------------------------------------


def _own_values(own: Sequence[Sample], samples: Sequence[Sample]) -> Record:
    """Return the values that a tool sets by itself, and the fields that its arguments set."""
    plan = own[0].plan
    records = [one for sample in own for one in [*shown_records(sample)] or _shown_later(sample, samples)]
    if plan.verb not in {"update", "create"} or not records:
        return {}
    fixed, sets = dict[str, Json](), dict[str, str]()
    for name in dict.fromkeys(name for one in records for name in one.value):
        differing = [one for one in records if name in one.value and not _agrees(one, name)]
        if len(differing) * 2 <= len(records) or _is_own_time(name, differing) or name == plan.key:
            continue
        argument = _argument_of(name, differing, {field for one in records for field in one.value})
        if argument is not None:
            sets[argument] = name
        elif all(_changes(one, name) and is_time(name, one.value[name]) for one in differing):
            fixed |= {name: NOW} if time_meaning(name, {}) != "created" else {}
        elif plan.verb == "update" and _is_constant(name, differing):
            fixed[name] = differing[0].value[name]
    return {
        **({"fixed": {**plan.fixed, **fixed}} if fixed else {}),
        **({"sets": {**plan.sets, **sets}} if sets else {}),
    }


def _shown_later(sample: Sample, samples: Sequence[Sample]) -> list[ShownRecord]:
    """Return the record that a call has changed as the next call shows it, unless another call may have changed it."""
    changed = sample.scope.record
    for other in samples:
        if other.session != sample.session or other.seq <= sample.seq or not sample.served:
            continue
        shown = [one for one in shown_records(other) if _is_same_record(one.scope.record, changed, sample)]
        if shown:
            return [ShownRecord(sample, one.value, one.scope) for one in shown[:1]]
        if other.plan.verb not in {"get", "list", "search"}:
            return []
    return []


def _is_same_record(one: Record, other: Record, sample: Sample) -> bool:
    key = as_object(sample.scope.facts).get("key")
    return key is not None and any(is_same(part, key) for part in one.values()) and {*other} <= {*one}


def _agrees(one: ShownRecord, name: str) -> bool:
    known = one.scope.record.get(name, one.scope.defaults.get(name, NOWHERE))
    return is_same(None if known is NOWHERE else known, one.value[name])


def _is_own_time(name: str, differing: Sequence[ShownRecord]) -> bool:
    """Whether a time differs only since the simulation has a clock of its own."""
    return all(is_time(name, one.value[name]) and one.scope.record.get(name) is not None for one in differing)


def _changes(one: ShownRecord, name: str) -> bool:
    return one.scope.record.get(name) is None


def _argument_of(name: str, differing: Sequence[ShownRecord], shown: Container[str]) -> str | None:
    """Return the argument whose value a field has in all of these records, unless it sets another one that is shown."""
    arguments = [argument for argument in differing[0].sample.arguments if argument != differing[0].sample.plan.key]
    taken = differing[0].sample.plan.sets
    for argument in sorted(arguments, key=lambda one: one != name):
        if argument in taken and argument != name and taken[argument] in shown:
            continue
        if all(is_same(one.sample.arguments.get(argument, NOWHERE), one.value[name]) for one in differing):
            return argument
    return None


def _is_constant(name: str, differing: Sequence[ShownRecord]) -> bool:
    values = {canonical(one.value[name]) for one in differing}
    if any(name not in one.scope.record or is_id(name, one.value[name]) for one in differing):
        return False
    return len(values) == 1 and isinstance(differing[0].value[name], str | bool | int)


# rows -----------------------------------------------------------------------------------------------------------------


def _hidden_rows(own: Sequence[Sample]) -> Record:
    """Return what separates the rows that a list shows from those that it hides without being asked to."""
    plan = own[0].plan
    if plan.verb not in _MANY:
        return {}
    plain = [sample for sample in own if sample.served and not sample.arguments and sample.rows]
    shown, hidden = list[Record](), list[Record]()
    for sample in plain:
        rows = _rows_shown(sample)
        if rows is None:
            return {}
        shown += rows
        hidden += [row for row in sample.rows if not any(row is one for one in rows)]
    if not shown or not hidden:
        return {}
    for name in shown[0]:
        values, others = ({canonical(row.get(name)) for row in rows} for rows in (shown, hidden))
        if len(values) == 1 and not values & others and not is_time(name, shown[0][name]):
            return _hiding(own, name, shown[0][name], [row.get(name) for row in hidden])
    return {}


def _hiding(own: Sequence[Sample], field: str, shown: Json, hidden: Sequence[Json]) -> Record:
    """Return how a list hides rows: always, or unless an argument asks for them."""
    flags = [name for name in own[0].known_arguments if any(sample.arguments.get(name) is True for sample in own)]
    filtered = {rule.field: argument for argument, rule in own[0].plan.filters.items()}
    if field in filtered:
        return {"filters": {filtered[field]: {"field": field, "default": shown}}}
    if flags and len({canonical(value) for value in hidden}) == 1:
        return {"filters": {flag: {"field": field, "op": "not", "unless": hidden[0]} for flag in flags[:1]}}
    return {"fixed": {**own[0].plan.fixed, field: shown}}


def _rows_shown(sample: Sample) -> list[Record] | None:
    """Return the rows of the simulation that a recorded list shows; None if it does not show its rows."""
    parts: Sequence[Json] = [*as_object(sample.value).values()] or [sample.value]
    lists = [as_list(part) for part in parts if isinstance(part, list)]
    if len(lists) != 1:
        return None
    pairs = [*paired_rows(lists[0], sample.scope)]
    return [row.record for item, row in pairs if isinstance(item, dict)]


# pages ----------------------------------------------------------------------------------------------------------------


def _page_size(own: Sequence[Sample]) -> Record:
    """Return how many rows a list shows if no argument says how many: as many as the fullest pages have."""
    paging = own[0].plan.paging
    pages = [(rows, sample) for sample in own if paging.limit not in sample.arguments
             and sample.plan.verb in _MANY and (rows := _number_of_rows(sample)) is not None]  # fmt: skip
    fullest = max((rows for rows, _ in pages), default=0)
    total = max((int(sample.scope.facts.get("total", 0)) for rows, sample in pages if rows == fullest), default=0)
    full = sum(rows == fullest for rows, _ in pages)
    size = "size" if paging.is_asked else "most"
    if fullest and total > fullest and full > 1 and getattr(paging, size) != fullest:
        return {"paging": {size: fullest}}
    if paging.is_asked and fullest > paging.size:
        return {"paging": {"size": next((size for size in _SIZES if size >= fullest), fullest)}}
    return {}


def _number_of_rows(sample: Sample) -> int | None:
    """Return the number of items in the only list of a recorded answer; None if there are several lists or none."""
    parts: Sequence[Json] = [*as_object(sample.value).values()] or [sample.value]
    lists = [as_list(part) for part in parts if isinstance(part, list)]
    return len(lists[0]) if len(lists) == 1 and sample.served else None
