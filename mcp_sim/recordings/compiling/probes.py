"""Calls that try a server out: each tool with generated arguments, and what is wrong with the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.recordings.observed import Observed, observe
from mcp_sim.recordings.responders import answer_of
from mcp_sim.spec.sessions import Answer
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import BadArguments, Crash
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan
from mcp_sim.world.world import World

Kind = Literal["crash", "schema", "reference", "lifecycle"]

MOST_CRASHES = 2
"""After so many crashes a tool is called no more."""
_ORDER = ("create", "list", "search", "get", "update", "compute", "unknown", "none", "delete")
_LONGEST_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with the answers of a tool."""

    tool: str
    kind: Kind
    message: str


@dataclass(slots=True)
class Probe:
    """The calls to one world, and what was found."""

    world: World
    domain: Domain
    answers: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    """Tool, arguments as JSON, and the hash of the answer."""
    findings: list[Finding] = field(default_factory=list[Finding])
    checks: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Tool -> what was checked."""
    _crashes: dict[str, int] = field(default_factory=dict[str, int])

    async def run(self) -> None:
        """Call every tool with the arguments that it requires, and with all."""
        plans = sorted(
            self.domain.plans.values(), key=lambda plan: _ORDER.index(plan.verb) if plan.verb in _ORDER else 5
        )
        for plan in plans:
            for whole in (False, True):
                await self.call(plan.tool, self.arguments(plan, whole=whole))

    async def call(self, tool: str, arguments: Record) -> Observed | None:
        """Return what the answer of a tool shows; None if it crashed, or has crashed too often."""
        if self._crashes.get(tool, 0) >= MOST_CRASHES:
            return None
        made = f"{tool}({short(arguments)})"
        self.checked(tool, "answers")
        try:
            observation = await self.world.call(tool, arguments)
        except (Crash, BadArguments) as error:
            self._crashes[tool] = self._crashes.get(tool, 0) + (MOST_CRASHES if "did not end" in str(error) else 1)
            self.note(tool, "crash", f"{made} crashed: {str(error).removeprefix(f'{tool}: ')}")
            self.answers.append((tool, short(arguments), "crash"))
            return None
        answer = answer_of(observation)
        self.answers.append((tool, short(arguments), _digest(answer)))
        self._check_schema(self.domain.tools[tool], made, answer)
        self._check_references(tool, made)
        return observe(answer)

    # checks of single answers

    def _check_schema(self, tool: Tool, made: str, answer: Answer) -> None:
        result: Record = answer.get("result") or {}
        schema = tool.output_schema
        if schema is None or result.get("isError") or not result:
            return
        self.checked(tool.id, "schema")
        if "structuredContent" not in result:
            self.note(tool.id, "schema", f"{made} has no structured content, but the tool has an outputSchema")
            return
        problems = Validator(schema).problems(result["structuredContent"])
        if problems:
            self.note(tool.id, "schema", f"{made} is not valid under the outputSchema: {'; '.join(problems[:3])}")

    def _check_references(self, tool: str, made: str) -> None:
        measured: Record = self.world.ledger.newest.get("measured") or {}
        findings: Sequence[str] = measured.get("findings") or ()
        for finding in findings:
            self.note(tool, "reference", f"{made}: {finding}")

    def note(self, tool: str, kind: Kind, message: str) -> None:
        """Note what is wrong with a tool, once."""
        finding = Finding(tool, kind, message)
        if finding not in self.findings:
            self.findings.append(finding)

    def checked(self, tool: str, what: str) -> None:
        """Note what was checked of a tool."""
        self.checks.setdefault(tool, set()).add(what)

    # arguments

    def schema(self, plan: Plan) -> Record:
        """Return the inputSchema of a tool."""
        return expanded(self.domain.tools[plan.tool].input_schema)

    def arguments(self, plan: Plan, *, whole: bool, salt: str = "") -> Record:
        """Return arguments for a tool: the required ones, or all of them. Ids are those of records."""
        schema = self.schema(plan)
        arguments: Record = {}
        for name, part in properties(schema).items():
            if whole or name in required(schema) or name == plan.key:
                arguments[name] = self._value(plan, name, part, arguments, salt)
        return arguments

    def _value(self, plan: Plan, name: str, schema: Record, others: Record, salt: str) -> Json:
        entity = self._entity_named_by(plan, name)
        keys = [key for key, _ in self.world.view.rows(entity.name)] if entity is not None else []
        is_new = entity is not None and plan.verb == "create" and entity.name == plan.entity
        if keys and not is_new and "enum" not in schema:
            key = keys[0]
            return [key] if main_type(schema) == "array" else key
        return value_maker(plan.entity or "", name, schema)(chance_of(plan.tool, name, salt), others, Moment.unknown())

    def _entity_named_by(self, plan: Plan, name: str) -> Entity | None:
        """Return the entity whose key an argument gives, if it does."""
        entities = self.domain.entities
        own = entities.get(plan.entity or "")
        if name == plan.key:
            return own
        if own is not None:
            field_ = own.fields.get(plan.sets.get(name, name))
            linked = None if field_ is None or field_.link is None else entities.get(field_.link)
            if linked is not None:
                return linked
            if own.key == name:
                return own
        stem = snake(name).removesuffix("_id").removesuffix("_ids").removesuffix("_key")
        return entities.get(stem) if stem != snake(name) else None


def short(value: Json) -> str:
    """Return a value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _digest(answer: Answer) -> str:
    return sha256(json.dumps(answer, sort_keys=True, default=str).encode()).hexdigest()


def differences(one: Sequence[Sequence[str]], other: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the tools and arguments of the first call of each tool that is answered differently in two runs."""
    found = set[str]()
    for (tool, arguments, answer), (_, _, second) in zip(one, other, strict=False):
        if answer != second and tool not in found:
            found.add(tool)
            yield tool, arguments
