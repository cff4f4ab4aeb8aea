"""Operations on documents and their parts. Each raises `Refused` if the document or a part does not exist."""

from __future__ import annotations

from collections import Counter

from mcp_sim.plans.document.request import DEFAULT_NAME, DocumentRequest, line_of, text_of
from mcp_sim.plans.outcome import Outcome, done
from mcp_sim.plans.refusal import Refused, label
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.english import snake, vocabulary, words

_OWN = frozenset({"name", "parts"})
"""Fields of a document that a call cannot change as properties."""
_TITLED, _BY_INDEX = vocabulary("heading slide item step"), vocabulary("cell slide")
"""Parts that people refer to by text, and by number."""
_MAX_LEVEL = 9
"""Maximum level of a heading. As in word processors; Markdown and HTML have six."""


def create(request: DocumentRequest) -> Outcome:
    """Create an empty `document` with these `fields`."""
    name = _free(request, request.text("document", DEFAULT_NAME))
    fields = {snake(field): value for field, value in request.fields().items() if field not in _OWN}
    return _made(request, {"name": name, **fields, "parts": []}, f"Document {name} created successfully")


def copy(request: DocumentRequest) -> Outcome:
    """Copy a `document` under the name `target`."""
    record = request.document
    name = _free(request, request.text("target", f"copy_of_{record['name']}"))
    return request.store({**record, "name": name}, f"Document {record['name']} copied to {name}")


def delete(request: DocumentRequest) -> Outcome:
    """Delete a `document`."""
    name = request.document["name"]
    request.drop(name)
    return done(f"Document {name} deleted")


def text(request: DocumentRequest) -> Outcome:
    """Return the text of all parts, one per line."""
    whole = "\n".join(filter(None, map(text_of, request.parts)))
    return Outcome(whole, {"value": whole}, "value")


def outline(request: DocumentRequest) -> Outcome:
    """List the parts, of one `kind` if it is given, each with its index."""
    (rows, lines), many = _listed(request), f"{request.kind}s"
    return Outcome(lines or f"No {many} yet", {many: rows, "count": len(rows)}, many, is_json=True)


def read(request: DocumentRequest) -> Outcome:
    """Return everything in a `document`: its fields and its parts."""
    record, kind, (rows, lines) = request.document, request.kind, _listed(request)
    fields = {name: value for name, value in record.items() if name != "parts"}
    noun = next((str(row["kind"]) for row in rows if "kind" in row), kind)
    shown: Record = {**fields, f"{kind}_count": len(rows), f"{kind}s": rows}
    text = f"{record['name']} ({_counted(len(rows), noun)})\n\n{lines}"
    return Outcome(text.strip(), {"value": shown}, "value", is_json=True)


def count(request: DocumentRequest) -> Outcome:
    """Count the parts of a `document`, of one `kind` if it is given."""
    number, kind, name = len(request.places()), request.kind, request.document["name"]
    facts: Record = {f"{kind}_count": number, "count": number, request.conventions.key: name}
    return Outcome(f"{name} has {_counted(number, kind)}", facts, "count")


def info(request: DocumentRequest) -> Outcome:
    """Return the fields of a `document`, the number of its words, and how many parts of each kind it has."""
    record, parts = request.document, request.parts
    counts = Counter(f"{block.get('kind', 'part')}_count" for block in parts)
    number = sum(len(text_of(row).split()) for row in parts)
    fields = {name: value for name, value in record.items() if name not in _OWN}
    shown: Record = {request.conventions.key: record["name"], **fields, "word_count": number, **counts}
    lines = (f"{name.replace('_', ' ')}: {value}" for name, value in shown.items())
    return Outcome("\n".join(lines), {"value": shown}, "value", is_json=True)


def list_documents(request: DocumentRequest) -> Outcome:
    """List the names of all documents."""
    names = [str(key) for key, _ in request.view.rows(request.entity)]
    named = words(request.tool.name) if request.tool is not None else ()
    many = next((word for word in named if word.endswith("s")), "documents")
    return Outcome("\n".join(names) or f"No {many} yet", {many: names, "total": len(names)}, many, is_json=True)


