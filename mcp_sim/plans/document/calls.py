"""One call on a document or its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mcp_sim.plans.document.given import DEFAULT_NAME
from mcp_sim.plans.refusal import Refused, label
from mcp_sim.types import Change, Json, Record, Turn
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan

_COUNTED = terms("documents.counted")
"""Kinds of parts that are counted separately. The index of another kind counts all parts."""
_TITLED, _BY_INDEX = terms("documents.titled"), frozenset({"cell", "slide"})
"""Parts that people refer to by text, and by number."""
_OWN = frozenset({"name", "parts"})
"""Fields of a document that a call cannot change as properties."""
_MAX_LEVEL = 9
"""Maximum level of a heading. As in word processors; Markdown and HTML have six."""
_MAX_TEXT = 20_000_000  # repeated replacing could fill the memory


@dataclass(slots=True)
class Outcome:
    """What a call did or found."""

    text: str
    """A sentence, or lines."""
    facts: Record = field(default_factory=dict[str, Any])
    """What a result may show of it, by name."""
    data: Json = None
    """The answer as data; None if it is a sentence."""
    changes: tuple[Change, ...] = ()


@frozen
class Conventions:
    """What the tools of a server call things, and how a tool counts."""

    text: str = "text"
    """The name of the text of a part."""
    key: str = "document"
    """The name of the argument for the document."""
    first: int = 0
    """The first index."""
    counts_back: bool = True
    """Whether negative indexes count from the end."""
    defaults: Mapping[str, Json] = field(default_factory=dict[str, Any])
    """The defaults of arguments, by role."""


class DocumentCall:
    """A call on the document that it names, by default on the newest one.

    Its operations are methods with the names of `Operation`. They raise `Refused` if the document or a part does not
    exist.
    """

    def __init__(self, plan: Plan, conventions: Conventions, turn: Turn) -> None:
        called = turn.call.arguments
        self._entity, self._view, self._tool = plan.entity or "", turn.view, plan.tool
        self._conventions, self._has_document = conventions, "document" in plan.arguments
        given = {role: called[name] for role, name in plan.arguments.items() if called.get(name) is not None}
        self._is_placed = "index" in given
        self._given: Record = {**conventions.defaults, **plan.fixed, **given}
        taken = {*plan.arguments.values()}
        others = {name: value for name, value in called.items() if name not in taken}
        self._fields: Record = {**as_object(others.pop("fields", None)), **others}
        self._kind = self._text("kind", "part")

    # arguments and state

    def _text(self, role: str, default: str = "") -> str:
        value = self._given.get(role, default)
        return value if isinstance(value, str) else encode(value).decode()

    @cached_property
    def _document(self) -> Record:
        """The document. Raises `Refused` if it does not exist."""
        newest = self._view.last_key(self._entity)
        name = self._text("document", DEFAULT_NAME if newest is None else str(newest))
        record = self._view.get(self._entity, name)
        if record is None:
            raise Refused("not_found", f"Document {name} does not exist", key=name, entity=self._entity)
        return record

    @cached_property
    def _parts(self) -> list[Record]:
        """A copy of the list of its parts."""
        return [*as_list(self._document.get("parts"))]

    def _places(self, kind: str = "") -> list[int]:
        """Return the positions of the parts that an index of a kind counts."""
        kind = kind or self._kind
        if kind == "paragraph":
            return [at for at, row in enumerate(self._parts) if row.get("kind") != "table"]
        return [at for at, row in enumerate(self._parts) if kind not in _COUNTED or row.get("kind") == kind]

    def _place(self, role: str = "index", kind: str = "") -> int:
        """Return the position of the part that an index names. Raises `Refused` if it is out of range."""
        index, places, kind = self._given.get(role), self._places(kind), kind or self._kind
        first, count = self._conventions.first, len(places)
        if self._conventions.counts_back and isinstance(index, int) and -count <= index < 0:
            return places[index]
        at = -1
        if isinstance(index, int) or (isinstance(index, float) and index.is_integer()):
            at = int(index) - first
        if not 0 <= at < count:
            last = f" ({first}-{count - 1 + first})" if count else ""
            raise Refused("invalid", f"Invalid {kind} index: {index}. There are {count} {kind}s{last}.")
        return places[at]

    def _free(self, name: str) -> str:
        """Return a name for a new document. Raises `Refused` if it is taken."""
        if self._view.get(self._entity, name) is not None:
            raise Refused("conflict", f"Document {name} already exists")
        return name

    def _store(self, record: Record, sentence: str, **facts: Json) -> Outcome:
        """Write a document. Return the outcome of the call."""
        version = self._view.version(self._entity, record["name"])
        change = Change("put", self._entity, record["name"], record, expected=version)
        return Outcome(sentence, {self._conventions.key: record["name"], **facts}, changes=(change,))

    def _stored(self, sentence: str, **facts: Json) -> Outcome:
        """Write the document with its parts as they are now. Return the outcome of the call."""
        return self._store({**self._document, "parts": self._parts}, sentence, **facts)

    # whole documents

    def create(self) -> Outcome:
        """Create an empty `document` with other arguments as its fields."""
        name = self._free(self._text("document", DEFAULT_NAME))
        fields = {snake(field): value for field, value in self._fields.items() if field not in _OWN}
        return self._store({"name": name, **fields, "parts": []}, f"Document {name} created successfully")

    def copy(self) -> Outcome:
        """Copy a `document` under the name `target`."""
        source = self._document
        name = self._free(self._text("target", f"copy_of_{source['name']}"))
        return self._store({**source, "name": name}, f"Document {source['name']} copied to {name}")

    def list_documents(self) -> Outcome:
        """List the names of all documents."""
        names = [str(key) for key, _ in self._view.rows(self._entity)]
        plural = next((word for word in words(self._tool) if word.endswith("s")), "documents")
        return Outcome("\n".join(names) or f"No {plural} yet", {plural: names, "total": len(names)}, names)

    def text(self) -> Outcome:
        """Return the text of all parts, one per line."""
        return Outcome("\n".join(filter(None, map(_text_of, self._parts))))

    def outline(self) -> Outcome:
        """List the parts, of one kind if the tool names one, each with its index."""
        (rows, lines), plural = self._listed(), f"{self._kind}s"
        return Outcome(lines or f"No {plural} yet", {plural: rows, "count": len(rows)}, rows)

    def read(self) -> Outcome:
        """Return everything in a `document`: its fields and its parts."""
        (rows, lines), kind = self._listed(), self._kind
        fields = {name: value for name, value in self._document.items() if name != "parts"}
        data: Record = {**fields, f"{kind}_count": len(rows), f"{kind}s": rows}
        return Outcome(f"{fields['name']}\n\n{lines}".strip(), data, data)

    def info(self) -> Outcome:
        """Return the fields of a `document`, the number of its words, and how many parts of each kind it has."""
        counts = Counter(f"{row.get('kind', 'part')}_count" for row in self._parts)
        number = sum(len(_text_of(row).split()) for row in self._parts)
        fields = {name: value for name, value in self._document.items() if name not in _OWN}
        data: Record = {self._conventions.key: self._document["name"], **fields, "word_count": number, **counts}
        return Outcome("\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in data.items()), data, data)

    def find(self) -> Outcome:
        """Find the parts that contain the text `query`. Case matters, unless the argument `match_case` is false."""
        wanted, kind = self._text("query"), self._text("kind", "paragraph")
        fold = str.lower if self._fields.get("match_case") is False else str
        texts = enumerate(map(_text_of, self._parts), self._conventions.first)
        hits = [(at, content) for at, content in texts if wanted and fold(wanted) in fold(content)]
        rows: list[Json] = [{f"{kind}_index": at, "text": content, "context": content} for at, content in hits]
        data: Record = {"query": wanted, "total_count": len(rows), "occurrences": rows}
        lines = "\n".join(f"[{at}] {content}" for at, content in hits)
        return Outcome(lines or f"No occurrences of '{wanted}' found.", data, data)

    def replace(self) -> Outcome:
        """Replace the text `query` by `replacement` in all parts."""
        old, new = self._text("query"), self._text("replacement")
        if not old:
            raise Refused("invalid", "The text to find must not be empty")
        number = sum(_text_of(row).count(old) for row in self._parts)
        for at, row in enumerate(self._parts):
            texts = {name: value for name, value in row.items() if isinstance(value, str) and name != "kind"}
            self._parts[at] = row | {name: _replaced(value, old, new) for name, value in texts.items()}
        sentence = f"Replaced {number} occurrence(s) of '{old}' with '{new}'."
        return self._stored(sentence if number else f"No occurrences of '{old}' found.", count=number)

    # parts

    def add(self) -> Outcome:
        """Add a part with a `text` and other arguments as its fields, at an `index`, by default at the end.

        With a `holder`, the index is that of the part to which it belongs, as the paragraph of a footnote.
        """
        index, level = self._given.get("index"), self._fields.get("level")
        end = len(self._places()) + self._conventions.first
        if self._kind == "heading" and isinstance(level, int) and not 0 <= level <= _MAX_LEVEL:
            raise Refused("invalid", f"Invalid level of a heading: {level}. It is from 1 to {_MAX_LEVEL}")
        if index is not None and self._text("holder"):
            self._place("index", self._text("holder"))
        elif isinstance(index, int) and index != end and (0 <= index < end or self._is_placed):
            return self._insert(self._place())
        return self._insert(len(self._parts))

    def _insert(self, at: int) -> Outcome:
        """Insert the part of a call at a position."""
        kind = self._kind
        self._parts.insert(at, {"kind": kind, **self._part()})
        index = sum(1 for place in self._places() if place < at) + self._conventions.first
        where = [f"to {self._document['name']}"] if self._has_document else []
        where += [f"at index {index}"] if not where or kind in _BY_INDEX else []
        text = _text_of(self._parts[at]) if kind in _TITLED else ""
        title = f" '{text}'" if text else ""
        return self._stored(f"{label(kind)}{title} added {' '.join(where)}", index=index, **{f"{kind}_index": index})

    def _part(self) -> Record:
        """Return the part that the call describes, without its kind."""
        return {**({"text": self._given["text"]} if "text" in self._given else {}), **self._fields}

    def remove(self) -> Outcome:
        """Remove the part at an `index`. If the tool names a kind, only parts of this kind are counted."""
        gone = self._parts.pop(self._place())
        sentence = f"{label(self._kind)} at index {self._given.get('index')} deleted successfully"
        return self._stored(sentence, text=gone.get("text"))

    def read_part(self) -> Outcome:
        """Return the part at an `index`; its text as text."""
        row = self._parts[self._place()]
        data: Record = {"index": self._given.get("index"), **self._shown(row)}
        return Outcome(_text_of(row) or _line_of(row), data, data)

    def change(self) -> Outcome:
        """Replace the `text` and other fields of the part at an `index`."""
        return self._changed(self._part(), "{kind} at index {index} updated successfully")

    def tick(self) -> Outcome:
        """Mark the part at an `index` as done."""
        return self._changed({"done": True}, "{kind} {index} marked as done")

    def untick(self) -> Outcome:
        """Mark the part at an `index` as not done."""
        return self._changed({"done": False}, "{kind} {index} marked as not done")

    def _changed(self, fields: Record, sentence: str) -> Outcome:
        """Change fields of the part at an index. `sentence` is a template of the outcome."""
        at = self._place()
        self._parts[at] = self._parts[at] | fields
        return self._stored(sentence.format(kind=label(self._kind), index=self._given.get("index")))

    def move(self) -> Outcome:
        """Move the part at the index `source` to the index `target`."""
        source, target = self._place("source"), self._place("target")
        self._parts.insert(target, self._parts.pop(source))
        places = f"from index {self._given.get('source')} to {self._given.get('target')}"
        return self._stored(f"{label(self._kind)} moved {places}")

    def _listed(self) -> tuple[list[Json], str]:
        """Return the parts that an index counts, each with its index, and a line for each."""
        placed = list(enumerate((self._parts[place] for place in self._places()), self._conventions.first))
        rows: list[Json] = [{"index": at, **self._shown(row)} for at, row in placed]
        return rows, "\n".join(f"[{at}] {_line_of(row)}" for at, row in placed)

    def _shown(self, row: Mapping[str, Json]) -> Record:
        """Return a part with its text under the tools' name for it."""
        return {self._conventions.text if name == "text" else name: value for name, value in row.items()}


def _replaced(text: str, old: str, new: str) -> str:
    """Replace `old` wherever it is in a text. Raises `Refused` if the result would be too long."""
    if len(new) > len(old) and len(text) + text.count(old) * (len(new) - len(old)) > _MAX_TEXT:
        raise Refused("invalid", f"The result is too long; at most {_MAX_TEXT:,} characters are possible")
    return text.replace(old, new)


def _text_of(row: Mapping[str, Json]) -> str:
    """Return the text of a part, or the cells of a table, one per line."""
    text = row.get("text", row.get("title"))
    if isinstance(text, str):
        return text
    return "\n".join(str(cell) for cells in as_list(row.get("data")) for cell in as_list(cells) if cell is not None)


def _line_of(row: Mapping[str, Json]) -> str:
    """Return a part on one line: its kind, its text, and whether it is done."""
    kind = next((str(row[name]) for name in row if name.endswith("_type")), str(row.get("kind", "")))
    text = " ".join(_text_of(row).split())
    done = f" ({'done' if row['done'] else 'open'})" if "done" in row else ""
    return (f"{kind}: {text}" if kind and text else kind or text) + done
