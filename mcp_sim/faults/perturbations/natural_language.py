"""Results that a language model alters by an instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from mcp_sim.types import Instruction, Json, Observation, Proceed, Tool, ToolResult, Transition, Turn
from mcp_sim.types.conditions import ABSENT, at_path, equal, matcher
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import UnknownKind, did_you_mean
from mcp_sim.types.json_values import canonical
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import MatcherSource


class Must(BaseModel):
    """Conditions for an altered result; all must hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    error: bool | None = Field(default=None, description="Whether the result must be an error.")
    text: MatcherSource | None = Field(default=None, description="A matcher for the text that the agent reads.")
    value: dict[str, MatcherSource] = Field(
        default_factory=dict[str, Any], description="Dotted path in the result -> matcher."
    )

    def problems(self, observation: Observation) -> Sequence[str]:
        """Return the conditions that an observation violates."""
        body = observation.body
        if not isinstance(body, ToolResult):
            return ["the answer must be a tool result"]
        problems = list[str]()
        if self.error is not None and body.is_error is not self.error:
            problems.append("the answer must be an error" if self.error else "the answer must not be an error")
        if self.text is not None and not matcher(self.text)(body.content[0].get("text", "")):
            problems.append(f"the text of the answer must satisfy {canonical(self.text)}")
        for path, wanted in self.value.items():
            found_value = at_path(body.value, path.split("."))
            if not matcher(wanted)(found_value):
                shown = "absent" if found_value is ABSENT else canonical(found_value)
                problems.append(f"{path} must satisfy {canonical(wanted)}, but is {shown}")
        return problems


@perturbations.register("natural_language")
class NaturalLanguage(Perturbation):
    """Have a language model alter the result by an instruction in natural language.

    The altered result must be valid under the tool's outputSchema and satisfy `must`; otherwise the model is asked
    again. Write a `must` that the true result violates; without one the model is asked which changed values the
    instruction asks for.
    """

    stage = Stage.ANSWER

    instruction: str = Field(
        min_length=1,
        description="How to alter the true result.",
        examples=["Report every amount in cents, without saying so."],
    )
    must: Must = Field(default=Must(), description="Conditions for the altered result.")
    fallback: dict[str, Json] = Field(
        default_factory=lambda: dict[str, Any](corrupt_values=None),
        description="The kind, with its options, that alters the result if no language model does.",
        examples=[{"corrupt_values": {"how": "unit"}}],
    )

    @field_validator("fallback")
    @classmethod
    def _is_an_answer_kind(cls, fallback: dict[str, Json]) -> dict[str, Json]:
        if len(fallback) != 1:
            raise ValueError("must have exactly one kind")
        _made(fallback)
        return fallback

    @model_validator(mode="after")
    def _is_no_circle(self) -> Self:
        if isinstance(_made(self.fallback), NaturalLanguage):
            raise ValueError("fallback: natural_language cannot be its own fallback")
        return self

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        fallback = _made(self.fallback).compile(tool, domain)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            staged = dict(turn.memories.staged)
            truth = await proceed(turn)
            if not truth.observation.ok:
                return turn.no_effect(truth)
            with turn.memories.aside(staged):
                asked = Instruction(self.instruction.strip(), truth.observation, self.must.problems)
                bent = await proceed(replace(turn, instruction=asked))
            if not bent.obeyed:
                # A `proceed` that reuses the known result of this turn.
                async def known(other: Turn) -> Transition:
                    return truth if other is turn else await proceed(other)

                return await fallback(turn, known)
            if _says_the_same(bent.observation, truth.observation):
                return turn.no_effect(truth)
            measured = {**truth.measured, "instructed": dict(bent.measured)}
            return replace(truth, observation=bent.observation, measured=measured)

        return apply

    def is_hostile(self) -> bool:
        return _made(self.fallback).is_hostile()

    def lures(self, served: Observation) -> frozenset[str]:
        return _made(self.fallback).lures(served)

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return _made(self.fallback).keeps_schema(tool, domain)

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return [f"fallback: {problem}" for problem in _made(self.fallback).problems(domain, tools)]


def _says_the_same(answer: Observation, other: Observation) -> bool:
    """Whether two results differ in the layout of their JSON at most."""
    ours, theirs = answer.body, other.body
    if not isinstance(ours, ToolResult) or not isinstance(theirs, ToolResult):
        return answer == other
    return (ours.form, ours.is_error, ours.blocks) == (theirs.form, theirs.is_error, theirs.blocks) and equal(
        ours.value, theirs.value
    )


def _made(fallback: Mapping[str, Json]) -> Perturbation:
    """Return the fallback, with its options. Raises `ValueError` if it is not a kind of the answer stage."""
    ((name, options),) = fallback.items()
    try:
        kind = perturbations[name].model_validate(options)
    except UnknownKind:
        raise ValueError(f"unknown perturbation {name!r}{did_you_mean(name, perturbations.names())}") from None
    if kind.stage is not Stage.ANSWER:
        raise ValueError(f"{name} does not alter results; choose a kind of the answer stage")
    return kind
