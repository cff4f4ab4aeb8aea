"""What does the model do for each tool?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from mcp_sim.backends.records.invention import opened
from mcp_sim.models.language_model.absorbing import Vocabulary
from mcp_sim.models.language_model.facts import Bearing, bearing
from mcp_sim.models.language_model.guesses import Guess
from mcp_sim.models.language_model.tighten import MOST_TEXT, tighten
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import schema_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_text import decode
from mcp_sim.types.kinds import Answer, backends
from mcp_sim.types.plans import Plan

FORMS_KEPT = 1_024

REFUSAL: Record = {
    "type": "object",
    "properties": {"isError": {"const": True}, "text": {"type": "string", "maxLength": MOST_TEXT}},
    "required": ["isError", "text"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Role:
    """What the model does for one tool: fill in what the world's `answer` leaves open, or all, where that is a `guess`.

    `form` binds a whole observation, and `judge` is the tool's own outputSchema; None where there is none.
    """

    bears: Bearing
    answer: Answer | None
    guess: Guess | None
    judge: Validator | None
    form: Record | None


class Roles:
    """The roles of a scenario's tools, each compiled when its tool is called for the first time."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._vocabulary = Vocabulary.of(domain)
        self._known = dict[str, Role]()
        self.open_form = lru_cache(maxsize=FORMS_KEPT)(_open_form)

    def of(self, tool: str) -> Role:
        role = self._known.get(tool)
        if role is None:
            role = self._known[tool] = self._compiled(self._domain.tools[tool])
        return role

    def _compiled(self, tool: Tool) -> Role:
        domain = self._domain
        plan = domain.plans.get(tool.id) or Plan(tool.id, "unknown", confidence=0.0)
        judge = None if tool.output_schema is None else Validator(tool.output_schema)
        bears, form = bearing(plan, domain), _form(tool, domain)
        if plan.guessed or plan.verb == "none":
            return Role(bears, None, Guess.of(tool, plan, domain, self._vocabulary, judge), judge, form)
        answer = opened(backends[plan.backend]().answering(tool, plan, domain), plan, domain)
        return Role(bears, answer, None, judge, form)


def _form(tool: Tool, domain: Domain) -> Record | None:
    """What binds a whole observation: the tool's schema, or the shape of an example; None where it may be a text."""
    if tool.output_schema is not None:
        return {"anyOf": [tighten(tool.output_schema), REFUSAL]}
    shown = [example.result for example in domain.examples if example.tool == tool.id and not example.is_blocks]
    if not shown or not all(isinstance(result, dict | list) for result in shown):
        return None
    return {"anyOf": [tighten(schema_of(shown[0])), REFUSAL]}


def _open_form(schemas: str) -> tuple[Record, Validator]:
    """For the open fields of a result form (canonical JSON): what binds the engine, and what judges the answer."""
    properties = cast("Record", decode(schemas))
    whole = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return tighten(whole), Validator(whole)
