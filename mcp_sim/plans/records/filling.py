"""Fill the places of a result's schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Any

from mcp_sim.generate.invention import embedder, with_known_records
from mcp_sim.generate.time_fields import Moment, time_formatter, time_meaning
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.batch_results import batch_rows, beside_rows
from mcp_sim.plans.records.effects import Facts, Fill, record_value
from mcp_sim.plans.records.figures import figure_beside_rows
from mcp_sim.plans.records.projection import (
    is_alias_of_key,
    projector,
    related_records,
    shown_by_key,
    shown_record,
    shown_rows,
)
from mcp_sim.plans.records.sentences import DONE, found_writer, sentence_writer
from mcp_sim.plans.refusal import label, named
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE, expanded
from mcp_sim.types.json_schema.shapes import (
    as_object,
    constants,
    is_nullable,
    is_open,
    items,
    main_type,
    map_of,
    properties,
    required,
    takes_null,
)
from mcp_sim.types.json_values import is_key
from mcp_sim.types.lexicon.english import last_word, plural, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_schemas import choices_of

_MANY = frozenset({"list", "search"})
_EARLIER = re.compile(r"(?:previous|prior|former|old|from)_(.+)")
"""Properties of an update's result with a value before it."""
_LATER = re.compile(r"(?:remaining|new|updated|to)_(.+)|(.+)_(?:left|remaining)")
"""Properties of an update's result with a value after it."""
_CONFIRMATIONS, _MESSAGES = terms("results.confirmation"), terms("results.sentence")
_TRUE, _NOTHING = terms("results.true"), terms("results.nothing")


