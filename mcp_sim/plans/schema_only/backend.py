"""Tools that are known only by the schema of their results.

Results repeat given facts: fields of entities with a single record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeAlias, cast

from mcp_sim.generate.defaults import settling
from mcp_sim.generate.invention import embedder, with_known_records
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.plans.acknowledgements import acknowledged_data, acknowledgement
from mcp_sim.plans.infer.arguments import noun_of_key
from mcp_sim.plans.infer.names import last_segment
from mcp_sim.plans.infer.verbs import success_flags
from mcp_sim.plans.records.projection import SECRETS
from mcp_sim.plans.records.results import required_by_default
from mcp_sim.plans.records.selection import existence_check
from mcp_sim.plans.rendering.templates import Scope, template_renderer
from mcp_sim.plans.schema_only.computed_values import computation_of
from mcp_sim.plans.schema_only.digests import described_sum, digest_of, guesses_of_digest, typed_digest
from mcp_sim.plans.schema_only.plausible_results import as_sentences, plausible_result
from mcp_sim.types import Json, Observation, Record, Tool, ToolResult, Transition, Turn, View
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    fitting_type,
    is_open,
    main_type,
    map_of,
    properties,
    required,
    schema_of,
)
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import is_number
from mcp_sim.types.kinds import Answer, Backend, Invent, backends
from mcp_sim.types.lexicon.english import last_word, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_schemas import (
    MESSAGE_NAMES,
    TEXT_NAMES,
    documented_form,
    result_schema,
    text_place,
    without_failures,
)

_LEFT, _TAKEN = terms("figures.left"), terms("fields.taken")
WithFacts: TypeAlias = Callable[[View, Json], Json]


@backends.register("schema_only")
class SchemaOnly(Backend):
    """Generates a valid result from the output schema or an example. The same call gives the same result.

    Nothing is changed. Without a schema and an example, or if the schema only wraps a text, the result holds what the
    name and the description promise, and else confirms the call. Generated results are marked as guessed.
    """

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        answer = _computed(tool, self._compile(tool, domain))
        missing = existence_check(tool, _named_entities(tool, domain), domain)
        render = template_renderer(tool, plan.result) if plan.result else None

        def checked(turn: Turn, invent: Invent) -> Transition:
            refused = missing(turn)
            if refused is not None:
                return Transition(refused)
            declared = None if render is None else render(Scope(turn.call.arguments, turn.now, turn.start))
            return answer(turn, invent) if declared is None else Transition(declared)

        return checked

    def _compile(self, tool: Tool, domain: Domain) -> Answer:
        schema = _schema(tool, domain)
        shown = next(
            (recorded for recorded in domain.examples if recorded.tool in {tool.id, tool.name} and recorded.is_blocks),
            None,
        )
        if schema is None and shown is not None:
            example = Transition(Observation(ToolResult(shown.result, form="blocks")))
            return lambda _turn, _invent: example
        place = text_place(tool)
        if schema is None or place in MESSAGE_NAMES or _shows_nothing(schema):
            return _promised(tool, place, domain)
        wrapper = _open_place(schema)
        if wrapper is not None:
            return _promised(tool, None, domain, wrapper)
        whole = without_failures(required_by_default(schema), words(tool.name))
        make, asked = value_maker(tool.name, "result", whole), properties(tool.input_schema)
        echo = _echoing({name: subschema for name, subschema in properties(schema).items() if name in asked})
        repeat, named = _with_given_facts(schema, domain), _named_records(tool, schema, domain)
        described = described_sum(tool, schema, domain)
        digest = described or typed_digest(tool, schema, domain)
        unsure, embed = guesses_of_digest(tool, domain), embedder(domain)
        sums = ("the sum is one that its description mentions",) if described else ()
        flags = [name for name, shape in properties(schema).items() if _is_flag(shape)]
        done: Record = dict.fromkeys(success_flags(words(last_segment(tool.name)), flags), True)
        count = _count_of_items(tool, schema)
        fields = {name: Field(name, shape) for name, shape in properties(schema).items()}
        settle = settling(Entity(tool.name, fields=fields), domain)

        def answer(turn: Turn, _invent: Invent) -> Transition:
            drawn = make(chance_of(turn.draws.seed, turn.draws.scope), {}, Moment(turn.start, turn.start))
            value = repeat(turn.view, with_known_records(embed, turn, "", schema, drawn))
            value = echo(value, turn.call.arguments)
            known = named(turn)
            computed = {**known, **count(turn.call.arguments), **(digest(turn) if digest is not None else {})}
            body = as_object(value)
            given = {name for name in body if body[name] != as_object(drawn).get(name)}
            body = {**body, **done, **_left(schema, known), **computed}
            if settle is not None:
                settle(body, {*given, *computed, *_left(schema, known), *turn.call.arguments})
            value = body or value
            rest = [name for name in properties(schema) if name not in {*computed, *turn.call.arguments}]
            lacking = (f"nothing determines {', '.join(rest)}",) if rest else ()
            return Transition(tool.success(value), guesses=(*sums, *unsure(turn), *lacking))

        return answer


def _computed(tool: Tool, usual: Answer) -> Answer:
    """Return the answer with the number that a call determines, where the result is a text, a number or wraps one."""
    compute, parts = computation_of(tool), properties(result_schema(tool) if tool.output_schema else {})
    if compute is None or len(parts) > 1 or bool(parts) != bool(tool.output_schema):
        return usual
    place = next(iter(parts), None)

    def answer(turn: Turn, invent: Invent) -> Transition:
        number = compute(turn.call.arguments)
        if number is None:
            return usual(turn, invent)
        if place is None:
            return Transition(tool.success(str(number)))
        value = next((value for value in (number, str(number)) if fitting_type(value, parts[place])), None)
        return usual(turn, invent) if value is None else Transition(Observation(ToolResult({place: value})))

    return answer


def _named_entities(tool: Tool, domain: Domain) -> dict[str, str]:
    """Return the arguments that are ids of records, with their entities."""
    ids = {name: noun_of_key(name) for name in properties(expanded(tool.input_schema)) if last_word(name) == "id"}
    known = {name: domain.entities.get(noun) for name, noun in ids.items()}
    return {
        name: entity.name for name, entity in known.items() if entity and entity.inside is None and not entity.singleton
    }


def _named_records(tool: Tool, schema: Record, domain: Domain) -> Callable[[Turn], Record]:
    """Return what finds the values of a result that the records have which a call names: the `capacity` of a hall.

    A result with an id of its own is about something else.
    """
    parts, asked = properties(schema), {*map(snake, properties(tool.input_schema))}
    named = {at: domain.entities[name] for at, name in _named_entities(tool, domain).items() if name in domain.given}
    keys = {snake(entity.key) for entity in named.values()}
    if any(last_word(name) == "id" and snake(name) not in asked | keys for name in parts):
        return lambda _turn: {}
    shared = {at: [name for name in parts if name in entity.fields and name not in SECRETS]
              for at, entity in named.items()}  # fmt: skip

    def known(turn: Turn) -> Record:
        values: Record = {}
        for at, entity in named.items():
            key = turn.call.arguments.get(at)
            record = turn.view.get(entity.name, key) if isinstance(key, str | int) else None
            if record and entity.name in parts:
                inner = properties(parts[entity.name])
                shown = {name: record[name] for name in inner if name in record}
                values |= {entity.name: shown} if required(parts[entity.name]) <= shown.keys() > set() else {}
            values |= {
                name: held for name in shared[at] if record and fitting_type(held := record.get(name), parts[name])
            }
        return values

    return known


def _left(schema: Record, known: Record) -> Record:
    """Return the number that is left of two: the `available` ones of a `capacity` and what is `sold`."""
    parts, numbers = properties(schema), {name: value for name, value in known.items() if is_number(value)}
    names = [name for name in parts if last_word(name) in _LEFT and name not in known]
    is_left = len(names) == 1 and main_type(parts[names[0]]) in {"integer", "number"}
    is_taken = len(numbers) == 2 and any(last_word(name) in _TAKEN for name in numbers)
    return {names[0]: max(numbers.values()) - min(numbers.values())} if is_left and is_taken else {}


def _promised(tool: Tool, place: str | None, domain: Domain, wrapper: str | None = None) -> Answer:
    """Return the answer of a tool that declares no result: data if its name or description promises some.

    The data is the text of the property `place`, or the property `wrapper`.
    """
    described = described_sum(tool, {}, domain)
    digest = described or digest_of(tool, domain)
    is_data = place is None and tool.output_schema is not None
    is_text = not is_data and (tool.prose or (place or "result") not in TEXT_NAMES)

    def show(value: Record) -> Observation:
        shown = as_sentences(value) if is_text else value
        return tool.success(shown if wrapper is None else {wrapper: shown}, place)

    if digest is not None:
        unsure = guesses_of_digest(tool, domain)
        sums = ("the sum is one that its description mentions",) if described else ()
        return lambda turn, _invent: Transition(show(digest(turn)), guesses=(*sums, *unsure(turn)))
    form = documented_form(tool.description) if tool.output_schema is None else None
    if form == "flag":
        flag = Transition(tool.success(True), guesses=("nothing determines whether it is true",))
        return lambda _turn, _invent: flag
    is_confirmation = is_text and form == "confirmation"
    result = None if is_confirmation else plausible_result(tool)
    if result is not None:
        guesses = ("its description promises a result that nothing determines",)
        return lambda turn, _invent: Transition(show(result(turn)), guesses=guesses)
    if is_text:
        confirm = acknowledgement(tool.name, tool.description)
        return lambda turn, _invent: Transition(tool.success(confirm(turn.call.arguments), place))
    data = acknowledged_data(tool.name, tool.description)
    return lambda turn, _invent: Transition(show(data(turn.call.arguments)))


def _count_of_items(tool: Tool, schema: Record) -> Callable[[Record], Record]:
    """Return what counts the items of the only list that a call gives, as all done: `imported` of `import_rows`."""
    lists = [name for name, shape in properties(expanded(tool.input_schema)).items() if main_type(shape) == "array"]
    numbers = [name for name, shape in properties(schema).items() if main_type(shape) == "integer"]
    counts = success_flags(words(last_segment(tool.name)), numbers) if len(lists) == 1 else []
    return lambda arguments: {
        name: len(as_list(arguments[at])) for name in counts for at in lists if isinstance(arguments.get(at), list)
    }


def _is_flag(schema: Record) -> bool:
    return main_type(schema) == "boolean" and not constants(schema)


def _shows_nothing(schema: Record) -> bool:
    """Whether a schema declares an object and none of its properties, as frameworks do for any mapping."""
    return main_type(schema) == "object" and is_open(schema) and not required(schema) and not map_of(schema)


def _open_place(schema: Record) -> str | None:
    """Return the only property of a schema if it shows nothing: frameworks wrap a mapping that may be null."""
    parts = [*properties(schema).items()]
    return parts[0][0] if len(parts) == 1 and _shows_nothing(parts[0][1]) else None


def _schema(tool: Tool, domain: Domain) -> Record | None:
    if tool.output_schema is not None:
        return result_schema(tool)
    values = (example for example in domain.examples if not example.is_blocks)
    examples = (example.result for example in values if example.tool in {tool.id, tool.name})
    return next((schema_of(result) for result in examples if isinstance(result, dict | list)), None)


def _echoing(parts: Mapping[str, Record]) -> Callable[[Json, Record], Json]:
    """Return what repeats the arguments that properties are named after, if their schemas, self-contained, allow it."""
    tests = dict[str, Validator]()
    for name, schema in parts.items():
        with suppress(ValueError):
            tests[name] = Validator(schema)

    def echo(value: Json, arguments: Record) -> Json:
        asked = {name: arguments[name] for name in tests if name in arguments}
        given = {
            name: held
            for name, held in asked.items()
            if fitting_type(held, tests[name].schema) and not tests[name].problems(held)
        }
        return {**as_object(value), **given} if given else value

    return echo


class _Fact(NamedTuple):
    entity: str
    field: str


def _with_given_facts(schema: Record, domain: Domain) -> WithFacts:
    """Return a function that gives a result the values that the given state has for its properties."""
    if _given_facts not in domain.kept:
        domain.kept[_given_facts] = _given_facts(domain)
    facts: Mapping[str, _Fact] = domain.kept[_given_facts]
    return lambda view, value: _with_facts(schema, value, facts, view) if facts else value


def _given_facts(domain: Domain) -> dict[str, _Fact]:
    """Return the shown fields of given entities with a single record, by name, if the name is unique."""
    given_facts: dict[str, list[_Fact]] = defaultdict(list)
    for entity in (domain.entities[name] for name in sorted(domain.given & domain.entities.keys())):
        for field in entity.fields.values() if entity.singleton else ():
            if not field.hidden and snake(field.name) not in SECRETS:
                given_facts[_plain(field.name)].append(_Fact(entity.name, field.name))
    return {name: facts[0] for name, facts in given_facts.items() if len(facts) == 1}


def _plain(name: str) -> str:
    return snake(name).replace("_", "")


def _with_facts(schema: Record, value: Json, facts: Mapping[str, _Fact], view: View) -> Json:
    """Return the value with the facts in it. A name of one word, such as `status`, needs another fact beside it."""
    parts = properties(schema)
    if not isinstance(value, dict) or not parts:
        return cast("Json", value)
    body = as_object(value)
    given = {name: fact for name in parts if (fact := facts.get(_plain(name))) is not None}
    kept = {name: fact for name, fact in given.items() if len(given) > 1 or len(words(name)) > 1}
    values = {name: (view.get(fact.entity, fact.entity) or {}).get(fact.field) for name, fact in kept.items()}
    inner = {
        name: _with_facts(inner_value, body.get(name), facts, view)
        for name, inner_value in parts.items()
        if name in body
    }
    fitting = {
        name: held
        for name, held in values.items()
        if held is not None and fitting_type(held, parts[name]) and held in (constants(parts[name]) or [held])
    }
    return {**body, **inner, **fitting}
