"""The life of records: what is created can be read, listed and deleted, then it is gone; unknown ids are refused.

Each tool is checked by itself, in forks. Its records come from tools that create some, from the start of the world, or
from the trial, which inserts one if there is no other. Only contradictions are held against a function: that it refuses
a call may be due to the call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import cast

from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.recordings.align import ID, is_id
from mcp_sim.recordings.compiling import single_calls
from mcp_sim.recordings.compiling.probes import Kind, Probe, short
from mcp_sim.recordings.observed import Observed
from mcp_sim.types import Change, Json, Key, Record, frozen, leaves
from mcp_sim.types.domain import Entity
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, main_type, properties
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.plans import Plan
from mcp_sim.world.world import World

_LEAST_SHOWN = 4  # the length from which the text of a field is recognised in an answer
_INSERTED = 3  # how many records with the next ids are inserted, to see whether a tool skips them
_IS_USED = re.compile(r"\b(exists?|already|duplicate|taken|in use)\b", re.IGNORECASE)


async def check_lifecycles(probe: Probe) -> None:
    """Let a record of each entity live and die, and ask each tool for what does not exist."""
    for entity in probe.domain.entities.values():
        if not entity.singleton:
            tools = [plan.tool for plan in probe.domain.plans.values() if plan.entity == entity.name]
            await probe.attempt(next(iter(tools), ""), _Life(probe, entity).check())
    for plan in probe.domain.plans.values():
        await probe.attempt(plan.tool, single_calls.check_unknown(probe, plan))
        await probe.attempt(plan.tool, single_calls.check_writes(probe, plan))
    probe.report_refusals()


# the life of one record -----------------------------------------------------------------------------------------------


@frozen
class _Made:
    """A record for a trial, and the world that has it."""

    key: Key
    record: Record
    world: World
    arguments: Record
    """Those that it was created with."""
    lists: Mapping[str, Json]
    """What lists showed before it was created."""
    source: str

    def texts(self) -> list[str]:
        """Return the texts by which an answer shows the record."""
        return [str(self.key), *_long_texts([self.record, self.arguments])]


class _Life:
    """The records of one entity, and the tools that work on them."""

    def __init__(self, probe: Probe, entity: Entity) -> None:
        self._probe, self._entity = probe, entity
        self._getters = [plan for plan in single_calls.own_plans(probe, entity, "get") if plan.key is not None]
        self._listers = single_calls.own_plans(probe, entity, "list", "search")
        self._removers = single_calls.own_plans(probe, entity, "delete")
        self._updaters = [plan for plan in single_calls.own_plans(probe, entity, "update") if plan.key is not None]

    async def check(self) -> None:
        """Check the tools with a record of each tool that creates some; if none does, with one from elsewhere."""
        is_done = False
        for creator in single_calls.own_plans(self._probe, self._entity, "create"):
            subject = await self._created(creator)
            if subject is not None:
                is_done = True
                await self._check_with(subject)
        if is_done or not (self._getters or self._removers or self._updaters):
            return
        world = self._probe.world
        rows = [*world.view.rows(self._entity.name)]
        # A record that the world begins with, or that another tool has written.
        subject = None if not rows else _Made(*rows[-1], world, {}, {}, "which exists")
        if subject is not None:
            await self._check_with(subject)
            return
        subject = self._inserted()
        if subject is not None:
            with self._probe.artificial():
                await self._check_with(subject)

    async def _check_with(self, subject: _Made) -> None:
        for plan in self._getters:
            seen, made_call = await self._accepted(plan, subject, subject.world)
            if seen is None:
                continue
            self._probe.checked(plan.tool, "reads what exists")
            if plan.tool in self._probe.writers or not single_calls.is_about(self._probe, plan, self._entity):
                continue
            wrong = self._wrong_id(subject, seen)
            if wrong is not None or not (_is_field(seen.value, subject) or _shows(seen, subject.texts())):
                expected = (
                    f"expected the {self._entity.name} {subject.key!r}, {subject.source}: {short(subject.record)}"
                )
                self._probe.note(plan.tool, "lifecycle", f"{made_call}; {expected}")
        for plan in self._listers:
            await self._check_listed(plan, subject)
        for plan in self._updaters:
            await self._check_updated(plan, subject)
        for plan in self._removers:
            await self._check_removed(plan, subject)

    # records

    async def _created(self, plan: Plan) -> _Made | None:
        """Return a record that a tool creates, and check what it answers; None if none of its calls creates one."""
        probe, name = self._probe, self._entity.name
        asked = [(lister.tool, await self._list(lister, probe.world)) for lister in self._listers]
        lists = {tool: shown.value for tool, shown in asked if shown is not None and not shown.failed}
        for arguments in probe.arguments.sets(plan, "create", "new"):
            world = probe.world.fork()
            before = {key for key, _ in world.view.rows(name)}
            seen = await probe.call(plan.tool, arguments, world)
            if seen is None or seen.failed:
                continue
            new = [(key, record) for key, record in world.view.rows(name) if key not in before]
            if not new:
                continue
            key, record = new[-1]
            created = _Made(key, record, world, arguments, lists, f"just created by {plan.tool}({short(arguments)})")
            probe.checked(plan.tool, "creates")
            probe.makers.setdefault(name, []).append(plan.tool)
            if len(new) == 1:
                wrong = self._wrong_id(created, seen)
                if wrong is not None:
                    expected = f"expected that of the new {self._entity.name}, {created.key!r}"
                    answered = f"{plan.tool}({short(created.arguments)}) answered {short(seen.value)}"
                    self._probe.note(plan.tool, "lifecycle", f"{answered}, with the id {wrong!r}; {expected}")
            await self._check_ids(plan, created)
            return created
        return None

    def _inserted(self) -> _Made | None:
        """Return a record that the trial inserts: the defaults of its table, and generated values."""
        if self._entity.inside is not None:
            return None
        world = self._probe.world.fork()
        key, record = self._insert(world)
        return _Made(key, record, world, {}, {}, "which the trial has inserted")

    def _insert(self, world: World) -> tuple[Key, Record]:
        """Add a record with the next id to a world."""
        entity = self._entity
        chance = chance_of("inserted", entity.name)
        record: Record = {
            name: field.schema["default"]
            if "default" in field.schema
            else value_maker(entity.name, name, field.schema)(chance, {}, Moment.unknown())
            for name, field in entity.fields.items()
        }
        key = next_key(entity, key_maker(entity), world.view, Draws(0, "", "trial", 0))
        record[entity.key] = key
        self._apply(world, Change("put", entity.name, key, record))
        return key, record

    def _apply(self, world: World, change: Change) -> None:
        world.version = replace(world.version, state=world.version.state.apply([change]))

    async def _list(self, plan: Plan, world: World) -> Observed | None:
        """Return what a list shows that asks for nothing in particular; None if it cannot be asked so."""
        schema = expanded(self._probe.domain.tools[plan.tool].input_schema)
        return None if Validator(schema).problems({}) else await self._probe.call(plan.tool, {}, world.fork())

    # checks

    async def _check_ids(self, plan: Plan, subject: _Made) -> None:
        """Check that a tool also creates a record where others have the next ids, and where some of them are gone."""
        entity, given = self._entity, {str(leaf) for _, leaf in leaves(subject.arguments)}
        if entity.natural or entity.key_like is None or entity.inside is not None:
            return
        world = self._probe.world.fork()
        taken = [self._insert(world)[0] for _ in range(_INSERTED)]
        self._probe.checked(plan.tool, "ids")
        for _ in range(2):
            seen = await self._probe.call(plan.tool, subject.arguments, world)
            text = "" if seen is None or not seen.failed else _text_of(seen)
            used = [key for key, _ in world.view.rows(entity.name) if str(key) not in given and _names(text, key)]
            if used and _IS_USED.search(text):
                message = f"{plan.tool}({short(subject.arguments)}) answered {short(text)}, where records have the ids"
                message = f"{message} {', '.join(map(repr, taken))}: expected the next free id; leave it to add()"
                self._probe.note(plan.tool, "defect", message)
                return
            self._apply(world, Change("remove", entity.name, taken[0], None))

    def _wrong_id(self, subject: _Made, seen: Observed) -> Json:
        """Return the id that an answer shows instead of a record's, or None."""
        if str(subject.key) in _text_of(seen):
            return None
        known = {str(leaf) for _, leaf in leaves([subject.record, subject.arguments])}
        known |= {str(key) for name in subject.world.view.entities() for key, _ in subject.world.view.rows(name)}
        shown: list[Json]
        if seen.is_data:
            shown = [value for name, value in _shallow(as_object(seen.value)) if name == self._entity.key]
        else:
            form = _form(str(subject.key)) if is_id("", str(subject.key)) else ""
            shown = [name for name in ID.findall(str(seen.value)) if _form(name) == form]
        return next((value for value in shown if value is not None and str(value) not in known), None)

    async def _check_listed(self, plan: Plan, subject: _Made) -> None:
        """Check that a list shows a record that was created, or differs from the list before."""
        if not subject.arguments or not single_calls.is_about(self._probe, plan, self._entity):
            return
        seen = await self._list(plan, subject.world)
        if seen is None or seen.failed:
            return
        self._probe.checked(plan.tool, "lists what exists")
        if _shows(seen, subject.texts()):
            return
        others = [(key, record) for key, record in subject.world.view.rows(self._entity.name) if key != subject.key]
        shown = [record for key, record in others if _shows(seen, [str(key), *_long_texts(record)])]
        if 0 < len(shown) < len(others) or _is_elsewhere(subject.record, shown, self._entity):
            return
        if not shown and subject.lists.get(plan.tool, seen.value) != seen.value:
            return  # it shows a number of records, perhaps
        expected = f"expected it to show the {self._entity.name} {subject.key!r}, {subject.source}"
        self._probe.note(plan.tool, "lifecycle", f"{plan.tool}({{}}) answered {short(seen.value)}; {expected}")

    async def _check_updated(self, plan: Plan, subject: _Made) -> None:
        """Check that an update with a new text writes something."""
        schema = expanded(self._probe.domain.tools[plan.tool].input_schema)
        writable = {name: subschema for name, subschema in properties(schema).items() if name in self._entity.fields}
        texts = [
            name for name, subschema in writable.items() if main_type(subschema) == "string" and "enum" not in subschema
        ]
        fixed = {plan.key, self._entity.key, *(name for name, value in writable.items() if "format" in value)}
        text = next((name for name in texts if name not in fixed), None)
        if text is None or self._entity.fields[text].link is not None:
            return
        new = f"Trial {text} 7"
        world = subject.world.fork()
        seen, made_call = await self._accepted(plan, subject, world, {text: new})
        if seen is None:
            return
        self._probe.checked(plan.tool, "updates")
        if not single_calls.is_changed(subject.world.view, world.view) and not single_calls.says_nothing(seen.value):
            expected = f"expected {text} to be {new!r}"
            self._probe.note(plan.tool, "lifecycle", f"{made_call}, but has changed nothing; {expected}")

    async def _check_removed(self, plan: Plan, subject: _Made) -> None:
        """Check that a deleted record is gone, and cannot be deleted again."""
        world = subject.world.fork()
        seen, made_call = await self._accepted(plan, subject, world)
        if seen is None:
            return
        is_whole = single_calls.is_about(self._probe, plan, self._entity)
        which = f"the {self._entity.name} {subject.key!r}"
        self._probe.checked(plan.tool, "deletes")
        if not single_calls.is_changed(subject.world.view, world.view):
            if is_whole and not single_calls.says_nothing(seen.value):
                message = f"{made_call}, but has changed nothing; expected {which} to be gone"
                self._probe.note(plan.tool, "lifecycle", message)
            return
        if world.view.get(self._entity.name, subject.key) is not None or not is_whole:
            return  # it is kept, perhaps as deleted
        await self._check_gone(plan, subject, world)

    async def _check_gone(self, remover: Plan, subject: _Made, world: World) -> None:
        """Check that no tool shows or deletes a record that is gone."""
        which = f"the {self._entity.name} {subject.key!r}, which {remover.tool} has deleted"
        before = world.fork()
        again, arguments = await self._named(remover, subject, before)
        if again is not None and not again.failed and not single_calls.says_nothing(again.value):
            certain: Kind = "advice" if self._entity.natural else "lifecycle"
            message = f"{remover.tool}({short(arguments)}) answered {short(again.value)} the second time"
            self._probe.note(remover.tool, certain, f"{message}; expected a failure, since there is no such record")
        for plan in self._getters:
            if not single_calls.is_about(self._probe, plan, self._entity):
                continue
            seen, arguments = await self._named(plan, subject, world.fork())
            self._probe.checked(plan.tool, "gone after deletion")
            if seen is not None and not seen.failed and _shows(seen, subject.texts()[1:]):
                message = f"{plan.tool}({short(arguments)}) answered {short(seen.value)}"
                self._probe.note(plan.tool, "lifecycle", f"{message}; expected a failure, without {which}")

    async def _accepted(
        self, plan: Plan, subject: _Made, world: World, more: Mapping[str, Json] | None = None
    ) -> tuple[Observed | None, str]:
        """Call a tool for a record; None if it refuses the call, or cannot name the record. Also return the call."""
        seen, arguments = await self._named(plan, subject, world, more)
        if seen is None:
            return None, ""
        made_call = f"{plan.tool}({short(arguments)}) answered {short(seen.value)}"
        if seen.failed:
            about = f"{made_call}, about the {self._entity.name} {subject.key!r}, {subject.source}"
            self._probe.refusals[plan.tool] = about  # better evidence than those before
            return None, made_call
        return seen, made_call

    async def _named(
        self, plan: Plan, subject: _Made, world: World, more: Mapping[str, Json] | None = None
    ) -> tuple[Observed | None, Record]:
        """Call a tool for a record; None if its arguments cannot name it.

        A key that callers choose may consist of several arguments: then all of them are given as they were.
        """
        schema = expanded(self._probe.domain.tools[plan.tool].input_schema)
        schema_of_key = properties(schema).get(plan.key or "")
        if plan.key is None or schema_of_key is None:
            return None, {}
        named: Json = subject.arguments.get(plan.key, subject.key) if self._entity.natural else subject.key
        own = {
            name: value for name, value in {**subject.record, **subject.arguments}.items() if name in properties(schema)
        }
        usual = single_calls.usual_arguments(self._probe, plan)
        arguments = {**usual, **{name: value for name, value in own.items() if name in usual}}
        arguments |= {plan.key: [named] if main_type(schema_of_key) == "array" else named, **(more or {})}
        if Validator(schema).problems(arguments):
            return None, arguments
        return await self._probe.call(plan.tool, arguments, world), arguments