class Filler:
    """Compiles the schema of a result into functions that fill its places."""

    def __init__(self, tool: Tool, plan: Plan, domain: Domain) -> None:
        self.tool, self.plan, self.domain = tool, plan, domain
        self.envelope, self.is_batch = plan.envelope, plan.each is not None and plan.verb in DONE
        self.entity = _without_outer_key(domain.entities[plan.entity or ""], plan)
        self.inputs = {snake(name): name for name in properties(expanded(tool.input_schema))}
        self.places = _places(plan)

    def filled(self, schema: Record, path: str) -> Fill:
        """Return what fills the place at `path`."""
        if path == self.envelope.rows:
            if self.is_batch:
                return batch_rows(self.plan, self.entity, schema)
            members = self._members()
            return self._referred(items(schema), members, lambda entity: shown_rows(entity, schema))
        if path == self.envelope.record and self.plan.verb in _MANY:
            return self._rows_within(schema, path)
        if path == self.envelope.record and self._is_plain(schema):
            return shown_record(self.entity, schema)
        if main_type(schema) == "object" or properties(schema):
            return self._object(schema, path)
        return self._part(schema, path, path.rpartition(".")[2], needed=True) or _null

    def _members(self) -> Entity:
        """Return the entity without the parents that a list of members is asked by: the users in a room."""
        asked, fields = {rule.field for rule in self.plan.filters.values()}, self.entity.fields
        is_keyed = self.entity.key not in fields or not fields[self.entity.key].hidden
        others = {name: field for name, field in fields.items() if name not in asked}
        is_whole = is_keyed or len(others) < 2  # the hidden key is all that is left
        return self.entity if is_whole else replace(self.entity, fields=others)

    def _referred(self, row: Record, entity: Entity, show: Callable[[Entity], Fill]) -> Fill:
        """Return what fills rows: with the records whose keys the state lists, if a row has more than these keys."""
        key = entity.fields.get(entity.key)
        target = None if key is None or not entity.natural else self.domain.entities.get(key.link or "")
        is_list = target is not None and entity.fields.keys() <= target.fields.keys()
        if target is None or not is_list or properties(row).keys() <= {entity.key}:
            return show(entity)
        name, fill = target.name, show(target)

        def fill_referred(facts: Facts) -> Json:
            rows = [(key, facts.view.get(name, key) or record) for key, record in facts.page.rows]
            return fill(replace(facts, page=replace(facts.page, rows=rows)))

        return fill_referred

    def _rows_within(self, schema: Record, path: str) -> Fill:
        """Return what fills an object without a place for rows: the first row, or all of them if its schema is open."""
        if properties(schema):
            fill = self._object(schema, path)
            may_be_null = is_nullable(schema) and self.entity.key in properties(schema)

            def first(facts: Facts) -> Json:
                key, record = next(iter(facts.page.rows), (None, None))
                return None if may_be_null and record is None else fill(replace(facts, key=key, record=record))

            return first
        if map_of(schema):
            fields = [*self.envelope.shows.values()]
            return self._referred(
                map_of(schema), self.entity, lambda entity: shown_by_key(entity, map_of(schema), fields)
            )
        if not is_open(schema):
            return lambda _facts: {}
        rows, name = shown_rows(self.entity, {}), plural(self.entity.name)
        return lambda facts: {name: rows(facts), "count": facts.page.total}

    def _is_plain(self, schema: Record) -> bool:
        """Return whether the place holds the record and nothing else."""
        names = properties(schema)
        if any(self._is_confirmation(snake(name), value) or self._changed(name) for name, value in names.items()):
            return False
        return all(name in self.entity.fields for name in names) and not any(
            place
            for place in self.places
            if place.rpartition(".")[0] == (self.envelope.record or "") and place in names
        )

    def _object(self, schema: Record, path: str) -> Fill:
        parts: list[tuple[str, Fill]] = []
        for name, subschema in properties(schema).items():
            here = f"{path}.{name}" if path else name or "."  # '' is the place of the whole
            needed = name in required(schema)
            usual = needed or ("required" not in schema and not is_optional(subschema))
            is_field = path == self.envelope.record
            fill = self._part(subschema, here, name, needed=needed, usual=usual, of_record=is_field)
            if fill is not None:
                parts.append((name, fill))

        def fill_object(facts: Facts) -> Json:
            body: Record = {}
            for name, fill in parts:
                value = fill(facts)
                if value is not ABSENT:
                    body[name] = value
            return body

        return fill_object

    def _part(
        self, schema: Record, path: str, name: str, *, needed: bool, usual: bool = False, of_record: bool = False
    ) -> Fill | None:
        """Return what fills one property, or None if it is left out.

        `usual`: the property is filled although it is not required.
        """
        if schema == IMPOSSIBLE:
            return None
        chosen = constants(schema)
        if len(chosen) == 1:
            return lambda _facts: chosen[0]
        if path in self.places:
            return self._placed(schema, path, needed=needed)
        known = path in (self.envelope.rows, self.envelope.record)
        if known or any(place.startswith(f"{path}.") for place in self.places):
            return self.filled(schema, path)
        fill = self._by_name(schema, name, needed=needed, of_record=of_record)
        if fill is None and self.envelope.rows is None and not self.is_batch:
            fill = related_records(self.entity, name, schema, self.domain)
        if fill is None and (needed or usual):
            fill = self._open(name, schema, path)
        return fill if fill is None or not of_record or name in self.entity.fields else _kept(name, fill)

    def _placed(self, schema: Record, path: str, *, needed: bool) -> Fill:
        """Return what fills a place of the envelope. A cursor that leads nowhere is left out where null is invalid."""
        fill = self.places[path]
        if needed:
            return as_text(fill) if main_type(schema) == "string" else fill
        return fill if takes_null(schema) else lambda facts: ABSENT if (value := fill(facts)) is None else value

    def _by_name(self, schema: Record, name: str, *, needed: bool, of_record: bool) -> Fill | None:
        """Return what fills a property by its name, or None if the name has no known meaning."""
        plain, changed = snake(name), self._changed(name)
        if changed is not None:
            return lambda facts: (facts.turn.view.get(self.entity.name, facts.key or "") or {}).get(changed)
        later = self._changed(name, _LATER)
        if later is not None and name not in self.entity.fields:
            return record_value(later)
        is_field = name in self.plan.sets.values() or (of_record and name in self.entity.fields)
        if self.plan.verb in DONE and is_success_flag(name, schema) and not is_field:
            return lambda _facts: True
        if of_record and not is_field and is_alias_of_key(self.entity, name):
            return lambda facts: facts.key
        left = self._names_left(plain, schema) if self.plan.verb in {"create", "delete"} else None
        if left is not None:
            return left
        if self._is_sentence(plain, schema) or self._is_confirmation(plain, schema):
            return self._sentence()
        is_of_many = self.envelope.rows is not None or (self.plan.verb in _MANY and not of_record)
        is_asked = is_of_many and plain in self.inputs
        if (of_record or self.envelope.record is None) and name in self.entity.fields and not is_asked:
            return self._field(name, schema, needed=needed)
        return self._named(plain, schema) or self._figure(plain, schema)

    def _names_left(self, name: str, schema: Record) -> Fill | None:
        """Return what fills a list of names with those that a list, or that of a parent, has after a change."""
        links = [field.name for field in self.entity.fields.values() if field.link is not None]
        fields = [field.name for field in self.entity.fields.values() if not field.hidden]
        others = fields[1:]
        key = self.entity.fields.get(self.entity.key)
        are_parents = {*others} <= {*links} or (key is not None and key.hidden and len(others) == 1)
        own = {plural(word) for word in (*fields[:1], self.entity.name, last_word(self.entity.name))}
        if main_type(schema) != "array" or properties(items(schema)) or not are_parents or name not in own:
            return None

        def left(facts: Facts) -> Json:
            mine, view, entity = facts.record or {}, facts.view, self.entity.name
            near = view.find(entity, others[0], mine.get(others[0])) if others else view.rows(entity)
            after = [row for key, row in near if key != facts.key] + [mine] * (self.plan.verb == "create")
            return [row[fields[0]] for row in after if all(row.get(at) == mine.get(at) for at in others)]

        return left

    def _figure(self, name: str, schema: Record) -> Fill | None:
        """Return what fills a number that sums up the rows: how many there are, or how many are active."""
        is_beside_rows = self.envelope.rows is not None and main_type(schema) in {"integer", "number"}
        figure = figure_beside_rows(name, schema, self.entity) if is_beside_rows else None
        if figure is None:
            return None
        if figure is len:
            return lambda facts: facts.page.total
        return lambda facts: figure([record for _, record in facts.page.rows])

    def _changed(self, name: str, pattern: re.Pattern[str] = _EARLIER) -> str | None:
        """Return the field that an update changes, if a property has its earlier value: `previous_salary`."""
        match = pattern.fullmatch(snake(name))
        if match is None or self.plan.verb != "update" or self.plan.each is not None:
            return None
        meant = {*words(next(filter(None, match.groups())))}
        return next((field for field in (*self.plan.sets.values(), *self.plan.fixed) if meant <= {*words(field)}), None)

    def _is_sentence(self, name: str, schema: Record) -> bool:
        """Return whether a `status` in the result of a write without a record holds a sentence."""
        is_status = name in {"status", "result", "message"} or name.endswith("_status")
        plain = main_type(schema) == "string" and not choices_of(schema)
        return is_status and plain and self.envelope.record is None and self.plan.verb in DONE

    def _is_confirmation(self, name: str, schema: Record) -> bool:
        """Return whether a property of a write's result confirms what was done, because records have no such field."""
        is_listed = name in _CONFIRMATIONS and main_type(schema) == "string" and self.plan.verb in DONE
        return is_listed and name not in map(snake, self.entity.fields)

    def _sentence(self) -> Fill:
        done = DONE[self.plan.verb]
        state = " and ".join(f"{name} {value}" for name, value in self.plan.fixed.items())
        done = f"{done}: {state}" if state else f"{done} successfully"
        given = [argument(path) for path in self.plan.sets] if self.entity.singleton else []

        def sentence(facts: Facts) -> Json:
            values = [str(value) for fetch in given if (value := fetch(facts.turn.call.arguments)) is not ABSENT]
            return f"{', '.join(values) or self._subject(facts)} {done}"

        return sentence

    def _subject(self, facts: Facts) -> str:
        """Return what a sentence is about: the record by its key, unless no tool shows that."""
        key = self.entity.fields.get(self.entity.key)
        is_bare = self.entity.singleton or (key is not None and key.hidden)
        return label(self.entity.name) if is_bare else named(self.entity.name, facts.key)

    def _field(self, name: str, schema: Record, *, needed: bool) -> Fill:
        """Return what fills a field of the record among other properties."""
        wrapper: Record = {"type": "object", "properties": {name: schema}, "required": [name] if needed else []}
        show = projector(self.entity, wrapper)
        key = self.entity.key

        def field(facts: Facts) -> Json:
            known = facts.record or ({} if facts.key is None else {key: facts.key})
            shown_record: Json = show(known)
            return as_object(shown_record).get(name, ABSENT)

        return field

    def _named(self, name: str, schema: Record) -> Fill | None:
        """Return what fills a property that is defined by its name: a count, page, argument, message or time."""
        kind = main_type(schema)
        known = beside_rows(name, schema, self.plan, self.entity) if self.is_batch else None
        known = known or _usual(name, kind)
        if known is not None:
            return known
        if name in self.inputs and kind not in {"object", "array"}:
            return self._echo(self.inputs[name], schema)
        if kind == "string" and name in {*_MESSAGES, "status"}:
            return _status(schema) if name == "status" else self._message(name)
        if name in _NOTHING or name.startswith("prev"):
            empty: Json = None if is_nullable(schema) else [] if kind == "array" else ""
            return lambda _facts: empty
        if kind in {"string", "integer"} and time_meaning(name, schema) is not None:
            write = time_formatter(name, schema)
            return lambda facts: write(facts.turn.now)
        return None

    def _echo(self, argument: str, schema: Record) -> Fill:
        """Return what repeats an argument, or its default."""
        inner = properties(expanded(self.tool.input_schema))[argument]
        default = inner.get("default", None if is_nullable(schema) else ABSENT)
        make = value_maker(self.entity.name, argument, schema) if default is ABSENT else None

        def echo(facts: Facts) -> Json:
            given: Json = facts.turn.call.arguments.get(argument, default)
            if given is ABSENT and make is not None:
                return make(chance_of(facts.turn.draws.scope, argument), {}, Moment(facts.turn.now, facts.turn.now))
            return given

        return echo

    def _message(self, name: str) -> Fill:
        done = DONE.get(self.plan.verb)
        if done is not None and (self.plan.verb == "delete" or name == "message"):
            return lambda facts: f"{self._subject(facts)} {done}"
        is_beside = self.envelope.rows is not None or self.envelope.record is not None
        return (found_writer if is_beside and done is None else sentence_writer)(self.plan, self.entity)

    def _open(self, name: str, schema: Record, path: str) -> Fill:
        """Return what fills a required property without a known meaning: null, empty, or a generated value."""
        if is_nullable(schema):
            return _null
        if main_type(schema) == "object" and properties(schema):
            return self._object(schema, path)
        if main_type(schema) == "array" and not schema.get("minItems"):
            return lambda _facts: []
        make, embed = value_maker(self.entity.name, name, schema), embedder(self.domain)

        def opened(facts: Facts) -> Json:
            chance = chance_of(facts.turn.draws.seed, facts.turn.draws.scope, path)
            facts.guesses.append(path)
            value = make(chance, facts.record or {}, Moment(facts.turn.now, facts.turn.now))
            return with_known_records(embed, facts.turn, name, schema, value)

        return opened


