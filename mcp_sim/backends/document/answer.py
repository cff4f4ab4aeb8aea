"""Answer the tools that add, read, change and move parts of a document by index."""

from __future__ import annotations

from mcp_sim.backends.compute.text_changes import replace_text
from mcp_sim.backends.document.operations import indexed_item
from mcp_sim.backends.document.request import text_of
from mcp_sim.backends.document.whole_documents import WholeDocuments
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Operate, Outcome, compile_answer, value_outcome
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Answer
from mcp_sim.types.lexicon.english import vocabulary, words
from mcp_sim.types.plans import Plan

_NAMES: Names = {"value": ("text", "content", "result", "outline", "documents")}
_TITLED = vocabulary("heading slide item step")
_BY_INDEX = frozenset({"cell", "slide"})
"""Parts that people refer to by number."""

_HIGHEST = 9
_KINDS = vocabulary("table slide cell item picture footnote endnote")


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Return the function that answers the calls of a tool."""
    return compile_answer(tool, domain, DocumentOperations(tool, plan, domain).outcome, _NAMES)


class DocumentOperations(WholeDocuments):
    """The operations of one tool. A method `_name` runs the operation `name`."""

    def __init__(self, tool: Tool, plan: Plan, domain: Domain) -> None:
        super().__init__(tool, plan, domain)
        self.outcome: Operate = getattr(self, f"_{plan.operation}")

    def _add(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        self._check_holder(turn, record)
        self._check_level(turn)
        parts, index = [*as_list(record.get("parts"))], self._argument(turn, "index")
        at = self._insertion_place(turn, parts)
        if isinstance(index, int | float) and not isinstance(index, bool):
            places = [*self._indexed_places(record), len(parts)]
            if not 0 <= int(index) - self.first < len(places):
                raise Refused(
                    "invalid", f"Invalid {self.noun} index: {index}. There are {len(places) - 1} {self.noun}s."
                )
            at = places[int(index) - self.first]
        parts.insert(at, self._part(turn, self.noun))
        number = sum(1 for place in self._indexed_places({**record, "parts": parts}) if place < at) + self.first
        where = [f"to {record['name']}"] if "document" in self.plan.arguments else []
        where += [f"at index {number}"] if not where or self.noun in _BY_INDEX else []
        text = text_of(parts[at]) if self.noun in _TITLED else ""
        title = f" '{text}'" if text else ""
        message = f"{_capitalized(self.noun)}{title} added {' '.join(where)}"
        return self._store(turn, {**record, "parts": parts}, message, index=number, **{f"{self.noun}_index": number})

    def _insertion_place(self, turn: Turn, parts: list[Record]) -> int:
        """Return where to insert a part: before or after the one that contains a text, by default at the end."""
        near = self._argument(turn, "near")
        if not isinstance(near, str) or not near:
            return len(parts)
        place = next((at for at, part in enumerate(parts) if near in text_of(part)), None)
        if place is None:
            raise Refused("not_found", f"Text '{near}' not found in the document", key=near, entity=self.noun)
        return place if str(self._argument(turn, "side")).lower() in {"before", "above"} else place + 1

    def _put_in(self, turn: Turn) -> Outcome:
        """Put something into a part, such as a table onto a slide."""
        record = self._document(turn)
        holder = str(self.plan.fixed["holder"])
        at, parts = self._place(turn, record, "anchor", holder), [*as_list(record.get("parts"))]
        elements = [*as_list(parts[at].get("elements")), {**self._part(turn, self.noun), "inside": True}]
        parts[at] = {**parts[at], "elements": elements}
        place = f"{holder} {self._argument(turn, 'anchor')}"
        message = f"{_capitalized(self.noun)} added to {place}"
        facts: Record = {f"{holder}_index": self._argument(turn, "anchor"), f"{self.noun}_index": len(elements) - 1}
        return self._store(turn, {**record, "parts": parts}, message, **facts)

    def _check_level(self, turn: Turn) -> None:
        """Raise `Refused` unless the level of a heading is 1 to 9, or 0 for a title."""
        level = turn.call.arguments.get("level")
        if self.noun == "heading" and isinstance(level, int) and not 0 <= level <= _HIGHEST:
            raise Refused("invalid", f"Invalid level of a heading: {level}. It is from 1 to {_HIGHEST}")

    def _check_holder(self, turn: Turn, record: Record) -> None:
        """Raise `Refused` if the part that a new part belongs to does not exist, as the paragraph of a footnote."""
        index = self._argument(turn, "anchor")
        noun = next((word for word in words(self.plan.arguments.get("anchor", "")) if word in _KINDS), "paragraph")
        count = len(self._indexed_places(record, noun))
        if isinstance(index, int | float) and not 0 <= index < count:
            raise Refused("invalid", f"Invalid {noun} index: {index}. There are {count} {noun}s.")

    def _remove(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        at, parts = self._place(turn, record), [*as_list(record.get("parts"))]
        gone = parts.pop(at)
        message = f"{_capitalized(self.noun)} at index {self._argument(turn, 'index')} deleted successfully"
        return self._store(turn, {**record, "parts": parts}, message, text=gone.get("text"))

    def _read_part(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        part = as_list(record.get("parts"))[self._place(turn, record)]
        if self.returns_prose:
            return Outcome(text_of(part), {"text": text_of(part)}, "text")
        return value_outcome({"index": self._argument(turn, "index"), **self._render_part(part)})

    def _change(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        at, parts = self._place(turn, record), [*as_list(record.get("parts"))]
        fields = {name: value for name, value in self._part(turn, "").items() if name != "kind"}
        parts[at] = {**parts[at], **fields}
        message = f"{_capitalized(self.noun)} at index {self._argument(turn, 'index')} updated successfully"
        return self._store(turn, {**record, "parts": parts}, message)

    def _add_many(self, turn: Turn) -> Outcome:
        """Insert several parts, each at its index at that moment, by default at the end."""
        record = self._document(turn)
        listed = self._items(turn)
        for index, fields in listed:
            places = [*self._indexed_places(record), len(as_list(record.get("parts")))]
            at = places[-1] if index is None else places[self._offset(index, len(places))]
            parts = [*as_list(record.get("parts"))]
            record = {**record, "parts": [*parts[:at], {"kind": self.noun, **fields}, *parts[at:]]}
        return self._store(turn, record, f"{len(listed)} {self.noun}s added", count=len(listed))

    def _change_many(self, turn: Turn) -> Outcome:
        """Change several parts, all of them or none."""
        record = self._document(turn)
        places, parts = self._indexed_places(record), [*as_list(record.get("parts"))]
        listed = self._items(turn)
        for index, fields in listed:
            at = places[self._offset(index, len(places))]
            parts[at] = {**parts[at], **fields}
        message = f"{len(listed)} {self.noun}s updated"
        return self._store(turn, {**record, "parts": parts}, message, count=len(listed))

    def _items(self, turn: Turn) -> list[tuple[Json, Record]]:
        return [indexed_item(as_object(one)) for one in as_list(self._argument(turn, "items"))]

    def _replace_within(self, turn: Turn) -> Outcome:
        """Replace a text within one part. Raises `Refused` if it does not occur."""
        record = self._document(turn)
        at, parts = self._place(turn, record), [*as_list(record.get("parts"))]
        old, new = str(self._argument(turn, "query")), str(self._argument(turn, "replacement") or "")
        if not old or old not in text_of(parts[at]):
            raise Refused("not_found", f"Text not found in {self.noun}: {old}", key=old, entity=self.noun)
        parts[at] = {**parts[at], "text": replace_text(text_of(parts[at]), old, new)}
        return self._store(turn, {**record, "parts": parts}, f"{_capitalized(self.noun)} updated successfully")

    def _remove_many(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        places = self._indexed_places(record)
        gone: set[int] = set()
        for index in as_list(self._argument(turn, "indexes")):
            if index not in range(self.first, self.first + len(places)):
                raise Refused("invalid", f"Invalid {self.noun} index: {index}. There are {len(places)} {self.noun}s.")
            gone.add(places[int(index) - self.first])
        parts = [part for at, part in enumerate(as_list(record.get("parts"))) if at not in gone]
        return self._store(turn, {**record, "parts": parts}, f"{len(gone)} {self.noun}s deleted", deleted=len(gone))

    def _reorder(self, turn: Turn) -> Outcome:
        """Reorder all parts. The new order must contain each index once."""
        record = self._document(turn)
        order, parts = as_list(self._argument(turn, "order")), [*as_list(record.get("parts"))]
        places = self._indexed_places(record)
        if sorted(map(str, order)) != sorted(str(at + self.first) for at in range(len(places))):
            raise Refused("invalid", f"The new order must name each of the {len(places)} {self.noun}s once")
        moved = [parts[places[int(index) - self.first]] for index in order]
        for place, part in zip(places, moved, strict=True):
            parts[place] = part
        return self._store(turn, {**record, "parts": parts}, f"{len(places)} {self.noun}s reordered")

    def _mark(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        at, parts = self._place(turn, record), [*as_list(record.get("parts"))]
        done = bool(self.plan.fixed["done"])
        parts[at] = {**parts[at], "done": done}
        message = (
            f"{_capitalized(self.noun)} {self._argument(turn, 'index')} marked as {'done' if done else 'not done'}"
        )
        return self._store(turn, {**record, "parts": parts}, message)

    def _move(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        source, target = (self._place(turn, record, role) for role in ("source", "target"))
        parts = [*as_list(record.get("parts"))]
        parts.insert(target, parts.pop(source))
        places = f"from index {self._argument(turn, 'source')} to {self._argument(turn, 'target')}"
        return self._store(turn, {**record, "parts": parts}, f"{_capitalized(self.noun)} moved {places}")


def _capitalized(noun: str) -> str:
    text = noun.replace("_", " ")
    return text[:1].upper() + text[1:]
