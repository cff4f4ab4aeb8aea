"""Render what a call did or found in the form of the tool's results.

Compiled once per tool into closures. Rendered values are always new objects, never the records of the world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from mcp_sim.generate.time_fields import time_formatter, time_meaning
from mcp_sim.plans.records.batch_results import can_report_failures, plain_batch
from mcp_sim.plans.records.effects import Facts, Fill, Render, record_value
from mcp_sim.plans.records.filling import Filler, is_optional
from mcp_sim.plans.records.projection import data_renderer
from mcp_sim.plans.records.selection import Page
from mcp_sim.plans.records.sentences import DONE, WriteText, confirmation_writer, sentence_writer
from mcp_sim.plans.refusal import value_text
from mcp_sim.plans.rendering.described_results import returns_key
from mcp_sim.plans.rendering.templates import Scope, template_renderer
from mcp_sim.types import Json, Observation, Record, Tool, ToolResult
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    is_open,
    items,
    main_type,
    properties,
    schema_of,
)
from mcp_sim.types.lexicon.english import last_word, snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Envelope, Plan
from mcp_sim.types.result_schemas import (
    TEXT_NAMES,
    documented_form,
    key_place,
    result_schema,
    shown_result,
    text_place,
    value_types,
)
from mcp_sim.types.tools import WRAPPER

_PARTS = terms("arguments.part")
"""Arguments that name the only field of a record to show."""


def result_renderer(tool: Tool, plan: Plan, domain: Domain) -> Render:
    """Compile what renders the facts of a call as this tool's observation."""
    if plan.result:
        return _declared_result(tool, plan, domain)
    place = plan.envelope.text
    if place is None:
        return _result(tool, plan, domain)
    render = _result(_undeclared(tool), plan, domain)
    return lambda facts: tool.success(cast("ToolResult", render(facts).body).value, place)


def _declared_result(tool: Tool, plan: Plan, domain: Domain) -> Render:
    """Return what renders the results that a spec declares; others have the inferred form."""
    usual = result_renderer(tool, replace(plan, result=()), domain)
    shows, render = _scope_maker(plan, domain), template_renderer(tool, plan.result)

    def declared(facts: Facts) -> Observation:
        return render(shows(facts)) or usual(facts)

    return declared


def _scope_maker(plan: Plan, domain: Domain) -> Callable[[Facts], Scope]:
    """Return what makes the scope of the templates of a tool."""
    entity = domain.entities[plan.entity or ""]
    defaults = {name: field.schema["default"] for name, field in entity.fields.items() if "default" in field.schema}
    times = {
        name: time_formatter(name, field.schema)
        for name, field in entity.fields.items()
        if name not in defaults and time_meaning(name, field.schema) in {"created", "updated"}
    }

    def scope(facts: Facts) -> Scope:
        batch = facts.batch
        rows = [effect.record for _, effect in batch.done] if batch else [row for _, row in facts.page.rows]
        before = facts.turn.view.get(entity.name, facts.key) if facts.key is not None else None
        page = facts.page
        shown: Record = {
            "key": facts.key,
            "before": before or {},
            "count": len(rows),
            "total": len(rows) if batch else page.total,
            "failed": len(batch.failed) if batch else 0,
            "offset": page.offset,
            "limit": page.limit,
            "cursor": page.cursor,
            "more": page.has_more,
        }
        begun = {name: write(facts.turn.start) for name, write in times.items()}
        record = facts.record or {}
        turn = facts.turn
        listed = [row or {} for row in rows]
        return Scope(turn.call.arguments, turn.now, turn.start, record, listed, shown, {**defaults, **begun})

    return scope


def _undeclared(tool: Tool) -> Tool:
    """Return the tool without its output schema."""
    return replace(tool, definition={name: value for name, value in tool.definition.items() if name != "outputSchema"})


def _result(tool: Tool, plan: Plan, domain: Domain) -> Render:
    bare = tool.output_schema is None and example_of(tool, domain) is None
    if plan.verb == "create" and plan.each is None and (returns_key(tool.description) or key_place(tool) is not None):
        alone = _key_alone(tool, plan, domain)
        if alone is not None:
            return alone
    if bare and plan.each is None and plan.verb in DONE and documented_form(tool.description) == "flag":
        return lambda _facts: tool.success(True)
    worded = _words_renderer(tool, plan, domain, bare=bare)
    if worded is not None:
        return worded
    if plan.each is not None and plan.verb in DONE:
        return _batch_result(tool, plan, domain, bare=bare)
    if bare and plan.envelope.key == "":
        return lambda facts: Observation(ToolResult(value_text(facts.key), form="text"))
    if bare and plan.envelope.shows.get(""):
        return _bare_result(tool, record_value(plan.envelope.shows[""]))
    form = result_form(tool, plan, domain)
    is_own = _confirmation(result_schema(tool), plan, domain) is None
    fill = Filler(tool, plan if is_own else replace(plan, envelope=Envelope()), domain).filled(form, "")
    fill = _asked_part(fill, tool, plan, domain) if bare and plan.verb == "get" else fill
    return data_renderer(tool, fill if _shows_fields(tool, domain) else _with_usual_parts(fill, tool, plan, domain))


