"""Updates that count a number of a record up or down, or move an amount between records."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.envelopes import find_envelope
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.transitions import IN_USE, find_status_field
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, property_of, required
from mcp_sim.types.lexicon.english import last_word, snake, vocabulary, words
from mcp_sim.types.plans import Also, How, Plan

_UP = vocabulary(
    "deposit fund credit increase increment earn award refill replenish restock receive top top_up refuel recharge"
)
_DOWN = vocabulary("withdraw spend debit deduct decrease decrement consume reduce redeem")
_AMOUNTS = vocabulary("amount quantity points credits units value sum qty")
_COUNTED = ("balance", "quantity", "stock", "points", "credits", "funds", "credit")
_FROM, _TO = re.compile(r"(?:from|source|src)_(.+)"), re.compile(r"(?:to|target|destination|dest)_(.+)")


def plan_balance_changes(draft: Draft) -> dict[str, Plan]:
    """Return new plans for tools that add to a number, subtract from it, or transfer an amount."""
    found: dict[str, Plan] = {}
    for features, known in draft.record_items():
        if known.verb not in {"update", "unknown", "none"}:
            continue
        plan = _plan_for_key(features, known, draft) or known
        tally = _transfer(features, plan, draft) or _change_balance(features, plan, draft)
        found |= {features.tool.id: tally} if tally is not None else {}
    return found


def _change_balance(features: ToolFeatures, plan: Plan, draft: Draft) -> Plan | None:
    """Plan `deposit(account_id, amount)`: an argument is added to a field."""
    verbs = {features.parsed.word, _first_word(features)}
    how: How | None = "add" if verbs & _UP else "subtract" if verbs & _DOWN else None
    entity, amount = draft.entity_of(plan), _amount_argument(features.input)
    if how is None or entity is None or amount is None or entity.singleton or not (plan.key or plan.filters):
        return None
    field = _field_of_verb(features, entity) or _number_field(entity, amount)
    if field is None:
        return None
    asks = plan.requires or _active_states(entity, draft.held.get(entity.name, ()))
    return replace(plan, sets={amount: field}, how={field: how}, fixed={}, requires=asks, positive=(amount,))


def _plan_for_key(features: ToolFeatures, plan: Plan, draft: Draft) -> Plan | None:
    """Plan `refuel_data(line_id, amount)`: an update of the given record that has such a number."""
    if plan.verb == "update" or (features.parsed.word not in _UP | _DOWN and _first_word(features) not in _UP | _DOWN):
        return None
    for name in draft.held:
        entity = draft.entities.get(name)
        key = None if entity is None or entity.singleton or entity.inside else _key_of(features, entity)
        if entity is not None and key is not None and _field_of_verb(features, entity) is not None:
            return Plan(
                plan.tool, "update", name, key=key,
                envelope=find_envelope("update", name, features.output, text=features.envelope.text),
                confidence=0.65, reasons=(f"changes a number of the {name} that {key} names",),
            )  # fmt: skip
    return None


def _key_of(features: ToolFeatures, entity: Entity) -> str | None:
    name, score = key_argument("update", entity.name, entity.key, features.input)
    return name if score >= 2 else None


def _first_word(features: ToolFeatures) -> str:
    return next(iter(words(features.tool.name)), "")


def _field_of_verb(features: ToolFeatures, entity: Entity) -> str | None:
    """Find the number named after the verb and its object: `data_refueling_gb` of `refuel_data`."""
    verb, nouns = _first_word(features), {*words(features.tool.name)[1:]}
    numbers = [name for name, one in entity.fields.items() if main_type(one.schema) in {"integer", "number"}]
    named = [name for name in numbers if any(word.startswith(verb) for word in words(name)) and nouns & {*words(name)}]
    return named[0] if len(named) == 1 else None


def _transfer(features: ToolFeatures, plan: Plan, draft: Draft) -> Plan | None:
    """Plan `transfer(from_account, to_account, amount)`: subtract from one record, add to another."""
    names = {snake(name): name for name in required(features.input)}
    source = {hit[1]: name for short, name in names.items() if (hit := _FROM.fullmatch(short))}
    target = {hit[1]: name for short, name in names.items() if (hit := _TO.fullmatch(short))}
    stem = next((one for one in source if one in target), None)
    entity, amount = draft.entities.get((stem or "").removesuffix("_id")), _amount_argument(features.input)
    field = None if entity is None or amount is None else _number_field(entity, amount)
    if stem is None or entity is None or amount is None or field is None:
        return None
    return Plan(
        plan.tool,
        "update",
        entity.name,
        key=source[stem],
        sets={amount: field},
        how={field: "subtract"},
        requires=_active_states(entity, draft.held.get(entity.name, ())),
        positive=(amount,),
        also=(Also(entity.name, field, key=target[stem], how="add", value=amount),),
        envelope=find_envelope("update", entity.name, features.output, text=features.envelope.text),
        confidence=0.75,
        reasons=(f"moves some of the {field} from one {entity.name} to another",),
    )


def _amount_argument(schema: Record) -> str | None:
    """Find the argument that holds the amount."""
    numbers = [name for name in required(schema) if main_type(property_of(schema, name)) in {"integer", "number"}]
    named = [name for name in numbers if last_word(name) in _AMOUNTS]
    return named[0] if len(named) == 1 else None


def _number_field(entity: Entity, amount: str) -> str | None:
    """Find the number that changes."""
    numbers = [
        name for name, one in entity.fields.items() if main_type(one.schema) in {"integer", "number"} and one.required
    ]
    exact = [name for name in numbers if snake(name) == snake(amount)]
    near = [name for counted in _COUNTED for name in numbers if counted in words(name)]
    return next(iter([*exact, *near]), None)


def _active_states(entity: Entity, rows: Sequence[Record]) -> dict[str, tuple[Json, ...]]:
    """Require an active state if some given record has one."""
    name = find_status_field(entity)
    states = {} if name is None else dict.fromkeys(str(row[name]) for row in rows if isinstance(row.get(name), str))
    running = [state for state in states if snake(state) in IN_USE]
    return {name: tuple(running)} if name is not None and running else {}
