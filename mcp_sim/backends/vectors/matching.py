"""Which tools keep texts in collections, told in lists that go side by side: ids, texts, what is known of each?

`add_documents(collection, documents, ids, metadatas)` gives them away; where a server lists such a tool, its others
that name a collection work on the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.backends.matching.tool_profiles import Purpose
from mcp_sim.types.plans import Plan, Verb

COLLECTION = "collection"
DOCUMENT = "document"

_STRINGS = ("strings",)
_ROLES: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "new": (("new_name", "new_collection_name", "target_collection"), ("string",)),
    "collection": (("collection_name", "collection", "collection_id"), ("string",)),
    "texts": (("documents", "texts", "contents", "chunks"), _STRINGS),
    "ids": (("ids", "document_ids", "doc_ids"), _STRINGS),
    "metadatas": (("metadatas", "metadata_list", "metadatas_list"), ("objects", "array")),
    "queries": (("query_texts", "queries", "query", "query_text"), ("strings", "string")),
    "where": (("where", "filter", "metadata_filter", "where_metadata"), ("object",)),
    "holding": (("where_document", "document_filter"), ("object",)),
    "metadata": (("new_metadata", "metadata", "collection_metadata"), ("object",)),
    "limit": (("n_results", "limit", "top_k", "k", "num_results"), ("integer", "number")),
    "offset": (("offset", "skip"), ("integer", "number")),
    "include": (("include",), _STRINGS),
}
"""What is needed -> the names of arguments that give it, and of which kind they are."""

_TEXTS = ("document", "text", "chunk", "embedding", "record", "item", "entry", "vector", "point")
_ON_TEXTS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "add": (("add", "insert", "store", "create"), ("collection", "texts", "ids")),
    "upsert": (("upsert",), ("collection", "texts", "ids")),
    "query": (("query", "search", "find"), ("collection", "queries")),
    "change": (("update", "modify", "edit"), ("collection", "ids")),
    "remove": (("delete", "remove"), ("collection", "ids")),
    "get": (("get", "fetch", "read", "list", "retrieve"), ("collection",)),
}
_ON_COLLECTIONS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "count": (("count",), ("collection",)),
    "peek": (("peek", "sample"), ("collection",)),
    "copy": (("fork", "copy", "clone", "duplicate"), ("collection", "new")),
    "make": (("create", "make"), ("collection",)),
    "alter": (("modify", "update", "rename"), ("collection",)),
    "drop": (("delete", "drop", "remove"), ("collection",)),
    "collections": (("list",), ()),
    "info": (("info", "get", "describe", "stats", "show"), ("collection",)),
}
"""What is done -> the words of a tool that does it, and what it must be given."""

_VERBS: Mapping[str, Verb] = {
    "add": "create", "upsert": "create", "query": "search", "change": "update", "remove": "delete", "get": "get",
    "count": "get", "peek": "list", "copy": "create", "make": "create", "alter": "update", "drop": "delete",
    "collections": "list", "info": "get",
}  # fmt: skip


def plans_of(listed: Sequence[Purpose]) -> list[Plan]:
    """The plans of the tools of one server that work on such collections; none where none takes lists side by side."""
    found = {one.tool.id: plan for one in listed if one.selector is None and (plan := _plan(one)) is not None}
    return list(found.values()) if any(plan.operation in {"add", "upsert"} for plan in found.values()) else []


def _plan(purpose: Purpose) -> Plan | None:
    roles = _roles(purpose)
    operation = next(_operations(purpose, roles), None)
    if operation is None or purpose.needed - set(roles.values()):
        return None
    entity = COLLECTION if operation in _ON_COLLECTIONS else DOCUMENT
    reason = "texts, ids and metadata are lists that go side by side, in collections"
    return Plan(
        purpose.tool.id, _VERBS[operation], entity, "vectors", operation, roles, confidence=0.9, reasons=(reason,)
    )


def _operations(purpose: Purpose, roles: Mapping[str, str]) -> Iterator[str]:
    is_of_texts, is_of_collections = purpose.has(*_TEXTS), purpose.has("collection")
    counts = is_of_collections and purpose.has("count")
    for table in (_ON_TEXTS,) if is_of_texts and not counts else (_ON_COLLECTIONS,) if is_of_collections else ():
        for operation, (words, must) in table.items():
            if purpose.has(*words) and all(role in roles for role in must):
                yield operation


def _roles(purpose: Purpose) -> dict[str, str]:
    """What is needed -> the argument that gives it; each gives one thing."""
    found: dict[str, str] = {}
    for role, (names, kinds) in _ROLES.items():
        free = [name for name in names if purpose.argument((name,)) not in found.values()]
        argument = purpose.argument(free, kinds)
        if argument is not None:
            found[role] = argument
    return found
