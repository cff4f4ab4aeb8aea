"""Backend for documents whose parts are addressed by index: paragraphs, slides, cells, list items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.backends.document.given import DOCUMENT, given_documents
from mcp_sim.backends.document.operations import DOCUMENTS, OPERATIONS, counted_kind, part_kind
from mcp_sim.backends.document.request import DEFAULT_NAME, Conventions
from mcp_sim.backends.given import Given
from mcp_sim.backends.matching.matched_tools import MatchedTool
from mcp_sim.backends.matching.positions import first_position
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operations_backend import OperationsBackend, plans_by_prefix
from mcp_sim.backends.request import Binding
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.kinds import Tables, backends
from mcp_sim.types.plans import Plan

_INDEXED = frozenset({"remove", "read_part", "change", "move", "tick", "untick"})
"""Operations that take the index of a part."""
_SHOWN = frozenset({"count", "info", "read", "outline", "text"})
"""Operations that show what a document has."""
_MIN_NAMED = 3
"""Number of tools from which a server's tools are taken to name their document."""
_NAME = Field("name", {"type": "string"}, required=True)
_PARTS = Field("parts", {"type": ["array", "null"], "items": {"type": "object"}})


@backends.register("document")
class Document(OperationsBackend):
    """Parts are added, inserted at an index, read, changed, moved and deleted; later parts shift.

    A document is identified by file name or id; if no tool names one, there is exactly one. Indexes start at 0, unless
    a schema says 1. Evidence: tools that add a part and others that take its index.
    """

    order = 90
    confidence = 0.8
    operations = OPERATIONS
    request = "request:DocumentRequest"
    entities = (Entity(DOCUMENT, "name", "report-001.docx", {"name": _NAME, "parts": _PARTS}, natural=True),)

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations of a tool, with the kind of part in its name and the kind that its index counts."""
        kind, counted = part_kind(profile), counted_kind(profile)
        kinds = {"kind": kind, "holder": counted if counted != kind else ""}
        for one in super().match_tool(profile):
            fixed = {role: kind for role, kind in kinds.items() if kind and one.operation.role(role) is not None}
            yield replace(one, fixed=fixed)

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept tools that add parts and work on them by index, or that fill documents and show what is in them."""
        if sum("document" in one.arguments for one in found) >= _MIN_NAMED:
            found = [one for one in found if "document" in one.arguments or one.profile.has(*DOCUMENTS.split("|"))]
        added = {_kind(one) for one in found if one.name == "add"}
        by_index = {_kind(one) for one in found if one.name in _INDEXED}
        counted = by_index | {counted_kind(profile) for profile in listed}
        if not (by_index and counted & added) and not _fills_documents(found):
            return []
        return [one for one in found if one.name == "put_in" or _kind(one) in {"", *added}]

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        kinds = dict.fromkeys(kind for one in matched if (kind := _kind(one)))
        is_named = any("document" in one.arguments for one in matched)
        return given_documents(state, kinds, is_named=is_named, is_whole=is_whole)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Give unknown documents an empty list of parts. Create the only document if no tool names one."""
        initial: dict[str, Mapping[Key, Record]] = dict(tables)
        for prefix, own in plans_by_prefix(plans).items():
            known = tables.get(prefix + DOCUMENT, {})
            rows: dict[Key, Record] = {key: {**row, "parts": row.get("parts") or []} for key, row in known.items()}
            if not any("document" in plan.arguments for plan in own):
                rows = {DEFAULT_NAME: rows.get(DEFAULT_NAME, {"name": DEFAULT_NAME, "parts": []})}
            initial[prefix + DOCUMENT] = rows
        return initial

    def prepare(self, binding: Binding, domain: Domain) -> Conventions:
        """Return what the tools of a server call things, and how the tool counts."""
        plans = (plan for whole in domain.plans.values() for plan in (whole, *whole.choices.values()))
        own = [plan for plan in plans if plan.backend == self.name]
        texts = {*_arguments("text", (plan for plan in own if plan.operation == "add"))}
        keys = Counter(_arguments("document", (plan for plan in own if plan.operation != "create")))
        text = next(iter(texts)) if len(texts) == 1 and texts != {"title"} else "text"
        index = binding.arguments.get("index", "")
        declared = properties(binding.tool.input_schema) if binding.tool is not None else {}
        counts_back = "negative" in str(declared.get(index, {}).get("description", "")).lower()
        key = max(keys, key=keys.__getitem__, default="document")
        return Conventions(text, key, first_position(binding.tool, index, usual=0), counts_back)


def _arguments(role: str, plans: Iterable[Plan]) -> list[str]:
    return [plan.arguments[role] for plan in plans if role in plan.arguments]


def _kind(one: MatchedTool) -> str:
    return str(one.fixed.get("kind", ""))


def _fills_documents(found: Sequence[MatchedTool]) -> bool:
    """Whether documents are created and parts added, which are then counted or shown."""
    adding = [one for one in found if one.name == "add" and "document" in one.arguments]
    done = {one.name for one in found}
    return len(adding) > 1 and "create" in done and not done.isdisjoint(_SHOWN)
