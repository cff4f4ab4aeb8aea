"""Backend for tools that store texts in collections and search them by similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from mcp_sim.backends.given import Given
from mcp_sim.backends.matching.matched_tools import MatchedTool, both, named
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import LIST, NUMBER, OBJECTS, TEXT, TEXTS, Names, Operation, pick, role, roles
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.vectors.entities import COLLECTION, DOCUMENT, ENTITIES, take_collections
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity
from mcp_sim.types.kinds import backends
from mcp_sim.types.plans import Verb

_OBJECT = frozenset({"object"})
_ROLES = roles(
    role("collection", "collection_name collection collection_id", TEXT),
    role("new_name", "new_name new_collection_name target_collection", TEXT),
    role("texts", "documents texts contents chunks", TEXTS),
    role("ids", "ids document_ids doc_ids", TEXTS),
    role("metadatas", "metadatas metadata_list metadatas_list", OBJECTS | LIST),
    role("query", "query_texts queries query query_text", TEXTS | TEXT),
    role("where", "where filter metadata_filter where_metadata", _OBJECT),
    role("holding", "where_document document_filter", _OBJECT),
    role("metadata", "new_metadata metadata collection_metadata", _OBJECT),
    role("limit", "n_results limit top_k k num_results", NUMBER),
    role("offset", "offset skip", NUMBER),
    role("include", "include", TEXTS),
)
_TEXT_NOUNS = ("document", "text", "chunk", "embedding", "record", "item", "entry", "vector", "point")
_PAGE = "limit? offset?"
_FILTERS = f"where? holding? include? {_PAGE}"


def _is_of_texts(profile: ToolProfile) -> bool:
    counts = profile.has("collection") and profile.has("count")
    return profile.has(*_TEXT_NOUNS) and not counts


def _is_of_collections(profile: ToolProfile) -> bool:
    return profile.has("collection") and not _is_of_texts(profile)


def _on_texts(name: str, verb: Verb, line: str, verbs: str) -> Operation:
    means = both(_is_of_texts, named(verbs))
    return Operation(name, f"operations:{name}", verb, pick(line, _ROLES), means=means, entity=DOCUMENT)


def _on_collections(name: str, verb: Verb, line: str, verbs: str) -> Operation:
    means = both(_is_of_collections, named(verbs))
    return Operation(name, f"operations:{name}", verb, pick(line, _ROLES), means=means, entity=COLLECTION)


@backends.register("vectors")
class Vectors(OperationsBackend):
    """Texts with ids and metadata in collections, in parallel lists.

    A question finds the texts that share its words, nearest first. Evidence: `add_documents(collection, documents, ids,
    metadatas)`. If a server lists such a tool, its other tools that name a collection work on the same store, which is
    empty at first, unless a state has collections.
    """

    order = 150
    confidence = 0.9
    entities = ENTITIES
    request = "request:VectorsRequest"
    names: ClassVar[Names] = {
        "documents": ("texts", "contents", "results", "chunks"),
        "collections": ("names", "result", "results"),
        "count": ("document_count", "total", "num_documents"),
        "name": ("collection_name", "collection"),
        "distances": ("scores",),
    }
    operations = (
        _on_texts("add", "create", "collection texts ids metadatas?", "add|insert|store|create"),
        _on_texts("upsert", "create", "collection texts ids metadatas?", "upsert"),
        _on_texts("query", "search", f"collection query {_FILTERS}", "query|search|find"),
        _on_texts("update", "update", "collection ids texts? metadatas?", "update|modify|edit"),
        _on_texts("delete", "delete", "collection ids", "delete|remove"),
        _on_texts("get", "get", f"collection ids? {_FILTERS}", "get|fetch|read|list|retrieve"),
        _on_collections("count", "get", "collection", "count"),
        _on_collections("peek", "list", f"collection {_PAGE}", "peek|sample"),
        _on_collections("copy_collection", "create", "collection new_name", "fork|copy|clone|duplicate"),
        _on_collections("create_collection", "create", "collection metadata?", "create|make"),
        _on_collections("modify_collection", "update", "collection new_name? metadata?", "modify|update|rename"),
        _on_collections("delete_collection", "delete", "collection", "delete|drop|remove"),
        _on_collections("list_collections", "list", _PAGE, "list"),
        _on_collections("info", "get", "collection", "info|get|describe|stat|show"),
    )

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept the tools of a server that adds texts as parallel lists."""
        return found if any(one.name in {"add", "upsert"} for one in found) else ()

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        return take_collections(state, is_whole=is_whole)
