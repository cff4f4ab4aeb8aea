"""Operations on the parts of a document. Each raises `Refused` if the document or a part does not exist."""

from __future__ import annotations

from mcp_sim.backends.compute.text_changes import replace_text
from mcp_sim.backends.document.operations import place_of, text_name_of
from mcp_sim.backends.document.request import DocumentRequest, line_of, text_of
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused, label
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import vocabulary

_TITLED = vocabulary("heading slide item step")
_BY_INDEX = frozenset({"cell", "slide"})
"""Parts that people refer to by number."""

_MAX_LEVEL = 9
"""Maximum level of a heading."""


def add(request: DocumentRequest) -> Outcome:
    """Add a part of a `kind` with a `text` and other `fields`, at an `index`, by default at the end.

    With a `holder`, the index is that of the part to which it belongs, as the paragraph of a footnote.
    """
    index, holder, places = request.number("index"), request.text("holder"), request.places()
    end = len(places) + request.conventions.first
    level = request.fields().get("level")
    if request.kind == "heading" and isinstance(level, int) and not 0 <= level <= _MAX_LEVEL:
        raise Refused("invalid", f"Invalid level of a heading: {level}. It is from 1 to {_MAX_LEVEL}")
    if index is not None and holder:
        request.place("index", holder)
    elif index is not None and index != end and (index < end or "index" in request.given):
        return _insert(request, request.nth(index, places))
    return _insert(request, len(request.parts))


def add_near(request: DocumentRequest) -> Outcome:
    """Add a part after the first one that contains the text `near`, or before it if `side` says so."""
    near = request.required("near")
    place = next((at for at, part in enumerate(request.parts) if near in text_of(part)), None)
    if place is None:
        raise Refused("not_found", f"Text '{near}' not found in the document", key=near, entity=request.kind)
    return _insert(request, place if request.text("side").lower() in {"before", "above"} else place + 1)


def put_in(request: DocumentRequest) -> Outcome:
    """Put a part of a `kind` into the `holder` at an `index`, such as a table onto a slide."""
    kind, holder, index = request.kind, request.text("holder", "slide"), request.get("index")
    part = request.parts[at := request.place("index", holder)]
    elements = [*as_list(part.get("elements")), {"kind": kind, **request.part(), "inside": True}]
    request.parts[at] = {**part, "elements": elements}
    facts: Record = {f"{holder}_index": index, f"{kind}_index": len(elements) - 1}
    return request.stored(f"{label(kind)} added to {holder} {index}", **facts)


def remove(request: DocumentRequest) -> Outcome:
    """Remove the part at an `index`. If a `kind` is given, only parts of this kind are counted."""
    gone = request.parts.pop(request.place())
    return request.stored(f"{_at_index(request)} deleted successfully", text=gone.get("text"))


def read_part(request: DocumentRequest) -> Outcome:
    """Return the part at an `index`; its text as text."""
    part = request.parts[request.place()]
    shown = {"index": request.get("index"), **request.shown(part)}
    return Outcome(text_of(part) or line_of(part), {"value": shown}, "value", is_json=True)


def change(request: DocumentRequest) -> Outcome:
    """Replace the `text` and other `fields` of the part at an `index`."""
    _change(request, request.place(), request.part())
    return request.stored(f"{_at_index(request)} updated successfully")


def tick(request: DocumentRequest) -> Outcome:
    """Mark the part at an `index` as done."""
    _change(request, request.place(), {"done": True})
    return request.stored(f"{label(request.kind)} {request.get('index')} marked as done")


def untick(request: DocumentRequest) -> Outcome:
    """Mark the part at an `index` as not done."""
    _change(request, request.place(), {"done": False})
    return request.stored(f"{label(request.kind)} {request.get('index')} marked as not done")


def replace_within(request: DocumentRequest) -> Outcome:
    """Replace the text `query` by `replacement` in the part at an `index`. Raises `Refused` if it does not occur."""
    at, old = request.place(), request.text("query")
    text = text_of(request.parts[at])
    if not old or old not in text:
        raise Refused("not_found", f"Text not found in {request.kind}: {old}", key=old, entity=request.kind)
    _change(request, at, {"text": replace_text(text, old, request.text("replacement"))})
    return request.stored(f"{label(request.kind)} updated successfully")


def add_many(request: DocumentRequest) -> Outcome:
    """Add several `items`, each at its index at that moment, by default at the end."""
    listed = _items(request)
    for index, fields in listed:
        end = len(request.parts)
        at = end if index is None else request.nth(index, [*request.places(), end])
        request.parts.insert(at, {"kind": request.kind, **fields})
    return request.stored(f"{len(listed)} {request.kind}s added", count=len(listed))


def change_many(request: DocumentRequest) -> Outcome:
    """Change several `items`, each at its index; all of them or none."""
    listed = _items(request)
    for index, fields in listed:
        _change(request, request.nth(index, request.places()), fields)
    return request.stored(f"{len(listed)} {request.kind}s updated", count=len(listed))


def remove_many(request: DocumentRequest) -> Outcome:
    """Remove the parts at several `indexes`."""
    places = request.places()
    gone = {request.nth(index, places) for index in as_list(request.get("indexes"))}
    request.parts[:] = [part for at, part in enumerate(request.parts) if at not in gone]
    return request.stored(f"{len(gone)} {request.kind}s deleted", deleted=len(gone))


def reorder(request: DocumentRequest) -> Outcome:
    """Put all parts into a new `order`, which contains each index once."""
    order, places = as_list(request.get("order")), request.places()
    if sorted(map(str, order)) != sorted(str(at + request.conventions.first) for at in range(len(places))):
        raise Refused("invalid", f"The new order must name each of the {len(places)} {request.kind}s once")
    moved = [request.parts[request.nth(int(index), places)] for index in order]
    for place, part in zip(places, moved, strict=True):
        request.parts[place] = part
    return request.stored(f"{len(places)} {request.kind}s reordered")


def move(request: DocumentRequest) -> Outcome:
    """Move the part at the index `source` to the index `target`."""
    source, target = request.place("source"), request.place("target")
    request.parts.insert(target, request.parts.pop(source))
    places = f"from index {request.get('source')} to {request.get('target')}"
    return request.stored(f"{label(request.kind)} moved {places}")


def _insert(request: DocumentRequest, at: int) -> Outcome:
    """Insert the part of a call at a position."""
    kind = request.kind
    request.parts.insert(at, {"kind": kind, **request.part()})
    number = sum(1 for place in request.places() if place < at) + request.conventions.first
    where = [f"to {request.document['name']}"] if request.has("document") else []
    where += [f"at index {number}"] if not where or kind in _BY_INDEX else []
    text = text_of(request.parts[at]) if kind in _TITLED else ""
    title = f" '{text}'" if text else ""
    return request.stored(f"{label(kind)}{title} added {' '.join(where)}", index=number, **{f"{kind}_index": number})


def _change(request: DocumentRequest, at: int, fields: Record) -> None:
    request.parts[at] = {**request.parts[at], **fields}


def _at_index(request: DocumentRequest) -> str:
    return f"{label(request.kind)} at index {request.get('index')}"


def _items(request: DocumentRequest) -> list[tuple[Json, Record]]:
    """Return the index and the other fields of each item."""
    return [_item(as_object(one)) for one in as_list(request.get("items"))]


def _item(item: Record) -> tuple[Json, Record]:
    place, text = place_of(item), text_name_of(item)
    fields = {"text" if name == text else name: value for name, value in item.items() if name != place}
    return item.get(place or ""), fields
