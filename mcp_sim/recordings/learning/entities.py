"""Learn the fields of records: their types, defaults, and the formats of their times."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from mcp_sim.plans.rendering.templates import Scope
from mcp_sim.recordings.align import is_id
from mcp_sim.recordings.learning.json_forms import is_record, paired_rows
from mcp_sim.recordings.learning.samples import Sample
from mcp_sim.recordings.observed import is_time
from mcp_sim.spec.sessions import PLACEHOLDER, Session
from mcp_sim.types import NOWHERE, Json, Record, as_list, as_object, canonical, frozen
from mcp_sim.types.domain import Domain, Entity

_TYPES = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))


@frozen
class ShownRecord:
    """A record as an answer shows it, beside what the simulation knows of it."""

    sample: Sample
    value: Record
    scope: Scope

    @property
    def is_new(self) -> bool:
        """Whether the call has created it."""
        return self.sample.plan.verb == "create" and not self.sample.rows


def shown_records(sample: Sample) -> Iterator[ShownRecord]:
    """Yield the records in a successful answer, but for that of a deletion: it describes what does not exist."""
    if sample.served and not sample.recorded.failed and sample.plan.verb != "delete":
        yield from (ShownRecord(sample, value, scope) for value, scope in _within(sample.value, sample.scope))


def _within(value: Json, scope: Scope) -> Iterator[tuple[Record, Scope]]:
    if isinstance(value, dict):
        body = cast("Record", value)
        if is_record(body, scope):
            yield body, scope
        else:
            for inner in body.values():
                yield from _within(inner, scope)
    elif isinstance(value, list):
        for item, row in paired_rows(cast("list[Json]", value), scope):
            if isinstance(item, dict) and is_record(cast("Record", item), row):
                yield cast("Record", item), row


@dataclass(slots=True)
class _Values:
    """What is known of the values of a field."""

    shown: list[Json] = field(default_factory=list[Json])
    initial: list[Json] = field(default_factory=list[Json])
    """In new records, where no argument gives it; or in records of the simulation that lack it. NOWHERE: a tool that
    shows the field for other records does not show it."""


def induce_entities(
    samples: Sequence[Sample], sessions: Sequence[Session], domains: Sequence[Domain]
) -> dict[str, Record]:
    """Return entities as a spec declares them, with the fields that answers show, and ids like recorded ones.

    `domains` are those of the sessions.
    """
    domain = domains[0]
    by_session = {session.name: domain_of_session for session, domain_of_session in zip(sessions, domains, strict=True)}
    records: dict[str, list[ShownRecord]] = {}
    for sample in samples:
        shown = [*shown_records(sample)]
        if sample.issued or shown:
            records.setdefault(sample.plan.entity or "", []).extend(shown)
    known = {name: _values_by_field(shown) for name, shown in records.items()}
    names = [name for name in sorted(known) if name in domain.entities and domain.entities[name].inside is None]
    # What is declared is closed: records that inference invents would be unknown in other worlds.
    names = [name for name in names if not any(each.entities[name].open for each in domains if name in each.entities)]
    examples = {name: _id_example(name, samples, by_session) for name in names}
    keys = {name: {each.entities[name].key for each in domains if name in each.entities} for name in names}
    declared = {name: _entity(domain.entities[name], keys[name], known[name], examples[name]) for name in names}
    return {**declared, **_linked(declared, domain)}


def _values_by_field(records: Sequence[ShownRecord]) -> dict[str, _Values]:
    fields, tools = defaultdict[str, _Values](_Values), defaultdict[str, set[str]](set)
    for record in records:
        for name, value in record.value.items():
            fields[name].shown.append(value)
            tools[name].add(record.sample.tool)
    for name, values in fields.items():
        listed = (record for record in records if record.sample.tool in tools[name])
        pairs = ((record, record.value.get(name, NOWHERE)) for record in listed)
        values.initial += [value for record, value in pairs if _is_initial(record, name, value)]
    return fields


def _linked(declared: Mapping[str, Record], domain: Domain) -> dict[str, Record]:
    """Return the entities that others link to, and that would not exist where no state has them."""
    fields = (schema for body in declared.values() for schema in as_object(body["fields"]).values())
    targets = (as_object(schema).get("link") for schema in fields)
    return {
        str(name): {"open": None, "key": domain.entities[str(name)].key}
        for name in dict.fromkeys(targets)
        if name is not None and name not in declared and not domain.entities[str(name)].open
    }


def _is_initial(shown: ShownRecord, name: str, value: Json) -> bool:
    given = [canonical(argument) for argument in shown.sample.arguments.values()]
    if shown.is_new:
        is_given = value is not NOWHERE and value not in (None, [], {}) and canonical(value) in given
        return name not in shown.sample.arguments and not is_given
    # What a change answers may be what it has changed.
    return shown.sample.plan.verb != "update" and shown.scope.record.get(name, NOWHERE) is NOWHERE


def _entity(entity: Entity, keys: Collection[str], fields: dict[str, _Values], example: Json) -> Record:
    """Return the declaration of an entity: what is inferred of it, and the fields that answers show.

    `keys`: the fields that are its key in the worlds of the sessions. If these differ, it is left to inference.
    """
    body: Record = {"open": None, **({"key": entity.key} if len(keys) == 1 else {})}
    if example is not None and not entity.natural:
        body["key_like"] = example
    body |= {flag: True for flag in ("natural", "singleton") if getattr(entity, flag)}
    shown = {name: _schema(name, entity, values) for name, values in fields.items() if name not in keys}
    key_schemas = {name: entity.fields[name].schema for name in keys if len(keys) == 1 and name in entity.fields}
    return {**body, "fields": {**key_schemas, **{name: schema for name, schema in shown.items() if schema}}}


def _id_example(name: str, samples: Sequence[Sample], domains: Mapping[str, Domain]) -> Json:
    """Return the id with which a world without records begins.

    That is the first one which the real server has issued in such a world, else a given one.
    """
    created = [
        sample for sample in samples if sample.plan.entity == name and sample.issued and not _is_secret(sample.issued)
    ]
    first = [sample.issued for sample in created if name not in domains[sample.session].given]
    given = [known.entities[name].key_like for known in domains.values() if name in known.given]
    example = next(
        (issued for issued in (*first, *given, *(sample.issued for sample in created)) if issued is not None), None
    )
    if example is None or _is_secret(example):
        return None
    return int(example) if str(example).isdecimal() else example


def _schema(name: str, entity: Entity, values: _Values) -> Record:
    """Return the schema of a field: what is inferred of it, with the types, the default and the format of times."""
    inferred = entity.schema_of(name)
    link = entity.fields[name].link if name in entity.fields else None
    types = _types(values.shown)
    body: Record = {} if any(key in inferred for key in ("anyOf", "oneOf", "$ref")) else {**inferred}
    if types and types != ["null"]:
        body["type"] = types[0] if len(types) == 1 else types
    times = [value for value in values.shown if value is not None and is_time(name, value)]
    if times:
        body["examples"] = [times[0]]
        body.pop("format", None)
    default = _default(name, values)
    if default is not NOWHERE:
        body["default"] = default
        if default is None and isinstance(body.get("type"), str) and body["type"] != "null":
            body["type"] = [body["type"], "null"]
    if isinstance(body.get("enum"), list):
        seen = [value for value in values.shown if value is None or isinstance(value, str)]
        body["enum"] = list(dict.fromkeys([*body["enum"], *seen]))
    return {**body, **({"link": link} if link else {})}


def _types(shown: Sequence[Json]) -> list[str]:
    types = dict.fromkeys(next((name for kind, name in _TYPES if isinstance(value, kind)), "null") for value in shown)
    if "number" in types:
        types.pop("integer", None)
    return [*types]


def _default(name: str, values: _Values) -> Json:
    """Return the value with which a field begins; NOWHERE if it differs or is missing, or is generated each time."""
    initial = values.initial or [value for value in values.shown if value in (None, [], {}, 0, False)]
    if not initial:
        return NOWHERE
    counts = Counter("" if value is NOWHERE else canonical(value) for value in initial)
    text, same = counts.most_common(1)[0]
    if not text:
        return NOWHERE
    usual: Json = json.loads(text)
    is_own = usual is not None and (is_time(name, usual) or is_id(name, usual) or _is_secret(usual))
    is_filled = bool(as_list(usual) or as_object(usual))
    return NOWHERE if is_own or is_filled or same * 2 <= len(initial) else usual


def _is_secret(value: Json) -> bool:
    return isinstance(value, str) and PLACEHOLDER.search(value) is not None
