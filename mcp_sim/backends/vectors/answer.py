"""Answer the tools that work on collections of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, compile_answer
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.backends.vectors.matching import COLLECTION, DOCUMENT
from mcp_sim.backends.vectors.store import Store, filter_records, rank
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_NAMES: Names = {
    "documents": ("texts", "contents", "results", "chunks"),
    "collections": ("names", "result", "results"),
    "count": ("document_count", "total", "num_documents"),
    "name": ("collection_name", "collection"),
    "distances": ("scores",),
}
_DEFAULT_LISTS = ("documents", "metadatas")
_MOST_COMPARED = 20_000
"""Maximum number of comparisons of a question with a text in one call."""
_MOST_COPIED = 10_000
"""Maximum number of texts copied in one call."""


@dataclass(frozen=True, slots=True)
class Request:
    """Arguments of one call, by role, with defaults of the tool's schema."""

    given: Record
    roles: Mapping[str, str]
    declared: Mapping[str, Record]

    def get(self, role: str) -> Json:
        name = self.roles.get(role, "")
        return self.given.get(name, as_object(self.declared.get(name)).get("default"))

    @property
    def name(self) -> str:
        return str(self.get("collection"))

    @property
    def ids(self) -> list[str]:
        return [str(one) for one in as_list(self.get("ids"))]

    def parallel(self, role: str) -> list[Json]:
        """Return the values beside the ids; None for each if not given. Raises `Refused` if the lengths differ."""
        listed = as_list(self.get(role))
        if listed and len(listed) != len(self.ids):
            raise Refused("invalid", f"There are {len(self.ids)} ids and {len(listed)} {role}: give as many of each")
        return listed or [None] * len(self.ids)


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Return the function that answers the calls of a tool. Raises `ValueError` if the operation is unknown."""
    if plan.operation not in _OPERATIONS:
        raise ValueError(f"{tool.id}: {plan.backend} has no operation {plan.operation!r}")
    prefix = (plan.entity or "").removesuffix(COLLECTION).removesuffix(DOCUMENT)
    operate, declared = _OPERATIONS[plan.operation], properties(tool.input_schema)

    def operate_on(turn: Turn) -> Outcome:
        return operate(Store(turn.view, prefix), Request(turn.call.arguments, plan.arguments, declared))

    return compile_answer(tool, domain, operate_on, _NAMES)


def _done(store: Store, sentence: str, **facts: Json) -> Outcome:
    return Outcome(sentence, facts, changes=tuple(store.changes))


# collections ----------------------------------------------------------------------------------------------------------


def _collections(store: Store, request: Request) -> Outcome:
    names: list[Json] = [one["name"] for one in _page(store.collections(), request)]
    return Outcome("\n".join(map(str, names)) or "No collections", {"collections": names}, "collections")


def _make(store: Store, request: Request) -> Outcome:
    if store.collection(request.name) is not None:
        raise Refused("conflict", f"Collection {request.name} already exists", key=request.name, entity=COLLECTION)
    store.put_collection(request.name, {"name": request.name, "metadata": request.get("metadata")})
    return _done(store, f"Successfully created collection {request.name}", name=request.name)


def _alter(store: Store, request: Request) -> Outcome:
    record, name = store.known(request.name), str(request.get("new") or request.name)
    metadata = request.get("metadata")
    if name != request.name:
        _copied(store, request.name, name)
        _dropped(store, request.name)
    store.put_collection(name, {**record, "name": name, **({} if metadata is None else {"metadata": metadata})})
    return _done(store, f"Successfully modified collection {request.name}", name=name)


def _copy(store: Store, request: Request) -> Outcome:
    record, name = store.known(request.name), str(request.get("new"))
    _copied(store, request.name, name)
    store.put_collection(name, {**record, "name": name})
    return _done(store, f"Successfully copied collection {request.name} to {name}", name=name)


def _copied(store: Store, name: str, other: str) -> None:
    if store.collection(other) is not None:
        raise Refused("conflict", f"Collection {other} already exists", key=other, entity=COLLECTION)
    texts = store.texts(name)
    if len(texts) > _MOST_COPIED:
        raise Refused("invalid", f"Collection {name} has more than {_MOST_COPIED:,} documents")
    for one in texts:
        store.put_text(other, one["id"], one)


def _dropped(store: Store, name: str) -> None:
    for one in store.texts(name):
        store.put_text(name, one["id"], None)
    store.put_collection(name, None)


def _drop(store: Store, request: Request) -> Outcome:
    store.known(request.name)
    _dropped(store, request.name)
    return _done(store, f"Successfully deleted collection {request.name}", name=request.name)


def _count(store: Store, request: Request) -> Outcome:
    store.known(request.name)
    count = len(store.texts(request.name))
    return Outcome(str(count), {"count": count, "name": request.name}, "count")


def _info(store: Store, request: Request) -> Outcome:
    found, texts = store.known(request.name), store.texts(request.name)
    facts: Record = {"name": request.name, "count": len(texts), "metadata": found.get("metadata")}
    return Outcome(f"{request.name}: {len(texts)} documents", facts, is_json=True)


# texts ----------------------------------------------------------------------------------------------------------------


def _add(store: Store, request: Request) -> Outcome:
    store.known(request.name)
    existing = [id_ for id_ in request.ids if store.text(request.name, id_) is not None]
    if existing:
        raise Refused(
            "conflict", f"IDs already exist in collection {request.name}: {', '.join(existing)}", key=existing[0]
        )
    return _put(store, request, "added")


def _upsert(store: Store, request: Request) -> Outcome:
    store.known(request.name)
    return _put(store, request, "upserted")


def _change(store: Store, request: Request) -> Outcome:
    """Change texts and metadata. Unknown ids are ignored."""
    store.known(request.name)
    return _put(store, request, "updated", only_known=True)


def _put(store: Store, request: Request, done: str, *, only_known: bool = False) -> Outcome:
    twice = [id_ for id_, times in Counter(request.ids).items() if times > 1]
    if twice:
        raise Refused("invalid", f"Expected IDs to be unique, found duplicates of: {', '.join(twice)}")
    for id_, text, metadata in zip(request.ids, request.parallel("texts"), request.parallel("metadatas"), strict=True):
        old = store.text(request.name, id_)
        if old is None and only_known:
            continue
        kept = old or {"text": "", "metadata": None}
        fresh = {name: one for name, one in (("text", text), ("metadata", metadata)) if one is not None}
        store.put_text(request.name, id_, {**kept, **fresh})
    return _count_message(store, request, done, "in" if only_known else "to")


def _remove(store: Store, request: Request) -> Outcome:
    store.known(request.name)
    for id_ in dict.fromkeys(request.ids):
        if store.text(request.name, id_) is not None:
            store.put_text(request.name, id_, None)
    return _count_message(store, request, "deleted", "from")


def _count_message(store: Store, request: Request, done: str, where: str) -> Outcome:
    sentence = f"Successfully {done} {len(request.ids)} documents {where} collection {request.name}"
    return _done(store, sentence, count=len(request.ids), ids=list(request.ids), name=request.name)


def _get(store: Store, request: Request) -> Outcome:
    store.known(request.name)
    found = filter_records(store.texts(request.name), request.get("where"), request.get("holding"))
    wanted = request.ids
    return _side_by_side(request, _page([one for one in found if not wanted or one["id"] in wanted], request))


def _page(records: Sequence[Record], request: Request) -> Sequence[Record]:
    limit, offset = request.get("limit"), request.get("offset")
    start = max(0, int(offset)) if isinstance(offset, int | float) else 0
    return records[start : start + max(0, int(limit)) if isinstance(limit, int | float) else None]


def _query(store: Store, request: Request) -> Outcome:
    """Return the nearest texts: a list for each question, or one list for a single question."""
    store.known(request.name)
    found = filter_records(store.texts(request.name), request.get("where"), request.get("holding"))
    limit = request.get("limit")
    queries = request.get("queries")
    most = max(0, int(limit)) if isinstance(limit, int | float) else 10
    asks = as_list(queries) or [queries]
    if len(asks) > 1 and len(asks) * len(found) > _MOST_COMPARED:
        raise Refused("invalid", f"{len(asks)} questions of {len(found)} texts are too many at once; ask fewer")
    each = [rank(found, str(query))[:most] for query in asks]
    facts = [_lists([one for one, _ in near], [far for _, far in near]) for near in each]
    whole = {name: [one[name] for one in facts] for name in facts[0]} if isinstance(queries, list) else facts[0]
    return _render_lists(request, whole, (*_DEFAULT_LISTS, "distances"))


def _side_by_side(request: Request, records: Sequence[Record]) -> Outcome:
    return _render_lists(request, _lists(records), _DEFAULT_LISTS)


def _lists(records: Sequence[Record], distances: Sequence[float] = ()) -> Record:
    facts: Record = {"ids": [one["id"] for one in records]}
    facts |= {"documents": [one.get("text") for one in records]}
    facts |= {"metadatas": [one.get("metadata") for one in records]}
    return {**facts, "distances": list(distances)}


def _render_lists(request: Request, lists: Record, usual: Sequence[str]) -> Outcome:
    """Return the ids and the included lists. If the tool takes `include`, the others are null."""
    included = [str(one) for one in as_list(request.get("include"))] or [*usual]
    shown: Record = {"ids": lists["ids"]}
    shown |= {name: lists[name] for name in ("documents", "metadatas", "distances") if name in included}
    if "include" in request.roles:
        lacking = dict.fromkeys(("embeddings", "documents", "uris", "data", "metadatas"))
        shown = {**lacking, **shown, "included": [*included]}
    return Outcome("\n".join(map(str, as_list(lists["documents"]))), shown, is_json=True)


_OPERATIONS: Mapping[str, Callable[[Store, Request], Outcome]] = {
    "add": _add, "upsert": _upsert, "query": _query, "change": _change, "remove": _remove, "get": _get, "peek": _get,
    "count": _count, "copy": _copy, "make": _make, "alter": _alter, "drop": _drop, "collections": _collections,
    "info": _info,
}  # fmt: skip
