"""Changed arguments and results of tools."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from mcp_sim.types import Json, Proceed, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, constants, main_type, properties, required, types_of
from mcp_sim.types.json_schema.validation import Validator, compiled
from mcp_sim.types.json_values import as_text, encode
from mcp_sim.types.kinds import Apply, Listing, Perturbation, Stage, perturbations

Type = Literal["string", "number", "integer", "boolean"]


def _as_schema(value: Any) -> Any:
    schema = {"type": value} if isinstance(value, str) else value
    if isinstance(schema, dict):
        compiled(cast("Record", schema))
    return cast("Any", schema)


NewArgument = Annotated[dict[str, Json], BeforeValidator(_as_schema, json_schema_input_type=str | dict[str, Json])]

UNTOUCHED: Final = object()


@perturbations.register("schema_drift")
class SchemaDrift(Perturbation):
    """Change the arguments and results of the tools in reach, like a new version of an API. It lasts once it has begun.

    `notice` is how an agent can know: `announced` shows the change in the list of tools and notifies clients, `listed`
    only shows it, `silent` does neither. Calls in the old form are rejected in the tool's own style, or still accepted
    (`old_calls`).
    """

    stage = Stage.CATALOGUE

    rename: dict[str, str] = Field(
        default_factory=dict[str, str], description="Argument -> its new name.", examples=[{"title": "name"}]
    )
    remove: list[str] = Field(default_factory=list[str], description="Arguments that are no longer accepted.")
    retype: dict[str, Type] = Field(
        default_factory=dict[str, Type], description="Argument -> its new type; values are converted."
    )
    require: dict[str, NewArgument] = Field(
        default_factory=dict[str, Any], description="New required arguments: name -> type or JSON Schema."
    )
    narrow: dict[str, list[Json]] = Field(
        default_factory=dict[str, list[Any]], description="Argument -> the only values that are still allowed."
    )
    rename_output: dict[str, str] = Field(
        default_factory=dict[str, str], description="Field of results -> its new name."
    )
    notice: Literal["announced", "listed", "silent"] = Field(default="listed", description="How an agent can know.")
    old_calls: Literal["refused", "accepted"] = Field(
        default="refused", description="Whether calls in the old form fail, or still work."
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        changes = (self.rename, self.remove, self.retype, self.require, self.narrow, self.rename_output)
        if not any(changes):
            raise ValueError("expected one of rename, remove, retype, require, narrow, rename_output")
        if twice := sorted(({*self.rename} | {*self.retype} | {*self.narrow}) & {*self.remove}):
            raise ValueError(f"{', '.join(twice)}: a removed argument cannot be changed as well")
        if any(not values for values in self.narrow.values()):
            raise ValueError("narrow: an argument that allows no value at all; remove it instead")
        return self

    def announces(self) -> bool:
        return self.notice == "announced"

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return not self.rename_output

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        known = {name for tool in tools for name in properties(tool.input_schema)}
        drifting = dict.fromkeys((*self.rename, *self.remove, *self.retype, *self.narrow))
        problems = [
            f"no tool in reach has an argument {name!r}{did_you_mean(name, known)}"
            for name in drifting
            if name not in known
        ]
        shown = [declared for tool in tools for declared in _objects(expanded(tool.output_schema or {}))]
        fields = {name for declared in shown for name in declared}
        # A tool without an outputSchema may return any field.
        if all(tool.output_schema is not None for tool in tools):
            problems += [
                f"no tool in reach returns a field {name!r}{did_you_mean(name, fields)}"
                for name in self.rename_output
                if name not in fields
            ]
        return [*problems, *(problem for tool in tools for problem in self._impossible(tool))]

    def _impossible(self, tool: Tool) -> list[str]:
        declared = properties(tool.input_schema)
        problems = [
            f"{tool.id} cannot do without {name!r}, which it requires"
            for name in self.remove
            if name in required(tool.input_schema)
        ]
        # The new names that another argument already has, or gets as well.
        new = [*(name for old, name in self.rename.items() if old in declared), *self.require]
        taken = sorted({name for name in new if name in declared or new.count(name) > 1})
        problems += [f"{tool.id} has an argument {name!r} already" for name in taken]
        for name, values in self.narrow.items():
            wrong = [value for value in values if name in declared and not Validator(declared[name]).is_valid(value)]
            problems += [f"{tool.id} never allowed {value!r} as {name}" for value in wrong]
        return [*problems, *self._idle(tool, declared), *self._unreadable(tool)]

    def _idle(self, tool: Tool, declared: Mapping[str, Record]) -> Iterator[str]:
        """Yield a problem for each change that changes nothing."""
        for name, new in self.retype.items():
            if name in declared and types_of(declared[name]) == (new,):
                yield f"{name} of {tool.id} is a {new} already"
        for name, values in self.narrow.items():
            allowed = constants(declared.get(name, {}))
            if allowed and all(any(equal(value, kept) for kept in values) for value in allowed):
                yield f"{name} of {tool.id} allows nothing else already"

    def _unreadable(self, tool: Tool) -> Iterator[str]:
        """Yield a problem for each field of results that would exist twice."""
        if tool.output_schema is None:
            return
        objects = [*_objects(expanded(tool.output_schema))]
        for old, new in self.rename_output.items():
            if any(old in fields and new in fields for fields in objects):
                yield f"{tool.id} returns a field {new!r} already"

    def alters(self, tool: Tool) -> frozenset[str]:
        declared = properties(tool.input_schema)
        arguments = {name for name in (*self.rename, *self.remove, *self.retype, *self.narrow) if name in declared}
        new = {self.rename[name] for name in arguments if name in self.rename} | {*self.require}
        return frozenset(
            {*(f"argument {name}" for name in arguments | new), *(f"field {name}" for name in self.rename_output)}
        )

    def catalogue(self, listing: Listing) -> Sequence[Tool]:
        if self.notice == "silent":
            return listing.tools
        return [self._listed(tool) if tool.id in listing.reach else tool for tool in listing.tools]

    def _listed(self, tool: Tool) -> Tool:
        return replace(tool, definition={**tool.definition, "inputSchema": self.drifted(tool.input_schema)})

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        forms = _Forms(self, tool)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            given = turn.call.arguments
            understood = forms.understood(given)
            if isinstance(understood, str):
                message = f"Invalid arguments: {understood}"
                return Transition(turn.tool.failure("invalid", message, **{**given, "problems": understood}))
            same = understood == given
            call = turn.call if same else replace(turn.call, arguments=understood)
            transition = await proceed(turn if same else replace(turn, call=call))
            bent = self._with_new_fields(transition)
            return turn.no_effect(transition) if same and bent is transition else bent

        return apply

    def _with_new_fields(self, transition: Transition) -> Transition:
        body = transition.observation.body
        if not self.rename_output or not isinstance(body, ToolResult) or body.form not in ("structured", "json"):
            return transition
        value = self._renamed(body.value)
        # The same bytes mean that no field had an old name: then the fault had no effect.
        if body.is_error or encode(value) == body.encoded:
            return transition
        return replace(transition, observation=replace(transition.observation, body=body.with_value(value)))

    def _renamed(self, value: Json) -> Json:
        if isinstance(value, list):
            return [self._renamed(item) for item in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        fields = cast("Record", value)
        return {self.rename_output.get(name, name): self._renamed(inner) for name, inner in fields.items()}

    def drifted(self, schema: Record) -> Record:
        """Return the inputSchema in its new form."""
        declared: Record = {}
        for name, old in properties(schema).items():
            if name in self.remove:
                continue
            argument = old
            if name in self.narrow:
                kept = {key: value for key, value in argument.items() if key != "default"}
                argument = {**kept, "enum": self.narrow[name]}
            if name in self.retype:
                kept = {key: argument[key] for key in ("title", "description") if key in argument}
                argument = {**kept, "type": self.retype[name]}
            declared[self.rename.get(name, name)] = argument
        needed = [self.rename.get(name, name) for name in schema.get("required", ()) if name not in self.remove]
        return {
            **schema,
            "properties": {**declared, **self.require},
            **({"required": [*needed, *self.require]} if needed or self.require else {}),
        }


class _Forms:
    """The old and the new form of one tool's arguments, as far as they differ."""

    def __init__(self, drift: SchemaDrift, tool: Tool) -> None:
        self._drift = drift
        self._declared = properties(tool.input_schema)
        self._changed = {*drift.rename, *drift.remove, *drift.retype, *drift.narrow} & {*self._declared}
        self._back = {new: old for old, new in drift.rename.items() if old in self._declared}
        new_names = {drift.rename.get(name, name) for name in self._changed} | {*drift.require}
        drifted = drift.drifted(tool.input_schema)
        self._gone = self._changed - {*properties(drifted)}
        # Only what changed is judged here. The other arguments are the tool's own affair, with its own wording.
        self._old = Validator(_part(tool.input_schema, self._changed))
        self._new = Validator(_part(drifted, new_names))

    def understood(self, given: Record) -> Record | str:
        """Return the arguments in the old form, or their problems."""
        unknown = [f"{name}: is not an argument of this tool" for name in given if name in self._gone]
        problems = "; ".join((*unknown, *self._new.problems(given)))
        if not problems:
            old = self._in_old_form(given)
            if not isinstance(old, str):
                return old
            problems = old
        if self._drift.old_calls == "accepted" and self._old.is_valid(given):
            return given
        return problems

    def _in_old_form(self, given: Record) -> Record | str:
        old: Record = {}
        for name, value in given.items():
            was = self._back.get(name, name)
            # The tool itself is still the old one, and would reject what it does not know.
            if name in self._drift.require and name not in self._declared:
                continue
            old[was] = value
            if was in self._drift.retype and was in self._declared:
                old[was] = _converted(value, self._declared[was])
                if old[was] is UNTOUCHED:
                    return f"{name}: {value!r} cannot be understood"
        return old


