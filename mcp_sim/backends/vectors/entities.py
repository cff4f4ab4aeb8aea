"""Entities of collections and their texts, and their records in a given state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_sim.backends.given import MAX_DEPTH, Given, Sought, take_given
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_list, as_object

COLLECTION = "collection"
DOCUMENT = "document"
KEY = "key"
"""Field that identifies a text within the world: its collection and its id."""

_TEXT: Record = {"type": "string"}
_FIELDS = {"metadata": Field("metadata", {})}
ENTITIES = (
    Entity(
        COLLECTION, "name", None, {"name": Field("name", _TEXT, required=True), **_FIELDS}, natural=True
    ),
    Entity(
        DOCUMENT, KEY, None,
        {name: Field(name, _TEXT, required=True) for name in (KEY, COLLECTION, "id", "text")} | _FIELDS, natural=True,
    ),
)  # fmt: skip

_NAMES = ("name", "collection_name", "collection", "id")
_LISTS = ("documents", "texts", "chunks", "contents", "points", "vectors", "entries", "items", "records")
"""Names under which a collection holds its texts."""
_TEXTS = ("text", "document", "content", "page_content", "chunk", "body")
"""Names under which a text is held beside its id."""
_ABOUT = frozenset({*_NAMES, *_LISTS, "ids", "metadata", "metadatas", "description", "count", "dimension", "rows"})
"""Names that a collection has itself. Any other name is the id of a text."""


def key_of(collection: str, id_: str) -> str:
    """Return the key of a text, unique for collection and id."""
    return f"{collection.replace('|', '||')} | {id_}"


def take_collections(state: Json, *, is_whole: bool) -> Given:
    """Return the collections of a given state and their texts, and the rest of the state.

    Collections are objects in a list or under their names. Texts are a list, an object by id, or lists side by side
    (`documents`, `ids`, `metadatas`). If `is_whole`, the outermost object that holds texts is one of collections.
    """
    given = take_given(state, [Sought(COLLECTION, "name", frozenset({COLLECTION}), plain="documents")])
    rows: Sequence[Record] = given.records[COLLECTION]
    rest = given.rest
    if not rows and is_whole and state is not None:
        whole = rows_of(_without_wrappers(state), "name", "documents")
        rows, rest = (whole, None) if whole else (rows, rest)
    collections = [_collection(row) for row in rows]
    documents = [one for name, row in zip(collections, rows, strict=True) for one in _documents(name["name"], row)]
    return Given({COLLECTION: collections, DOCUMENT: documents}, rest)


def _without_wrappers(state: Json) -> Json:
    for _ in range(MAX_DEPTH):
        parts = [as_object(one) for one in as_object(state).values()]
        if len(parts) != 1 or not parts[0] or _holds_texts(parts[0]):
            break
        state = parts[0]
    return state


def _holds_texts(value: Record) -> bool:
    return not _ABOUT.isdisjoint(value) or any(isinstance(one, str) for one in value.values())


def _collection(row: Record) -> Record:
    """Return the record of a collection. A row that is a text alone is its name."""
    usual: Json = row["documents"] if isinstance(row.get("documents"), str) else ""
    name: Json = next((row[one] for one in _NAMES if one in row), usual)
    return {"name": str(name), "metadata": row.get("metadata")}


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
