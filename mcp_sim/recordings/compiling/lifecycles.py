"""The life of records: what is created can be read, listed and deleted, then it is gone; unknown ids are refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.recordings.compiling.probes import Probe, short
from mcp_sim.recordings.observed import Observed
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.plans import Plan

FEW_ROWS = 5
"""Up to how many records each list is expected to show all of them."""
_UNKNOWN_NUMBER, _UNKNOWN_TEXT = 987_654, "zz-unknown-404"
_CONSTRAINTS = frozenset({"pattern", "format", "minLength", "maxLength"})


async def check_lifecycles(probe: Probe) -> None:
    """Ask each tool for what does not exist, and let a record of each entity live and die."""
    for plan in probe.domain.plans.values():
        await _check_unknown(probe, plan)
    for entity in probe.domain.entities.values():
        if not entity.singleton:
            await _Life(probe, entity).check()


async def _check_unknown(probe: Probe, plan: Plan) -> None:
    """Ask for a record that does not exist: the call must fail."""
    entity = probe.domain.entities.get(plan.entity or "")
    if entity is None or entity.open or plan.key is None or plan.verb not in {"get", "update", "delete"}:
        return
    schema = properties(probe.schema(plan)).get(plan.key)
    if schema is None or main_type(schema) not in {"string", "integer", "number", ""} or "enum" in schema:
        return
    key = _unknown_key(plan, entity, schema)
    arguments = {**probe.arguments(plan, whole=False), plan.key: key}
    if Validator(probe.schema(plan)).problems(arguments):
        return
    seen = await probe.call(plan.tool, arguments)
    probe.checked(plan.tool, "unknown ids")
    if seen is not None and not seen.failed:
        made = f"{plan.tool}({short(arguments)})"
        message = f"{made} succeeds, though there is no {entity.name} {key!r}; expected a failure"
        probe.note(plan.tool, "lifecycle", f"{message}, got {short(seen.value)}")


def _unknown_key(plan: Plan, entity: Entity, schema: Record) -> Key:
    if main_type(schema) in {"integer", "number"} or (not schema and isinstance(entity.key_like, int)):
        return _UNKNOWN_NUMBER
    if schema.keys() & _CONSTRAINTS:
        value = value_maker("", plan.key or "", schema)(chance_of("unknown", plan.tool), {}, Moment.unknown())
        return value if isinstance(value, str | int) else _UNKNOWN_TEXT
    return _UNKNOWN_TEXT


class _Life:
    """The records of one entity, and the tools that work on them."""

    def __init__(self, probe: Probe, entity: Entity) -> None:
        self._probe, self._entity = probe, entity
        own = [plan for plan in probe.domain.plans.values() if plan.entity == entity.name]
        self._creators = [plan for plan in own if plan.verb == "create"]
        self._getters = [plan for plan in own if plan.verb == "get"]
        self._listers = [plan for plan in own if plan.verb in {"list", "search"} and not required(probe.schema(plan))]
        self._removers = [plan for plan in own if plan.verb == "delete"]

    async def check(self) -> None:
        """Create a record with each tool that does, and delete one with each tool that does."""
        for creator in self._creators:
            for remover in (*self._removers, None):
                before = {plan.tool: seen.value for plan, seen in await self._lists()}
                made = await self._created(creator, f"{creator.tool} {remover and remover.tool}")
                if made is None:
                    break
                await self._check_shown(*made, before)
                if remover is not None:
                    await self._check_removed(*made, remover)

    async def _created(self, plan: Plan, salt: str) -> tuple[Key, Record] | None:
        """Return the key of a new record, and the arguments that it was created with."""
        before = {key for key, _ in self._probe.world.view.rows(self._entity.name)}
        arguments = self._probe.arguments(plan, whole=False, salt=salt)
        seen = await self._probe.call(plan.tool, arguments)
        if seen is None or seen.failed:
            return None
        new = [key for key, _ in self._probe.world.view.rows(self._entity.name) if key not in before]
        return (new[-1], arguments) if new else None

    async def _lists(self) -> list[tuple[Plan, Observed]]:
        """Return what the tools show that list all records; nothing if there are too many for one page."""
        if self._probe.world.view.count(self._entity.name) > FEW_ROWS:
            return []
        seen = [(plan, await self._probe.call(plan.tool, {})) for plan in self._listers]
        return [(plan, one) for plan, one in seen if one is not None]

    async def _check_shown(self, key: Key, made: Record, before: Mapping[str, Json]) -> None:
        """Check that reads show a record that was created, and that lists show it or differ from those `before`."""
        values = [str(key), *(value for value in made.values() if isinstance(value, str) and len(value) > 3)]
        for plan in self._getters:
            seen = await self._named(plan, key, made)
            if seen is not None:
                self._probe.checked(plan.tool, "reads what was created")
                wrong = "fails for" if seen.failed else "" if _shows(seen, values) else "shows nothing of"
                self._note(plan, wrong, f"{key!r}, just created", seen)
        for plan, seen in await self._lists():
            self._probe.checked(plan.tool, "lists what was created")
            is_shown = _shows(seen, values) or (plan.tool in before and before[plan.tool] != seen.value)
            self._note(plan, "" if is_shown else "does not show", f"{key!r}, just created", seen)

    async def _check_removed(self, key: Key, made: Record, remover: Plan) -> None:
        """Check that a deleted record is gone, and cannot be deleted again."""
        seen = await self._named(remover, key, made)
        if seen is None:
            return
        self._probe.checked(remover.tool, "deletes")
        if seen.failed:
            self._note(remover, "fails for", f"{key!r}, just created", seen)
            return
        if self._probe.world.view.get(self._entity.name, key) is not None:
            return  # it is kept, perhaps as deleted
        again = await self._named(remover, key, made)
        if again is not None and not again.failed:
            self._note(remover, "succeeds again for", f"{key!r}, which is deleted; expected a failure", again)
        for plan in self._getters:
            seen = await self._named(plan, key, made)
            self._probe.checked(plan.tool, "gone after deletion")
            if seen is not None and not seen.failed:
                self._note(plan, "still shows", f"{key!r}, which is deleted; expected a failure", seen)

    async def _named(self, plan: Plan, key: Key, made: Record) -> Observed | None:
        """Call a tool for a record that was made with these arguments; None if its arguments cannot name it.

        A key that callers choose may consist of several arguments: then all of them are given as they were.
        """
        schema = self._probe.schema(plan)
        part = properties(schema).get(plan.key or "")
        named = made.get(plan.key or "") if self._entity.natural else key
        if plan.key is None or part is None or named is None:
            return None
        value: Json = [named] if main_type(part) == "array" else named
        arguments = self._probe.arguments(plan, whole=False)
        arguments |= {name: made[name] for name in arguments if self._entity.natural and name in made}
        arguments[plan.key] = value
        return None if Validator(schema).problems(arguments) else await self._probe.call(plan.tool, arguments)

    def _note(self, plan: Plan, wrong: str, which: str, seen: Observed) -> None:
        if wrong:
            message = f"{plan.tool} {wrong} {self._entity.name} {which}: {short(seen.value)}"
            self._probe.note(plan.tool, "lifecycle", message)


def _shows(seen: Observed, values: Iterable[str]) -> bool:
    """Whether an answer shows one of these texts."""
    text = seen.value if isinstance(seen.value, str) else json.dumps(seen.value, ensure_ascii=False)
    return any(value in text or json.dumps(value, ensure_ascii=False)[1:-1] in text for value in values)
