"""What does a tool do to the parts of a document, by its words, and which of its arguments says what?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_sim.backends.matching.tool_profiles import Purpose, kinds_of
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.lexicon.words import singular, snake, vocabulary

_DOCUMENTS = vocabulary("filename file_name document document_id doc_id filepath file_path path presentation_id "
                        "presentation notebook notebook_path doc_path")  # fmt: skip
_INDEX = re.compile(r"(?:(?P<noun>.+)_)?(?:index|idx|position|number)|index|position")
_TEXTS = ("text", "content", "title", "task", "source", "body", "heading", "value", "new_text", "new_content")
_OLD = vocabulary("find_text text_to_find query search_text text find search old_text pattern old_str old_string")
_NEW = vocabulary("replace_text replacement new_text replace replace_with new_str new_string")
_ORDERS = vocabulary("new_order order ordering")
_NEAR = vocabulary("target_text anchor_text near_text after_text reference_text")
_MAKES = vocabulary("add append insert new")
_FILLS = vocabulary("add insert populate fill put")
_HOLDERS = vocabulary("slide page section")
"""What parts have things in them that are put there by the index of the part."""
_TAKES = vocabulary("delete remove")
_READS = vocabulary("get read view show extract")
_EDITS = vocabulary("edit update set modify change replace format customize")
WHOLE = vocabulary("document documents doc docs presentation presentations notebook notebooks file deck")
_PARTS = vocabulary("paragraph heading slide cell item block section line table picture image break page_break list "
                    "bullet footnote endnote step textbox shape chart row placeholder")  # fmt: skip

MANY = vocabulary("paragraphs headings slides cells items steps bullets checklist blocks")
_NO_PLACES = vocabulary("layout placeholder style theme template master color colour font")
"""What an index counts that says nothing of the order of parts."""
_ABOUT = vocabulary("properties property metadata kernel")
"""What is said of a document as a whole."""


def is_document(name: str) -> bool:
    return name in _DOCUMENTS or name.endswith(("_filepath", "_file_path", "_filename"))


def index_argument(purpose: Purpose) -> str | None:
    """The argument that says at which place: `index`, `paragraph_index`, `slide_number`."""
    numbers = (name for name, schema in purpose.arguments.items() if kinds_of(schema) & {"integer", "number"})
    return next((name for name in numbers if _is_index(snake(name))), None)


def indexed_item(item: Record) -> tuple[Json, Record]:
    """Where a part of a list is to be, and what is said of it."""
    place = next((name for name in item if _is_index(snake(name))), "")
    text = next((name for name in item if snake(name) in _TEXTS), "")
    said = {"text" if name == text else name: value for name, value in item.items() if name != place}
    return item.get(place), said


def _is_index(name: str) -> bool:
    hit = _INDEX.fullmatch(name)
    if hit is None or name.startswith(("from_", "to_")) or hit["noun"] in _NO_PLACES:
        return False
    return not hit["noun"] or hit["noun"] in _PARTS or name.endswith(("_index", "_idx"))


def indexed_noun(purpose: Purpose) -> str | None:
    """The part that an argument counts: by its own name, else by the tool's."""
    name = index_argument(purpose)
    if name is None:
        return None
    hit = _INDEX.fullmatch(snake(name))
    noun = hit["noun"] if hit is not None else None
    return noun if noun in _PARTS else noun_of(purpose)


def noun_of(purpose: Purpose) -> str:
    """The part that a tool's name speaks of."""
    listed = [singular(word) for word in purpose.words]
    return next((word for word in reversed(listed) if word in _PARTS), "")


def roles_of(purpose: Purpose, operation: str) -> dict[str, str | None]:
    if operation == "move":
        return {
            "source": purpose.argument({"from_index", "source_index", "old_index", "from_position", "from"}),
            "target": purpose.argument({"to_index", "target_index", "new_index", "to_position", "to"}),
        }
    if operation == "copy":
        return {
            "document": next((name for name in purpose.arguments if "source" in snake(name)), None),
            "target": next(
                (name for name in purpose.arguments if snake(name).startswith(("dest", "target", "new"))), None
            ),
        }
    if operation in {"find", "replace_text", "replace_within"}:
        return {"query": purpose.argument(_OLD), "replacement": purpose.argument(_NEW)}
    if operation == "remove_many":
        return {"indexes": _index_list(purpose)}
    if operation in {"add_many", "change_many"}:
        return {"items": _listed_parts(purpose)}
    if operation in {"save", "open"}:
        named = purpose.argument(("presentation_id", "document_id", "doc_id", "notebook_id", "id"), ("string",))
        return {"document": named, "target": _kept_at(purpose)}
    if operation == "merge":
        texts = (name for name in purpose.needed if main_type(purpose.arguments.get(name, {})) == "string")
        return {"document": next(texts, None), "sources": _document_list(purpose)}
    if operation == "reorder":
        return {"order": purpose.argument(_ORDERS, ("array",))}
    return _of_text(purpose) if operation in {"add", "put_in", "change"} else {}


