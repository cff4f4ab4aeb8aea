"""Backend for tools that store texts in collections and search them by similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from mcp_sim.backends.given import Given
from mcp_sim.backends.matching.matched_tools import MatchedTool, both, named
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import LIST, NUMBER, OBJECTS, TEXT, TEXTS, Operation, Test, pick, role, roles
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.backends.vectors.entities import DOCUMENT, ENTITIES, take_collections
from mcp_sim.backends.vectors.request import VectorsRequest
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity
from mcp_sim.types.kinds import backends

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


def _texts(verbs: str) -> Test:
    return both(_is_of_texts, named(verbs))


def _collections(verbs: str) -> Test:
    return both(_is_of_collections, named(verbs))


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
    request = VectorsRequest
    names: ClassVar[Names] = {
        "documents": ("texts", "contents", "results", "chunks"),
        "collections": ("names", "result", "results"),
        "count": ("document_count", "total", "num_documents"),
        "name": ("collection_name", "collection"),
        "distances": ("scores",),
    }
    operations = (
        Operation("add", "operations:add", "create", pick("collection texts ids metadatas?", _ROLES),
                  means=_texts("add|insert|store|create"), entity=DOCUMENT),
        Operation("upsert", "operations:upsert", "create", pick("collection texts ids metadatas?", _ROLES),
                  means=_texts("upsert"), entity=DOCUMENT),
        Operation("query", "operations:query", "search", pick(f"collection query {_FILTERS}", _ROLES),
                  means=_texts("query|search|find"), entity=DOCUMENT),
        Operation("update", "operations:update", "update", pick("collection ids texts? metadatas?", _ROLES),
                  means=_texts("update|modify|edit"), entity=DOCUMENT),
        Operation("delete", "operations:delete", "delete", pick("collection ids", _ROLES),
                  means=_texts("delete|remove"), entity=DOCUMENT),
        Operation("get", "operations:get", "get", pick(f"collection ids? {_FILTERS}", _ROLES),
                  means=_texts("get|fetch|read|list|retrieve"), entity=DOCUMENT),
        Operation("count", "operations:count", "get", pick("collection", _ROLES), means=_collections("count")),
        Operation("peek", "operations:get", "list", pick(f"collection {_PAGE}", _ROLES),
                  means=_collections("peek|sample")),
        Operation("copy_collection", "operations:copy_collection", "create", pick("collection new_name", _ROLES),
                  means=_collections("fork|copy|clone|duplicate")),
        Operation("create_collection", "operations:create_collection", "create", pick("collection metadata?", _ROLES),
                  means=_collections("create|make")),
        Operation("modify_collection", "operations:modify_collection", "update",
                  pick("collection new_name? metadata?", _ROLES), means=_collections("modify|update|rename")),
        Operation("delete_collection", "operations:delete_collection", "delete", pick("collection", _ROLES),
                  means=_collections("delete|drop|remove")),
        Operation("list_collections", "operations:list_collections", "list", pick(_PAGE, _ROLES),
                  means=_collections("list")),
        Operation("info", "operations:info", "get", pick("collection", _ROLES),
                  means=_collections("info|get|describe|stat|show")),
    )  # fmt: skip

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept the tools of a server that adds texts as parallel lists."""
        return found if any(one.name in {"add", "upsert"} for one in found) else ()

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        return take_collections(state, is_whole=is_whole)
