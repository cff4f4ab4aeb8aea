"""Tools that create, read, list, search, update and delete records."""

from __future__ import annotations

from mcp_sim.domain import Domain, Plan
from mcp_sim.extensions import Answer, Behaviour, Invent, behaviours
from mcp_sim.records.effects import Write, creation, found_key, not_found, removal, updating
from mcp_sim.records.queries import ABSENT, argument, selection
from mcp_sim.records.results import Facts, Told, result
from mcp_sim.types import Observation, Tool, Transition, Turn

_WRITES = {"create": creation, "update": updating, "delete": removal}


@behaviours.register("records")
class Records(Behaviour):
    """One record or many of an entity: found by key, by filters or by text; made, changed, removed."""

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        entity = domain.entities.get(plan.entity or "")
        if entity is None:
            raise ValueError(f"{tool.id}: there is no entity {plan.entity!r}")
        tell = result(tool, plan, domain)
        if plan.verb in _WRITES:
            looks_around = any(field.derived for field in entity.fields.values())
            return _writing(_WRITES[plan.verb](tool, plan, domain), tell, looks_around=looks_around)
        if plan.verb in {"list", "search"}:
            return _listing(tool, plan, domain, tell)
        if plan.verb == "get":
            return _getting(tool, plan, tell) if plan.key is not None else _finding(tool, plan, domain, tell)
        raise ValueError(f"{tool.id}: records know no verb {plan.verb!r}")


def _writing(write: Write, tell: Told, *, looks_around: bool) -> Answer:
    """A write, told as the state is after it; `looks_around`: the record shows something of other records."""

    def answer(turn: Turn, invent: Invent) -> Transition:
        effect = write(turn, invent)
        if isinstance(effect, Observation):
            return Transition(effect)
        view = turn.view.after(effect.changes) if looks_around else turn.view
        return Transition(tell(Facts(turn, view, effect.record, effect.key)), effect.changes)

    return answer


def _getting(tool: Tool, plan: Plan, tell: Told) -> Answer:
    entity, fetch = plan.entity or "", argument(plan.key or "")

    def answer(turn: Turn, _invent: Invent) -> Transition:
        asked = fetch(turn.call.arguments)
        key = found_key(turn.view, entity, asked)
        if key is None:
            return Transition(not_found(tool, entity, None if asked is ABSENT else asked, plan.key))
        return Transition(tell(Facts(turn, turn.view, turn.view.get(entity, key), key)))

    return answer


def _finding(tool: Tool, plan: Plan, domain: Domain, tell: Told) -> Answer:
    """One record, named by something else than its key: the first that matches."""
    entity = plan.entity or ""
    select = selection(tool, plan, domain.entities[entity], domain.entities)
    names = tuple(plan.filters)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        page = select(turn)
        if isinstance(page, Observation):
            return Transition(page)
        if not page.rows:
            name = next((name for name in names if name in turn.call.arguments), None)
            return Transition(not_found(tool, entity, turn.call.arguments.get(name or ""), name))
        key, record = page.rows[0]
        return Transition(tell(Facts(turn, turn.view, record, key, page)))

    return answer


def _listing(tool: Tool, plan: Plan, domain: Domain, tell: Told) -> Answer:
    select = selection(tool, plan, domain.entities[plan.entity or ""], domain.entities)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        page = select(turn)
        return Transition(page if isinstance(page, Observation) else tell(Facts(turn, turn.view, page=page)))

    return answer