def _asked_part(fill: Fill, tool: Tool, plan: Plan, domain: Domain) -> Fill:
    """Return what fills a record with the only field that an argument such as `field` names, or with all of them."""
    taken = {plan.key, *plan.filters}
    names = [name for name in properties(tool.input_schema) if snake(name) in _PARTS and name not in taken]
    if len(names) != 1 or snake(names[0]) in map(snake, domain.entities[plan.entity or ""].fields):
        return fill

    def fill_part(facts: Facts) -> Json:
        value, asked = fill(facts), facts.turn.call.arguments.get(names[0])
        record = as_object(value)
        return {asked: record[asked]} if isinstance(asked, str) and asked in record else value

    return fill_part


def _with_usual_parts(fill: Fill, tool: Tool, plan: Plan, domain: Domain) -> Fill:
    """Return what fills a record with what servers usually show beside it, where nothing declares the form.

    That is the key of a new record under the name by which tools ask for it.
    Functions that return any mapping mostly confirm what they wrote: a flag, a sentence and the record share .19 and
    .28 of the names in creates of 7 and 13 servers, the record alone .17 and .24.
    """
    entity, is_write = domain.entities[plan.entity or ""], plan.verb in {"create", "update"}
    asked = _asked_key(tool, plan, domain) if plan.verb == "create" else None
    confirm = confirmation_writer(plan, entity) if is_write and tool.output_schema is not None else None
    if asked is None and confirm is None:
        return fill

    def fill_all(facts: Facts) -> Json:
        value = fill(facts)
        record = as_object(value)
        if not record:
            return value
        key = {asked: record[entity.key]} if asked is not None and entity.key in record else {}
        return {**({} if confirm is None else {"success": True, "message": confirm(facts)}), **key, **record}

    return fill_all


def _shows_fields(tool: Tool, domain: Domain) -> bool:
    """Whether a schema, an example or the description shows the names of a result's fields."""
    schema = result_schema(tool)
    is_declared = bool(schema) and not is_open(schema)
    return is_declared or example_of(tool, domain) is not None or bool(shown_result(tool.description))


def _asked_key(tool: Tool, plan: Plan, domain: Domain) -> str | None:
    """Return the name by which other tools ask for a record that this one creates, unless it is that of the field.

    Servers whose tools take a `story_id` return a `story_id` (48 of 49 recorded creates), and those that take an `id`
    return an `id` (13 of 13), whatever lists of records call it. Tools of other entities may take it, too.
    """
    entity = domain.entities[plan.entity or ""]
    mine = {id_: other for id_, other in domain.tools.items() if other.server == tool.server}
    names = Counter(
        other.key for id_, other in domain.plans.items() if other.entity == plan.entity and other.key and id_ in mine
    )
    linked = f"{snake(entity.name)}_id"
    is_taken = any(linked in map(snake, properties(other.input_schema)) for other in mine.values())
    name = names.most_common(1)[0][0].rpartition(".")[2] if names else linked if is_taken else entity.key
    is_shown = snake(name) in map(snake, entity.fields)  # `job-id` beside `job_id`
    return name if last_word(name) == last_word(entity.key) == "id" and not is_shown else None


def _key_alone(tool: Tool, plan: Plan, domain: Domain) -> Render | None:
    """Return what renders only the key, or None if the result is more than a text.

    In data, it has its name: of five recorded servers that say so, none returns a bare id.
    """
    place, field = text_place(tool), domain.entities[plan.entity or ""].key
    if plan.envelope.text is not None or (tool.output_schema is None and not tool.prose):
        name = _asked_key(tool, plan, domain) or field
        return lambda facts: tool.success({name: facts.key})
    if tool.output_schema is None:
        return lambda facts: Observation(ToolResult(value_text(facts.key), form="text"))
    if place is not None:
        return lambda facts: Observation(ToolResult({place: value_text(facts.key)}))
    number = key_place(tool)
    return None if number is None else lambda facts: Observation(ToolResult({number: facts.key}))


def _bare_result(tool: Tool, fill: Fill) -> Render:
    """Return what renders a single field: texts as they are, other values as JSON, absent ones as an empty text."""

    def render(facts: Facts) -> Observation:
        value = fill(facts)
        if value is ABSENT or value is None:
            return Observation(ToolResult("", form="text"))
        return tool.success(value)

    return render


def _words_renderer(tool: Tool, plan: Plan, domain: Domain, *, bare: bool) -> Render | None:
    """Return what renders results in words, or None if an example or the description shows data."""
    place = text_place(tool)
    if (plan.each is not None and plan.verb in DONE) or not (bare or place is not None):
        return None
    words = _writer(tool, plan, domain, place, bare=bare)
    if words is None or place is not None:
        return None if words is None else lambda facts: Observation(ToolResult({place: words(facts)}))
    return lambda facts: Observation(ToolResult(words(facts), form="text"))


