"""Tools of which nothing is known but the form of their answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from mcp_sim.backends.records.result_schemas import required_by_default
from mcp_sim.backends.rendering.acknowledgements import acknowledgement
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.infer.result_descriptions import MESSAGE_NAMES
from mcp_sim.infer.result_schemas import result_schema, text_place
from mcp_sim.types import Json, Observation, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_object, fitting_type, properties, schema_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.kinds import Answer, Backend, Invent, backends
from mcp_sim.types.plans import Plan


@backends.register("schema_only")
class SchemaOnly(Backend):
    """A valid answer made from the outputSchema (or an example), the same for the same call; nothing is changed.

    Without either, or where the schema only wraps a text, it says that it did what its name tells, and what it was
    asked for. What is made up is marked as guessed, however sure it is that the tool touches no records.
    """

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        schema = _schema(tool, domain)
        shown = next((one for one in domain.examples if one.tool in {tool.id, tool.name} and one.is_blocks), None)
        if schema is None and shown is not None:
            example = Transition(Observation(ToolResult(shown.result, form="blocks")))
            return lambda _turn, _invent: example
        place = text_place(tool)
        if schema is None or place in MESSAGE_NAMES:
            told = acknowledgement(tool.name, tool.description)
            return lambda turn, _invent: _said(told(turn.call.arguments), place)
        form = "json" if tool.output_schema is None else "structured"
        make, asked = value_maker(tool.name, "result", required_by_default(schema)), properties(tool.input_schema)
        tests = dict(_tests({name: part for name, part in properties(schema).items() if name in asked}))

        def answer(turn: Turn, _invent: Invent) -> Transition:
            chance = chance_of(turn.draws.seed, turn.draws.scope)
            value = make(chance, {}, Moment(turn.start, turn.start))
            told = ToolResult(_echoing(value, turn.call.arguments, tests), form=form)
            return Transition(Observation(told), guessed=True)

        return answer


def _said(text: str, place: str | None) -> Transition:
    told = ToolResult(text, form="text") if place is None else ToolResult({place: text})
    return Transition(Observation(told))


def _schema(tool: Tool, domain: Domain) -> Record | None:
    if tool.output_schema is not None:
        return result_schema(tool)
    values = (example for example in domain.examples if not example.is_blocks)
    examples = (example.result for example in values if example.tool in {tool.id, tool.name})
    return next((schema_of(result) for result in examples if isinstance(result, dict | list)), None)


def _echoing(value: Json, arguments: Record, tests: Mapping[str, Validator]) -> Json:
    """What the result calls by the name of an argument is that argument, where it may be shown there."""
    given = {
        name: arguments[name] for name, test in tests.items() if name in arguments and _may_stand(arguments[name], test)
    }
    return {**as_object(value), **given} if given else value


def _may_stand(value: Json, test: Validator) -> bool:
    return fitting_type(value, test.schema) and not test.problems(value)


def _tests(parts: Mapping[str, Record]) -> Iterator[tuple[str, Validator]]:
    """What may stand in each part, where its schema stands by itself."""
    for name, part in parts.items():
        with suppress(ValueError):
            yield name, Validator(part)
