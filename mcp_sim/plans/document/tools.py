"""Match tools to operations on documents, by the words of their names and by their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from mcp_sim.plans.infer.names import last_segment
from mcp_sim.types import Record, Tool
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties, required, types_of
from mcp_sim.types.lexicon.english import singular, words
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.plans import Verb

PARTS = terms("documents.parts")
"""Kinds of parts."""
_HOLDERS = terms("documents.holders")
"""Parts that contain others, which are put there by the index of the part."""
_MANY = terms("documents.many")
_DOCUMENTS = "document|doc|presentation|notebook|file|deck"
_PLURALS = frozenset({"documents", "docs", "presentations", "notebooks"})
_MAKES, _TAKES, _READS = "add|append|insert|new", "delete|remove", "get|read|view|show|extract"
_EDITS = "edit|update|set|modify|change|replace|format|customize"
_BARE = {*_READS.split("|"), *_DOCUMENTS.split("|"), "full", "entire"}
_COUNTED = (*sorted(PARTS | _HOLDERS), "task", "element", "entry", "question")
_INDEXES = (
    *(f"{counted}{word}" for counted in _COUNTED for word in ("index", "idx", "number", "position")),
    "index", "idx", "position", "number",
)  # fmt: skip
_NUMBERS = frozenset({"index", "source", "target_index"})
"""Roles whose arguments are numbers; the others are texts."""
_CALLED = {"target_index": "target", "created": "document"}
"""What a role is called in a plan where it has other argument names than the usual ones."""


@frozen
class Operation:
    """What tools can do with a document or its parts, and how their names and arguments show it."""

    name: str
    verb: Verb
    roles: str
    """The roles of its arguments, separated by spaces; `?` after an optional one."""
    words: str
    """Groups such as `add|create paragraph`: the name of the tool has one word of each, in the singular."""
    tests: str = ""
    """Names of `_TESTS`, separated by spaces."""
    of_parts: bool = True
    """Whether it is about parts of the kind in the name of the tool."""
    is_open: bool = False
    """Whether other arguments become fields of what it stores."""


OPERATIONS = (
    Operation("move", "update", "source target_index document?", "reorder|move"),
    Operation("untick", "update", "index document?", "undone"),
    Operation("tick", "update", "index document?", "done|complete|completed"),
    Operation("replace", "update", "query replacement document?", "replace search|find|text", "unindexed", False),
    Operation("find", "get", "query document?", "find|search", "unindexed broad"),
    Operation("add", "update", "text? index? document?", _MAKES, "part", is_open=True),
    Operation("remove", "update", "index document?", _TAKES, "part"),
    Operation("read_part", "get", "index document?", _READS, "part"),
    Operation("change", "update", "index text? document?", _EDITS, "part", is_open=True),
    Operation("create", "create", "created?", f"create {_DOCUMENTS}", "whole", False, True),
    Operation("copy", "create", "target? document?", f"copy|duplicate {_DOCUMENTS}", "", False),
    Operation("list_documents", "list", "", "list", "documents", False),
    Operation("outline", "get", "document?", f"{_READS}|list", "many unindexed"),
    Operation("text", "get", "document?", f"{_READS} text|content {_DOCUMENTS}", "unindexed", False),
    Operation("outline", "get", "document?", f"{_READS} outline|structure {_DOCUMENTS}", "unindexed"),
    Operation("info", "get", "document?", f"{_READS} info|property|metadata {_DOCUMENTS}", "unindexed", False),
    Operation("read", "get", "document?", f"{_READS} {_DOCUMENTS}", "bare unindexed", False),
)
"""In the order in which a tool is compared with them."""

_TESTS: Mapping[str, Callable[[DocumentTool], bool]] = {
    "part": lambda tool: not PARTS.isdisjoint(tool.nouns),
    "whole": lambda tool: PARTS.isdisjoint(tool.nouns),
    "unindexed": lambda tool: tool.argument("index") is None,
    "many": lambda tool: not _MANY.isdisjoint(tool.words),
    "broad": lambda tool: not _MANY.isdisjoint(tool.words) or not tool.nouns.isdisjoint(_DOCUMENTS.split("|")),
    "documents": lambda tool: not _PLURALS.isdisjoint(tool.words),
    "bare": lambda tool: tool.nouns <= _BARE,
}


@dataclass(frozen=True)
class DocumentTool:
    """A tool as documents see it: the words of its name and its arguments."""

    tool: Tool

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return words(last_segment(self.tool.name))

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The words of the name, in the singular."""
        return frozenset(map(singular, self.words))

    @cached_property
    def schema(self) -> Record:
        """The expanded inputSchema."""
        return expanded(self.tool.input_schema)

    @cached_property
    def short_names(self) -> Mapping[str, str]:
        """The arguments by their names without separators."""
        return {"".join(words(name)): name for name in properties(self.schema)}

    @cached_property
    def kind(self) -> str:
        """The kind of part in the name."""
        return next((word for word in map(singular, reversed(self.words)) if word in PARTS), "")

    @cached_property
    def counted(self) -> str | None:
        """The kind of part that the index counts: from the name of the argument, else from that of the tool."""
        name = self.argument("index")
        kind = "_".join(words(name or "")[:-1])
        return None if name is None else kind if kind in PARTS | _HOLDERS else self.kind

    def argument(self, role: str, taken: frozenset[str] = frozenset()) -> str | None:
        """Return the argument with a role, or None. It is not among those that are taken."""
        known = _INDEXES if role == "index" else ordered(f"documents.roles.{role}")
        named = (self.short_names[name] for name in known if name in self.short_names)
        return next((name for name in named if name not in taken and self._may_be(name, role)), None)

    def _may_be(self, name: str, role: str) -> bool:
        schema = properties(self.schema)[name]
        forms = (schema, *(as_object(form) for form in as_list(schema.get("anyOf"))))
        types = {kind for form in forms for kind in types_of(form)} - {"null"}
        return not types or not types.isdisjoint({"integer", "number"} if role in _NUMBERS else {"string"})

    def arguments(self, operation: Operation) -> dict[str, str]:
        """Return the arguments of an operation by role, as far as the tool has them."""
        known: dict[str, str] = {}
        for role in operation.roles.replace("?", "").split():
            name = self.argument(role, frozenset(known.values()))
            known |= {} if name is None else {_CALLED.get(role, role): name}
        return known

    def operation(self) -> Operation | None:
        """Return the first operation that the tool means, or None."""
        return next((operation for operation in OPERATIONS if self._means(operation)), None)

    def _means(self, operation: Operation) -> bool:
        if any(self.nouns.isdisjoint(group.split("|")) for group in operation.words.split()):
            return False
        if not all(_TESTS[name](self) for name in operation.tests.split()):
            return False
        arguments = self.arguments(operation)
        needed = {_CALLED.get(role, role) for role in operation.roles.split() if not role.endswith("?")}
        return needed <= arguments.keys() and (operation.is_open or required(self.schema) <= {*arguments.values()})


def names_document(tool: DocumentTool) -> bool:
    """Return whether the name of a tool has a word for documents."""
    return not tool.nouns.isdisjoint(_DOCUMENTS.split("|"))
