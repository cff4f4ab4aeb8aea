"""What is needed to predict the calls of each tool, compiled at its first call, and the facts that a prompt states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from mcp_sim.models.language_model.absorption import is_closed
from mcp_sim.models.language_model.conformity import DeclaredValues
from mcp_sim.models.language_model.conversation import Transcript
from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.models.language_model.subjects import SubjectNames, entity_names, scalars
from mcp_sim.models.language_model.tighten import Bounds, tighten, whole_schema
from mcp_sim.types import Call, Json, Key, Record, Tool, Turn, find_key, frozen, was_written
from mcp_sim.types.argument_descriptions import unwrap_call
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import constants, properties, schema_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import READS, canonical, encode, in_list, is_key, value_at
from mcp_sim.types.kinds import Answer, backends
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.lexicon.terms import by_word, terms
from mcp_sim.types.plans import RECORDLESS, Plan
from mcp_sim.types.programs import PROGRAM
from mcp_sim.world.consistency import Inspection, inspection

MAX_NAMED = 20  # how many records one turn lists at most besides those that its plan names
MAX_RELATED = 10
"""How many records one turn lists at most because others refer to them. A customer may have thousands of orders, and
the answer is about the customer."""
MAX_ROWS = 20
"""How many rows of a list one turn shows at most. As many as fit on a usual page."""
MAX_SIZE = 8_000
"""How many characters of rows, and of related records, one turn shows at most. About 2,000 tokens, beside the
transcript."""
SHORTEST_NAME = 3  # shorter keys and names, such as `1` or `de`, occur in arguments by chance
NAMES = ("name", "title", "path", "slug", "email", "username", "full_name")
"""Fields by which arguments name records, besides their keys."""

MAX_EVENTS = 50
"""How many earlier calls and events one turn lists at most; the newest ones. Older ones are in the transcript."""


@frozen
class RelevantRecords:
    """The records that matter to the calls of a tool.

    `named` lists pairs of an argument and the entity whose record it names. `counted` is the entity whose number of
    records matters.
    """

    named: tuple[tuple[str, str], ...]
    counted: str | None


def relevant_records(plan: Plan, domain: Domain) -> RelevantRecords:
    """Return the records that matter to the calls of a tool, by its plan."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None:
        return RelevantRecords((), None)
    written = {**plan.sets, **{argument: narrowed.field for argument, narrowed in plan.filters.items()}}
    links = [(argument, entity.fields[name].link) for argument, name in written.items() if name in entity.fields]
    named = [(argument, link) for argument, link in links if link is not None]
    own = [(plan.key, entity.name)] if plan.key else []
    return RelevantRecords((*own, *named), entity.name if plan.verb in ("list", "search") else None)


def collect_facts(turn: Turn, relevant: RelevantRecords, last: Transcript | None, disclosure: Disclosure) -> Record:
    """Return what is true before the call: time, relevant records (null: absent), events since the last turn."""
    given = [(entity, in_list(value_at(turn.call.arguments, argument))) for argument, entity in relevant.named]
    planned = [(entity, key) for entity, keys in given for key in keys if is_key(key)]
    named = [*dict.fromkeys((*planned, *islice(_also_named(turn, disclosure.domain), MAX_NAMED)))]
    records = [_shown(turn, disclosure, at) for at in named if _is_settled(turn, disclosure.domain, at)]
    related = _within(MAX_SIZE, (_shown(turn, disclosure, at) for at in _related(turn, named, disclosure.domain)))
    named_facts = {"records": records, "related records": related}
    facts: Record = {"now": iso(turn.now), **{name: shown for name, shown in named_facts.items() if shown}}
    if relevant.counted is not None and disclosure.is_counted(relevant.counted):
        entity = relevant.counted
        rows = (disclosure.record(entity, row) for _, row in islice(turn.view.rows(entity), MAX_ROWS))
        shown = _within(MAX_SIZE, (row for row in rows if row is not None))
        facts |= {"count": {entity: turn.view.count(entity)}, "rows": shown}
    events = list(_events_since(turn, last, disclosure))
    if events:
        facts["since the last turn"] = events[::-1]
    return facts