def _without_outer_key(entity: Entity, plan: Plan) -> Entity:
    """Return the entity as a read by its key shows it: without one that the given state has outside the record."""
    key = entity.fields.get(entity.key)
    if key is None or not key.is_outside or plan.verb != "get" or plan.key is None:
        return entity
    return replace(entity, fields={**entity.fields, entity.key: replace(key, hidden=True)})


def _places(plan: Plan) -> dict[str, Fill]:
    """Return the single values of an envelope, by their places."""
    envelope = plan.envelope
    fills: dict[str | None, Fill] = {
        envelope.total: lambda facts: facts.page.total,
        envelope.cursor: lambda facts: facts.page.cursor,
        envelope.more: lambda facts: facts.page.has_more,
        envelope.key: _named_by(envelope.key or "") if envelope.key in (plan.key, *plan.filters) else _key,
        envelope.success: lambda _facts: True,
    }
    echoes = {path: _given(argument) for path, argument in envelope.echoes.items()}
    shown = {path: record_value(field) for path, field in envelope.shows.items()}
    return {path: fill for path, fill in fills.items() if path} | echoes | shown


def _key(facts: Facts) -> Json:
    return facts.key


def _named_by(argument: str) -> Fill:
    """Return what fills a place called like the argument that names the record: its path, where a path names it."""

    def named(facts: Facts) -> Json:
        asked = facts.turn.call.arguments.get(argument)
        return asked if is_key(asked) and str(asked) != str(facts.key) else facts.key

    return named


