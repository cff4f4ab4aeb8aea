"""Backend for documents whose parts are addressed by index: paragraphs, slides, cells, list items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_sim.plans.document.calls import Conventions, DocumentCall, Outcome
from mcp_sim.plans.document.given import DEFAULT_NAME, given_documents
from mcp_sim.plans.document.tools import OPERATIONS, DocumentTool, Operation, names_document
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.rendering.described_results import returns_data
from mcp_sim.plans.rendering.templates import Scope, template_renderer
from mcp_sim.types import Json, Key, Observation, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties
from mcp_sim.types.json_values import encode
from mcp_sim.types.kinds import Answer, Backend, Invent, Match, ServerEvidence, Tables, backends
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import DECLARED, Plan
from mcp_sim.types.result_schemas import MESSAGE_NAMES, result_schema, text_place

DOCUMENT = "document"
_INDEXED = frozenset({"remove", "read_part", "change", "move", "tick", "untick"})
"""Operations that take the index of a part."""
_SHOWN = frozenset({"info", "read", "outline", "text"})
"""Operations that show what a document has."""
_MIN_NAMED = 3
"""Number of tools from which a server's tools are taken to name their document. Two tools may have a word in common by
chance."""
_SURE, _FITTING = 0.8, 0.85
"""How sure a match by words is, and the arguments of an operation that a spec declares."""
_GOOD, _COUNTS = terms("results.success"), terms("results.total", "results.count")
_FIRST = re.compile(r"\b(0|1|zero|one)-(?:based|indexed)|(?:from|with|at|从) ?([01])\b", re.IGNORECASE)
"""Phrases of descriptions for the number of the first position."""
_NAME = Field("name", {"type": "string"}, required=True)
_PARTS = Field("parts", {"type": ["array", "null"], "items": {"type": "object"}})


@dataclass(frozen=True)
class _Match:
    """A tool and the operation that it means."""

    tool: DocumentTool
    operation: Operation
    declared: bool = False

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def kind(self) -> str:
        return self.tool.kind if self.operation.of_parts else ""

    @property
    def has_document(self) -> bool:
        return "document" in self.tool.arguments(self.operation)

    def plan(self) -> Plan:
        """Return the plan of the tool, with the kind of part in its name and the kind that its index counts."""
        kind, holder = self.kind, self.tool.counted if self.name == "add" else ""
        fixed = {"kind": kind} if kind else {}
        fixed |= {"holder": holder} if holder and holder != kind else {}
        plan = Plan(self.tool.tool.id, self.operation.verb, DOCUMENT, "document", self.name, fixed=fixed)
        if self.declared:
            known = plan.with_basis(1.0, *DECLARED.reasons, source="declared")
        else:
            known = plan.with_basis(_SURE, f"'{' '.join(self.tool.words)}' means {self.name}")
        fitting = replace(known, arguments=self.tool.arguments(self.operation))
        return fitting.with_basis(min(known.confidence, _FITTING), "the arguments fit its roles")


@backends.register("document")
class Document(Backend):
    """Parts are added, inserted at an index, read, changed, moved and deleted; later parts shift.

    A document is identified by file name or id; if no tool names one, there is exactly one. Indexes start at 0, unless
    a schema says 1. Evidence: tools that add a part and others that take its index.
    """

    order = 90

    @property
    def operation_names(self) -> Collection[str]:
        return sorted({operation.name for operation in OPERATIONS})

    def match(self, evidence: ServerEvidence) -> Match | None:
        declared = evidence.declared("document")
        servers: dict[str, list[DocumentTool]] = {}
        for tool in evidence.tools.values():
            servers.setdefault(tool.server, []).append(DocumentTool(tool))
        matches = [match for tools in servers.values() for match in _matches(tools, declared)]
        if not matches:
            return None
        kinds = list(dict.fromkeys(match.kind for match in matches if match.kind))
        is_named = any(match.has_document for match in matches)
        is_whole = {match.tool.tool.id for match in matches} == {*evidence.tools}
        rows, rest = given_documents(evidence.state, kinds, is_named=is_named, is_whole=is_whole)
        entity = Entity(DOCUMENT, "name", "report-001.docx", {"name": _NAME, "parts": _PARTS}, natural=True)
        return Match([match.plan() for match in matches], [entity], {DOCUMENT: rows}, rest)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Give unknown documents an empty list of parts. Create the only document if no tool names one."""
        initial: dict[str, Mapping[Key, Record]] = dict(tables)
        for entity in dict.fromkeys(plan.entity or "" for plan in plans):
            known = tables.get(entity, {})
            rows: dict[Key, Record] = {key: {**row, "parts": row.get("parts") or []} for key, row in known.items()}
            if not any("document" in plan.arguments for plan in plans if plan.entity == entity):
                rows = {DEFAULT_NAME: rows.get(DEFAULT_NAME, {"name": DEFAULT_NAME, "parts": []})}
            initial[entity] = rows
        return initial

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        conventions = _conventions(tool, plan, domain)
        template = template_renderer(tool, plan.result)

        def answer(turn: Turn, _invent: Invent) -> Transition:
            call = DocumentCall(plan, conventions, turn)
            try:
                outcome: Outcome = getattr(call, plan.operation)()
            except Refused as refused:
                return Transition(tool.failure(refused.kind, str(refused), **{**turn.call.arguments, **refused.slots}))
            return Transition(template(_scope(turn, outcome)) or _usual(tool, outcome), outcome.changes)

        return answer


# matching


