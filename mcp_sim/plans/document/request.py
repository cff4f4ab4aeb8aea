"""Requests to documents."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from mcp_sim.plans.operation import read_names
from mcp_sim.plans.outcome import Outcome, done
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object

_WORDS = read_names(__name__)
DEFAULT_NAME = "document"
"""Name of the only document if no tool names one."""

_KINDS = _WORDS.terms("counted")
"""Kinds of parts that are counted separately. The index of another kind counts all parts."""


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


class DocumentRequest(Request):
    """A call on a document. It works on the named document, by default on the newest one."""

    @property
    def conventions(self) -> Conventions:
        """The names that the server uses."""
        return self.binding.shared or Conventions()

    @property
    def kind(self) -> str:
        """The kind of part that the call is about."""
        return self.text("kind", "part")

    @property
    def name(self) -> str:
        """The name of the document."""
        newest = next(reversed([key for key, _ in self.view.rows(self.entity)]), DEFAULT_NAME)
        return self.text("document", str(newest))

    @cached_property
    def document(self) -> Record:
        """The document. Raises `Refused` if it does not exist."""
        record = self.record(self.name)
        if record is None:
            raise Refused("not_found", f"Document {self.name} does not exist", key=self.name, entity=self.entity)
        return record

    @cached_property
    def parts(self) -> list[Record]:
        """A copy of the list of its parts."""
        return [*as_list(self.document.get("parts"))]

    def places(self, kind: str = "") -> list[int]:
        """Return the positions of the parts that an index of a kind counts."""
        kind = kind or self.kind
        if kind == "paragraph":
            return [at for at, row in enumerate(self.parts) if row.get("kind") != "table"]
        return [at for at, row in enumerate(self.parts) if kind not in _KINDS or row.get("kind") == kind]

    def place(self, role: str = "index", kind: str = "") -> int:
        """Return the position of the part that an index names. Raises `Refused` if it is out of range."""
        index, places = self.get(role), self.places(kind)
        if self.conventions.counts_back and isinstance(index, int) and -len(places) <= index < 0:
            return places[index]
        return self.nth(index, places, kind)

    def nth(self, index: Json, places: list[int], kind: str = "") -> int:
        """Return the position, among these, that an index names. Raises `Refused` if it is out of range."""
        kind, first, many = kind or self.kind, self.conventions.first, len(places)
        at = int(index) - first if isinstance(index, int | float) else -1
        if not 0 <= at < many:
            last = f" ({first}-{many - 1 + first})" if many else ""
            raise Refused("invalid", f"Invalid {kind} index: {index}. There are {many} {kind}s{last}.")
        return places[at]

    def fields(self) -> Record:
        """Return the fields that the call gives to a part or a document, besides its text."""
        return {**as_object(self.get("fields")), **self.others}

    def part(self) -> Record:
        """Return the part that the call describes, without its kind."""
        return {**({"text": self.get("text")} if self.get("text") is not None else {}), **self.fields()}

    def store(self, record: Record, sentence: str, **facts: Json) -> Outcome:
        """Write a document. Return the outcome of the call."""
        self.put(record["name"], record)
        return done(sentence, **facts)

    def stored(self, sentence: str, **facts: Json) -> Outcome:
        """Write the document with its parts as they are now. Return the outcome of the call."""
        return self.store({**self.document, "parts": self.parts}, sentence, **facts)

    def shown(self, block: Mapping[str, Json]) -> Record:
        """Return a part with its text under the tools' name for it."""
        named = self.conventions.text
        return {named if name == "text" else name: value for name, value in block.items()}


def text_of(block: Mapping[str, Json]) -> str:
    """Return the text of a part, or the cells of a table, one per line."""
    text = block.get("text", block.get("title"))
    if isinstance(text, str):
        return text
    return "\n".join(str(cell) for row in as_list(block.get("data")) for cell in as_list(row) if cell is not None)


def line_of(block: Mapping[str, Json]) -> str:
    """Return a part on one line: its kind, its text, and whether it is done."""
    kind = next((str(block[name]) for name in block if name.endswith("_type")), str(block.get("kind", "")))
    text = " ".join(text_of(block).split())
    done_text = f" ({'done' if block['done'] else 'open'})" if "done" in block else ""
    return (f"{kind}: {text}" if kind and text else kind or text) + done_text