def _is_settled(turn: Turn, domain: Domain, at: tuple[str, Key]) -> bool:
    """Whether it is known that a record exists, or that it does not; what is asked of an open entity exists."""
    entity, key = at
    is_known = find_key(turn.view, entity, key) is not None or was_written(turn.view, entity, key)
    return is_known or is_closed(domain, domain.entities[entity])


def _shown(turn: Turn, disclosure: Disclosure, at: tuple[str, Key]) -> Record:
    entity, key = at
    return {"entity": entity, "key": key, "record": disclosure.record(entity, turn.view.get(entity, key))}


def _within(size: int, values: Iterable[Record]) -> list[Record]:
    """Return the first values that have this many characters together."""
    rows = list[Record]()
    for value in values:
        size -= len(encode(value))
        if size < 0:
            break
        rows.append(value)
    return rows


def _also_named(turn: Turn, domain: Domain) -> Iterator[tuple[str, Key]]:
    """Yield the records that an argument names by key or name, whatever the plan says. Short texts are too common."""
    for value in islice(scalars(turn.call.arguments), MAX_NAMED):
        if isinstance(value, str) and len(value) >= SHORTEST_NAME:
            yield from ((name, value) for name in domain.entities if turn.view.get(name, value) is not None)
            for entity in domain.entities.values():
                fields = [field for field in NAMES if field in entity.fields and field != entity.key]
                called = (turn.view.find(entity.name, field, value)[:MAX_NAMED] for field in fields)
                yield from ((entity.name, key) for rows in called for key, _ in rows)


def _related(turn: Turn, named: Sequence[tuple[str, Key]], domain: Domain) -> Iterator[tuple[str, Key]]:
    """Yield the records that the named ones refer to, and that are not among them."""
    seen = set(named)
    for entity, key in named:
        record = turn.view.get(entity, key) or {}
        for field in domain.entities[entity].fields.values():
            link: Json = record.get(field.name) if field.link is not None else None
            if field.link is None or not isinstance(link, str | int) or (field.link, link) in seen:
                continue
            if turn.view.get(field.link, link) is not None:
                seen.add((field.link, link))
                yield field.link, link
                if len(seen) >= len(named) + MAX_RELATED:
                    return


def _events_since(turn: Turn, last: Transcript | None, disclosure: Disclosure) -> Iterator[Record]:
    """Yield the writes since the last turn, newest first: those of other calls and of other actors."""
    left = MAX_EVENTS
    for past in reversed(turn.history):
        is_last = last is not None and past.tool != "" and past.index == last.index
        if left == 0 or (last is not None and past.index < last.index):
            return
        if is_last and last is not None:
            if past.changes != last.changes:
                yield {"turn": past.index, "really written": disclosure.written(past.changes)}
            return
        if past.changes:
            left -= 1
            actor = {"call": past.tool, "arguments": past.arguments} if past.tool else {"by": "someone else"}
            yield {**actor, "written": disclosure.written(past.changes)}


_VARYING = terms("verbs.varying")  # words in the names of tools that may answer the same call differently each time


@frozen
class CompiledTool:
    """A tool, or one choice of a tool whose argument selects an operation.

    `answer` answers by the plan. `reply_schema` is the grammar of a reply, `closed_schema` a stricter one that cannot
    run on for long, `validator` checks the tool's own outputSchema, and `declared` single values of an answer; all are
    None if it is missing. `inspect` finds where a transition contradicts the world. `varies`: the same call may be
    answered differently each time.
    """

    tool: Tool
    plan: Plan
    entity: Entity | None
    answer: Answer
    relevant: RelevantRecords
    schema: Record | None
    validator: Validator | None
    declared: DeclaredValues | None
    reply_schema: Record | None
    closed_schema: Record | None
    names: SubjectNames
    inspect: Inspection
    is_write: bool
    varies: bool

    @property
    def is_unclear(self) -> bool:
        """Whether the plan does not show what a call changes."""
        return self.is_write and self.plan.backend != PROGRAM and (self.plan.guessed or self.plan.verb in RECORDLESS)

    def kind_of_call(self, arguments: Record) -> str:
        """Return a name of all calls that do the same: with these arguments, and these values of those with choices."""
        declared = properties(self.tool.input_schema)
        chosen = {name: value if constants(declared.get(name, {})) else "" for name, value in arguments.items()}
        return canonical([self.tool.id, chosen])


