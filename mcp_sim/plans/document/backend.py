"""Backend for documents whose parts are addressed by index: paragraphs, slides, cells, list items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.plans.document.given import DOCUMENT, KINDS, PARTS, given_documents
from mcp_sim.plans.document.request import DEFAULT_NAME, Conventions
from mcp_sim.plans.given import Given
from mcp_sim.plans.matching.matched_tools import MatchedTool, both, either, lacks, named, possible_roles, unnamed
from mcp_sim.plans.matching.positions import first_position
from mcp_sim.plans.matching.tool_profiles import ToolProfile
from mcp_sim.plans.operation import NUMBER, Operation, Role, Test, pick, read_names, role
from mcp_sim.plans.operations_backend import OperationsBackend, plans_by_prefix
from mcp_sim.plans.request import Binding
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.kinds import Tables, backends
from mcp_sim.types.lexicon.english import singular, words
from mcp_sim.types.plans import Plan, Verb

_DOCUMENTS = "document|doc|presentation|notebook|file|deck"
_HOLDERS = frozenset({"slide", "page", "section"})
"""Parts that contain others, which are put there by the index of the part."""
_MAKES, _TAKES, _READS = "add|append|insert|new", "delete|remove", "get|read|view|show|extract"
_EDITS = "edit|update|set|modify|change|replace|format|customize"
_COUNTED = ("slide", "page", "section", *KINDS, "task", "element", "entry", "question")
_PLACES = (f"{counted}_{word}" for counted in _COUNTED for word in ("index", "idx", "number", "position"))
_INDEX = role("index", " ".join((*_PLACES, "index idx position number")), NUMBER)
_WORDS = read_names(__name__)
_ROLES = _WORDS.roles | {extra.name: extra for extra in (_INDEX, Role("kind"), Role("holder"), Role("fields"))}
"""Roles, and other argument names for some of them in some operations."""


def _part_kind(profile: ToolProfile) -> str:
    """Return the kind of part in a tool's name."""
    return next((word for word in map(singular, reversed(profile.words)) if word in PARTS), "")


def _counted_kind(profile: ToolProfile) -> str | None:
    """Return the kind of part that the index counts: from the argument's name, else from the tool's."""
    name = possible_roles((_INDEX,), profile).get("index")
    if name is None:
        return None
    kind = "_".join(words(name)[:-1])
    return kind if kind in PARTS | _HOLDERS else _part_kind(profile)


def _worded(*listed: str) -> Test:
    """Return a test whether a tool's name has one of these words, which may be plurals."""
    known = frozenset(listed)
    return lambda profile: not known.isdisjoint(profile.words)


_OF_PART, _OF_WHOLE, _UNINDEXED = named("|".join(KINDS)), unnamed(" ".join(KINDS)), lacks(_INDEX)
_OF_MANY = _worded(*_WORDS.terms("many"))
_SOME, _OF_DOCUMENT = both(_OF_PART, _UNINDEXED), both(named(_DOCUMENTS), _UNINDEXED)


def _operation(name: str, verb: Verb, line: str, words: str, *means: Test) -> Operation:
    """Return an operation with the name of its function. If it takes `fields`, other arguments become fields."""
    return Operation(
        name, f"documents:{name}", verb, pick(line, _ROLES), both(named(words), *means), is_open="fields?" in line
    )


