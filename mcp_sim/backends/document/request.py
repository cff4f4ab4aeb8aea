"""What does one call ask of documents: which one, which part of it, and how is it kept?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mcp_sim.backends.document.given import DOCUMENT, ONLY
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.infer.result_forms import text_place
from mcp_sim.infer.result_forms.prose import returns_data
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, properties
from mcp_sim.types.lexicon.words import vocabulary
from mcp_sim.types.plans import Plan

_KINDS = vocabulary("table slide cell item picture footnote endnote")


class Asking:
    """One tool, and what its calls mean. `called` and `key` are what tools call the text of a part, and a document."""

    def __init__(self, tool: Tool, plan: Plan, domain: Domain) -> None:
        self.tool, self.plan = tool, plan
        self.noun = str(plan.fixed.get("noun") or "part")
        self.first = _first_index(tool, plan)
        self.called = _text_name(domain)
        self.key = _key_name(domain)

    @property
    def is_in_words(self) -> bool:
        """Is its result only a text, of which nothing says that it is data?"""
        return text_place(self.tool) is not None and not returns_data(self.tool.description)

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

    def _place(self, turn: Turn, record: Record, role: str = "index", noun: str = "") -> int:
        index, noun = self._given(turn, role), noun or self.noun
        places = self._counted(record, noun)
        told = properties(self.tool.input_schema).get(self.plan.arguments.get(role, ""), {}).get("description", "")
        if "negative" in str(told) and isinstance(index, int) and -len(places) <= index < 0:
            return places[index]
        return places[self._offset(index, len(places), noun)]

    def _offset(self, index: Json, many: int, noun: str = "") -> int:
        """Which of so many parts an index means. Raises Refused where it means none."""
        at, noun = int(index) - self.first if isinstance(index, int | float) else -1, noun or self.noun
        if not 0 <= at < many:
            last = f" ({self.first}-{many - 1 + self.first})" if many else ""
            raise Refused("invalid", f"Invalid {noun} index: {index}. There are {many} {noun}s{last}.")
        return at

    def _kept(self, turn: Turn, record: Record, sentence: str, **facts: Json) -> Outcome:
        name = record["name"]
        change = Change("put", DOCUMENT, name, record, expected=turn.view.version(DOCUMENT, name))
        return done(sentence, change, **facts)

    def _part(self, turn: Turn, kind: str) -> Record:
        """A part as the call describes it: all that it says, but for the document and the place."""
        beside = {self.plan.arguments.get(role) for role in ("document", "index", "anchor", "text", "near", "side")}
        said = {name: value for name, value in turn.call.arguments.items() if name not in beside}
        text = self._given(turn, "text")
        return {"kind": kind, **({"text": text} if text is not None else {}), **said}

    def _shown(self, part: Mapping[str, Json]) -> Record:
        """A part as it is told: its text under the name that tools have for it."""
        told = {self.called if name == "text" else name: value for name, value in part.items() if name != "inside"}
        held = [self._shown(one) for one in as_list(part.get("elements"))]
        return {**told, "elements": held} if held else told


def _text_name(domain: Domain) -> str:
    """What all tools that put in parts call their text; `text` where they differ, or where it is but a title."""
    adding = (plan for plan in domain.plans.values() if plan.backend == "document" and plan.operation == "add")
    named = [name for plan in adding if (name := plan.arguments.get("text")) is not None]
    return named[0] if len(set(named) - {"title"}) == 1 and "title" not in named else "text"


def _key_name(domain: Domain) -> str:
    """What tools call the document that they mean."""
    plans = (plan for plan in domain.plans.values() if plan.backend == "document" and plan.operation != "make")
    named = Counter(name for plan in plans if (name := plan.arguments.get("document")) is not None)
    return named.most_common(1)[0][0] if named else "document"


def _first_index(tool: Tool, plan: Plan) -> int:
    """Indexes count from 0, unless the argument's schema or description says from 1."""
    schema = properties(tool.input_schema).get(plan.arguments.get("index", ""), {})
    told = str(schema.get("description", "")).lower()
    return (
        1
        if schema.get("minimum") == 1 or any(word in told for word in ("1-based", "starting from 1", "starts at 1"))
        else 0
    )


def text_of(part: Mapping[str, Json]) -> str:
    """The text of a part; of a table, what its cells hold, one below the other; and of what is in it."""
    text = part.get("text", part.get("title"))
    cells = [str(cell) for row in as_list(part.get("data")) for cell in as_list(row) if cell is not None]
    own = [text] if isinstance(text, str) else cells
    listed = [line for value in part.values() if isinstance(value, list) for line in as_list(value)]
    lines = [line for line in listed if isinstance(line, str)] if part.get("inside") else []
    held = [text_of(one) for one in as_list(part.get("elements"))]
    return "\n".join(line for line in (*own, *lines, *held) if line)
