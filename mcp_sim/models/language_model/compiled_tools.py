"""What is needed to predict the calls of each tool, compiled at its first call."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.models.language_model.conformity import DeclaredValues
from mcp_sim.models.language_model.facts import RelevantRecords, relevant_records
from mcp_sim.models.language_model.subjects import SubjectNames, entity_names
from mcp_sim.models.language_model.tighten import Bounds, tighten, whole_schema
from mcp_sim.types import Call, Record, Tool
from mcp_sim.types.argument_descriptions import unwrap_call
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import constants, properties, schema_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import READS, canonical
from mcp_sim.types.kinds import Answer, backends
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.lexicon.terms import by_word, terms
from mcp_sim.types.plans import RECORDLESS, Plan
from mcp_sim.types.programs import PROGRAM
from mcp_sim.world.consistency import Inspection, inspection

_VARYING = terms("verbs.varying")
"""Words in the names of tools that may answer the same call differently each time."""


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
            self._compiled[at] = self._compile(self._domain.tools[call.tool], plan.choices.get(choice, plan))
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

    def _compile(self, tool: Tool, plan: Plan) -> CompiledTool:
        domain = self._domain
        return CompiledTool(
            tool=tool,
            plan=plan,
            entity=domain.entities.get(plan.entity or ""),
            answer=backends[domain.plans[tool.id].backend]().compile_answer(tool, domain.plans[tool.id], domain),
            relevant=relevant_records(plan, domain),
            schema=tool.output_schema,
            validator=None if tool.output_schema is None else Validator(tool.output_schema),
            declared=None if tool.output_schema is None else DeclaredValues(tool.output_schema),
            reply_schema=self._reply_schema(tool, self._bounds),
            closed_schema=self._reply_schema(tool, replace(self._bounds, is_open=False)),
            names=SubjectNames.of(tool, plan, domain, self._names),
            inspect=inspection(domain.plans[tool.id], domain),
            is_write=_is_write(tool, plan),
            varies=not _VARYING.isdisjoint(words(tool.name)),
        )

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