class CompiledTools:
    """The tools of a scenario, each compiled at its first call."""

    def __init__(self, domain: Domain, bounds: Bounds) -> None:
        self._domain, self._bounds = domain, bounds
        self._names = entity_names(domain)
        self._compiled = dict[tuple[str, str], CompiledTool]()

    def of(self, call: Call) -> CompiledTool:
        """Return the tool of a call, or the choice that the call makes."""
        plan = self._domain.plans.get(call.tool) or Plan(call.tool, "unknown")
        choice = self._choice(plan, call)
        at = (call.tool, choice)
        if at not in self._compiled:
            domain, tool, chosen = self._domain, self._domain.tools[call.tool], plan.choices.get(choice, plan)
            self._compiled[at] = CompiledTool(
                tool=tool,
                plan=chosen,
                entity=domain.entities.get(chosen.entity or ""),
                answer=backends[domain.plans[tool.id].backend]().compile_answer(tool, domain.plans[tool.id], domain),
                relevant=relevant_records(chosen, domain),
                schema=tool.output_schema,
                validator=None if tool.output_schema is None else Validator(tool.output_schema),
                declared=None if tool.output_schema is None else DeclaredValues(tool.output_schema),
                reply_schema=self._reply_schema(tool, self._bounds),
                closed_schema=self._reply_schema(tool, replace(self._bounds, is_open=False)),
                names=SubjectNames.of(tool, chosen, domain, self._names),
                inspect=inspection(domain.plans[tool.id], domain),
                is_write=_is_write(tool, chosen),
                varies=not _VARYING.isdisjoint(words(tool.name)),
            )
        return self._compiled[at]

    def plain_call(self, call: Call) -> Call:
        """Return the call as plans name its arguments: without a wrapper around them."""
        wrapper = self._domain.wrappers.get(call.tool)
        return call if wrapper is None else unwrap_call(call, wrapper)

    def _choice(self, plan: Plan, call: Call) -> str:
        """Return the choice that a call makes, or ''."""
        if plan.choice is None:
            return ""
        declared = properties(self._domain.tools[plan.tool].input_schema).get(plan.choice, {})
        asked = self.plain_call(call).arguments.get(plan.choice, declared.get("default"))
        return asked if isinstance(asked, str) and asked in plan.choices else ""

    def _reply_schema(self, tool: Tool, bounds: Bounds) -> Record | None:
        """Return the grammar of a whole observation: the tool's own, or that of an example; None for free text."""
        if tool.output_schema is not None:
            return whole_schema(tighten(tool.output_schema, bounds), bounds)
        shown = [
            example.result for example in self._domain.examples if example.tool == tool.id and not example.is_blocks
        ]
        if not shown or not all(isinstance(result, dict | list) for result in shown):
            return None
        return whole_schema(tighten(schema_of(shown[0]), bounds), bounds)


def _is_write(tool: Tool, plan: Plan) -> bool:
    """Whether calls of a tool may write: by its annotations, else by its plan. What is unknown may."""
    if "readOnlyHint" in tool.annotations:
        return tool.annotations["readOnlyHint"] is not True
    if plan.verb in ("unknown", "none"):
        return by_word("verbs.certain").get(next(iter(words(tool.name)), "")) not in READS
    return plan.verb in ("create", "update", "delete")
