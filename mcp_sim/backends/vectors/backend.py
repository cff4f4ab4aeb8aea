"""Backend for tools that store texts in collections and search them by similarity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from mcp_sim.backends.given import MAX_DEPTH, Given, Sought, take_given
from mcp_sim.backends.matching.matched_tools import MatchedTool, both, named
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import Names, Operation, pick, read_names
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import backends
from mcp_sim.types.plans import Verb

COLLECTION = "collection"
DOCUMENT = "document"
KEY = "key"
"""Field that identifies a text within the world: its collection and its id."""

_WORDS = read_names(__name__)
_ROLES, _FACTS = _WORDS.roles, _WORDS.facts
_TEXT_NOUNS = _WORDS.ordered("noun")
_PAGE = "limit? offset?"
_FILTERS = f"where? holding? include? {_PAGE}"

_NAMES = ("name", "collection_name", "collection", "id")
_LISTS = _WORDS.ordered("list")
"""Names under which a collection holds its texts."""
_TEXTS = _WORDS.ordered("text")
"""Names under which a text is held beside its id."""
_ABOUT = frozenset({*_NAMES, *_LISTS, "ids", "metadata", "metadatas", "description", "count", "dimension", "rows"})
"""Names that a collection has itself. Any other name is the id of a text."""


def _entity(profile: ToolProfile) -> str:
    """Return the entity that a tool works on, by its name."""
    is_of_texts = profile.has(*_TEXT_NOUNS) and not {"collection", "count"} <= profile.nouns
    return DOCUMENT if is_of_texts else COLLECTION if profile.has("collection") else ""


def _operation(name: str, verb: Verb, line: str, verbs: str, entity: str = DOCUMENT) -> Operation:
    means = both(lambda profile: _entity(profile) == entity, named(verbs))
    return Operation(name, f"operations:{name}", verb, pick(line, _ROLES), means=means, entity=entity)


def _fields(*names: str) -> dict[str, Field]:
    texts = {name: Field(name, {"type": "string"}, required=True) for name in names}
    return {**texts, "metadata": Field("metadata", {})}


@backends.register("vectors")
class Vectors(OperationsBackend):
    """Texts with ids and metadata in collections, in parallel lists.

    A question finds the texts that share its words, nearest first. Evidence: `add_documents(collection, documents, ids,
    metadatas)`. If a server lists such a tool, its other tools that name a collection work on the same store, which is
    empty at first, unless a state has collections.
    """

    order = 150
    confidence = 0.9
    entities = (
        Entity(COLLECTION, "name", None, _fields("name"), natural=True),
        Entity(DOCUMENT, KEY, None, _fields(KEY, COLLECTION, "id", "text"), natural=True),
    )
    request = "operations:VectorsRequest"
    names: ClassVar[Names] = _FACTS
    operations = (
        _operation("add", "create", "collection texts ids metadatas?", "add|insert|store|create"),
        _operation("upsert", "create", "collection texts ids metadatas?", "upsert"),
        _operation("query", "search", f"collection query {_FILTERS}", "query|search|find"),
        _operation("update", "update", "collection ids texts? metadatas?", "update|modify|edit"),
        _operation("delete", "delete", "collection ids", "delete|remove"),
        _operation("get", "get", f"collection ids? {_FILTERS}", "get|fetch|read|list|retrieve"),
        _operation("count", "get", "collection", "count", COLLECTION),
        _operation("peek", "list", f"collection {_PAGE}", "peek|sample", COLLECTION),
        _operation("copy_collection", "create", "collection new_name", "fork|copy|clone|duplicate", COLLECTION),
        _operation("create_collection", "create", "collection metadata?", "create|make", COLLECTION),
        _operation("modify_collection", "update", "collection new_name? metadata?", "modify|update|rename", COLLECTION),
        _operation("delete_collection", "delete", "collection", "delete|drop|remove", COLLECTION),
        _operation("list_collections", "list", _PAGE, "list", COLLECTION),
        _operation("info", "get", "collection", "info|get|describe|stat|show", COLLECTION),
    )

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept the tools of a server that adds texts as parallel lists."""
        return found if any(one.name in {"add", "upsert"} for one in found) else ()

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the collections and their texts.

        Collections are objects in a list or under their names. Texts are a list, an object by id, or lists side by side
        (`documents`, `ids`, `metadatas`). If `is_whole`, the outermost object that holds texts is one of collections.
        """
        given = take_given(state, [Sought(COLLECTION, "name", frozenset({COLLECTION}), plain="documents")])
        rows, rest = given.records[COLLECTION], given.rest
        if not rows and is_whole and state is not None:
            rows = rows_of(_without_wrappers(state), "name", "documents") or []
            rest = None if rows else rest
        collections = [{"name": _name(row), "metadata": row.get("metadata")} for row in rows]
        documents = [one for row in rows for one in _documents(_name(row), row)]
        return Given({COLLECTION: collections, DOCUMENT: documents}, rest)


def key_of(collection: str, id_: str) -> str:
    """Return the key of a text, unique for collection and id."""
    return f"{collection.replace('|', '||')} | {id_}"


def _without_wrappers(state: Json) -> Json:
    for _ in range(MAX_DEPTH):
        inner = as_object(next(iter(as_object(state).values()), None))
        has_texts = not _ABOUT.isdisjoint(inner) or any(isinstance(one, str) for one in inner.values())
        if len(as_object(state)) != 1 or not inner or has_texts:
            break
        state = inner
    return state


def _name(row: Record) -> str:
    """Return the name of a collection. A row that is a text alone is its name."""
    usual: Json = row["documents"] if isinstance(row.get("documents"), str) else ""
    return str(next((row[one] for one in _NAMES if one in row), usual))


def _documents(collection: str, row: Record) -> Iterator[Record]:
    """Yield the texts of a collection. Texts without an id have their number as id."""
    ids, metadatas = as_list(row.get("ids")), as_list(row.get("metadatas"))
    for at, one in enumerate(rows_of(_held(row), "id", "text") or []):
        id_ = str(ids[at] if at < len(ids) else one.get("id", at + 1))
        text: Json = next((one[name] for name in _TEXTS if name in one), "")
        metadata: Json = metadatas[at] if at < len(metadatas) else one.get("metadata")
        key = key_of(collection, id_)
        yield {KEY: key, COLLECTION: collection, "id": id_, "text": str(text), "metadata": metadata}


def _held(row: Record) -> Json:
    """Return what holds the texts of a collection: a list, an object by id, or columns with rows."""
    held = next((row[name] for name in _LISTS if isinstance(row.get(name), list | dict)), None)
    own = {name: value for name, value in row.items() if name != "name"}
    return own if held is None and ("rows" in own or _ABOUT.isdisjoint(own)) else held
