"""Render the outcome of a batch: rows, lists of failures, and counts."""

from __future__ import annotations

from collections.abc import Callable

from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.effects import Batch, Effect, Facts, Failed, Fill
from mcp_sim.plans.records.projection import projector
from mcp_sim.plans.refusal import sentence_of
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import (
    as_object,
    constants,
    is_nullable,
    items,
    main_type,
    properties,
    required,
    types_of,
)
from mcp_sim.types.lexicon.english import last_word, snake
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.plans import Plan

FAILURES = terms("batches.failures")
"""Names of places that hold the failed items."""

_HOLDERS, _WHY, _OUTCOMES = terms("batches.holder"), terms("batches.reason"), terms("batches.outcome")
_WORKED, _PLACES = terms("batches.worked"), terms("batches.place")
_DONE_COUNTS, _FAILED_COUNTS = terms("batches.done_count"), terms("batches.failed_count")
_KEYS = terms("batches.failed_key")
"""Names of lists with the keys of failed items, not with the reasons."""

_ALL_COUNTS = terms("batches.whole_count")
_GOOD = ("success", "succeeded", "ok", "created", "updated", "deleted", "done", "completed")
_BAD = ordered("states.failed")


def can_report_failures(schema: Record, entity: Entity) -> bool:
    """Return whether a result of this schema can report that some items failed."""
    for name, subschema in properties(schema).items():
        if snake(name) in FAILURES and main_type(subschema) in {"array", "integer", "object"}:
            return True
        if main_type(subschema) == "array" and _row_fails(items(subschema), entity):
            return True
        if main_type(subschema) == "object" and can_report_failures(subschema, entity):
            return True
    return main_type(schema) == "array" and _row_fails(items(schema), entity)


def _row_fails(row: Record, entity: Entity) -> bool:
    """Return whether a row can report a failed item without fields that only a record has."""
    own = {snake(name) for name in properties(row) if name not in entity.fields}
    fields = {name: schema for name, schema in properties(row).items() if name in entity.fields and name != entity.key}
    needed = [name for name, schema in fields.items() if name in required(row) and main_type(schema) != "boolean"]
    return bool(own & (_WORKED | _WHY)) and not needed


def batch_rows(plan: Plan, entity: Entity, schema: Record) -> Fill:
    """Return what fills the rows of a batch: a row per written item, and per failed item if rows can report it."""
    row = items(schema)
    show, keyed = _done_row(entity, row), _key_getter(plan)

    def rows(facts: Facts) -> Json:
        batch = _batch(facts)
        rendered = [(number, show(number, effect)) for number, effect in batch.done]
        if _row_fails(row, entity):
            rendered += [
                (failed.part, _report(row, entity, failed.part, keyed(failed), failed)) for failed in batch.failed
            ]
        return [value for _, value in sorted(rendered, key=lambda entry: entry[0])]

    return rows


def _done_row(entity: Entity, row: Record) -> Callable[[int, Effect], Json]:
    show, parts = projector(entity, row), properties(row)
    own = {name: value for name, value in parts.items() if name not in entity.fields}
    reported: Record = {**row, "properties": own}
    holding = [name for name in own if main_type(own[name]) == "object" and snake(name) in {entity.name, *_HOLDERS}]
    inner = {name: projector(entity, parts[name]) for name in holding}

    def done(place: int, effect: Effect) -> Json:
        value: Json = show(effect.record)
        if not own or not isinstance(value, dict):
            return value
        kept = {name: inner_value for name, inner_value in as_object(value).items() if name not in own}
        kept |= {name: show_one(effect.record) for name, show_one in inner.items()}
        kept |= _report(reported, entity, place, effect.key, None)
        return {name: kept[name] for name in parts if name in kept}

    return done


def _report(row: Record, entity: Entity, place: int, key: Json, failed: Failed | None) -> Record:
    """Return what properties report of an item: success, outcome, reason, index and key. `failed`: None if written.

    A flag such as `held` reports what the tool does. A success has no reason, unless one is required.
    """
    rendered, nouns = Record(), (entity.name, last_word(entity.name))
    key_names = {snake(entity.key), "id", "key", *(f"{noun}_id" for noun in nouns)}
    for name, schema in properties(row).items():
        plain, kind = snake(name), main_type(schema)
        if kind == "boolean":
            rendered[name] = (failed is None) is (plain not in FAILURES)
        elif plain in _OUTCOMES and kind == "string" and name not in entity.fields:
            outcomes = _GOOD if failed is None else _BAD
            choices = {snake(str(value)): value for value in constants(schema)}
            rendered[name] = next((choices[word] for word in outcomes if word in choices), outcomes[0])
        elif plain in _WHY and failed is not None:
            rendered[name] = sentence_of(failed.why)
        elif plain in _WHY:
            is_text = main_type(schema) == "string" and not is_nullable(schema)
            rendered |= {name: ""} if name in required(row) and is_text else {}
        elif plain in _PLACES and kind == "integer":
            rendered[name] = place
        elif plain in key_names:
            rendered |= _fitting(name, key, schema)
    return rendered


