"""Undocumented validation of arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias, cast

from pydantic import Field, model_validator

from mcp_sim.types import Json, Proceed, Tool, Transition, Turn
from mcp_sim.types.call_matchers import argument_value, unknown_argument
from mcp_sim.types.conditions import ABSENT, Matcher, matcher
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import refusal
from mcp_sim.types.json_schema.shapes import constants, properties
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, MatcherSource

Rule: TypeAlias = Literal["no_emoji", "ascii", "uppercase", "lowercase", "trimmed", "one_line", "no_html"]


def _is_emoji(letter: str) -> bool:
    return ord(letter) >= 0x1F000 or 0x2600 <= ord(letter) <= 0x27BF


RULES: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "no_emoji": (lambda text: not any(map(_is_emoji, text)), "must not contain emoji"),
    "ascii": (str.isascii, "must be ASCII"),
    "uppercase": (lambda text: text == text.upper(), "must be upper case"),
    "lowercase": (lambda text: text == text.lower(), "must be lower case"),
    "trimmed": (lambda text: text == text.strip(), "must not begin or end with a space"),
    "one_line": (lambda text: len(text.splitlines()) <= 1, "must be one line"),
    "no_html": (lambda text: not set("<>&") & set(text), "must not contain HTML"),
}


@perturbations.register("validation_quirk")
class ValidationQuirk(Perturbation):
    """Reject arguments that the schema allows, by an undocumented rule.

    The rule is `accepts` for one `argument`, or `max_length` or `rule` for one or for all texts. The error is that of
    invalid arguments in the tool's own style. Omitted arguments satisfy every rule.
    """

    stage = Stage.BEFORE

    argument: str | None = Field(
        default=None, min_length=1, description="The argument, as a dotted path if nested. Default: every text."
    )
    accepts: MatcherSource | None = Field(default=None, description="A matcher that the argument must satisfy.")
    max_length: Count | None = Field(
        default=None, description="Maximum length of a text, in characters.", examples=[40]
    )
    rule: Rule | None = Field(default=None, description="The rule for texts.")
    message: str | None = Field(
        default=None,
        description="The error text, with the placeholders {argument} and {value}. "
        "Default: the tool spec's template for invalid, else a generic one with argument and rule.",
    )

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if len({"accepts", "max_length", "rule"} & self.model_fields_set) != 1:
            raise ValueError("expected exactly one of accepts, max_length, rule")
        if "accepts" in self.model_fields_set and self.argument is None:
            raise ValueError("accepts requires argument: name the one that must satisfy it")
        return self

    @cached_property
    def keeps(self) -> Matcher:
        """The test that a value must pass."""
        if self.max_length is not None:
            most = self.max_length
            return lambda value: not isinstance(value, str) or len(value) <= most
        if self.rule is not None:
            test = RULES[self.rule][0]
            return lambda value: not isinstance(value, str) or test(value)
        return matcher(self.accepts)

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        if self.argument is None:
            return ()
        unknown = unknown_argument(self.argument, tools)
        if unknown is not None:
            return [unknown]
        choices = [constants(properties(tool.input_schema).get(self.argument, {})) for tool in tools]
        values = [value for known in choices for value in known]
        if not values or not all(choices):
            return []
        kept = sum(map(self.keeps, values))
        if kept == len(values):
            return [f"every value that the schema of {self.argument!r} allows keeps this rule"]
        return [] if kept else [f"no value that the schema of {self.argument!r} allows keeps this rule"]

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        for name, value in self._looked_at(turn.call.arguments):
            if not self.keeps(value):
                problem = f"{name}: {self._demand()}"
                slots = {"argument": name, "value": value, "problems": problem, "status": 422}
                return Transition(refusal(turn, "invalid", f"Invalid arguments: {problem}", self.message, **slots))
        return turn.no_effect(await proceed(turn))

    def _looked_at(self, arguments: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
        if self.argument is None:
            yield from texts(arguments, "")
            return
        value = argument_value(arguments, self.argument)
        if value is not ABSENT:
            yield self.argument, value

    def _demand(self) -> str:
        if self.max_length is not None:
            return f"must have at most {self.max_length} characters"
        return RULES[self.rule][1] if self.rule is not None else "not accepted"


def texts(value: Json, name: str) -> Iterator[tuple[str, str]]:
    """Yield every text in a value, with its dotted name."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, Any]", value).items():
            yield from texts(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        for at, inner in enumerate(cast("list[Any]", value)):
            yield from texts(inner, f"{name}.{at}")
