"""Documents as records, and the documents of a given state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import decode_strict
from mcp_sim.types.lexicon.english import snake, vocabulary

DOCUMENT = "document"
DEFAULT_NAME = "document"
"""Name of the only document if no tool names one."""

_WHOLE = vocabulary("document documents doc docs presentation presentations notebook notebooks file deck")
_NO_PARTS: list[Json] = []


def entity() -> Entity:
    """Return the entity: name, other fields, and parts in order."""
    parts: Record = {"type": ["array", "null"], "items": {"type": "object"}}
    fields = (Field("name", {"type": "string"}, required=True), Field("parts", parts))
    return Entity(DOCUMENT, "name", "report-001.docx", {field.name: field for field in fields}, natural=True)


def read_given_documents(state: Json) -> tuple[list[Record], Json]:
    """Return the documents of a state, and the rest of it.

    Understood are `{name: [part, ...]}` under a name for documents, and notebooks among files.
    """
    body = as_object(state)
    for name, part in body.items():
        if snake(name) in _WHOLE and as_object(part):
            rows = [document_of(doc, _given_parts(inner)) for doc, inner in as_object(part).items()]
            return rows, {other: value for other, value in body.items() if other != name}
    return [row for part in body.values() for row in _notebooks(as_object(part))], state


def _notebooks(files: Record) -> Iterator[Record]:
    """Yield the notebooks among texts by path, as documents of cells."""
    for path, text in files.items():
        held = _parse_notebook(text) if isinstance(text, str) and path.endswith(".ipynb") else {}
        if isinstance(held.get("cells"), list):
            yield document_of(path, [_cell(as_object(one)) for one in as_list(held["cells"])])


def _parse_notebook(text: str) -> Record:
    try:
        return as_object(decode_strict(text))
    except ValueError:
        return {}


def _cell(held: Record) -> Record:
    source = held.get("source", "")
    text = source if isinstance(source, str) else "".join(str(line) for line in as_list(source))
    kept = {name: held[name] for name in ("cell_type", "execution_count") if name in held}
    return {"kind": "cell", **kept, "text": text}


def document_of(name: str, parts: Sequence[Record], **more: Json) -> Record:
    """Return a document as a record."""
    return {"name": name, **more, "parts": [*parts]}


def _given_parts(value: Json) -> list[Record]:
    inner = as_object(value)
    listed = (
        next((as_list(part) for part in inner.values() if isinstance(part, list)), _NO_PARTS)
        if inner
        else as_list(value)
    )
    return [as_object(one) if isinstance(one, dict) else {"kind": "paragraph", "text": str(one)} for one in listed]
