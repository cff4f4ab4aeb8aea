"""Evidence of what a tool does to its entity: its name, its schemas, other tools, the given state, the spec."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.plans.infer.arguments import LIMITS, key_argument
from mcp_sim.plans.infer.entity_evidence import (
    collection,
    holder_of_list,
    holder_of_members,
    holder_of_rows,
    holder_of_value,
    is_entered,
    issued,
    returned,
    typed,
    with_taken_fields,
)
from mcp_sim.plans.infer.evidence import CERTAIN, Evidence
from mcp_sim.plans.infer.given_evidence import listed_as, mapped_entity
from mcp_sim.plans.infer.tool_facts import (
    ServerFacts,
    ToolFacts,
    entered_amount,
    is_about,
    record_shape,
    refers_to,
    row_shape,
)
from mcp_sim.plans.infer.verbs import STRONG, flag_after
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import items, main_type, properties, property_of, required
from mcp_sim.types.lexicon.english import last_word, participle, plural, snake, words
from mcp_sim.types.lexicon.terms import groups, table, terms
from mcp_sim.types.result_schemas import choices_of

_DETAILS, _LISTS = terms("nouns.details", "nouns.facets"), terms("phrases.lists")
_USING = terms("verbs.using")
"""Verbs that need what they are done to: `reserve_boat` makes no boat."""
_CALLED_OFF, _ENTERING = terms("verbs.calling_off"), table("verbs.entering")
_SCALAR, _NUMBERS = frozenset({"string", "integer", ""}), frozenset({"integer", "number"})
_STATES, _STATE_VERBS = terms("fields.state"), frozenset(groups("states.after"))


def read_verb(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    """Yield evidence of what a tool does to its entity."""
    if "verb" in facts.overrides:
        yield Evidence(facts.tool.id, "verb", facts.overrides["verb"], CERTAIN, "declared in the spec", "declared")
    if entity:
        if mapped_entity(facts, server) == entity:
            yield facts.evidence("verb", "list", 1.0, f"its result is a map of {plural(entity)}")
        yield from _verb_of_name(facts)
        yield from _verb_of_shape(facts, server, entity)
        yield from _verb_of_schemas(facts, server, entity)
        yield from _verb_of_result(facts, server, entity)
        yield from _verb_of_given(facts, server, entity)


def _verb_of_name(facts: ToolFacts) -> Iterator[Evidence]:
    parsed = facts.parsed
    if parsed.verb == "unknown":
        return
    if parsed.word in _CALLED_OFF and STRONG.get(parsed.described_verb) == "delete":
        yield facts.evidence("verb", "delete", 0.75, f"'{parsed.word}' means what its description begins with")
        return
    weight, reason = 0.5, f"'{parsed.word}' may mean {parsed.verb}"
    if parsed.status is not None:
        weight, reason = 0.4, f"'{parsed.word}' changes a state"
    elif parsed.sure:
        weight, reason = 0.7, f"'{parsed.word}' means {parsed.verb}"
    elif parsed.verb_from_description:
        reason = f"its description begins with '{parsed.described_verb}'"
    yield facts.evidence("verb", parsed.verb, weight, reason)


def _verb_of_shape(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    """Yield evidence where the name has no known verb: a tool that takes the key of a record changes or gets it.

    One that takes none, and whose result is such a record, makes it.
    """
    if returned(facts, server) == entity and facts.parsed.verb in {"update", "unknown"}:
        yield facts.evidence("verb", "create", 0.75, f"it returns a {entity} that no argument names")
    if issued(facts, server) == entity:
        yield facts.evidence("verb", "create", 0.55, f"its result has the id of a {entity}, which no argument gives")
    if facts.parsed.verb != "unknown":
        return
    is_shown = entity in {server.shapes.get(record_shape(facts.output)), typed(facts, server)}
    if is_shown and row_shape(facts.output) and not record_shape(facts.output):
        is_named = not facts.parsed.word and is_about(facts.parsed.noun, words(entity))  # not `weak_hives`, a guess
        yield facts.evidence("verb", "list", 0.55 if is_named else 0.4, f"its rows are {plural(entity)}")
        return
    key, score = key_argument("update", entity, "id", facts.input)
    key, score = _known_key(facts, server, entity, key, score)
    word = facts.parsed.act
    first, *_ = (*words(facts.tool.name), "")
    states = (snake(str(choice)) for field in properties(facts.output).values() for choice in choices_of(field))
    leads_to_state = participle(first) in states  # `discontinue_prescription`, whose result may be `discontinued`
    is_known = word in table("verbs.stocking") or leads_to_state or _changes_state(word, server, entity)
    if score >= 2 and key in required(facts.input) and (is_shown or facts.parsed.word or is_known):
        weight, reason = (0.55, ", and its result is one") if is_shown else (0.3, "")
        weight = 0.55 if is_known else weight
        yield facts.evidence("verb", "update", weight, f"it takes the key of a {entity}{reason}")
    elif not word and holder_of_list(facts, server) == entity:
        yield facts.evidence("verb", "get", 0.75, f"'{key}' names the record that holds a list")
    elif entity in server.held and not facts.parsed.word and (facts.parsed.plural or _asks_for_details(facts, score)):
        is_one = key in required(facts.input) and _asks_for_details(facts, score)  # `templates_info(name)`
        verb = "list" if facts.parsed.plural and not is_one else "get"
        yield facts.evidence("verb", verb, 0.55, f"it is named after the given {plural(entity)}")
    elif entity in server.shown and any(facts.lists_keys(name, entity) for name in required(facts.input)):
        yield facts.evidence("verb", "update", 0.45, f"it takes keys of several {plural(entity)}")
    elif is_shown and not score:
        yield _shown_alone(facts, entity)


def _shown_alone(facts: ToolFacts, entity: str) -> Evidence:
    """Return what a tool does whose result is a record that no argument names: the last one, or a new one."""
    if facts.parsed.one_of_a_kind and not facts.parsed.act:
        return facts.evidence("verb", "get", 0.75, f"it shows one of several {plural(entity)}")
    return facts.evidence("verb", "create", 0.45, f"its result is a {entity} that no argument names")


def _known_key(
    facts: ToolFacts, server: ServerFacts, entity: str, key: str | None, score: int
) -> tuple[str | None, int]:
    """Return the argument that names a record with its score, else the one by which other tools get such records.

    Else it is the key of given records.
    """
    own = snake(server.declared[entity].key) if entity in server.held and entity in server.declared else ""
    keys = {name: server.keys.get(snake(name)) == entity or snake(name) == own for name in required(facts.input)}
    known = next((name for name, is_key in keys.items() if is_key), None)
    return (known, 2) if known is not None and score < 2 else (key, score)


def _introduces(facts: ToolFacts, server: ServerFacts, entity: str) -> bool:
    """Whether a tool takes a name and what belongs to it: `invite_user(user, user_email)` where the state has names."""
    others = [name for name in map(snake, required(facts.input)) if name.startswith(f"{entity}_")]
    is_natural = entity in server.declared and server.declared[entity].natural
    return is_natural and any(not refers_to(entity, name) for name in others)


def _takes_amount(facts: ToolFacts) -> bool:
    """Whether a verb such as `reserve` takes an amount besides what names a record."""
    others = [name for name in required(facts.input) if main_type(property_of(facts.input, name)) in _NUMBERS]
    return facts.parsed.word in table("verbs.stocking") and len(required(facts.input)) == 2 and len(others) == 1


def _asks_for_details(facts: ToolFacts, score: int) -> bool:
    """Whether a name without a verb ends with a word like `info`, and an argument names a record."""
    return score >= 2 and last_word(facts.tool.name) in _DETAILS


def _verb_of_schemas(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    parsed, (key, score) = facts.parsed, key_argument("update", entity, "id", facts.input)
    is_state = parsed.word in _STATE_VERBS and _have_states(server, entity)  # `open_gate` of closed gates
    is_bare = [*required(facts.input)] == [key] and (snake(key or "").endswith("id") or is_state)
    is_used = parsed.word in _USING and entity in server.held and not _introduces(facts, server, entity)
    is_taken_off = parsed.verb == "delete" and entered_amount(parsed.word, facts.input) is not None
    is_taken_off = is_taken_off and is_about(parsed.noun or parsed.after[1:], words(entity))
    if _takes_amount(facts) or is_used or is_taken_off:
        key, score = _known_key(facts, server, entity, key, score)
        is_bare = True
    is_needed = score >= 2 and key in required(facts.input)
    if is_needed and is_taken_off:
        yield facts.evidence("verb", "delete", -0.1, "it takes an amount")
        yield facts.evidence("verb", "update", 0.75, f"it takes an amount off a {entity}")
    elif is_needed and facts.may_rename and entity in (server.shown if is_bare else server.created):
        yield facts.evidence("verb", "create", -0.1, "other tools have such records")
        yield facts.evidence("verb", "update", 0.45, f"'{key}' names a record that another tool creates or shows")
    elif parsed.verb == "list" and is_needed and last_word(facts.tool.name) in _LISTS and not row_shape(facts.output):
        yield facts.evidence("verb", "list", -0.1, f"'{key}' names one record")
        yield facts.evidence("verb", "get", 0.75, f"'{key}' names the record whose past is asked for")
    elif parsed.verb == "list" and holder_of_list(facts, server) == entity:
        yield facts.evidence("verb", "list", -0.1, f"'{key}' names one record")
        yield facts.evidence("verb", "get", 0.75, f"'{key}' names the record that holds a list")
    elif parsed.verb == "get" and _asks_for_children(facts, server, entity):
        yield facts.evidence("verb", "get", -0.1, "no argument names a record")
        yield facts.evidence("verb", "list", 0.65, "the given state has several such records")
    elif parsed.verb == "get" and score < 2 and not facts.output and _asks_for_several(facts.input):
        yield facts.evidence("verb", "get", -0.1, "no argument names a record")
        yield facts.evidence("verb", "list", 0.65, "it takes a list of values, or a number of rows")


def _asks_for_children(facts: ToolFacts, server: ServerFacts, entity: str) -> bool:
    """Whether a tool asks for all given records, or those of a parent: `read_inbox(person)`."""
    asked, is_given = {*map(snake, required(facts.input))}, entity in server.given.parents
    takes_key = entity in server.declared and facts.takes_key(server.declared[entity])
    is_asked = is_given and any(asked <= names for names in server.parent_arguments(entity))
    return is_asked and not facts.parsed.one_of_a_kind and not takes_key


def _changes_state(word: str, server: ServerFacts, entity: str) -> bool:
    """Whether given records have a flag or a state that a verb leads to, or away from."""
    given = server.given.entities.get(entity, Entity(entity))
    fields = given.fields if entity in server.held else dict[str, Field]()
    flags = {snake(name).removeprefix("is_") for name, field in fields.items() if main_type(field.schema) == "boolean"}
    return flag_after(word, flags) is not None or (word in _STATE_VERBS and _have_states(server, entity))


def _have_states(server: ServerFacts, entity: str) -> bool:
    """Whether given records have a field with a state."""
    fields = map(snake, server.given.entities[entity].fields) if entity in server.held else ()
    return not _STATES.isdisjoint(name.removeprefix(f"{entity}_") for name in fields)  # `order_status`


def _verb_of_given(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    """Yield evidence where a record is not what a verb is about, or given records cannot be changed as it says.

    A value enters a list of a record; a call without a state is removed.
    """
    parsed, given = facts.parsed, server.given.entities.get(entity)
    holders = {read(facts, server) for read in (holder_of_list, holder_of_rows, holder_of_value, collection)}
    is_entering = parsed.word in _ENTERING and entity in holders
    if is_entering or holder_of_members(facts, server) == entity:
        yield facts.evidence("verb", parsed.verb, -0.1, f"it is not about a {entity} alone")
        yield facts.evidence("verb", "update", 0.75, f"it changes a list of a {entity}")
    if given is None or given.singleton or parsed.verb not in {"update", "create", "unknown"}:
        return
    membership, asked = server.given.memberships.get(entity), {*map(snake, required(facts.input))}
    if membership is not None and asked == {*membership.fields} and parsed.verb != "create":
        yield facts.evidence("verb", "create", 0.75, "it adds to a list of names that the state has by parent")
    if with_taken_fields(facts, server) == entity:
        yield facts.evidence("verb", "create", 0.75, f"it takes the fields of a {entity}, but not its key")
    is_shown = server.shapes.get(record_shape(facts.output)) == entity
    if parsed.word in _CALLED_OFF and not (_have_states(server, entity) or is_shown):
        yield facts.evidence("verb", "delete", 0.75, f"given {plural(entity)} have no state")
    if listed_as(facts, server) == entity:
        is_undone = parsed.word.startswith("un")
        yield facts.evidence("verb", "delete" if is_undone else "create", 0.75, "the state lists those it was done to")


def _verb_of_result(facts: ToolFacts, server: ServerFacts, entity: str) -> Iterator[Evidence]:
    """Yield evidence where the result is a record: a new one, or one that loses something: `unlink_site_repo`."""
    parsed, shown = facts.parsed, record_shape(facts.output)
    if parsed.verb == "create" and not required(facts.input) and row_shape(facts.output):
        yield facts.evidence("verb", "create", -0.1, "it takes nothing that a record needs")
        yield facts.evidence("verb", "list", 0.75, f"it shows several {plural(entity)}")  # `open_requests`
    if server.shapes.get(shown) != entity:
        return
    is_own = is_about(parsed.noun, words(entity))
    is_named = is_own or key_argument("update", entity, "id", facts.input)[1] > 1
    if (
        parsed.verb == "update"
        and not is_named
        and {"id", f"{entity}_id"} & shown - {*map(snake, properties(facts.input))}
    ):
        yield facts.evidence("verb", "update", -0.1, f"no argument names a {entity}")
        yield facts.evidence("verb", "create", 0.75, f"its result has the id of a {entity}, which no argument gives")
    elif not is_own and (parsed.verb == "delete" or (is_named and is_entered(facts, server))):
        yield facts.evidence("verb", parsed.verb, -0.1, f"it is not about a {entity} alone")
        yield facts.evidence("verb", "update", 0.75, f"it changes a {entity}")


def _asks_for_several(schema: Record) -> bool:
    """Whether a list of plain values is required, or a number of rows or days asked for: `get_prices(symbols)`."""
    lists = [property_of(schema, name) for name in required(schema)]
    numbers = [snake(name) for name, subschema in properties(schema).items() if main_type(subschema) == "integer"]
    is_numbered = not (LIMITS | terms("arguments.length")).isdisjoint(numbers)
    return is_numbered or any(
        main_type(subschema) == "array" and main_type(items(subschema)) in _SCALAR for subschema in lists
    )
