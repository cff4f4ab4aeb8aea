"""Evidence of the entity of a tool: its name, its description, its schemas, other tools, the spec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from mcp_sim.plans.infer.arguments import GENERAL_KEYS, key_argument, names_record
from mcp_sim.plans.infer.envelopes import read_envelope, record_schema
from mcp_sim.plans.infer.evidence import CERTAIN, Evidence
from mcp_sim.plans.infer.given_evidence import (
    holder_of_field,
    holder_of_untyped_field,
    listed_as,
    mapped_entity,
    membership_of,
)
from mcp_sim.plans.infer.names import Words, first_nouns, last_nouns, noun_spans, parse_noun_phrase
from mcp_sim.plans.infer.state_tables import may_read
from mcp_sim.plans.infer.tool_facts import (
    ServerFacts,
    ToolFacts,
    entities_in,
    fields_in_noun,
    is_about,
    is_text_in_noun,
    keys_among,
    named_by_keys,
    names_records,
    record_shape,
    refers_to,
    row_shape,
    without_state,
)
from mcp_sim.plans.infer.verbs import INSPECTION_VERBS, QUALIFIERS, RECORDLESS_VERBS, STRONG
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import items, main_type, properties, property_of, required, required_among
from mcp_sim.types.lexicon.english import (
    is_id,
    last_word,
    noun_of_id,
    plural,
    singular,
    singular_phrase,
    snake,
    words,
)
from mcp_sim.types.lexicon.terms import table, terms

_ATTRIBUTES, _LISTS, _ENTERING = terms("nouns.attributes"), terms("phrases.lists"), table("verbs.entering")
_ENDINGS_OF_ACTS = ("ing", "ation", "ment", "al", "ion", "ission")
"""What turns a verb into the noun of what it makes: `booking`, `reservation`, `enrolment`, `rental`."""
_JOINING, _MEMBERS, _NAMES = table("verbs.joining"), terms("phrases.members"), terms("fields.naming")
_TYPE_ENDINGS = terms("nouns.type_endings")
"""Words that end names of classes and say nothing about what they are: `ProductOut`."""
_NUMBERS = frozenset({"integer", "number"})
_PLAIN = _NUMBERS | {"string", "boolean"}
_RETURNED = re.compile(
    r"\breturns?:?\s+(?:an? |the |its )?(?:(?:new|created|resulting|full|assigned|generated) )*"
    r"(?:id (?:of|for) (?:an? |the )?(?:new |created )*)?(\w+(?: \w+)?)",
    re.IGNORECASE,
)
"""What a tool returns, by its description: `The new loan, with its due date`, `Returns the id of the new loan`."""
_INTO = frozenset({("to",), ("into",), ("in",), ("from",)})


def read_entity(facts: ToolFacts, server: ServerFacts) -> Iterator[Evidence]:
    """Yield evidence of the entity that a tool works on.

    Each reader outweighs all later ones together.
    """
    if "entity" in facts.overrides:
        yield Evidence(facts.tool.id, "entity", facts.overrides["entity"], CERTAIN, "declared in the spec", "declared")
    for (read, reason), weight in zip(_ENTITY_READERS, _HALVED, strict=True):
        entity = read(facts, server)
        if entity is not None:
            yield facts.evidence("entity", entity, weight, reason)


def holder_of_list(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the given record whose list a tool reads or changes: `section` of `add_member_to_section`.

    So it is of `add_section_member`, `list_section_members` and `section_roster`, if that is its only list of keys.
    """
    noun, is_entering = facts.parsed.noun, facts.parsed.word in _ENTERING
    owners = sorted(named_by_keys(facts.input)) if is_entering else ["_".join(noun[:-1])]
    for entity in (server.given.entities[owner] for owner in owners if owner in server.held):
        own = words(entity.name)
        members = plural("_".join(noun[len(own) :] if noun[: len(own)] == own else noun))
        lists = [name for name, field in entity.fields.items() if main_type(field.schema) == "array"]
        keys = [name for name in lists if last_word(name) == "ids"]
        is_held = members in lists or (len(keys) == 1 and singular(members) in _MEMBERS)
        if is_held and facts.takes_key(entity):
            return entity.name
    # The given record with the field that is all a tool shows: `course` of `list_enrolled_students(course_id)`. The
    # name of the field is in that of the tool, which takes nothing but the key of the record.
    shown, noun = [*properties(facts.output).values()], facts.parsed.noun
    is_plain = facts.text is not None or (len(shown) == 1 and main_type(items(shown[0]) or shown[0]) in _PLAIN)
    is_own = "_".join(noun) in server.held
    if is_own or not (is_plain and may_read(facts.parsed) and len(required(facts.input)) == 1):
        return None
    given = [server.given.entities[name] for name in server.given.records]
    owners = [entity for entity in given if not entity.singleton and facts.takes_key(entity)]
    is_list = facts.text is None and main_type(shown[0]) == "array"
    fields = [
        (owner.name, main_type(field.schema) == "array") for owner in owners for field in fields_in_noun(owner, noun)
        if facts.text is None or is_text_in_noun(owner, field, noun)
    ]  # fmt: skip
    holders = {name for name, holds_list in fields if holds_list == is_list}
    return holders.pop() if len(holders) == 1 else None