def _fitting(name: str, key: Json, schema: Record) -> Record:
    """Return the key under its name, null, or nothing, as the schema allows."""
    if isinstance(key, str | int) and not (isinstance(key, str) and "integer" in types_of(schema)):
        return {name: str(key) if main_type(schema) == "string" else key}
    return {name: None} if is_nullable(schema) else {}


def _key_getter(plan: Plan) -> Callable[[Failed], Json]:
    """Return a getter for the key that a failed item named."""
    path = (plan.key or "").removeprefix(plan.each or "").strip(".")
    fetch = argument(path)

    def asked(failed: Failed) -> Json:
        if not as_object(failed.item):
            return failed.item if plan.key == plan.each else None
        key = fetch(as_object(failed.item)) if path else None
        return key if isinstance(key, str | int) else None

    return asked


def beside_rows(name: str, schema: Record, plan: Plan, entity: Entity) -> Fill | None:
    """Return what fills a property beside the rows of a batch, or None if its name is not known."""
    kind, row = main_type(schema), items(schema)
    if name in FAILURES and kind in {"array", "object"}:
        return _failures(name, schema, plan, entity)
    if kind == "array" and main_type(row) in {"string", "integer"}:
        is_text = main_type(row) == "string"
        return lambda facts: [str(effect.key) if is_text else effect.key for _, effect in _batch(facts).done]
    if kind in {"integer", "number"} and name in _FAILED_COUNTS:
        return lambda facts: len(_batch(facts).failed)
    if kind in {"integer", "number"} and name in _ALL_COUNTS:
        return lambda facts: len(_batch(facts).done) + len(_batch(facts).failed)
    if kind in {"integer", "number"} and (name in _DONE_COUNTS or name.endswith("_count")):  # `held_count` of orders
        return lambda facts: len(_batch(facts).done)
    if kind == "boolean" and name in _WORKED:
        return lambda facts: not _batch(facts).failed
    return None


def _failures(name: str, schema: Record, plan: Plan, entity: Entity) -> Fill:
    """Return what fills the failed items: reasons by key, or a list of reasons, keys, indices, or rows with both."""
    keyed, row = _key_getter(plan), items(schema)
    parts, kind = properties(row), main_type(row)

    def failed_row(failed: Failed) -> Json:
        key, why = keyed(failed), sentence_of(failed.why)
        if kind == "integer":
            return key if isinstance(key, int) else failed.part
        if kind == "string" and key is not None and name in _KEYS:
            return str(key)
        if kind == "string":
            return why if key is None or str(key) in why else f"{key}: {why}"
        if not parts:
            return plain_failure_row(failed, key)
        return _report(row, entity, failed.part, key, failed)

    if main_type(schema) == "array":
        return lambda facts: [failed_row(failed) for failed in _batch(facts).failed]
    return lambda facts: {str(keyed(failed) or failed.part): sentence_of(failed.why) for failed in _batch(facts).failed}


def plain_failure_row(failed: Failed, key: Json) -> Record:
    """Render a failed item if no schema defines its form."""
    return {"index": failed.part, **({"id": key} if key is not None else {}), "error": sentence_of(failed.why)}


def plain_batch(plan: Plan, entity: Entity) -> Fill:
    """Return what fills the result of a batch without a schema: the written records, and the failures, if any."""
    place, show, keyed = plan.envelope.rows or "results", projector(entity, {}), _key_getter(plan)

    def fill(facts: Facts) -> Json:
        batch = _batch(facts)
        done: list[Json] = [effect.key if plan.verb == "delete" else show(effect.record) for _, effect in batch.done]
        failed: list[Json] = [plain_failure_row(failure, keyed(failure)) for failure in batch.failed]
        return {place: done, **({"errors": failed} if failed else {})}

    return fill


def _batch(facts: Facts) -> Batch:
    return facts.batch or Batch((), (), facts.view)
