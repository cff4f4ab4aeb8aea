"""Tools that store values under keys chosen by the caller."""

from __future__ import annotations

from mcp_sim.backends.key_value.matching import ENTRY, plans_of
from mcp_sim.backends.matching.tool_profiles import profiles_by_server
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan

_HOLDING = vocabulary("store data entries cache memory memories settings kv values keys storage preferences variables")


@backends.register("key_value")
class KeyValue(Backend):
    """Stores values of any kind under keys: entity `entry` (key, value), with namespaces and expiry.

    A store is empty at first, unless a state or records are given.
    """

    order = 50

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for listed in evidence.once(profiles_by_server) for plan in plans_of(listed)]
        if not plans:
            return None
        rows, rest = given_entries(evidence.state, is_whole=len(plans) == len(evidence.tools))
        return Match(plans, [_entity()], {ENTRY: rows}, rest)

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.key_value.answer import answer

        return answer(tool, plan, domain)


def _entity() -> Entity:
    text: Record = {"type": "string"}
    fields = {"key": Field("key", text, required=True), "value": Field("value", {}, required=True)}
    return Entity(ENTRY, "key", None, fields, natural=True)


def given_entries(state: Json, *, is_whole: bool) -> tuple[list[Record], Json]:
    """Return the entries of a given state, and the rest of the state.

    Entries are in an object named like a store. If the store has all tools of the server, the whole state is the store.
    """
    body = as_object(state)
    for name, value in body.items():
        if snake(name).rsplit("_", 1)[-1] in _HOLDING and isinstance(value, dict):
            rest = {other: kept for other, kept in body.items() if other != name}
            return _entries(as_object(value)), rest or None
    return (_entries(body), None) if is_whole and body else ([], state)


def _entries(body: Record) -> list[Record]:
    return [{"key": key, "value": value} for key, value in body.items()]