def _source(facts: ToolFacts, server: ServerFacts) -> str | None:
    return server.sources.get(facts.tool.name)


def collection(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the record that a tool adds another one to, or removes it from: `playlist` of `add_song_to_playlist`.

    The other one exists beside it, or the result is the changed record: its key is all that the tool takes besides.
    Without a noun, as in `addToPlaylist(playlistId, songIds)`, the ids say what is added.
    """
    noun, after = "_".join(facts.parsed.noun), facts.parsed.after
    owner = server.nouns.get(parse_noun_phrase(after[1:]).noun) if after[:1] in _INTO else None
    is_part = (noun, owner) in server.contained and server.shapes.get(record_shape(facts.output)) != owner
    if facts.parsed.word not in _ENTERING or owner is None or (noun and is_part):
        return None
    names = [singular(snake(name)) for name in required(facts.input)]
    others = [name for name in names if not refers_to(owner, name)]
    is_meant = len(others) == 1 < len(names) and (refers_to(noun, others[0]) if noun else is_id(others[0]))
    return owner if is_meant else None


def holder_of_rows(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the record whose list of objects gets or loses the values that a tool takes besides its key.

    It is the order with `lines` of `add_item_to_order(order_id, sku, quantity)`, or the team with names as `members` of
    `add_member(team_id, name)`.
    """
    names, noun = {*map(snake, required(facts.input))}, "_".join(facts.parsed.noun)
    is_part = facts.parsed.noun in server.entered or keys_among(noun, names, server)
    if facts.parsed.word not in _ENTERING or not is_part:
        return None
    for owner, lists in server.lists.items():
        values = names - keys_among(owner, names, server)
        is_shown = server.shapes.get(record_shape(facts.output)) in {None, owner}
        is_value = len(values) == 1 and values <= _NAMES and lists.get(plural(noun)) == frozenset()
        if is_shown and values and values < names and (is_value or any(values <= row for row in lists.values())):
            return owner
    return None


def holder_of_members(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the record with a list of the keys of what a tool adds or removes: the course with `student_ids`.

    Those of `enroll_student(student_id, course_id)` are a student and a course. `add_member(worker_id, team_id)`
    changes the `members` of a team, `tag_photo(photo_id, tag)` the `tags` of a photo.
    """
    names, word = {*map(snake, required(facts.input))}, facts.parsed.act
    if len(names) != 2:
        return None
    noun = "_".join(facts.parsed.noun)
    for owner, lists in server.lists.items():
        is_into = facts.parsed.after[1:] == words(owner) and owner in server.held
        own = {owner, snake(server.given.entities[owner].key)} if is_into else {owner}  # `add_to_playlist(name, ...)`
        members = names - keys_among(owner, names, server) - own
        member = singular(next(iter(members), ""))
        is_usual = word in _ENTERING or word in _JOINING or word.removeprefix("un") == member
        if len(members) != 1 or not is_usual:
            continue
        is_named = noun_of_id(member) != "" or member.startswith(f"{noun}_")  # `crew_member`
        keyed = is_named and frozenset() in (lists.get(plural(noun)), lists.get(noun))
        is_given = {member, noun_of_id(member)} & {*server.given.members.get(owner, ())}
        if (
            keyed
            or (is_usual and is_given)
            or {plural(noun_of_id(member)), f"{member}s", plural(member)} & lists.keys()
        ):
            return owner
    return None


def _same_shape(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose records the result has the properties of, if the verb of the name is not a sure one.

    A value may be added to a record that the tool names: `add_mileage(vehicle_id, km)`, `log_labour(job_id, hours)` for
    a job with `labour_hours`.
    """
    entity = server.shapes.get(record_shape(facts.output)) or ""
    is_value = is_entered(facts, server) and keys_among(entity, required(facts.input), server)
    return (entity or None) if is_value or not _is_sure(facts, server) else None


def is_entered(facts: ToolFacts, server: ServerFacts) -> bool:
    """Whether a tool adds its noun to something: what tools only add and remove, or part of a number in its result."""
    noun, record = {*facts.parsed.noun}, record_schema(read_envelope("get", "", facts.output), facts.output)
    numbers = [words(snake(name)) for name, schema in properties(record).items() if main_type(schema) in _NUMBERS]
    is_part = facts.parsed.noun in server.once and any(noun < {*map(singular, name)} for name in numbers)
    return facts.parsed.noun in server.entered or (bool(noun) and is_part)


def _is_sure(facts: ToolFacts, server: ServerFacts) -> bool:
    """Whether the name of a tool that does not update has a sure verb and a noun of the server."""
    return facts.parsed.word in STRONG and facts.parsed.noun in server.nouns and facts.parsed.verb != "update"


def typed(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity that the type of the result is named after, with an id: a `LeaveRequest` by its `request_id`.

    Results of typed functions have the names of their classes as titles, and so have their rows.
    """
    record = record_schema(read_envelope("get", "", facts.output), facts.output)
    parts = properties(record or facts.output).values()
    lists = [items(held) for held in (record, *parts) if properties(items(held))]
    for shown in (record, *(lists if len(lists) == 1 else ())):
        noun = words(snake(str(shown.get("title", ""))))
        noun = noun[: len(noun) - (last_word("_".join(noun)) in _TYPE_ENDINGS)]
        name = "_".join(noun)
        fields = map(snake, properties(shown))
        if noun in server.nouns or any(names_record(field, name) or field == "id" for field in fields):
            return None if _is_sure(facts, server) or not noun else server.nouns.get(noun, name)
    return None


def issued(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose id only the result has: `movement` of the `movement_id` that `receive_stock` shows.

    An `id` beside the key that a tool takes is that of what its verb makes: a `score` by `score_cake(cake_id)`.
    """
    shown = {*map(snake, properties(facts.output))} - {*map(snake, properties(facts.input))}
    entities = {noun_of_id(name) for name in shown} & {*server.nouns.values()}
    verb, noun = words(facts.tool.name)[:1], words(facts.tool.name)[1:]
    if "id" in shown and noun in server.nouns and keys_among("_".join(noun), required(facts.input), server):
        entities = {*verb}
    is_unknown = facts.parsed.verb == "unknown" and not facts.parsed.recordless_verb
    is_unknown = is_unknown or (facts.parsed.verb_from_description and entities == {*verb})
    may_create = required(facts.input) and (is_unknown or facts.parsed.word in table("verbs.stocking"))
    return next(iter(entities)) if may_create and len(entities) == 1 else None


def _same_rows(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose records a list has, if no other tool is about its noun: `search_catalogue` of books."""
    is_other = facts.parsed.verb in {"list", "search"} and facts.parsed.noun in server.once
    return server.shapes.get(row_shape(facts.output)) if is_other else None


def _part_of_state(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the given records whose part of the state a tool names: the `service_log` of `get_service_log(plate)`.

    So do `request_leave` and `approve_leave(request_id)` for `leave_requests`, and `add_to_queue(track_id)` for a list
    of names, or `add_to_cart(product_id, quantity)` for rows with these.
    """
    parsed, asked = facts.parsed, required(facts.input)
    if "_".join(parsed.noun) in server.declared:
        return None
    nouns = {name: words(singular_phrase(words(path[-1]))) for name, path in server.given.paths.items() if path}
    into = parsed.after[1:] if parsed.after[:1] in _INTO and parsed.word in _ENTERING and asked else ()
    for name, noun in nouns.items():
        entity = server.given.entities.get(name)
        if entity is None or entity.singleton:
            continue
        is_named = parsed.noun == noun or {parsed.word, *parsed.noun} == {*noun}
        is_act = parsed.verb not in {"create", "list", "search"} and {*parsed.noun} <= {*noun} and bool(parsed.noun)
        is_row = {*map(snake, asked)} <= {*map(snake, entity.fields)}
        is_put_into = into == noun and (is_row or not entity.fields or len(entity.fields) == len(asked) == 1)
        if is_named or is_put_into or (is_act and facts.takes_key(entity)):
            return name
    return None


def _of_parent(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the rows of the parent that an argument names: the given `queue` of `tank_queue(tank)`.

    A history consists of what the description mentions first, also of what a create makes with that argument.
    """
    asked = {*map(snake, required(facts.input))}
    is_history = facts.parsed.verb == "list" and last_word(facts.tool.name) in _LISTS
    described = _in_description(facts, server) or "" if is_history else ""
    rows = [*map("_".join, last_nouns(facts.parsed.noun[1:])), described]
    if facts.parsed.verb == "list" and "_".join(facts.parsed.noun) not in server.declared:
        shown, given = row_shape(facts.output), server.given
        held = {name: given.entities[name].fields.values() for name in given.parents}
        rows += [name for name in held if {*shown} == {snake(field.name) for field in held[name] if not field.hidden}]
    made = described if asked and asked <= server.made_with.get(described, frozenset()) else None
    return next((name for name in rows if asked and asked in server.parent_arguments(name)), made)


def _verb_as_noun(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the noun of the verb of a create, if other tools have it: `book_room` creates a booking.

    Where both are one word, the description has to say so: `request_leave` creates a request. Or given records have
    what it takes: `post_message(channel, text)` beside posts with a text.
    """
    parsed, mentioned = facts.parsed, words(facts.tool.description.partition("\n")[0].lower())[1:]
    if not facts.may_rename:
        return None
    stem = parsed.word.removesuffix("e")
    done = next((server.nouns[stem + end,] for end in _ENDINGS_OF_ACTS if (stem + end,) in server.nouns), None)
    is_meant = parsed.noun in server.once and parsed.word in mentioned
    if parsed.word in server.held and "_".join(parsed.noun) not in server.held:
        is_meant |= not {*map(snake, required(facts.input))}.isdisjoint(server.given.entities[parsed.word].fields)
    return done or (server.nouns.get((parsed.word,)) if is_meant else None)


def returned(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity that a description says a tool returns, if no argument is its key: a loan, by `lend_book`.

    So it is of verbs that may change something else than their noun, not of those that look or compute.
    """
    parsed = facts.parsed
    only_looks = not {parsed.act, parsed.described_verb}.isdisjoint(INSPECTION_VERBS | RECORDLESS_VERBS)
    match = None if parsed.word in STRONG or only_looks else _RETURNED.search(facts.tool.description)
    if match is None or not (phrase := words(match[1].lower())):
        return None
    entity = next((server.nouns[noun] for noun in (phrase, *first_nouns(phrase)) if noun in server.nouns), None)
    if last_word("_".join(phrase)) == "id" and "_".join(phrase[:-1]) in server.identified:
        entity = "_".join(phrase[:-1])  # `Returns resolution_id`, which `vote` takes
    is_new = entity is not None and not keys_among(entity, map(snake, properties(facts.input)), server)
    return entity if is_new and required(facts.input) else None


def _by_only_key(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose key is all that a change asks for: `loan` of `return_book(loan_id)`."""
    parsed, asked = facts.parsed, [*map(snake, required(facts.input))]
    is_change = parsed.verb == "update" and len(asked) == 1
    keyed = server.nouns.get(words(noun_of_id(asked[0]))) if is_change else None
    is_known = keyed in server.declared or keyed in server.shown
    return keyed if is_known and parsed.word not in STRONG else None


def _declared_in_noun(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the declared entity in a longer noun: the one that an argument names, or the last one.

    `order` in `pending_order_address` with an `order_id`, `user` in `user_id`. Creates and the whole noun win.
    """
    parsed = facts.parsed
    if parsed.verb == "create" or "_".join(parsed.noun) in server.declared:
        return None
    entities = [*entities_in(parsed.noun, server.declared)]
    keyed = (entity.name for entity in entities if key_argument("update", entity.name, entity.key, facts.input)[1] >= 2)
    named = None if parsed.verb in {"list", "search", "delete"} else next(keyed, None)
    about = (entity.name for entity in entities if is_about(parsed.noun, words(entity.name)))
    of_field = (entity.name for entity in entities if entity.name in server.held and _is_field_of(entity, parsed.noun))
    return named or next(chain(about, of_field), None)


def _is_field_of(entity: Entity, noun: Words) -> bool:
    """Whether a noun is an entity and a field of it: `message_time`."""
    own = words(entity.name)
    return noun[: len(own)] == own and "_".join(noun[len(own) :]) in map(snake, entity.fields)


def _given_by_part(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the only given entity that a noun is short for: `leave_request` of `pending_requests`.

    So it is of `approve_leave(request_id)`, if that is its key.
    """
    parsed, asked = facts.parsed, {*map(snake, required(facts.input))}
    if parsed.verb == "create" or not parsed.noun or "_".join(parsed.noun) in server.declared:
        return None
    given = [server.given.entities[name] for name in server.given.records]
    records = [entity for entity in given if not entity.singleton]
    short = parsed.noun[1:] if parsed.noun[0] in QUALIFIERS and parsed.noun[1:] else parsed.noun
    keyed = [entity.name for entity in records if snake(entity.key) in asked - GENERAL_KEYS
             and {*short} & {*words(entity.name)}]  # fmt: skip
    ending = [entity.name for entity in records if words(entity.name)[-len(short) :] == short]
    named = keyed or (ending if parsed.verb in {"list", "search"} else [])
    return named[0] if len(named) == 1 else None


def _part_of_noun(facts: ToolFacts, server: ServerFacts) -> Words:
    """Return the noun without a field at its end, or a state before it: `order` of `order_status`, `open_orders`."""
    noun = facts.parsed.noun
    is_whole = "_".join(noun) in server.declared or "_".join(noun) in server.identified
    noun = noun if is_whole else without_state(facts.parsed, server.nouns)
    shortens = facts.parsed.verb in {"update", "get"} and not is_whole
    return noun[:-1] if shortens and len(noun) > 1 and noun[-1] in _ATTRIBUTES else noun


def _second_noun(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the second of the two entities that a noun consists of: `assignment` of `course_assignment`."""
    noun, nouns = _part_of_noun(facts, server), server.nouns
    if "_".join(facts.parsed.noun) in server.declared or "_".join(facts.parsed.noun) in server.identified:
        return None
    return next((nouns[end] for end in last_nouns(noun[1:]) if end in nouns and noun[: -len(end)] in nouns), None)


def with_taken_fields(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the only given entity with all fields that a change takes, a link among them, but not its key.

    `assign_homework(course_id, title, due)` makes an assignment of a course, `hire_clerk(name, office, start)` a clerk.
    The noun of a create may be another one: `send_money(recipient, amount, date)` makes a transaction. Of several
    entities it is the one that the description mentions, or without an adjective: `message`, not `channel_message`.
    """
    asked, noun = {*map(snake, required(facts.input))}, "_".join(facts.parsed.noun)
    given = [entity for name, entity in server.given.entities.items() if name in server.held and not entity.singleton]
    fields = {entity.name: {*map(snake, entity.fields)} - {snake(entity.key)} for entity in given}
    links = {entity.name: {name for field in entity.fields.values() if field.link for name in (field.name, field.link)}
             for entity in given}  # fmt: skip
    named = {name: mine | links[name] | {*map(noun_of_id, mine)} for name, mine in fields.items()}  # a `ward_id`
    held = [entity for entity in given if asked <= named[entity.name]]
    held = [entity for entity in held if entity.name == noun] or held
    is_new = facts.may_rename and noun not in server.declared and noun not in server.created
    if is_new and len(held) > 1:
        mentioned = _in_description(facts, server)
        held = [entity for entity in held if entity.name == mentioned] or [
            entity for entity in held if all(other.name.endswith(entity.name) for other in held)]  # fmt: skip
    is_change = (facts.parsed.verb in {"update", "unknown"} and facts.parsed.word not in STRONG) or is_new
    is_free = len(held) == 1 and not facts.takes_key(held[0]) and (noun not in server.held or held[0].name == noun)
    is_whole = len(asked) > 2 and (is_new or [entity.name for entity in held] == [noun])
    is_linked = any(map(noun_of_id, asked)) or (is_new and is_free and not asked.isdisjoint(links[held[0].name]))
    return held[0].name if is_change and is_free and (is_whole or (len(asked) > 1 and is_linked)) else None


def _whole_with_key(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity that a noun begins with, if an argument is its key: `order` of `order_total`."""
    noun, nouns, keys = _part_of_noun(facts, server), server.nouns, named_by_keys(facts.input)
    is_state = not facts.parsed.act and last_word(facts.tool.name) in _ATTRIBUTES  # `job_status(job_id)`
    if not (is_state or facts.parsed.verb in {"update", "get"}) or "_".join(noun) in keys | server.declared.keys():
        return None
    is_own = nouns.get(noun) in server.created and keys_among("_".join(noun), filter(is_id, keys), server)
    firsts = (noun,) if is_own else first_nouns(noun)  # a `task_note` that is created, beside a `note_id`
    return next((nouns[first] for first in firsts if is_own or nouns.get(first) in keys), None)


def holder_of_value(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose id is required, if the noun is a value: `task` of `add_label(task_id, label)`.

    No tool lists labels or does anything else with them, nor has the result an id beside that of the task. The noun
    may begin with the entity: `add_task_label`. An `id` is that of the entity which the name ends with, or which the
    description mentions besides. The value may also be a number that given records have: the `points` of
    `add_points(member_id, amount)`.
    """
    noun, known = facts.parsed.noun, server.nouns
    values = {noun, *(noun[len(owner) :] for owner in first_nouns(noun) if owner in known)}
    needed = required_among(properties(facts.input), facts.input)
    ids = [name for name in map(snake, needed) if is_id(name)]
    shown = record_shape(facts.output)
    if noun not in server.entered or ("id" in shown.difference(ids) and not shown.isdisjoint(ids)):
        return None
    owners = [words(noun_of_id(name)) or parse_noun_phrase(facts.parsed.after[1:]).noun for name in ids]
    owners += map(words, _mentioned(facts, server) if "id" in ids else ())
    holder = next((known[owner] for owner in owners if owner in known and owner not in values), None)
    if holder is None:
        return None
    names = {form for name in map(snake, properties(facts.input)) for form in (singular(name), noun_of_id(name))}
    others = [main_type(property_of(facts.input, name)) for name in needed if not is_id(snake(name))]
    if [kind in _NUMBERS for kind in others] == [True] and holder in server.held:
        names |= {singular(snake(name)) for name, field in server.given.entities[holder].fields.items()
                  if main_type(field.schema) in _NUMBERS}  # fmt: skip
    return None if names.isdisjoint(map("_".join, values)) else holder


def _keyed(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose key an update requires, if nothing else is done to its noun: `adjust_stock(sku)`."""
    noun, needed = facts.parsed.noun, sorted(map(snake, required(facts.of_one.input)))
    if (facts.parsed.verb != "update" and facts.parsed.word not in table("verbs.stocking")) or noun not in server.once:
        return None
    return next((server.keys[name] for name in needed if name in server.keys), None)


def _whole_noun(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity of the noun, unless it is an attribute of something else."""
    noun = _part_of_noun(facts, server)
    is_entity = facts.parsed.plural or facts.parsed.verb == "create" or "_".join(facts.parsed.noun) in server.declared
    is_entity = is_entity or (not _ATTRIBUTES.issuperset(noun) and names_records(facts.parsed))
    return server.nouns.get(noun, "_".join(noun)) if noun and is_entity else None


def _in_schemas(facts: ToolFacts, server: ServerFacts) -> str | None:
    """Return the entity whose key is an argument, or whose rows are in the result."""
    named, shown = named_by_keys(facts.input), {snake(name) for name in properties(facts.output)}
    return next((noun for noun in server.nouns.values() if noun in named or snake(plural(noun)) in shown), None)


def _mentioned(facts: ToolFacts, server: ServerFacts) -> Iterator[str]:
    """Yield the entities that the first line of the description mentions."""
    mentioned = tuple(singular(word) for word in words(facts.tool.description.partition("\n")[0].lower()))
    spans = (mentioned[start:end] for start, end in noun_spans(len(mentioned)))
    yield from (server.nouns[noun] for noun in spans if noun in server.nouns and not _ATTRIBUTES.issuperset(noun))


def _in_description(facts: ToolFacts, server: ServerFacts) -> str | None:
    return next(_mentioned(facts, server), None)


def _only_one(_: ToolFacts, server: ServerFacts) -> str | None:
    known = {*server.nouns.values()}
    return next(iter(known)) if len(known) == 1 else None


_ENTITY_READERS = (
    (mapped_entity, "it takes keys of these and returns a map"),
    (holder_of_list, "given records of it hold a list of these"),
    (holder_of_untyped_field, "given records of it have the field that it shows"),
    (holder_of_field, "given records of it have the field that it sets"),
    (collection, "records are added to it or removed from it"),
    (holder_of_members, "records of it hold the keys of what it adds or removes"),
    (holder_of_rows, "what it takes is a row of a list in such a record"),
    (_source, "a description says that it returns the id of such a record"),
    (_same_shape, "its result is such a record"),
    (typed, "the type of its result is named after it"),
    (issued, "its result has the id of such a record, which no argument gives"),
    (_same_rows, "its rows are such records"),
    (membership_of, "the given state says which of them belong together"),
    (listed_as, "the given state lists those it was done to"),
    (_part_of_state, "its name is that of a part of the given state"),
    (_of_parent, "an argument names the parent of such rows"),
    (returned, "its description says that it returns one"),
    (_by_only_key, "an argument names one, and nothing else"),
    (_verb_as_noun, "other tools have the verb as their noun"),
    (_declared_in_noun, "its name has a declared entity"),
    (_given_by_part, "its name is short for given records"),
    (_second_noun, "its name has two entities, and ends with this one"),
    (_whole_with_key, "its name begins with it, and an argument is its key"),
    (holder_of_value, "its id is required, and the noun of the name is only a value"),
    (with_taken_fields, "given records have the fields that it takes"),
    (_keyed, "other tools get such records by this argument"),
    (_whole_noun, "it is the noun of its name"),
    (_in_schemas, "its arguments or its result name it"),
    (_in_description, "its description mentions it"),
    (_only_one, "there is no other"),
)
"""Readers of the entity, with the reason that each finds, the strongest first."""
_HALVED = tuple(2.0**-place for place in range(len(_ENTITY_READERS)))
