"""Evidence of the entity of a tool in the given state: the records that have what it takes or shows."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from mcp_sim.plans.infer.arguments import key_argument
from mcp_sim.plans.infer.given_state import Membership
from mcp_sim.plans.infer.state_tables import may_read
from mcp_sim.plans.infer.tool_facts import ServerFacts, ToolFacts, fields_in_noun, refers_to
from mcp_sim.plans.infer.verbs import STRONG
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, map_of, property_of, required
from mcp_sim.types.lexicon.english import is_plural, last_word, participle, singular, snake, words
from mcp_sim.types.lexicon.terms import table, terms

_JOINING, _SETTERS = table("verbs.joining"), terms("verbs.setting", "verbs.replacing")


def mapped_entity(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the only given entity whose keys a read takes as a list, if it returns a map: `get_prices(skus)`.

    One key is enough if the tool does not get the whole record: `get_museum_address(museum_name)`.
    """
    asked = [*required(facts.input)]
    if len(asked) != 1 or not map_of(facts.output) or not may_read(facts.parsed):
        return None
    argument, is_list = singular(snake(asked[0])), main_type(property_of(facts.input, asked[0])) == "array"
    given = [entity for name, entity in server.given.entities.items() if name in server.held and not entity.singleton]
    keyed = [entity.name for entity in given if refers_to(entity.name, argument) or argument == snake(entity.key)]
    is_part = is_list or "_".join(facts.parsed.noun) not in server.declared
    return keyed[0] if is_part and len(keyed) == 1 else None


def fields_of_tool(entity: Entity, facts: ToolFacts) -> list[str]:
    """Return the fields that a tool is named after: `price`, else `price_min` and `price_max` of `get_hotel_prices`.

    Else they are those that the first line of its description mentions, else all of them.
    """
    name, own = {*map(singular, words(facts.tool.name))}, {*words(entity.name)}
    about = {*map(singular, words(facts.tool.description.partition("\n")[0].lower()))}
    parts = {field.name: {*map(singular, words(snake(field.name)))} for field in entity.fields.values()
             if not field.hidden and field.name != entity.key}  # fmt: skip
    whole = [field for field, shown in parts.items() if shown <= name]
    partly = [field for field, shown in parts.items() if (shown - own) & name]
    return whole or partly or [field for field, shown in parts.items() if shown <= about] or [*parts]


def holder_of_untyped_field(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the only given entity whose field a tool without an outputSchema reads, by its key and other fields of it.

    So `get_user_token(username, password)` shows the `token` of an account, and `query_balance(card_no)` its balance.
    """
    is_own = "_".join(facts.parsed.noun) in server.held
    given = [entity for name, entity in server.given.entities.items() if name in server.held and not is_own]
    held = [entity.name for entity in given if field_in_name(entity, facts) is not None]
    return held[0] if len(held) == 1 else None


def field_in_name(entity: Entity, facts: ToolFacts) -> str | None:
    """Return the field of a given record that the name of a tool ends with, which takes the key of the record."""
    parsed, needed, noun = facts.parsed, {*map(snake, required(facts.input))}, facts.parsed.noun
    is_read = may_read(parsed) and facts.tool.output_schema is None and not facts.output
    key, score = key_argument("update", entity.name, entity.key, facts.input)
    others = needed - {snake(key or "")}
    if not is_read or entity.singleton or score <= 1 or not others <= {*map(snake, entity.fields)}:
        return None
    names = [name for name in entity.fields if name != entity.key and is_plural(last_word(name)) >= parsed.plural]
    parts = {name: tuple(map(singular, words(snake(name)))) for name in names}
    ends = [name for name, part in parts.items() if tuple(map(singular, noun[-len(part) :])) == part]
    is_value = len(ends) == 1 and main_type(entity.fields[ends[0]].schema) not in {"array", "object"}
    return ends[0] if is_value and snake(ends[0]) not in needed else None


def membership_of(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the given membership whose fields a tool takes, or one of them.

    By one of them it reads the other one's records, or ends the membership of what has one: `unassign_driver(plate)`.
    """
    asked = {*map(snake, required(facts.input))}
    for name, membership in server.given.memberships.items():
        fields, key = {*membership.fields}, server.given.entities[name].key
        if asked == fields or (asked and asked < fields and _is_about_other(facts, key, membership, asked)):
            return name
    return None


def _is_about_other(facts: ToolFacts, key: str, membership: Membership, asked: AbstractSet[str]) -> bool:
    noun = "_".join(facts.parsed.noun)
    others = {other for field, other in membership.fields.items() if field not in asked}
    is_leaving = facts.parsed.verb == "delete" or _JOINING.get(facts.parsed.word) == "remove"
    is_meant = may_read(facts.parsed) or (is_leaving and asked == {snake(key)})
    return is_meant and any(noun.endswith(other) for other in others if other)


def listed_as(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the given list of names of those to which a verb was done: `blocked_user` for `unblock_user`.

    A create needs a table with what it takes: `schedule_payment(amount, date)` adds to `scheduled_payments`.
    """
    parsed, asked = facts.parsed, {*map(snake, required(facts.input))}
    word, noun, is_new = parsed.word.removeprefix("un"), "_".join(parsed.noun), parsed.verb == "create"
    names = [f"{state}_{noun}" for state in (participle(word), word)] if word and noun else []
    given = [server.given.entities[name] for name in names if name in server.held]
    listed = [entity.name for entity in given
              if (asked <= {*map(snake, entity.fields)} if is_new else len(entity.fields) == 1)]  # fmt: skip
    return listed[0] if listed and parsed.verb in {"create", "update"} else None


def holder_of_field(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the only given record whose field a tool sets that takes its key and one value besides.

    So `set_safe_combination(username, combination_new)` sets the `safe_combination` of an account, and
    `bulk_update_prices(updates)` the `price` of several products.
    """
    facts = facts.of_one
    noun, needed = facts.parsed.noun, required(facts.input)
    is_change = facts.parsed.word in _SETTERS or STRONG.get(facts.parsed.word) == "update"
    is_setter = facts.parsed.verb in {"update", "create"} and is_change and len(needed) == 2
    if not is_setter or "_".join(noun) in server.held:
        return None
    given = [entity for name, entity in server.given.entities.items() if name in server.held]
    owners = [entity for entity in given if not entity.singleton and facts.takes_key(entity)]
    holders = [owner.name for owner in owners if len(fields_in_noun(owner, noun)) == 1]
    return holders[0] if len(holders) == 1 else None
