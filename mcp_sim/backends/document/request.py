"""Arguments of one call on documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mcp_sim.backends.document.given import DEFAULT_NAME, DOCUMENT
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.infer.result_descriptions import returns_data
from mcp_sim.infer.result_schemas import text_place
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, properties
from mcp_sim.types.lexicon.english import vocabulary
from mcp_sim.types.plans import Plan

_KINDS = vocabulary("table slide cell item picture footnote endnote")


class DocumentTool:
    """One tool, and how to read its calls.

    `text_name` and `key` are the tools' names for the text of a part and for a document.
    """

    def __init__(self, tool: Tool, plan: Plan, domain: Domain) -> None:
        self.tool, self.plan = tool, plan
        self.noun = str(plan.fixed.get("noun") or "part")
        self.first = _first_index(tool, plan)
        self.text_name = _text_name(domain)
        self.key = _key_name(domain)

    @property
    def returns_prose(self) -> bool:
        """Whether the result is only a text, and nothing says that it is data."""
        return text_place(self.tool) is not None and not returns_data(self.tool.description)

    def _argument(self, turn: Turn, role: str) -> Json:
        name = self.plan.arguments.get(role)
        return turn.call.arguments.get(name) if name is not None else None

    def _name(self, turn: Turn) -> str:
        """Return the name of the requested document, by default the newest one."""
        named = self._argument(turn, "document")
        if named is None and "document" in self.plan.arguments and self.plan.operation != "make":
            return next((str(key) for key, _ in reversed(list(turn.view.rows(DOCUMENT)))), DEFAULT_NAME)
        return str(named or DEFAULT_NAME)

    def _document(self, turn: Turn) -> Record:
        record = turn.view.get(DOCUMENT, self._name(turn))
        if record is None:
            name = self._name(turn)
            raise Refused("not_found", f"Document {name} does not exist", key=name, entity=DOCUMENT)
        return record

    def _indexed_places(self, record: Record, noun: str = "") -> list[int]:
        """Return the positions of the parts that an index counts: those of its kind, or all."""
        every, noun = as_list(record.get("parts")), noun or self.noun
        if noun == "paragraph":
            return [at for at, part in enumerate(every) if part.get("kind") != "table"]
        of_one_kind = noun in _KINDS
        return [at for at, part in enumerate(every) if not of_one_kind or part.get("kind") == noun]

    def _place(self, turn: Turn, record: Record, role: str = "index", noun: str = "") -> int:
        index, noun = self._argument(turn, role), noun or self.noun
        places = self._indexed_places(record, noun)
        description = (
            properties(self.tool.input_schema).get(self.plan.arguments.get(role, ""), {}).get("description", "")
        )
        if "negative" in str(description) and isinstance(index, int) and -len(places) <= index < 0:
            return places[index]
        return places[self._offset(index, len(places), noun)]

    def _offset(self, index: Json, many: int, noun: str = "") -> int:
        """Return the position that an index means. Raises `Refused` if it is out of range."""
        at, noun = int(index) - self.first if isinstance(index, int | float) else -1, noun or self.noun
        if not 0 <= at < many:
            last = f" ({self.first}-{many - 1 + self.first})" if many else ""
            raise Refused("invalid", f"Invalid {noun} index: {index}. There are {many} {noun}s{last}.")
        return at

    def _store(self, turn: Turn, record: Record, sentence: str, **facts: Json) -> Outcome:
        name = record["name"]
        change = Change("put", DOCUMENT, name, record, expected=turn.view.version(DOCUMENT, name))
        return done(sentence, change, **facts)

    def _part(self, turn: Turn, kind: str) -> Record:
        """Return a part as the call describes it: all arguments but those for the document and the position."""
        excluded = {self.plan.arguments.get(role) for role in ("document", "index", "anchor", "text", "near", "side")}
        fields = {name: value for name, value in turn.call.arguments.items() if name not in excluded}
        text = self._argument(turn, "text")
        return {"kind": kind, **({"text": text} if text is not None else {}), **fields}

    def _render_part(self, part: Mapping[str, Json]) -> Record:
        """Return a part with its text under the tools' name for it."""
        fields = {self.text_name if name == "text" else name: value for name, value in part.items() if name != "inside"}
        elements = [self._render_part(one) for one in as_list(part.get("elements"))]
        return {**fields, "elements": elements} if elements else fields


def _text_name(domain: Domain) -> str:
    """Return the common name of tools for the text of a part; `text` if they differ or it is a title."""
    adding = (plan for plan in domain.plans.values() if plan.backend == "document" and plan.operation == "add")
    named = [name for plan in adding if (name := plan.arguments.get("text")) is not None]
    return named[0] if len(set(named) - {"title"}) == 1 and "title" not in named else "text"


def _key_name(domain: Domain) -> str:
    """Return the most common name of tools for the document."""
    plans = (plan for plan in domain.plans.values() if plan.backend == "document" and plan.operation != "make")
    named = Counter(name for plan in plans if (name := plan.arguments.get("document")) is not None)
    return named.most_common(1)[0][0] if named else "document"


def _first_index(tool: Tool, plan: Plan) -> int:
    """Return the first index: 0, unless the argument's schema or description says 1."""
    schema = properties(tool.input_schema).get(plan.arguments.get("index", ""), {})
    description = str(schema.get("description", "")).lower()
    return (
        1
        if schema.get("minimum") == 1
        or any(word in description for word in ("1-based", "starting from 1", "starts at 1"))
        else 0
    )


def text_of(part: Mapping[str, Json]) -> str:
    """Return the text of a part, including table cells and elements inside it, one per line."""
    text = part.get("text", part.get("title"))
    cells = [str(cell) for row in as_list(part.get("data")) for cell in as_list(row) if cell is not None]
    own = [text] if isinstance(text, str) else cells
    listed = [line for value in part.values() if isinstance(value, list) for line in as_list(value)]
    lines = [line for line in listed if isinstance(line, str)] if part.get("inside") else []
    held = [text_of(one) for one in as_list(part.get("elements"))]
    return "\n".join(line for line in (*own, *lines, *held) if line)