def _is_elsewhere(record: Record, shown: Iterable[Record], entity: Entity) -> bool:
    """Whether a record belongs to something else than those that a list shows, which may show one thing's only."""
    links = [name for name, field in entity.fields.items() if field.link is not None or name.endswith("_id")]
    rows = [*shown]
    return any(row.get(name) != record.get(name) for name in links for row in rows) or (bool(links) and not rows)


def _shallow(value: Record) -> Iterator[tuple[str, Json]]:
    """Yield the fields of an object and of the objects in it, but not of lists."""
    for name, inner in value.items():
        yield name, inner
        if isinstance(inner, dict):
            yield from cast("Record", inner).items()


def _long_texts(value: Json) -> list[str]:
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, str) and len(leaf) >= _LEAST_SHOWN]


def _form(name: str) -> str:
    return re.sub(r"[0-9]+", "9", re.sub(r"[0-9a-f]{6,}", "h", name))


def _names(text: str, key: Key) -> bool:
    return re.search(rf"(?<!\w){re.escape(str(key))}(?!\w)", text) is not None


def _text_of(seen: Observed) -> str:
    return seen.value if isinstance(seen.value, str) else json.dumps(seen.value, ensure_ascii=False)


def _is_field(value: Json, subject: _Made) -> bool:
    """Whether an answer is the value of a field. An empty one must have been given, since many fields are empty."""
    fields = subject.record if value else subject.arguments  # a configuration without entries is shown as {}
    return any(type(field) is type(value) and field == value for field in fields.values())


def _shows(seen: Observed, values: Iterable[str]) -> bool:
    """Whether an answer shows one of these texts."""
    text = _text_of(seen)
    return any(value in text or json.dumps(value, ensure_ascii=False)[1:-1] in text for value in values)
