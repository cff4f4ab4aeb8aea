"""Select calls: a tool by glob, matchers on its arguments, calls that share a quota or an idempotency key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Any, TypeAlias, cast

from pydantic import BeforeValidator, Field, WithJsonSchema

from mcp_sim.types import Call, Json, Record, Step, Tool, Turn
from mcp_sim.types.calls import scope_of
from mcp_sim.types.conditions import ABSENT, Matcher, at_path, matcher
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.draws import SEPARATOR
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.shapes import as_list, as_object, constants, types_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import NOWHERE, canonical, split_path, value_at, without_part
from mcp_sim.types.kinds import Expectation, Kind, Perturbation
from mcp_sim.types.options import MatcherSource
from mcp_sim.types.tools import in_reach

Test: TypeAlias = Callable[[dict[str, Json]], bool]
"""Whether the arguments of a call satisfy a matcher."""

LONGEST_QUOTA_KEY = 64  # a longer name is hashed: every call keeps it in memory


def _check_scope(value: Any) -> Any:
    if value in ("world", "tool") or (isinstance(value, str) and value.startswith("arguments.") and value[10:]):
        return value
    raise ValueError(f"{value!r} is not a scope; write world, tool, or arguments.NAME")


QuotaScope = Annotated[
    str,
    BeforeValidator(_check_scope),
    WithJsonSchema(
        {"type": "string", "pattern": r"^(world|tool|arguments\..+)$", "examples": ["arguments.account_id"]}
    ),
]
"""The calls that share a quota: all of the world, those of one tool, or those with one value of an argument."""


def quota_key(turn: Turn, shared: str) -> str:
    """Return a name, of bounded length, for what this call shares with others."""
    if shared == "world":
        return ""
    if shared == "tool":
        return turn.call.tool
    value = argument_value(turn.call.arguments, shared.removeprefix("arguments."))
    name = "" if value is ABSENT else canonical(value)
    return name if len(name) <= LONGEST_QUOTA_KEY else sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def idempotency_key(call: Call | Step, domain: Domain) -> str:
    """Return the idempotency key of a call, hashed with its tool and caller: keys of two tools never meet.

    It is '' if the tool takes no key, or the call does not set it.
    """
    value = key_given(call.tool, call.arguments, domain)
    return "" if value is None else scope_of(f"{call.tool}{SEPARATOR}{call.caller}", canonical(value))


def key_given(tool: str, arguments: Record, domain: Domain) -> Json:
    """Return the idempotency key among arguments, or None."""
    path = _key_path(tool, domain)
    value = value_at(arguments, path) if path else None
    return None if value in (NOWHERE, "") else value


def without_key(tool: str, arguments: Record, domain: Domain) -> Record:
    """Return the arguments of a call without its idempotency key."""
    path = _key_path(tool, domain)
    return as_object(without_part(arguments, split_path(path))) if path else arguments


def _key_path(tool: str, domain: Domain) -> str:
    """Return the path of the argument with the idempotency key; '' if the tool takes none."""
    plan, wrapper = domain.plans.get(tool), domain.wrappers.get(tool)
    if plan is None or plan.idempotency is None:
        return ""
    return f"{wrapper}.{plan.idempotency.key}" if wrapper else plan.idempotency.key


def quota_problems(shared: str, tools: Sequence[Tool]) -> Sequence[str]:
    """Return a problem if the scope is an argument that none of the tools declares."""
    if not shared.startswith("arguments."):
        return ()
    problem = unknown_argument(shared.removeprefix("arguments."), tools)
    return () if problem is None else (problem,)


def argument_value(arguments: Mapping[str, Json], name: str) -> Json:
    """Return an argument by name, or by a dotted path into nested values; ABSENT if it was not given."""
    return arguments[name] if name in arguments else at_path(arguments, name.split("."))


class CallPattern(Kind):
    """Certain calls of certain tools, however they were answered."""

    tool: str = Field(description="The tool, by glob.", examples=["create_deal", "delete_*"])
    arguments: dict[str, MatcherSource] = Field(
        default_factory=dict[str, MatcherSource],
        description="Only calls whose arguments satisfy these matchers; dotted names reach into nested values.",
        examples=[{"amount": {"gt": 1000}}],
    )

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        """The matchers of the arguments, compiled."""
        return tuple(argument_test(name, matcher(value)) for name, value in self.arguments.items())

    def fits(self, step: Step, domain: Domain) -> bool:
        """Whether this step is one of the calls."""
        if step.entry != "call":
            return False
        tool = domain.tools.get(step.tool)
        reached = fnmatchcase(step.tool, self.tool) if tool is None else in_reach((self.tool,), tool)
        return reached and all(test(step.arguments) for test in self.tests)

    def mismatches(self, domain: Domain) -> Sequence[str]:
        """Return why no call can be one of them, as sentences: unknown tools and arguments."""
        tools = [tool for tool in domain.tools.values() if in_reach((self.tool,), tool)]
        if not tools:
            return [f"no tool matches {self.tool!r}{did_you_mean(self.tool, domain.tools)}"]
        return [problem for name in self.arguments if (problem := unknown_argument(name, tools))]


ShortCallPattern: TypeAlias = Annotated[
    CallPattern, BeforeValidator(lambda value: value, json_schema_input_type=str | CallPattern)
]
"""A pattern that documents may shorten to the name of the tool."""


class CallExpectation(CallPattern, Expectation):
    """An expectation about certain calls."""

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        return self.mismatches(domain)


def argument_test(name: str, matches: Matcher) -> Test:
    """Return the test of one argument. A dotted name is a path, unless the call has an argument of just that name."""
    if "." not in name:
        return lambda arguments: matches(arguments.get(name, ABSENT))
    path = name.split(".")
    return lambda arguments: matches(arguments[name] if name in arguments else at_path(arguments, path))


def unknown_argument(name: str, tools: Sequence[Tool]) -> str | None:
    """Return the problem with an argument name that none of the tools declares; None if there is no problem."""
    known = {argument for tool in tools for argument in _properties(tool.input_schema)}
    if not known or name in known or name.split(".", 1)[0] in known:
        return None
    return f"no tool in reach has an argument {name!r}{did_you_mean(name, known)}"


def may_satisfy(schema: Record, wanted: Json) -> bool:
    """Whether a value that fits a schema may satisfy a matcher; decided only where one of them lists its values."""
    body, matches = as_object(wanted), matcher(wanted)
    listed = [wanted] if not body else [body["equals"]] if "equals" in body else as_list(body.get("in"))
    if listed:
        validator = Validator(schema)
        return any(validator.is_valid(value) for value in listed)
    choices = constants(schema)
    return not choices or matches(ABSENT) or any(map(matches, choices))


def unfit_fields(entity: Entity, where: Mapping[str, Json]) -> list[str]:
    """Return a problem for each field of a `where` that the entity lacks, or whose schema allows no such value."""
    known = {entity.key, *entity.fields}
    heads = {name: name.split(".", 1)[0] for name in where}
    unknown = [name for name, head in heads.items() if entity.fields and head not in known]
    fields = [f"{entity.name} has no field {name!r}{did_you_mean(name, known)}" for name in unknown]
    schemas = {name: entity.fields[name].schema for name in where if name in entity.fields}
    hints = {name: _quotes(schema, where[name]) for name, schema in schemas.items()}
    return fields + [
        f"no {entity.name} can have {canonical(where[name])} as its {name}{hints[name]}"
        for name, schema in schemas.items()
        if (constants(schema) or hints[name]) and not may_satisfy(schema, where[name])
    ]


def _quotes(schema: Record, wanted: Json) -> str:
    """Return a hint for a number where there are only texts, such as an ISBN without quotes, or the reverse; or ''."""
    types = {*types_of(schema)}
    if isinstance(wanted, int | float) and not isinstance(wanted, bool) and types == {"string"}:
        return "; write the text in quotes"
    is_text_for_number = isinstance(wanted, str) and types and types <= {"integer", "number"}
    return "; write the number without quotes" if is_text_for_number else ""


def times(n: int) -> str:
    """Return a number of times in words."""
    return {0: "never", 1: "once", 2: "twice"}.get(n, f"{n} times")


def _properties(schema: Record) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else {}