def _writer(tool: Tool, plan: Plan, domain: Domain, place: str | None, *, bare: bool) -> WriteText | None:
    """Return what words the results of a tool, None if it answers with data."""
    in_words = bare and tool.prose and (plan.envelope.key != "" or plan.verb == "delete")
    in_place = place is not None and snake(place) in TEXT_NAMES
    if not (in_words or in_place) or (place or "") in plan.envelope.shows:
        return None
    is_confirmation = bare and documented_form(tool.description) == "confirmation"
    return sentence_writer(plan, domain.entities[plan.entity or ""], is_confirmation=is_confirmation)


def reports_failures(tool: Tool, plan: Plan, domain: Domain) -> bool:
    """Return whether the result of a batch can report that some of its items failed."""
    if tool.output_schema is None and example_of(tool, domain) is None:
        return True
    return can_report_failures(result_form(tool, plan, domain), domain.entities[plan.entity or ""])


def _batch_result(tool: Tool, plan: Plan, domain: Domain, *, bare: bool) -> Render:
    """Return what renders the outcome of each item."""
    entity = domain.entities[plan.entity or ""]
    filler = Filler(tool, plan, domain)
    fill = plain_batch(plan, entity) if bare else filler.filled(result_form(tool, plan, domain), "")

    def fill_batch(facts: Facts) -> Json:
        done = [(effect.key, effect.record) for _, effect in facts.batch.done] if facts.batch is not None else []
        return fill(replace(facts, page=Page(done, len(done))))

    return data_renderer(tool, fill_batch)


# schemas --------------------------------------------------------------------------------------------------------------


def result_form(tool: Tool, plan: Plan, domain: Domain) -> Record:
    """Return the schema of a tool's results: the output schema if it is specific, else that of an example.

    Without both, it is what the description shows, else a plain schema of the plan's envelope.
    """
    declared = result_schema(tool) if tool.output_schema is not None else None
    confirmed = None if declared is None else _confirmation(declared, plan, domain)
    if confirmed is not None:
        return confirmed
    if declared is not None and not is_open(declared):
        return declared
    example = example_of(tool, domain)
    if example is not None:
        return schema_of(example)
    return shown_result(tool.description) or _plain_schema(plan)


def _confirmation(schema: Record, plan: Plan, domain: Domain) -> Record | None:
    """Return the form of a write that returns a mapping of texts, or also of flags, that cannot be its record."""
    parts = properties(schema)
    if plan.verb not in {"create", "update", "delete"}:
        return None
    if [*parts] == [WRAPPER]:
        inner = _confirmation(parts[WRAPPER], plan, domain)
        return None if inner is None else {"type": "object", "properties": {WRAPPER: inner}, "required": [WRAPPER]}
    kinds = value_types(schema)
    held = {main_type(field.schema) for field in domain.entities[plan.entity or ""].fields.values() if not field.hidden}
    names: Record = {"success": {"type": "boolean"}} if "boolean" in kinds else {}
    if not {"string"} <= kinds <= {"string", "boolean"} or (plan.verb != "delete" and kinds == held):
        return None
    if plan.verb != "delete" and not names and held <= kinds:
        return None
    names["message"] = {"type": "string"}
    return {"type": "object", "properties": names, "required": [*names]}


def example_of(tool: Tool, domain: Domain) -> Json:
    """Return the first recorded result of a tool that is an object or a list, or None."""
    values = [example for example in domain.examples if not example.is_blocks]
    results: list[Json] = [example.result for example in values if example.tool in {tool.id, tool.name}]
    return next((value for value in results if as_object(value) or as_list(value)), None)


def _plain_schema(plan: Plan) -> Record:
    envelope = plan.envelope
    parts: Record = {} if envelope.success is None else {envelope.success: {"type": "boolean"}}
    if plan.verb == "delete" and envelope.key and envelope.success:
        return {"type": "object", "properties": {**parts, envelope.key: {}, "message": {"type": "string"}}}
    rows: Record = {"type": "array", "items": {"type": "object"}}
    if envelope.rows == "":
        return rows
    if envelope.rows is not None:
        parts[envelope.rows] = rows
    if envelope.record:
        parts[envelope.record] = {"type": "object"}
    if envelope.total is not None:
        parts[envelope.total] = {"type": "integer"}
    if plan.paging.cursor and envelope.cursor is not None:
        parts[envelope.cursor] = {"type": ["string", "null"]}
    return {"type": "object", **({"properties": parts, "required": [*parts]} if parts else {})}


def required_by_default(schema: Record) -> Record:
    """Return the schema with all properties required that are not described as optional.

    Objects that declare `required` are kept.
    """
    parts = {name: required_by_default(subschema) for name, subschema in properties(schema).items()}
    needed = schema.get("required", [name for name, subschema in parts.items() if not is_optional(subschema)])
    inner = required_by_default(items(schema)) if items(schema) else None
    return {
        **schema,
        **({"properties": parts, "required": needed} if parts else {}),
        **({"items": inner} if inner is not None else {}),
    }