def _of_text(purpose: Purpose) -> dict[str, str | None]:
    """The text of a part, and the text of another one beside which it is put."""
    near = purpose.argument(_NEAR, ("string",))
    text = next((name for name in purpose.arguments if snake(name) in _TEXTS), None)
    if near is None or text is not None:
        return {"text": text}
    named = (one for one in purpose.arguments if one != near and snake(one).endswith(("_text", "_title", "_content")))
    return {"text": next(named, None), "near": near, "side": purpose.argument({"position", "where", "placement"})}


def _kept_at(purpose: Purpose) -> str | None:
    """The argument that says where a document is saved, beside the one that says which it is."""
    path = purpose.argument(("file_path", "filepath", "path", "filename", "file_name"), ("string",))
    named = purpose.argument(("presentation_id", "document_id", "doc_id", "notebook_id", "id"), ("string",))
    return path if named is not None else None


def _document_list(purpose: Purpose) -> str | None:
    """The argument that lists the documents that become one."""
    lists = (name for name in purpose.needed if main_type(purpose.arguments.get(name, {})) == "array")
    return next((name for name in lists if is_document(snake(name).removesuffix("s"))), None)


def _index_list(purpose: Purpose) -> str | None:
    """The argument that lists places: `cell_indices`."""
    return next((name for name in purpose.arguments if snake(name).endswith(("indices", "indexes"))), None)


def _listed_parts(purpose: Purpose) -> str | None:
    """The argument that lists parts, each with its index."""
    for name in purpose.needed:
        part = purpose.arguments.get(name, {})
        of_one = items(part) if main_type(part) == "array" else {}
        told = {snake(one) for one in properties(of_one)} or set(re.findall(r"\w+", str(part.get("description", ""))))
        if main_type(of_one) == "object" and any(_is_index(one) for one in told):
            return name
    return None


def operation_of(  # noqa: C901, PLR0912 (one line for each thing that tools do)
    purpose: Purpose, named: set[str], noun: str, index: str | None, indexed: set[str]
) -> tuple[str | None, Mapping[str, Json]]:
    """What a tool does, by its words."""
    of_whole = bool(named & WHOLE)
    if named & {"reorder", "move"} and purpose.argument({"from_index", "source_index", "from_position", "old_index"}):
        return "move", {}
    if named & {"done", "undone", "complete", "completed"} and index is not None:
        return "mark", {"done": "undone" not in named}
    if "replace" in named and named & {"search", "find", "text"} and index is None:
        return "replace_text", {}
    if named & {"find", "search"} and index is None and (of_whole or named & MANY):
        return "find", {}
    if "replace" in named and index is not None and purpose.argument(_OLD) and purpose.argument(_NEW):
        return "replace_within", {}
    if named & {"reorder", "rearrange"} and purpose.argument(_ORDERS, ("array",)):
        return "reorder", {}
    if named & _TAKES and noun and index is None and _index_list(purpose) is not None:
        return "remove_many", {}
    if named & (_MAKES | _EDITS) and noun and index is None and _listed_parts(purpose) is not None:
        return "add_many" if named & _MAKES else "change_many", {}
    holder = indexed_noun(purpose) if index in purpose.needed else None
    if named & _FILLS and noun and holder in _HOLDERS and holder != noun:
        return "put_in", {"holder": holder}
    if named & _MAKES and noun and (noun in indexed or noun in _PARTS):
        return "add", {}
    if index is not None and noun:
        for words, operation in ((_TAKES, "remove"), (_READS, "read_part"), (_EDITS, "change")):
            if named & words:
                return operation, {}
    if purpose.argument(_DOCUMENTS) or any(is_document(snake(name)) for name in purpose.needed):
        if named & _ABOUT and not noun and index not in purpose.needed and named & (_EDITS | _READS):
            return ("describe" if named & _EDITS else "info"), {}
        if named & {"validate", "verify"} and of_whole and not noun and len(purpose.needed) == 1:
            return "validate", {}
    if "count" in named and noun and index is None and len(purpose.needed) <= 1:
        return "count", {}
    whole_by = _kept_at(purpose) if of_whole and not noun and index is None else None
    if whole_by is not None and named & {"save", "open", "load"}:
        return ("save" if "save" in named else "open"), {}
    if "merge" in named and of_whole and _document_list(purpose) is not None:
        return "merge", {}
    if "create" in named and of_whole and not noun:
        return "make", {}
    if named & {"copy", "duplicate"} and of_whole:
        return "copy", {}
    if named & _TAKES and of_whole and not noun and index is None:
        return "drop", {}
    if "list" in named and named & {"documents", "docs", "presentations", "notebooks"}:
        return "documents", {}
    is_of_all = len(purpose.needed) <= 1 and all(is_document(snake(name)) for name in purpose.needed)
    if named & {*_READS, "list"} and index is None and is_of_all and named & MANY:
        return "outline", {}
    if named & _READS and of_whole and index is None:
        if named & {"text", "content"}:
            return "text", {}
        if named & {"outline", "structure"}:
            return "outline", {}
        if named & {"info", "properties", "metadata"}:
            return "info", {}
        if named <= {*_READS, *WHOLE, "full", "entire"} and len(purpose.needed) <= 1:
            return "whole", {}
    return None, {}
