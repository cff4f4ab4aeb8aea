"""Why answers are guesses: what a plan leaves unexplained, and what nothing determines of a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, takewhile

from mcp_sim.plans.infer.filters import is_presentation
from mcp_sim.plans.infer.names import last_segment
from mcp_sim.plans.infer.states import find_deadline
from mcp_sim.plans.infer.verbs import QUALIFIERS
from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.effects import Effect, Write
from mcp_sim.plans.records.side_effects import untold_effects
from mcp_sim.types import Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.argument_descriptions import unwrap_tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.doubts import ANY_FIELD
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import DECLARED, Plan
from mcp_sim.types.views import find_key

_READS, _WRITES = frozenset({"get", "list", "search"}), frozenset({"create", "update", "delete"})
_NARROWING, _PARTS = terms("arguments.narrowing"), terms("arguments.part")
_CALLING_OFF, _PREPOSITIONS = terms("verbs.calling_off"), terms("phrases.prepositions")
_SELECTING = QUALIFIERS | terms("arguments.newest", "arguments.oldest", "figures.rank")
_MOST_READ = 200
"""The most rows of each table that a refused call looks through for a name."""


def standing_doubts(plan: Plan, domain: Domain) -> Iterator[str]:
    """Yield why all answers of a plan are guesses, however sure the plan is. A declared one is taken to be complete."""
    entity, tool = domain.entities.get(plan.entity or ""), domain.tools[plan.tool]
    if entity is None or plan.backend != "records" or not is_inferred(plan):
        return
    known = domain.given | domain.declared | domain.settled
    if domain.given and entity.inside is None and entity.name not in known:
        yield f"the given state has no records of {entity.name}"
    named = words(last_segment(tool.name))
    fields = [words(snake(field)) for field in entity.fields]
    phrases = [parts for parts in fields if len(parts) > 1 and {*parts} <= {*named}]
    explained = {*words(entity.name)}.union(*map(words, plan.filters), *phrases)
    left = [word for word in named if word in _SELECTING - explained]
    is_selected = plan.fixed or plan.paging.sort is not None or find_deadline(tool.name, plan, entity) is not None
    if left and plan.verb in _READS and not is_selected:
        yield f"no part of the plan selects what is {left[0]}"


def part_doubts(plan: Plan, domain: Domain) -> list[str]:
    """Return why what a tool shows is a guess: its name asks for a field, and no schema declares the whole record."""
    entity, tool = domain.entities.get(plan.entity or ""), domain.tools[plan.tool]
    if entity is None or entity.singleton or plan.verb != "get" or plan.result or tool.output_schema is not None:
        return []
    named = words(last_segment(tool.name)) if is_inferred(plan) else ()
    asked = {*takewhile(lambda word: word not in _PREPOSITIONS, named)}
    fields = [(field, {*words(snake(field))}) for field in entity.fields if field not in plan.filters]
    parts = [field for field, parts in fields if parts <= asked and parts - {*words(entity.name)}]
    return [f"the tool may show {parts[0]} alone"] if parts else []


def doubts_of(plan: Plan, domain: Domain) -> list[str]:
    """Return why the answers of a tool are or may be guesses, but for what depends on the state of a world."""
    unread = [f"the argument {name} has no role in the plan" for name in unread_arguments(plan, domain)]
    return [
        *plan.guesses,
        *standing_doubts(plan, domain),
        *part_doubts(plan, domain),
        *untold_effects(plan, domain),
        *unread,
    ]


def is_inferred(plan: Plan) -> bool:
    """Whether no spec declares what a tool does."""
    return plan.basis.get("verb", DECLARED).source != "declared"


def unread_arguments(plan: Plan, domain: Domain) -> list[str]:
    """Return the arguments that change or select nothing, and should. Those of other choices have a role there."""
    whole, tool = domain.plans.get(plan.tool, plan), plan_tool(plan, domain)
    caller = domain.callers.get(plan.tool)
    roots = {whole.choice, *([caller.argument] if caller else []), *_read(plan)}.union(*map(_read, whole.variants))
    is_asked = plan.verb in _READS or (plan.verb in _WRITES and is_inferred(plan))
    others = {name: schema for name, schema in properties(tool.input_schema).items() if name not in roots}
    return sorted(
        name
        for name, schema in others.items()
        if is_asked
        and snake(name) not in _PARTS
        and (not _NARROWING.isdisjoint(words(name)) or not is_presentation(name, schema))
    )


def plan_tool(plan: Plan, domain: Domain) -> Tool:
    """Return the tool of a plan, with its arguments named as in the plan."""
    tool, wrapper = domain.tools[plan.tool], domain.wrappers.get(plan.tool)
    return tool if wrapper is None else unwrap_tool(tool, wrapper)


def _read(plan: Plan) -> set[str]:
    """Return the arguments that have a role in a plan, without what is inside them."""
    paging, plain = plan.paging, (plan.key, plan.query, plan.holder, plan.each, plan.copies)
    read = {*plan.sets, *plan.filters, *plan.envelope.echoes.values(), *plain, paging.limit, paging.offset, paging.page}
    read |= {paging.cursor, paging.sort, paging.order, plan.idempotency.key if plan.idempotency else None}
    return {name.split(".")[0] for name in read if name}


def doubting_more(write: Write, plan: Plan, domain: Domain) -> Write:
    """Return a write that may change any field of its record if a call has an argument without a role.

    So does what calls a record off, such as a paid order, unless a schema declares what the call answers.
    """
    unread, tool = unread_arguments(plan, domain), domain.tools[plan.tool]
    calls_off = is_inferred(plan) and tool.output_schema is None and not _CALLING_OFF.isdisjoint(words(tool.name))

    def doubted(turn: Turn, invent: Invent) -> Effect | Observation:
        effect = write(turn, invent)
        if isinstance(effect, Observation) or not (calls_off or any(map(turn.call.arguments.get, unread))):
            return effect
        return replace(effect, doubts=effect.doubts | {ANY_FIELD})

    return doubted if unread or calls_off else write


def refusal_doubts(plan: Plan, domain: Domain) -> Callable[[Turn], list[str]]:
    """Compile what finds why a refused call may be valid on the real server. What a spec declares is certain.

    Whatever a tool does, it refuses a name that it does not know, so only the name is in doubt then.
    """
    reasons, names = [*standing_doubts(plan, domain)], _naming(plan, domain)
    if plan.backend == "records" and (not is_inferred(plan) or plan.entity in domain.declared):
        return lambda _turn: [*plan.guesses, *reasons]

    def doubts(turn: Turn) -> list[str]:
        asked = [(fetch(turn.call.arguments), entity) for fetch, entity in names]
        missing = [key for key, entity in asked if isinstance(key, str | int) and _is_unknown(turn.view, entity, key)]
        held = [f"the state has {key!r} in another place" for key in missing if _is_held(turn.view, key, domain)]
        return [*(() if missing else plan.guesses), *reasons, *held]

    return doubts


def _naming(plan: Plan, domain: Domain) -> list[tuple[Callable[[Record], Json], str]]:
    """Return the arguments that name records, with their entities."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None or plan.backend != "records":
        return []
    links = ((path, entity.fields[name].link) for path, name in plan.sets.items() if name in entity.fields)
    return [(argument(path), target) for path, target in [(plan.key, entity.name), *links] if path and target]


def _is_unknown(view: View, entity: str, key: Key) -> bool:
    return find_key(view, entity, key) is None and not view.version(entity, key)


def _is_held(view: View, text: Key, domain: Domain) -> bool:
    """Whether a given record holds a text as a name or a value: not as its id, and not as that of a linked record."""
    tables = [entity for name in sorted(domain.given) if (entity := domain.entities[name]).inside is None]
    for entity in tables:
        ids = {field.name for field in entity.fields.values() if field.link is not None}
        plain = entity.fields.keys() - (ids if entity.natural else ids | {entity.key})
        rows = islice(view.rows(entity.name), _MOST_READ)
        if any(_mentions(row.get(name), text) for _, row in rows for name in plain):
            return True
    return False


def _mentions(value: Json, text: Key) -> bool:
    """Whether a value is a text, or holds it, also as a name in an object."""
    if isinstance(value, dict):
        parts = as_object(value)
        return text in parts or any(_mentions(inner, text) for inner in parts.values())
    return value == text if isinstance(value, str) else any(_mentions(inner, text) for inner in as_list(value))
