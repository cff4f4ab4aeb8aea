"""Operations on collections of texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Request
from mcp_sim.backends.vectors.backend import COLLECTION, DOCUMENT, KEY, key_of
from mcp_sim.types import Json, Record
from mcp_sim.types.conditions import equal
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import singular

_MOST_COMPARED, _MOST_COPIED = 20_000, 10_000
"""Maximum numbers of comparisons of a question with a text, and of copied texts, in one call."""


class VectorsRequest(Request):
    """One call: its collection, the texts in it, and their ids."""

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self.text("collection")

    @property
    def ids(self) -> list[str]:
        """The ids of the texts."""
        return self.texts("ids")

    def parallel(self, role: str) -> list[Json]:
        """Return the values beside the ids; None for each if not given. Raises `Refused` if the lengths differ."""
        listed = as_list(self.get(role))
        if listed and len(listed) != len(self.ids):
            raise Refused("invalid", f"There are {len(self.ids)} ids and {len(listed)} {role}: give as many of each")
        return listed or [None] * len(self.ids)

    def collection(self) -> Record:
        """Return the record of the collection. Raises `Refused` if there is none."""
        found = self.record(self.name, COLLECTION)
        if found is None:
            raise Refused("not_found", f"Collection {self.name} does not exist", key=self.name, entity=COLLECTION)
        return found

    def refuse_existing(self, name: str) -> None:
        """Raise `Refused` if there is a collection of this name."""
        if self.record(name, COLLECTION) is not None:
            raise Refused("conflict", f"Collection {name} already exists", key=name, entity=COLLECTION)

    def documents(self) -> list[Record]:
        """Return the texts of the collection. Raises `Refused` if there is none."""
        self.collection()
        return [record for _, record in self.view.find(self.entity_named(DOCUMENT), COLLECTION, self.name)]

    def known(self) -> dict[str, Record]:
        """Return the given ids that exist, with their texts. Raises `Refused` if there is no collection."""
        self.collection()
        found = {id_: self.record(key_of(self.name, id_), DOCUMENT) for id_ in self.ids}
        return {id_: one for id_, one in found.items() if one is not None}

    def put_document(self, collection: str, id_: str, record: Record) -> None:
        """Write a text."""
        key = key_of(collection, id_)
        self.put(key, {**record, KEY: key, COLLECTION: collection, "id": id_}, DOCUMENT)

    def filtered(self) -> list[Record]:
        """Return the texts that match the filters. Raises `Refused` if a filter has an unknown operator."""
        where, holding = as_object(self.get("where")), self.get("holding")
        found = [one for one in self.documents() if _holds(where, as_object(one.get("metadata")))]
        return [one for one in found if _fits(holding, one.get("text"))] if holding else found

    def page(self, records: Sequence[Record]) -> Sequence[Record]:
        """Return the records from the given offset, up to the given limit."""
        limit, start = self.number("limit"), max(0, self.number("offset") or 0)
        return records[start : None if limit is None else start + max(0, limit)]


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
    _drop(request)
    return done(f"Successfully deleted collection {request.name}", name=request.name)


def count(request: VectorsRequest) -> Outcome:
    """Return the number of texts in a collection. Raises `Refused` if it does not exist."""
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


def add(request: VectorsRequest) -> Outcome:
    """Add `texts` with `ids` and `metadatas`. Raises `Refused` if there is no such collection, or an id exists."""
    existing = list(request.known())
    if existing:
        listed = ", ".join(existing)
        raise Refused("conflict", f"IDs already exist in collection {request.name}: {listed}", key=existing[0])
    return _put(request, "added {} documents to")


def upsert(request: VectorsRequest) -> Outcome:
    """Add `texts`, or replace those whose ids exist. Raises `Refused` if there is no such collection."""
    return _put(request, "upserted {} documents to")


def update(request: VectorsRequest) -> Outcome:
    """Change texts and metadata. Unknown ids are ignored. Raises `Refused` if there is no such collection."""
    return _put(request, "updated {} documents in", only_known=True)


def delete(request: VectorsRequest) -> Outcome:
    """Delete the texts with these `ids`. Unknown ids are ignored. Raises `Refused` if there is no such collection."""
    for one in request.known().values():
        request.drop(one[KEY], DOCUMENT)
    return _counted(request, "deleted {} documents from")


def get(request: VectorsRequest) -> Outcome:
    """Return the texts, all or with `ids`, that match `where` and `holding`. Raises `Refused` for unknown operators."""
    wanted = frozenset(request.ids)
    found = [one for one in request.filtered() if not wanted or one["id"] in wanted]
    return _found(request, [request.page(found)], "documents metadatas", is_nested=False)


def peek(request: VectorsRequest) -> Outcome:
    """Return the first texts, at most `limit`. Raises `Refused` if there is no such collection."""
    return get(request)


def query(request: VectorsRequest) -> Outcome:
    """Return the texts nearest to `query`, 10 by default, for each question. Raises `Refused` if it takes too long."""
    found, limit, queries = request.filtered(), request.number("limit"), request.get("query")
    most = 10 if limit is None else max(0, limit)
    asks = as_list(queries) or [queries]
    if len(asks) > 1 and len(asks) * len(found) > _MOST_COMPARED:
        raise Refused("invalid", f"{len(asks)} questions of {len(found)} texts are too many at once; ask fewer")
    near = [[{**one, "distance": far} for one, far in _rank(found, str(ask))[:most]] for ask in asks]
    return _found(request, near, "documents metadatas distances", is_nested=isinstance(queries, list))


def _put(request: VectorsRequest, how: str, *, only_known: bool = False) -> Outcome:
    known = request.known()
    twice = ", ".join(id_ for id_, times in Counter(request.ids).items() if times > 1)
    if twice:
        raise Refused("invalid", f"Expected IDs to be unique, found duplicates of: {twice}")
    given = zip(request.ids, request.parallel("texts"), request.parallel("metadatas"), strict=True)
    for id_, text, metadata in given:
        if id_ in known or not only_known:
            kept = known.get(id_, {"text": "", "metadata": None})
            fresh = {name: one for name, one in (("text", text), ("metadata", metadata)) if one is not None}
            request.put_document(request.name, id_, {**kept, **fresh})
    return _counted(request, how)


def _counted(request: VectorsRequest, how: str) -> Outcome:
    sentence = f"Successfully {how.format(len(request.ids))} collection {request.name}"
    return done(sentence, count=len(request.ids), ids=[*request.ids], name=request.name)


def _columns(records: Sequence[Record]) -> Record:
    return {
        "ids": [one["id"] for one in records],
        "documents": [one.get("text") for one in records],
        "metadatas": [one.get("metadata") for one in records],
        "distances": [one["distance"] for one in records if "distance" in one],
    }


def _found(request: VectorsRequest, groups: Sequence[Sequence[Record]], usual: str, *, is_nested: bool) -> Outcome:
    """Return the ids and included columns, per group if nested. If the tool takes `include`, the others are null."""
    included, columns = request.texts("include") or usual.split(), [_columns(group) for group in groups]
    names = [name for name in columns[0] if name == "ids" or name in included]
    shown: Record = {name: [one[name] for one in columns] if is_nested else columns[0][name] for name in names}
    if request.has("include"):
        lacking = dict.fromkeys(("embeddings", "documents", "uris", "data", "metadatas"))
        shown = {**lacking, **shown, "included": [*included]}
    text = "\n".join(map(_line, chain(*groups)))
    return Outcome(text or "No documents", shown, is_json=True)


def _line(one: Record) -> str:
    about = one.get("metadata")
    return f"{one['id']}{f' {as_text(about)}' if about else ''}: {one.get('text')}"


def _holds(where: Record, metadata: Record) -> bool:
    lists = ((_JOINS[name], as_list(where[name])) for name in _JOINS if name in where)
    joined = (join(_holds(as_object(one), metadata) for one in listed) for join, listed in lists)
    fields = (_fits(wanted, metadata.get(name)) for name, wanted in where.items() if name not in _JOINS)
    return all(fields) and all(joined)


def _fits(wanted: Json, found: Json) -> bool:
    return all(_compares(sign, found, bound) for sign, bound in (as_object(wanted) or {"$eq": wanted}).items())


def _compares(sign: str, found: Json, bound: Json) -> bool:
    if sign in _JOINS:
        return _JOINS[sign](_fits(one, found) for one in as_list(bound))
    if sign not in _SIGNS:
        raise Refused("invalid", f"Unknown operator {sign}; use {', '.join(_SIGNS)}")
    try:
        return _SIGNS[sign](found, bound)
    except TypeError:
        return False


_JOINS: Mapping[str, Callable[[Iterable[bool]], bool]] = {"$and": all, "$or": any}
_SIGNS: Mapping[str, Callable[[Json, Json], bool]] = {
    "$eq": equal, "$ne": lambda a, b: not equal(a, b),
    "$gt": lambda a, b: a > b, "$gte": lambda a, b: a >= b, "$lt": lambda a, b: a < b, "$lte": lambda a, b: a <= b,
    "$in": lambda a, b: a in as_list(b), "$nin": lambda a, b: a not in as_list(b),
    "$contains": lambda a, b: str(b) in str(a), "$not_contains": lambda a, b: str(b) not in str(a),
}  # fmt: skip


def _rank(records: Iterable[Record], query: str) -> list[tuple[Record, float]]:
    """Return the texts with their distance from a question, nearest first, by shared words."""
    wanted = _counts(query)

    def distance(text: str) -> float:
        counts = _counts(text)
        size = math.hypot(*wanted.values()) * math.hypot(*counts.values())
        return round(2 - 2 * sum(count * counts[word] for word, count in wanted.items()) / size, 6) if size else 2.0

    return sorted(((one, distance(one.get("text") or "")) for one in records), key=lambda one: one[1])


def _counts(text: str) -> Counter[str]:
    return Counter(singular(word) for word in re.findall(r"\w+", str(text).lower()))
