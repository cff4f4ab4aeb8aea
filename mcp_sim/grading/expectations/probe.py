"""The expectation that a call at the end shows what it should."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, model_validator

from mcp_sim.grading.bases import Amount, Bounds, judged, quoted
from mcp_sim.types import Json, Observation, Record, RpcError, Step, ToolResult
from mcp_sim.types.conditions import Matcher, where_test
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_values import in_list, objects_in
from mcp_sim.types.kinds import End, Expectation, Perturbation, Verdict, expectations
from mcp_sim.types.options import MatcherSource
from mcp_sim.types.scenario import Scenario
from mcp_sim.types.tools import data_in

Texts = Annotated[list[str], BeforeValidator(in_list, json_schema_input_type=str | list[str])]


@expectations.register("probe")
class Probe(Expectation):
    """At the end, the answer of a tool shows what it should, also that of a real server.

    `probe: {tool: list_deals, where: {title: Spring order}, count: 1}` counts the objects anywhere in the answer that
    satisfy matchers. `shows` and `lacks` are for texts. The call is made without faults, and leaves no step in the
    ledger and no change in the world; a real server does make it, so choose a tool that reads.

    Vacuous if it holds and the agent called no tool at all. Not judged where nothing answers, as for a trace.
    """

    is_goal: ClassVar[bool] = True

    tool: str = Field(description="The tool to ask.", examples=["list_deals"])
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any], description="The arguments of the call.")
    shows: Texts = Field(
        default_factory=list[str], description="Texts that the answer has, as whole words.", examples=["Spring order"]
    )
    lacks: Texts = Field(default_factory=list[str], description="Texts that the answer does not have.")
    where: dict[str, MatcherSource] = Field(
        default_factory=dict[str, MatcherSource],
        description="Field -> matcher, for the objects in the answer.",
        examples=[{"title": "Spring order"}],
    )
    count: Amount = Field(default=Bounds(at_least=1), description="How many objects: a number, or bounds.")
    fails: bool = Field(default=False, description="Whether the call must fail.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "count" in self.model_fields_set and not self.where:
            raise ValueError("count goes with where")
        return self

    @cached_property
    def _fits(self) -> Matcher:
        return where_test(self.where)

    @property
    def final_call(self) -> tuple[str, Record]:
        return self.tool, self.arguments

    def facts(self) -> bool:
        return False

    def notice(self, facts: bool, step: Step, scenario: Scenario) -> bool:
        return facts or step.entry == "call"

    def verdict(self, facts: bool, end: End) -> Verdict:
        observation = end.answers.get(self.probe_key)
        if observation is None:
            return judged("not judged", f"{self.tool} was not asked at the end")
        problem = self.problem_of(observation)
        if problem is not None:
            return judged("failed", f"at the end {self.tool} {problem}")
        because = f"{self.tool} answers as expected at the end"
        return judged("passed" if facts else "vacuous", because if facts else f"{because}, but no tool was called")

    def problem_of(self, observation: Observation) -> str | None:
        """Return what an answer lacks, as the rest of a sentence; None if nothing."""
        text = shown_text(observation)
        if observation.ok is self.fails:
            return f"{'does not fail' if self.fails else 'fails'}: {quoted(text)}"
        for wanted in self.shows:
            if not occurrences(text, wanted):
                return f"does not show {wanted!r}: {quoted(text)}"
        for unwanted in self.lacks:
            if occurrences(text, unwanted):
                return f"shows {unwanted!r}: {quoted(text)}"
        number = len(self.fitting(observation))
        if self.where and not self.count.holds(number):
            return f"shows {number} objects that fit {json.dumps(self.where)}, expected {self.count}"
        return None

    def fitting(self, observation: Observation) -> list[Record]:
        """Return the objects of an answer that satisfy `where`."""
        return [item for item in objects_in(shown_value(observation)) if self._fits(item)]

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        if self.tool in domain.tools:
            return ()
        return [f"no tool is called {self.tool!r}{did_you_mean(self.tool, domain.tools)}"]


def shown_text(observation: Observation) -> str:
    """Return everything that a client can read of an answer, as one text."""
    body = observation.body
    if isinstance(body, RpcError):
        return body.message
    if not isinstance(body, ToolResult):
        return ""
    texts = [str(block.get("text", "")) for block in body.content if block.get("type") == "text"]
    if not texts and body.form == "structured":
        return json.dumps(body.value, ensure_ascii=False)
    return "\n".join(texts)


def shown_value(observation: Observation) -> Json:
    """Return the data of an answer: structured, or JSON in its text; else its text."""
    body = observation.body
    value = body.data if isinstance(body, ToolResult) else shown_text(observation)
    return (data_in(value) or value) if isinstance(value, str) else value


def occurrences(text: str, wanted: str) -> int:
    """Return how often a text has another one as whole words."""
    begin, end = (r"(?<!\w)" if wanted[:1].isalnum() else ""), (r"(?!\w)" if wanted[-1:].isalnum() else "")
    return len(re.findall(f"{begin}{re.escape(wanted)}{end}", text))
