"""Operations on collections of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.vectors.entities import COLLECTION, DOCUMENT, KEY
from mcp_sim.backends.vectors.request import VectorsRequest
from mcp_sim.backends.vectors.similarity import filter_records, rank
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list

_DEFAULT_LISTS = ("documents", "metadatas")
_MOST_COMPARED = 20_000
"""Maximum number of comparisons of a question with a text in one call."""
_MOST_COPIED = 10_000
"""Maximum number of texts copied in one call."""


# collections ----------------------------------------------------------------------------------------------------------


def list_collections(request: VectorsRequest) -> Outcome:
    """List the names of the collections, from `offset`, up to `limit`."""
    names: list[Json] = [one["name"] for one in request.page(list(request.rows(COLLECTION)))]
    return Outcome("\n".join(map(str, names)) or "No collections", {"collections": names}, "collections")


def create_collection(request: VectorsRequest) -> Outcome:
    """Create the collection `collection` with `metadata`. Raises `Refused` if it exists."""
    request.refuse_existing(request.name)
    request.put(request.name, {"name": request.name, "metadata": request.get("metadata")}, COLLECTION)
    return done(f"Successfully created collection {request.name}", name=request.name)


def modify_collection(request: VectorsRequest) -> Outcome:
    """Rename a collection to `new_name`, or replace its `metadata`. Raises `Refused` if it does not exist."""
    record, name = request.collection(), request.text("new_name") or request.name
    metadata = request.get("metadata")
    if name != request.name:
        _copy(request, name)
        _drop(request)
    request.put(name, {**record, "name": name, **({} if metadata is None else {"metadata": metadata})}, COLLECTION)
    return done(f"Successfully modified collection {request.name}", name=name)


def copy_collection(request: VectorsRequest) -> Outcome:
    """Copy a collection with its texts to `new_name`. Raises `Refused` if it does not exist, or the copy does."""
    record, name = request.collection(), request.text("new_name")
    _copy(request, name)
    request.put(name, {**record, "name": name}, COLLECTION)
    return done(f"Successfully copied collection {request.name} to {name}", name=name)


def delete_collection(request: VectorsRequest) -> Outcome:
    """Delete a collection with its texts. Raises `Refused` if it does not exist."""
    request.collection()
    _drop(request)
    return done(f"Successfully deleted collection {request.name}", name=request.name)


def count(request: VectorsRequest) -> Outcome:
    """Return the number of texts in a collection. Raises `Refused` if it does not exist."""
    request.collection()
    number = len(request.documents())
    return Outcome(str(number), {"count": number, "name": request.name}, "count")


def info(request: VectorsRequest) -> Outcome:
    """Return a collection's name, metadata and number of texts. Raises `Refused` if it does not exist."""
    metadata, number = request.collection().get("metadata"), len(request.documents())
    facts: Record = {"name": request.name, "count": number, "metadata": metadata}
    about = f", metadata {as_text(metadata)}" if metadata else ""
    return Outcome(f"{request.name}: {number} documents{about}", facts, is_json=True)


def _copy(request: VectorsRequest, name: str) -> None:
    request.refuse_existing(name)
    texts = request.documents()
    if len(texts) > _MOST_COPIED:
        raise Refused("invalid", f"Collection {request.name} has more than {_MOST_COPIED:,} documents")
    for one in texts:
        request.put_document(name, one["id"], one)


def _drop(request: VectorsRequest) -> None:
    for one in request.documents():
        request.drop(one[KEY], DOCUMENT)
    request.drop(request.name, COLLECTION)


# texts ----------------------------------------------------------------------------------------------------------------


def add(request: VectorsRequest) -> Outcome:
    """Add `texts` with `ids` and `metadatas`. Raises `Refused` if there is no such collection, or an id exists."""
    request.collection()
    existing = list(request.known())
    if existing:
        message = f"IDs already exist in collection {request.name}: {', '.join(existing)}"
        raise Refused("conflict", message, key=existing[0])
    return _put(request, "added to")


def upsert(request: VectorsRequest) -> Outcome:
    """Add `texts`, or replace those whose ids exist. Raises `Refused` if there is no such collection."""
    request.collection()
    return _put(request, "upserted to")


def update(request: VectorsRequest) -> Outcome:
    """Change texts and metadata. Unknown ids are ignored. Raises `Refused` if there is no such collection."""
    request.collection()
    return _put(request, "updated in", only_known=True)