def _given(argument: str) -> Fill:
    return lambda facts: facts.turn.call.arguments.get(argument, ABSENT)


def _usual(name: str, kind: str) -> Fill | None:
    """Return what fills a number of the page, or a flag of success."""
    if kind in {"integer", "number"}:
        return _NUMBERS.get(name)
    return (lambda _facts: True) if kind == "boolean" and name in _TRUE else None


def _null(_facts: Facts) -> Json:
    return None


def _kept(name: str, fill: Fill) -> Fill:
    """Return what fills a place with the value that a record has there, although its entity has no such field."""
    return lambda facts: facts.record[name] if facts.record is not None and name in facts.record else fill(facts)


def as_text(fill: Fill) -> Fill:
    """Return what fills a place that must be a text. Absent values become an empty text."""

    def fill_text(facts: Facts) -> Json:
        value = fill(facts)
        return "" if value is ABSENT else value

    return fill_text


def _status(schema: Record) -> Fill:
    """Return what fills a status of success, as one of the schema's choices."""
    choices = [value for value in constants(schema) if str(value).lower() in {"ok", "success", "successful", "done"}]
    word: Any = choices[0] if choices else next(iter(constants(schema)), "success")
    return lambda _facts: word


_NUMBERS: dict[str, Fill] = {
    **dict.fromkeys(
        ("count", "returned", "returned_count", "num_results", "result_count", "size"), lambda f: len(f.page.rows)
    ),
    **dict.fromkeys(
        ("page", "page_number", "current_page"),
        lambda facts: facts.page.offset // facts.page.limit + 1 if facts.page.limit else 1,
    ),
    **dict.fromkeys(
        ("limit", "page_size", "per_page"),
        lambda facts: facts.page.total if facts.page.limit is None else facts.page.limit,
    ),
    **dict.fromkeys(
        ("pages", "total_pages", "page_count", "num_pages"),
        lambda facts: ceil(facts.page.total / (facts.page.limit or max(1, facts.page.total))),
    ),
    **dict.fromkeys(("offset", "skip", "start"), lambda facts: facts.page.offset),
}


def is_optional(schema: Record) -> bool:
    """Return whether the description says that the value may be missing."""
    return "optional" in str(schema.get("description", "")).lower()


def is_success_flag(name: str, schema: Record) -> bool:
    """Return whether a property of a result reports if the call succeeded."""
    return main_type(schema) == "boolean" and (snake(name) in _TRUE or snake(name).endswith("_status"))