def _matches(tools: Sequence[DocumentTool], declared: Mapping[str, Mapping[str, Any]]) -> Iterator[_Match]:
    """Yield the tools of a server that work on documents, and those for which a spec chooses this backend."""
    meant = {tool.tool.id: operation for tool in tools if (operation := tool.operation()) is not None}
    accepted = {match.tool.tool.id for match in _accepted(tools, meant)}
    for tool in tools:
        name = declared.get(tool.tool.id, {}).get("operation")
        named = next((operation for operation in OPERATIONS if operation.name == name), meant.get(tool.tool.id))
        is_declared = tool.tool.id in declared
        if named is not None and (is_declared or tool.tool.id in accepted):
            yield _Match(tool, named, is_declared)


def _accepted(tools: Sequence[DocumentTool], meant: Mapping[str, Operation]) -> Sequence[_Match]:
    """Accept tools that add parts and work on them by index, or that fill documents and show what is in them."""
    matches = [_Match(tool, meant[tool.tool.id]) for tool in tools if tool.tool.id in meant]
    if sum(match.has_document for match in matches) >= _MIN_NAMED:
        matches = [match for match in matches if match.has_document or names_document(match.tool)]
    added = {match.kind for match in matches if match.name == "add"}
    by_index = {match.kind for match in matches if match.name in _INDEXED}
    counted = by_index | {tool.counted for tool in tools}
    if not (by_index and counted & added) and not _fills_documents(matches):
        return []
    return [match for match in matches if match.kind in {"", *added}]


def _fills_documents(matches: Sequence[_Match]) -> bool:
    """Return whether documents are created and parts added, which are then counted or shown."""
    adding, names = [match for match in matches if match.name == "add"], {match.name for match in matches}
    return sum(match.has_document for match in adding) > 1 and "create" in names and bool(names & _SHOWN)


# answering


def _conventions(tool: Tool, plan: Plan, domain: Domain) -> Conventions:
    """Return what the tools of a server call things, and how the tool counts."""
    own = [other for other in domain.plans.values() if other.entity == plan.entity and other.backend == plan.backend]
    texts = {other.arguments["text"] for other in own if other.operation == "add" and "text" in other.arguments}
    keys = Counter(
        other.arguments["document"] for other in own if "document" in other.arguments and other.operation != "create"
    )
    text = next(iter(texts)) if len(texts) == 1 and texts != {"title"} else "text"
    schemas = properties(expanded(tool.input_schema))
    index = schemas.get(plan.arguments.get("index", ""), {})
    about = str(index.get("description", ""))
    phrase = _FIRST.search(f"{about} {tool.description}")
    is_one = index.get("minimum") == 1 or (phrase is not None and (phrase[1] or phrase[2]).lower() in {"1", "one"})
    roles = ((role, schemas.get(name, {}).get("default")) for role, name in plan.arguments.items())
    defaults = {role: value for role, value in roles if value is not None}
    key = max(keys, key=keys.__getitem__, default="document")
    return Conventions(text, key, int(is_one), "negative" in about.lower(), defaults)


def _scope(turn: Turn, outcome: Outcome) -> Scope:
    """Return what a template can show of an outcome."""
    rows = [as_object(row) or {"value": row} for row in _rows(outcome)]
    facts: Record = {"text": outcome.text, "count": len(rows), **outcome.facts}
    return Scope(turn.call.arguments, turn.now, turn.start, as_object(outcome.data), rows, facts)


def _rows(outcome: Outcome) -> list[Json]:
    for value in (outcome.data, *outcome.facts.values()):
        if rows := as_list(value):
            return rows
    return []


def _usual(tool: Tool, outcome: Outcome) -> Observation:
    """Return the result under the output schema, else as plain text or JSON."""
    place, is_data = text_place(tool), returns_data(tool.description)
    if tool.output_schema is not None:
        if place is None:
            return Observation(ToolResult(_filled(result_schema(tool), outcome)))
        return Observation(ToolResult({place: encode(outcome.data).decode() if is_data else outcome.text}))
    data = {"message": outcome.text, **outcome.facts} if outcome.data is None and is_data else outcome.data
    return Observation(ToolResult(outcome.text, form="text") if data is None else ToolResult(data, form="json"))


def _filled(schema: Record, outcome: Outcome) -> Json:
    """Return an outcome under a schema. What is missing is completed with the least change to it."""
    if main_type(schema) == "array":
        return [_row(items(schema), row) for row in _rows(outcome)]
    facts = {snake(name): value for name, value in outcome.facts.items()}
    body = {name: _value(snake(name), inner, outcome, facts) for name, inner in properties(schema).items()}
    return {name: value for name, value in body.items() if value is not None} if body else facts


def _value(name: str, schema: Record, outcome: Outcome, facts: Record) -> Json:
    """Return what a property shows of an outcome, or None."""
    match main_type(schema):
        case "array" if isinstance(facts.get(name, []), list):
            return [_row(items(schema), row) for row in as_list(facts.get(name)) or _rows(outcome)]
        case _ if name in facts:
            return facts[name]
        case "boolean" if name in _GOOD:
            return True
        case "string" if name in MESSAGE_NAMES or name in _GOOD:
            return outcome.text
        case "integer" if name in _COUNTS:
            return len(_rows(outcome))
        case "object" if properties(schema):
            return _filled(schema, outcome)
        case _:
            return None


def _row(schema: Record, row: Json) -> Json:
    """Return a row with the properties of its schema, or as it is."""
    known, names = as_object(row), properties(schema)
    shown = {name: known[snake(name)] for name in names if snake(name) in known}
    return shown or row
