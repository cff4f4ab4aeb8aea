"""What do tools answer that put parts into a document, read them and move them, by index?"""

from __future__ import annotations

from mcp_sim.backends.compute.text_changes import replaced
from mcp_sim.backends.document.operations import indexed_item
from mcp_sim.backends.document.request import text_of
from mcp_sim.backends.document.whole_documents import Wholes
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Operate, Outcome, answering, valued
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Answer
from mcp_sim.types.lexicon.words import vocabulary, words
from mcp_sim.types.plans import Plan

_NAMES: Names = {"value": ("text", "content", "result", "outline", "documents")}
_TITLED = vocabulary("heading slide item step")
_BY_INDEX = frozenset({"cell", "slide"})
"""Parts that people speak of by their numbers."""

_HIGHEST = 9
_KINDS = vocabulary("table slide cell item picture footnote endnote")


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """How a tool answers, of the documents that the calls name."""
    return answering(tool, domain, Outlined(tool, plan, domain).outcome, _NAMES)


class Outlined(Wholes):
    """The answers of one tool."""

    def __init__(self, tool: Tool, plan: Plan, domain: Domain) -> None:
        super().__init__(tool, plan, domain)
        self.outcome: Operate = getattr(self, f"_{plan.operation}")

    def _add(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        self._check_anchor(turn, record)
        self._check_level(turn)
        parts, index = [*as_list(record.get("parts"))], self._given(turn, "index")
        at = self._near(turn, parts)
        if isinstance(index, int | float) and not isinstance(index, bool):
            places = [*self._counted(record), len(parts)]
            if not 0 <= int(index) - self.first < len(places):
                raise Refused(
                    "invalid", f"Invalid {self.noun} index: {index}. There are {len(places) - 1} {self.noun}s."
                )
            at = places[int(index) - self.first]
        parts.insert(at, self._part(turn, self.noun))
        number = sum(1 for place in self._counted({**record, "parts": parts}) if place < at) + self.first
        where = [f"to {record['name']}"] if "document" in self.plan.arguments else []
        where += [f"at index {number}"] if not where or self.noun in _BY_INDEX else []
        text = text_of(parts[at]) if self.noun in _TITLED else ""
        called = f" '{text}'" if text else ""
        told = f"{_begun(self.noun)}{called} added {' '.join(where)}"
        return self._kept(turn, {**record, "parts": parts}, told, index=number, **{f"{self.noun}_index": number})

    def _near(self, turn: Turn, parts: list[Record]) -> int:
        """Where a new part goes: before or after the one that holds a text, else to the end."""
        near = self._given(turn, "near")
        if not isinstance(near, str) or not near:
            return len(parts)
        place = next((at for at, part in enumerate(parts) if near in text_of(part)), None)
        if place is None:
            raise Refused("not_found", f"Text '{near}' not found in the document", key=near, entity=self.noun)
        return place if str(self._given(turn, "side")).lower() in {"before", "above"} else place + 1

    def _put_in(self, turn: Turn) -> Outcome:
        """Something is put into a part: a table onto a slide."""
        record = self._document(turn)
        holder = str(self.plan.fixed["holder"])
        at, parts = self._place(turn, record, "anchor", holder), [*as_list(record.get("parts"))]
        held = [*as_list(parts[at].get("elements")), {**self._part(turn, self.noun), "inside": True}]
        parts[at] = {**parts[at], "elements": held}
        place = f"{holder} {self._given(turn, 'anchor')}"
        told = f"{_begun(self.noun)} added to {place}"
        facts: Record = {f"{holder}_index": self._given(turn, "anchor"), f"{self.noun}_index": len(held) - 1}
        return self._kept(turn, {**record, "parts": parts}, told, **facts)

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
        if self.is_in_words:
            return Outcome(text_of(part), {"text": text_of(part)}, "text")
        return valued({"index": self._given(turn, "index"), **self._shown(part)})

    def _change(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        at, parts = self._place(turn, record), [*as_list(record.get("parts"))]
        said = {name: value for name, value in self._part(turn, "").items() if name != "kind"}
        parts[at] = {**parts[at], **said}
        told = f"{_begun(self.noun)} at index {self._given(turn, 'index')} updated successfully"
        return self._kept(turn, {**record, "parts": parts}, told)

    def _add_many(self, turn: Turn) -> Outcome:
        """Several parts, each put at its index as it is when its turn comes; to the end where it says none."""
        record = self._document(turn)
        listed = self._items(turn)
        for index, said in listed:
            places = [*self._counted(record), len(as_list(record.get("parts")))]
            at = places[-1] if index is None else places[self._offset(index, len(places))]
            parts = [*as_list(record.get("parts"))]
            record = {**record, "parts": [*parts[:at], {"kind": self.noun, **said}, *parts[at:]]}
        return self._kept(turn, record, f"{len(listed)} {self.noun}s added", count=len(listed))

    def _change_many(self, turn: Turn) -> Outcome:
        """Several parts, all of them or none."""
        record = self._document(turn)
        places, parts = self._counted(record), [*as_list(record.get("parts"))]
        listed = self._items(turn)
        for index, said in listed:
            at = places[self._offset(index, len(places))]
            parts[at] = {**parts[at], **said}
        told = f"{len(listed)} {self.noun}s updated"
        return self._kept(turn, {**record, "parts": parts}, told, count=len(listed))

    def _items(self, turn: Turn) -> list[tuple[Json, Record]]:
        return [indexed_item(as_object(one)) for one in as_list(self._given(turn, "items"))]

    def _replace_within(self, turn: Turn) -> Outcome:
        """A text within one part is replaced; one that is not there is refused."""
        record = self._document(turn)
        at, parts = self._place(turn, record), [*as_list(record.get("parts"))]
        old, new = str(self._given(turn, "query")), str(self._given(turn, "replacement") or "")
        if not old or old not in text_of(parts[at]):
            raise Refused("not_found", f"Text not found in {self.noun}: {old}", key=old, entity=self.noun)
        parts[at] = {**parts[at], "text": replaced(text_of(parts[at]), old, new)}
        return self._kept(turn, {**record, "parts": parts}, f"{_begun(self.noun)} updated successfully")

    def _remove_many(self, turn: Turn) -> Outcome:
        record = self._document(turn)
        places = self._counted(record)
        gone: set[int] = set()
        for index in as_list(self._given(turn, "indexes")):
            if index not in range(self.first, self.first + len(places)):
                raise Refused("invalid", f"Invalid {self.noun} index: {index}. There are {len(places)} {self.noun}s.")
            gone.add(places[int(index) - self.first])
        parts = [part for at, part in enumerate(as_list(record.get("parts"))) if at not in gone]
        return self._kept(turn, {**record, "parts": parts}, f"{len(gone)} {self.noun}s deleted", deleted=len(gone))

    def _reorder(self, turn: Turn) -> Outcome:
        """All parts in a new order, which names each of their indexes once."""
        record = self._document(turn)
        order, parts = as_list(self._given(turn, "order")), [*as_list(record.get("parts"))]
        places = self._counted(record)
        if sorted(map(str, order)) != sorted(str(at + self.first) for at in range(len(places))):
            raise Refused("invalid", f"The new order must name each of the {len(places)} {self.noun}s once")
        moved = [parts[places[int(index) - self.first]] for index in order]
        for place, part in zip(places, moved, strict=True):
            parts[place] = part
        return self._kept(turn, {**record, "parts": parts}, f"{len(places)} {self.noun}s reordered")

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


def _begun(noun: str) -> str:
    text = noun.replace("_", " ")
    return text[:1].upper() + text[1:]