def _part(schema: Record, names: Collection[str]) -> Record:
    """Return an object schema reduced to certain properties."""
    kept = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    declared = {name: argument for name, argument in properties(schema).items() if name in names}
    return {**kept, "type": "object", "properties": declared, "required": sorted(required(schema) & {*names})}


def _objects(schema: Json) -> Iterator[Record]:
    """Yield the fields of each object that a schema declares, at any depth."""
    for inner in as_list(schema):
        yield from _objects(inner)
    for key, inner in as_object(schema).items():
        if key == "properties":
            yield as_object(inner)
        # Their values may look like schemas.
        if key not in ("enum", "const", "default", "examples"):
            yield from _objects([*as_object(inner).values()] if key == "properties" else inner)


def _converted(value: Json, schema: Record) -> Any:
    """Return the value converted to the type of a schema; `UNTOUCHED` if that is impossible."""
    if main_type(schema) == "string":
        return as_text(value)
    try:
        converted = json.loads(value) if isinstance(value, str) else int(value) if isinstance(value, bool) else value
    except ValueError:
        return UNTOUCHED
    if main_type(schema) == "boolean" and converted in (0, 1):
        return bool(converted)
    if main_type(schema) == "integer" and isinstance(converted, float) and converted.is_integer():
        converted = int(converted)
    return converted if Validator(schema).is_valid(converted) else UNTOUCHED