def find(request: DocumentRequest) -> Outcome:
    """Find the parts that contain the text `query`. Case matters, unless the field `match_case` is false."""
    wanted, kind = request.text("query"), request.text("kind", "paragraph")
    fold = str.lower if request.others.get("match_case") is False else str
    texts = enumerate(map(text_of, request.parts), request.conventions.first)
    hits = [(at, content) for at, content in texts if wanted and fold(wanted) in fold(content)]
    rows: list[Json] = [{f"{kind}_index": at, "text": content, "context": content} for at, content in hits]
    lines = "\n".join(f"[{at}] {content}" for at, content in hits)
    shown: Record = {"query": wanted, "total_count": len(rows), "occurrences": rows}
    return Outcome(lines or f"No occurrences of '{wanted}' found.", {"value": shown}, "value", is_json=True)


def replace(request: DocumentRequest) -> Outcome:
    """Replace the text `query` by `replacement` in all parts."""
    old, new = request.text("query"), request.text("replacement")
    if not old:
        raise Refused("invalid", "The text to find must not be empty")
    number = sum(text_of(row).count(old) for row in request.parts)
    for at, entry in enumerate(request.parts):
        texts = {name: value for name, value in entry.items() if isinstance(value, str) and name != "kind"}
        request.parts[at] = entry | {name: _replace_text(value, old, new) for name, value in texts.items()}
    sentence = f"Replaced {number} occurrence(s) of '{old}' with '{new}'."
    return request.stored(sentence if number else f"No occurrences of '{old}' found.", count=number)


def _free(request: DocumentRequest, name: str) -> str:
    """Return a name for a new document. Raises `Refused` if it is taken."""
    if request.record(name) is not None:
        raise Refused("conflict", f"Document {name} already exists")
    return name


def _made(request: DocumentRequest, record: Record, sentence: str) -> Outcome:
    return request.store(record, sentence, **{request.conventions.key: record["name"]})


def _listed(request: DocumentRequest) -> tuple[list[Json], str]:
    """Return the parts that an index counts, each with its index, and a line for each."""
    placed = list(enumerate((request.parts[place] for place in request.places()), request.conventions.first))
    rows: list[Json] = [{"index": at, **request.shown(row)} for at, row in placed]
    return rows, "\n".join(f"[{at}] {line_of(block)}" for at, block in placed)


def _counted(number: int, kind: str) -> str:
    return f"{number} {kind}{'' if number == 1 else 's'}"


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


def remove(request: DocumentRequest) -> Outcome:
    """Remove the part at an `index`. If a `kind` is given, only parts of this kind are counted."""
    gone = request.parts.pop(request.place())
    sentence = f"{label(request.kind)} at index {request.get('index')} deleted successfully"
    return request.stored(sentence, text=gone.get("text"))


def read_part(request: DocumentRequest) -> Outcome:
    """Return the part at an `index`; its text as text."""
    block = request.parts[request.place()]
    shown = {"index": request.get("index"), **request.shown(block)}
    return Outcome(text_of(block) or line_of(block), {"value": shown}, "value", is_json=True)


def change(request: DocumentRequest) -> Outcome:
    """Replace the `text` and other `fields` of the part at an `index`."""
    return _changed(request, request.part(), "{kind} at index {index} updated successfully")


def tick(request: DocumentRequest) -> Outcome:
    """Mark the part at an `index` as done."""
    return _changed(request, {"done": True}, "{kind} {index} marked as done")


def untick(request: DocumentRequest) -> Outcome:
    """Mark the part at an `index` as not done."""
    return _changed(request, {"done": False}, "{kind} {index} marked as not done")


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


def _changed(request: DocumentRequest, fields: Record, sentence: str) -> Outcome:
    """Change fields of the part at an index. Return the outcome of the call, with a sentence made from a template."""
    at = request.place()
    request.parts[at] = request.parts[at] | fields
    return request.stored(sentence.format(kind=label(request.kind), index=request.get("index")))


_MAX_TEXT = 20_000_000  # repeated replacing could fill the memory


def _replace_text(text: str, old: str, new: str) -> str:
    """Replace `old` wherever it is in a text. Raises `Refused` if the result would be too long."""
    if len(new) > len(old) and len(text) + text.count(old) * (len(new) - len(old)) > _MAX_TEXT:
        raise Refused("invalid", f"The result is too long; at most {_MAX_TEXT:,} characters are possible")
    return text.replace(old, new)