_OPERATIONS = (
    _operation("move", "update", "source target_index kind? document?", "reorder|move"),
    _operation("untick", "update", "index kind? document?", "undone"),
    _operation("tick", "update", "index kind? document?", "done|complete|completed"),
    _operation("replace", "update", "query replacement document?", "replace search|find|text", _UNINDEXED),
    _operation("find", "get", "query kind? document?", "find|search", _UNINDEXED,
               either(_OF_MANY, named(_DOCUMENTS))),
    _operation("add", "update", "kind? text? index? holder? document? fields?", _MAKES, _OF_PART),
    _operation("remove", "update", "index kind? document?", _TAKES, _OF_PART),
    _operation("read_part", "get", "index kind? document?", _READS, _OF_PART),
    _operation("change", "update", "index text? kind? document? fields?", _EDITS, _OF_PART),
    _operation("count", "get", "kind? document?", "count", _SOME),
    _operation("create", "create", "created? fields?", f"create {_DOCUMENTS}", _OF_WHOLE),
    _operation("copy", "create", "target? document?", f"copy|duplicate {_DOCUMENTS}"),
    _operation("delete", "delete", "document?", _TAKES, _OF_DOCUMENT, _OF_WHOLE),
    _operation("list_documents", "list", "", "list", _worded("documents", "docs", "presentations", "notebooks")),
    _operation("outline", "get", "kind? document?", f"{_READS}|list", _OF_MANY, _UNINDEXED),
    _operation("text", "get", "document?", f"{_READS} text|content", _OF_DOCUMENT),
    _operation("outline", "get", "kind? document?", f"{_READS} outline|structure", _OF_DOCUMENT),
    _operation("info", "get", "document?", f"{_READS} info|property|metadata", _OF_DOCUMENT),
    _operation("read", "get", "document?", "", named(f"{_READS} {_DOCUMENTS}", "full entire"), _UNINDEXED),
)  # fmt: skip
"""In the order in which a tool's words are compared with them."""

_INDEXED = frozenset({"remove", "read_part", "change", "move", "tick", "untick"})
"""Operations that take the index of a part."""
_SHOWN = frozenset({"count", "info", "read", "outline", "text"})
"""Operations that show what a document has."""
_MIN_NAMED = 3
"""Number of tools from which a server's tools are taken to name their document. Two tools may have a word in common by
chance."""
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
    operations = _OPERATIONS
    request = "request:DocumentRequest"
    entities = (Entity(DOCUMENT, "name", "report-001.docx", {"name": _NAME, "parts": _PARTS}, natural=True),)

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations of a tool, with the kind of part in its name and the kind that its index counts."""
        kind, counted = _part_kind(profile), _counted_kind(profile)
        kinds = {"kind": kind, "holder": counted if counted != kind else ""}
        for tool in super().match_tool(profile):
            fixed = {role: kind for role, kind in kinds.items() if kind and tool.operation.role(role) is not None}
            yield replace(tool, fixed=fixed)

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept tools that add parts and work on them by index, or that fill documents and show what is in them."""
        tools = _about_documents(tools)
        added, by_index = _kinds(tools, {"add"}), _kinds(tools, _INDEXED)
        counted = by_index | {_counted_kind(profile) for profile in listed}
        if not (by_index and counted & added) and not _fills_documents(tools):
            return []
        return [tool for tool in tools if _kind(tool) in {"", *added}]

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        kinds = dict.fromkeys(kind for tool in matched if (kind := _kind(tool)))
        is_named = any("document" in tool.arguments for tool in matched)
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
        return Conventions(text, key, first_position(binding.tool, index), counts_back)


def _arguments(role: str, plans: Iterable[Plan]) -> list[str]:
    return [plan.arguments[role] for plan in plans if role in plan.arguments]


def _about_documents(tools: Sequence[MatchedTool]) -> Sequence[MatchedTool]:
    """Return the tools that name a document, in an argument or in their name; all if hardly any takes one."""
    if sum("document" in tool.arguments for tool in tools) < _MIN_NAMED:
        return tools
    return [tool for tool in tools if "document" in tool.arguments or tool.profile.has(*_DOCUMENTS.split("|"))]


def _kind(tool: MatchedTool) -> str:
    return str(tool.fixed.get("kind", ""))


def _kinds(tools: Sequence[MatchedTool], names: Collection[str]) -> set[str]:
    """Return the kinds of parts that these operations are about."""
    return {_kind(tool) for tool in tools if tool.name in names}


def _fills_documents(tools: Sequence[MatchedTool]) -> bool:
    """Return whether documents are created and parts added, which are then counted or shown."""
    adding, done = [tool for tool in tools if tool.name == "add"], {tool.name for tool in tools}
    return sum("document" in tool.arguments for tool in adding) > 1 and "create" in done and bool(done & _SHOWN)
