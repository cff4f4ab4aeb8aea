"""What do tools answer that put parts into a document, read them and move them, by index?"""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.abilities.refusal import Refused
from mcp_sim.claiming.fitting import Names
from mcp_sim.claiming.outcomes import Operate, Outcome, answering, done, valued
from mcp_sim.domain import Domain, Plan
from mcp_sim.extensions import Answer
from mcp_sim.outlines.recognition import DOCUMENT, ONLY, document_of
from mcp_sim.schemas import as_list, properties
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.words import snake, vocabulary, words

_NAMES: Names = {"value": ("text", "content", "result", "outline", "documents")}
_TITLED = vocabulary("heading slide item step")
_HIGHEST = 9
_KINDS = vocabulary("table slide cell item picture footnote endnote")


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """How a tool answers, of the documents that the calls name."""
    return answering(tool, domain, Outlined(tool, plan).outcome, _NAMES)


class Outlined:
    """The answers of one tool."""

    def __init__(self, tool: Tool, plan: Plan) -> None:
        self.tool, self.plan = tool, plan
        self.noun = str(plan.fixed.get("noun") or "part")
        self.first = _first_index(tool, plan)
        self.outcome: Operate = getattr(self, f"_{plan.operation}")

    def _given(self, turn: Turn, role: str) -> Json:
        name = self.plan.arguments.get(role)
        return turn.call.arguments.get(name) if name is not None else None

    def _name(self, turn: Turn) -> str:
        """The document that is meant; the newest where none is named."""
        named = self._given(turn, "document")
        if named is None and "document" in self.plan.arguments and self.plan.operation != "make":
            return next((str(key) for key, _ in reversed(list(turn.view.rows(DOCUMENT)))), ONLY)
        return str(named or ONLY)

    def _document(self, turn: Turn) -> Record:
        record = turn.view.get(DOCUMENT, self._name(turn))
        if record is None:
            name = self._name(turn)
            raise Refused("not_found", f"Document {name} does not exist", key=name, entity=DOCUMENT)
        return record

    def _counted(self, record: Record, noun: str = "") -> list[int]:
        """The places of the parts that an index counts: those of its noun, or all where they are of many kinds."""
        every, noun = as_list(record.get("parts")), noun or self.noun
        if noun == "paragraph":
            return [at for at, part in enumerate(every) if part.get("kind") != "table"]
        of_one_kind = noun in _KINDS
        return [at for at, part in enumerate(every) if not of_one_kind or part.get("kind") == noun]

    def _place(self, turn: Turn, record: Record, role: str = "index") -> int:
        index, places = self._given(turn, role), self._counted(record)
        at = int(index) - self.first if isinstance(index, int | float) else -1
        if not 0 <= at < len(places):
            last = f" ({self.first}-{len(places) - 1 + self.first})" if places else ""
            raise Refused("invalid", f"Invalid {self.noun} index: {index}. There are {len(places)} {self.noun}s{last}.")
        return places[at]

    def _kept(self, turn: Turn, record: Record, sentence: str, **facts: Json) -> Outcome:
        name = record["name"]
        change = Change("put", DOCUMENT, name, record, expected=turn.view.version(DOCUMENT, name))
        return done(sentence, change, **facts)

    def _part(self, turn: Turn, kind: str) -> Record:
        """A part as the call describes it: all that it says, but for the document and the place."""
        beside = {self.plan.arguments.get(role) for role in ("document", "index")}
        said = {name: value for name, value in turn.call.arguments.items() if name not in beside}
        text = self._given(turn, "text")
        return {"kind": kind, **({"text": text} if text is not None else {}), **said}

    # parts

    def _add(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        self._check_anchor(turn, record)
        self._check_level(turn)
        parts, index = [*as_list(record.get("parts"))], self._given(turn, "index")
        at = len(parts)
        if isinstance(index, int | float) and not isinstance(index, bool):
            places = [*self._counted(record), len(parts)]
            if not 0 <= int(index) - self.first < len(places):
                raise Refused(
                    "invalid", f"Invalid {self.noun} index: {index}. There are {len(places) - 1} {self.noun}s."
                )
            at = places[int(index) - self.first]
        parts.insert(at, self._part(turn, self.noun))
        number = sum(1 for place in self._counted({**record, "parts": parts}) if place < at) + self.first
        place = f"to {record['name']}" if "document" in self.plan.arguments else f"at index {number}"
        text = _text_of(parts[at]) if self.noun in _TITLED else ""
        called = f" '{text}'" if text else ""
        told = f"{_begun(self.noun)}{called} added {place}"
        return self._kept(turn, {**record, "parts": parts}, told, index=number, **{f"{self.noun}_index": number})

    def _check_level(self, turn: Turn) -> None:
        """Headings have levels from 1 to 9, or 0 for a title."""
        level = turn.call.arguments.get("level")
        if self.noun == "heading" and isinstance(level, int) and not 0 <= level <= _HIGHEST:
            raise Refused("invalid", f"Invalid level of a heading: {level}. It is from 1 to {_HIGHEST}")

    def _check_anchor(self, turn: Turn, record: Record) -> None:
        """A part that belongs to another, as a footnote does to a paragraph, needs one that is there."""
        index = self._given(turn, "anchor")
        noun = next((word for word in words(self.plan.arguments.get("anchor", "")) if word in _KINDS), "paragraph")
        count = len(self._counted(record, noun))
        if isinstance(index, int | float) and not 0 <= index < count:
            raise Refused("invalid", f"Invalid {noun} index: {index}. There are {count} {noun}s.")

    def _remove(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        at, parts = self._place(turn, record), [*as_list(record.get("parts"))]
        gone = parts.pop(at)
        told = f"{_begun(self.noun)} at index {self._given(turn, 'index')} deleted successfully"
        return self._kept(turn, {**record, "parts": parts}, told, text=gone.get("text"))

    def _read_part(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        part = as_list(record.get("parts"))[self._place(turn, record)]
        return valued({"index": self._given(turn, "index"), **part})

    def _change(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        at, parts = self._place(turn, record), [*as_list(record.get("parts"))]
        said = {name: value for name, value in self._part(turn, "").items() if name != "kind"}
        parts[at] = {**parts[at], **said}
        told = f"{_begun(self.noun)} at index {self._given(turn, 'index')} updated successfully"
        return self._kept(turn, {**record, "parts": parts}, told)

    def _mark(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        at, parts = self._place(turn, record), [*as_list(record.get("parts"))]
        done = bool(self.plan.fixed["done"])
        parts[at] = {**parts[at], "done": done}
        told = f"{_begun(self.noun)} {self._given(turn, 'index')} marked as {'done' if done else 'not done'}"
        return self._kept(turn, {**record, "parts": parts}, told)

    def _move(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        source, target = (self._place(turn, record, role) for role in ("source", "target"))
        parts = [*as_list(record.get("parts"))]
        parts.insert(target, parts.pop(source))
        told = f"{_begun(self.noun)} moved from index {self._given(turn, 'source')} to {self._given(turn, 'target')}"
        return self._kept(turn, {**record, "parts": parts}, told)

    # whole documents

    def _make(self, turn: Turn) -> Outcome:
        name, beside = self._name(turn), self.plan.arguments.get("document")
        if turn.view.get(DOCUMENT, name) is not None:
            raise Refused("conflict", f"Document {name} already exists")
        said = {snake(key): value for key, value in turn.call.arguments.items() if key not in (beside, "parts")}
        return self._kept(turn, document_of(name, [], **said), f"Document {name} created successfully", document=name)

    def _copy(self, turn: Turn) -> Outcome:
        name = str(self._given(turn, "target") or f"copy_of_{self._name(turn)}")
        if turn.view.get(DOCUMENT, name) is not None:
            raise Refused("conflict", f"Document {name} already exists")
        copied = {**self._document(turn), "name": name}
        return self._kept(turn, copied, f"Document {self._name(turn)} copied to {name}")

    def _drop(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        change = Change("remove", DOCUMENT, record["name"], expected=turn.view.version(DOCUMENT, record["name"]))
        sentence = f"Document {record['name']} deleted"
        return done(sentence, change)

    def _text(self, turn: Turn) -> Outcome:
        texts = [text for part in as_list(self._document(turn).get("parts")) if (text := _text_of(part))]
        return valued("\n".join(texts))

    def _outline(self, turn: Turn) -> Outcome:
        parts = as_list(self._document(turn).get("parts"))
        return valued([{"index": at, **part} for at, part in enumerate(parts, self.first)])

    def _info(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        parts = as_list(record.get("parts"))
        counts: dict[str, int] = {}
        for part in parts:
            kind = f"{part.get('kind', 'part')}_count"
            counts[kind] = counts.get(kind, 0) + 1
        count = sum(len(_text_of(part).split()) for part in parts)
        said = {name: value for name, value in record.items() if name not in {"parts", "name"}}
        return valued({"filename": record["name"], **said, "word_count": count, **counts})

    def _documents(self, turn: Turn) -> Outcome:
        names = [str(key) for key, _ in turn.view.rows(DOCUMENT)]
        return valued(names, documents=names, total=len(names))

    def _find(self, turn: Turn) -> Outcome:
        wanted, parts = str(self._given(turn, "query") or ""), as_list(self._document(turn).get("parts"))
        exact = turn.call.arguments.get("match_case", True) is not False
        found = [
            {"paragraph_index": at, "text": text, "context": text}
            for at, part in enumerate(parts, self.first)
            if wanted and (wanted in (text := _text_of(part)) or (not exact and wanted.lower() in text.lower()))
        ]
        return valued({"query": wanted, "total_count": len(found), "occurrences": found})

    def _replace_text(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        old, new = str(self._given(turn, "query") or ""), str(self._given(turn, "replacement") or "")
        if not old:
            raise Refused("invalid", "The text to find must not be empty")
        count = sum(_text_of(part).count(old) for part in as_list(record.get("parts")))
        parts = [_replaced(part, old, new) for part in as_list(record.get("parts"))]
        told = (
            f"Replaced {count} occurrence(s) of '{old}' with '{new}'." if count else f"No occurrences of '{old}' found."
        )
        return self._kept(turn, {**record, "parts": parts}, told, count=count)


def _first_index(tool: Tool, plan: Plan) -> int:
    """Indexes count from 0, unless the argument's schema or description says from 1."""
    schema = properties(tool.input_schema).get(plan.arguments.get("index", ""), {})
    told = str(schema.get("description", "")).lower()
    return (
        1
        if schema.get("minimum") == 1 or any(word in told for word in ("1-based", "starting from 1", "starts at 1"))
        else 0
    )


def _text_of(part: Mapping[str, Json]) -> str:
    """The text of a part; of a table, what its cells hold, one below the other."""
    text = part.get("text", part.get("title"))
    cells = [str(cell) for row in as_list(part.get("data")) for cell in as_list(row) if cell is not None]
    return text if isinstance(text, str) else "\n".join(cells)


def _replaced(part: Record, old: str, new: str) -> Record:
    return {
        name: value.replace(old, new) if isinstance(value, str) and name != "kind" else value
        for name, value in part.items()
    }


def _begun(noun: str) -> str:
    text = noun.replace("_", " ")
    return text[:1].upper() + text[1:]
