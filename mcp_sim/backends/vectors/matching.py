"""Match tools that store texts in collections, as parallel lists of ids, texts and metadata.

Evidence: `add_documents(collection, documents, ids, metadatas)`. If a server lists such a tool, its other tools that
name a collection work on the same store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.backends.matching.tool_profiles import ToolProfile
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
"""Role -> the names of arguments that have it, and their types."""

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
"""Operation -> the words of its tools, and the required roles."""

_VERBS: Mapping[str, Verb] = {
    "add": "create", "upsert": "create", "query": "search", "change": "update", "remove": "delete", "get": "get",
    "count": "get", "peek": "list", "copy": "create", "make": "create", "alter": "update", "drop": "delete",
    "collections": "list", "info": "get",
}  # fmt: skip


def plans_of(listed: Sequence[ToolProfile]) -> list[Plan]:
    """Return the plans of one server's tools for collections; none if no tool takes parallel lists."""
    found = {one.tool.id: plan for one in listed if one.selector is None and (plan := _plan(one)) is not None}
    return list(found.values()) if any(plan.operation in {"add", "upsert"} for plan in found.values()) else []


def _plan(profile: ToolProfile) -> Plan | None:
    roles = _roles(profile)
    operation = next(_operations(profile, roles), None)
    if operation is None or profile.needed - set(roles.values()):
        return None
    entity = COLLECTION if operation in _ON_COLLECTIONS else DOCUMENT
    reason = "texts, ids and metadata are lists that go side by side, in collections"
    return Plan(
        profile.tool.id, _VERBS[operation], entity, "vectors", operation, roles, confidence=0.9, reasons=(reason,)
    )


def _operations(profile: ToolProfile, roles: Mapping[str, str]) -> Iterator[str]:
    is_of_texts, is_of_collections = profile.has(*_TEXTS), profile.has("collection")
    counts = is_of_collections and profile.has("count")
    for table in (_ON_TEXTS,) if is_of_texts and not counts else (_ON_COLLECTIONS,) if is_of_collections else ():
        for operation, (words, must) in table.items():
            if profile.has(*words) and all(role in roles for role in must):
                yield operation


def _roles(profile: ToolProfile) -> dict[str, str]:
    """Return role -> argument. Each argument has one role."""
    found: dict[str, str] = {}
    for role, (names, kinds) in _ROLES.items():
        free = [name for name in names if profile.argument((name,)) not in found.values()]
        argument = profile.argument(free, kinds)
        if argument is not None:
            found[role] = argument
    return found