def delete(request: VectorsRequest) -> Outcome:
    """Delete the texts with these `ids`. Unknown ids are ignored. Raises `Refused` if there is no such collection."""
    request.collection()
    for one in request.known().values():
        request.drop(one[KEY], DOCUMENT)
    return _counted(request, "deleted from")


def get(request: VectorsRequest) -> Outcome:
    """Return the texts with these `ids` or all, that match `where` and `holding`.

    Raises `Refused` if there is no such collection, or a filter has an unknown operator.
    """
    wanted = frozenset(request.ids)
    found = [one for one in _filtered(request) if not wanted or one["id"] in wanted]
    return _lists_outcome(request, _lists(request.page(found)), _DEFAULT_LISTS)


def peek(request: VectorsRequest) -> Outcome:
    """Return the first texts, at most `limit`. Raises `Refused` if there is no such collection."""
    return get(request)


def query(request: VectorsRequest) -> Outcome:
    """Return the texts nearest to `query`: a list for each of several questions, or one list for one question.

    `limit` is 10 by default. Raises `Refused` as `get` does, and if there are too many comparisons.
    """
    found, limit, queries = _filtered(request), request.number("limit"), request.get("query")
    most = 10 if limit is None else max(0, limit)
    asks = as_list(queries) or [queries]
    if len(asks) > 1 and len(asks) * len(found) > _MOST_COMPARED:
        raise Refused("invalid", f"{len(asks)} questions of {len(found)} texts are too many at once; ask fewer")
    each = [rank(found, str(ask))[:most] for ask in asks]
    facts = [_lists([one for one, _ in near], [far for _, far in near]) for near in each]
    whole = {name: [one[name] for one in facts] for name in facts[0]} if isinstance(queries, list) else facts[0]
    return _lists_outcome(request, whole, (*_DEFAULT_LISTS, "distances"))


def _put(request: VectorsRequest, how: str, *, only_known: bool = False) -> Outcome:
    twice = [id_ for id_, times in Counter(request.ids).items() if times > 1]
    if twice:
        raise Refused("invalid", f"Expected IDs to be unique, found duplicates of: {', '.join(twice)}")
    known = request.known()
    given = zip(request.ids, request.parallel("texts"), request.parallel("metadatas"), strict=True)
    for id_, text, metadata in given:
        if id_ in known or not only_known:
            kept = known.get(id_, {"text": "", "metadata": None})
            fresh = {name: one for name, one in (("text", text), ("metadata", metadata)) if one is not None}
            request.put_document(request.name, id_, {**kept, **fresh})
    return _counted(request, how)


def _counted(request: VectorsRequest, how: str) -> Outcome:
    past, where = how.split()
    ids = request.ids
    sentence = f"Successfully {past} {len(ids)} documents {where} collection {request.name}"
    return done(sentence, count=len(ids), ids=list(ids), name=request.name)


def _filtered(request: VectorsRequest) -> list[Record]:
    request.collection()
    return filter_records(request.documents(), request.get("where"), request.get("holding"))


def _lists(records: Sequence[Record], distances: Sequence[float] = ()) -> Record:
    return {
        "ids": [one["id"] for one in records],
        "documents": [one.get("text") for one in records],
        "metadatas": [one.get("metadata") for one in records],
        "distances": list(distances),
    }


def _lists_outcome(request: VectorsRequest, lists: Record, usual: Sequence[str]) -> Outcome:
    """Return the ids and the included lists. If the tool takes `include`, the others are null."""
    included = request.texts("include") or [*usual]
    shown: Record = {"ids": lists["ids"]}
    shown |= {name: lists[name] for name in ("documents", "metadatas", "distances") if name in included}
    if request.has("include"):
        lacking = dict.fromkeys(("embeddings", "documents", "uris", "data", "metadatas"))
        shown = {**lacking, **shown, "included": [*included]}
    return Outcome(_lines(lists) or "No documents", shown, is_json=True)


def _lines(lists: Record) -> str:
    """Return one line per text, with its id, its metadata if it has some, and the text."""
    columns = [lists["ids"], lists["documents"], lists["metadatas"]]
    if any(isinstance(one, list) for one in lists["ids"]):
        columns = [[cell for row in column for cell in row] for column in columns]
    rows = zip(*columns, strict=True)
    return "\n".join(f"{id_}{f' {as_text(about)}' if about else ''}: {text}" for id_, text, about in rows)
