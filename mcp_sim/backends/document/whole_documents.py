"""Operations on whole documents: create, copy, save, merge, read, search and list."""

from __future__ import annotations

from mcp_sim.backends.compute.text_changes import replace_text
from mcp_sim.backends.document.given import DOCUMENT, document_of
from mcp_sim.backends.document.request import DocumentTool, text_of
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, as_text, done, value_outcome
from mcp_sim.types import Change, Json, Record, Turn
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import snake, words

_OWN = frozenset({"name", "parts"})
"""Fields of a document that a call cannot change as properties."""


class WholeDocuments(DocumentTool):
    """The operations on whole documents."""

    def _make(self, turn: Turn) -> Outcome:
        name, document = self._name(turn), self.plan.arguments.get("document")
        if turn.view.get(DOCUMENT, name) is not None:
            raise Refused("conflict", f"Document {name} already exists")
        fields = {snake(key): value for key, value in turn.call.arguments.items() if key not in (document, "parts")}
        return self._store(
            turn, document_of(name, [], **fields), f"Document {name} created successfully", **{self.key: name}
        )

    def _describe(self, turn: Turn) -> Outcome:
        """Set properties of a document. An object among the arguments holds properties."""
        record, document = self._document(turn), self.plan.arguments.get("document")
        fields = {snake(key): value for key, value in turn.call.arguments.items() if key != document}
        objects = [as_object(value) for value in fields.values() if isinstance(value, dict)]
        plain_ones = {name: value for name, value in fields.items() if not isinstance(value, dict)}
        properties = {name: value for one in (plain_ones, *objects) for name, value in one.items() if name not in _OWN}
        return self._store(turn, {**record, **properties}, f"Document {record['name']} updated successfully")

    def _validate(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        return done(f"Document {record['name']} is valid", valid=True)

    def _save(self, turn: Turn) -> Outcome:
        """Save a document under a path."""
        record, path = self._document(turn), str(self._argument(turn, "target") or self._name(turn))
        return self._store(turn, {**record, "name": path}, f"Document saved to {path}", file_path=path)

    def _open(self, turn: Turn) -> Outcome:
        """Open the document at a path under the given name."""
        path = str(self._argument(turn, "target"))
        found = turn.view.get(DOCUMENT, path)
        if found is None:
            raise Refused("not_found", f"File not found: {path}", path=path, key=path, entity=DOCUMENT)
        name = str(self._argument(turn, "document") or path)
        return self._store(turn, {**found, "name": name}, f"Opened {path} as {name}", **{self.key: name})

    def _merge(self, turn: Turn) -> Outcome:
        """Merge the parts of several documents into a new one."""
        parts: list[Json] = []
        for name in map(str, as_list(self._argument(turn, "sources"))):
            record = turn.view.get(DOCUMENT, name)
            if record is None:
                raise Refused("not_found", f"Document {name} does not exist", key=name, entity=DOCUMENT)
            parts += as_list(record.get("parts"))
        name = self._name(turn)
        return self._store(turn, document_of(name, parts), f"Documents merged into {name}", **{self.key: name})

    def _copy(self, turn: Turn) -> Outcome:
        name = str(self._argument(turn, "target") or f"copy_of_{self._name(turn)}")
        if turn.view.get(DOCUMENT, name) is not None:
            raise Refused("conflict", f"Document {name} already exists")
        copied = {**self._document(turn), "name": name}
        return self._store(turn, copied, f"Document {self._name(turn)} copied to {name}")

    def _drop(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        change = Change("remove", DOCUMENT, record["name"], expected=turn.view.version(DOCUMENT, record["name"]))
        sentence = f"Document {record['name']} deleted"
        return done(sentence, change)

    def _text(self, turn: Turn) -> Outcome:
        texts = [text for part in as_list(self._document(turn).get("parts")) if (text := text_of(part))]
        return value_outcome("\n".join(texts))

    def _outline(self, turn: Turn) -> Outcome:
        rows: list[Json] = self._rows(self._document(turn))
        many = f"{self.noun}s"
        return Outcome(as_text(rows), {many: rows, "count": len(rows)}, many, is_json=True)

    def _rows(self, record: Record) -> list[Json]:
        """Return the parts that an index counts, each with its index."""
        parts = as_list(record.get("parts"))
        return [
            {"index": at, **self._render_part(parts[place])}
            for at, place in enumerate(self._indexed_places(record), self.first)
        ]

    def _whole(self, turn: Turn) -> Outcome:
        """Return everything in a document."""
        record = self._document(turn)
        fields = {name: value for name, value in record.items() if name != "parts"}
        rows, count = self._rows(record), len(self._indexed_places(record))
        if self.returns_prose:
            lines = (f"[{row['index']}] {_line(row)}" for row in rows)
            noun = next((str(row["kind"]) for row in rows if "kind" in row), self.noun)
            return Outcome("\n".join([f"{record['name']} ({count} {noun}s)", "", *lines]))
        return value_outcome({**fields, f"{self.noun}_count": count, f"{self.noun}s": rows})

    def _count(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        count = len(self._indexed_places(record))
        facts: Record = {f"{self.noun}_count": count, "count": count, self.key: record["name"]}
        return Outcome(f"{record['name']} has {count} {self.noun}{'' if count == 1 else 's'}", facts, "count")

    def _info(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        parts = as_list(record.get("parts"))
        counts: dict[str, int] = {}
        for part in parts:
            kind = f"{part.get('kind', 'part')}_count"
            counts[kind] = counts.get(kind, 0) + 1
        count = sum(len(text_of(part).split()) for part in parts)
        fields = {name: value for name, value in record.items() if name not in {"parts", "name"}}
        return value_outcome({self.key: record["name"], **fields, "word_count": count, **counts})

    def _documents(self, turn: Turn) -> Outcome:
        names = [str(key) for key, _ in turn.view.rows(DOCUMENT)]
        many = next((word for word in words(self.tool.name) if word.endswith("s")), "documents")
        return Outcome(as_text(names), {many: names, "total": len(names)}, many, is_json=True)

    def _find(self, turn: Turn) -> Outcome:
        wanted, parts = str(self._argument(turn, "query") or ""), as_list(self._document(turn).get("parts"))
        noun = self.noun if self.noun != "part" else "paragraph"
        exact = turn.call.arguments.get("match_case", True) is not False
        found = [
            {f"{noun}_index": at, "text": text, "context": text}
            for at, part in enumerate(parts, self.first)
            if wanted and (wanted in (text := text_of(part)) or (not exact and wanted.lower() in text.lower()))
        ]
        return value_outcome({"query": wanted, "total_count": len(found), "occurrences": found})

    def _replace_text(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        old, new = str(self._argument(turn, "query") or ""), str(self._argument(turn, "replacement") or "")
        if not old:
            raise Refused("invalid", "The text to find must not be empty")
        count = sum(text_of(part).count(old) for part in as_list(record.get("parts")))
        parts = [_replaced(part, old, new) for part in as_list(record.get("parts"))]
        message = (
            f"Replaced {count} occurrence(s) of '{old}' with '{new}'." if count else f"No occurrences of '{old}' found."
        )
        return self._store(turn, {**record, "parts": parts}, message, count=count)


def _replaced(part: Record, old: str, new: str) -> Record:
    return {
        name: replace_text(value, old, new) if isinstance(value, str) and name != "kind" else value
        for name, value in part.items()
    }


def _line(row: Record) -> str:
    """Return a part on one line: its kind and its text."""
    kind = next((str(row[name]) for name in row if name.endswith("_type")), str(row.get("kind", "")))
    texts = (row[name] for name in ("text", "source", "content", "title") if isinstance(row.get(name), str))
    return f"{kind}: {' '.join(str(next(texts, '')).split())}"
