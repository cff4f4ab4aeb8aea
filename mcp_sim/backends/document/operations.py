"""Choose the operation of a document tool, and assign its arguments to roles."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_sim.backends.matching.tool_profiles import ToolProfile, argument_types
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.lexicon.english import singular, snake, vocabulary

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
"""Parts that contain other things, put there by the index of the part."""
_TAKES = vocabulary("delete remove")
_READS = vocabulary("get read view show extract")
_EDITS = vocabulary("edit update set modify change replace format customize")
DOCUMENT_WORDS = vocabulary("document documents doc docs presentation presentations notebook notebooks file deck")
_PARTS = vocabulary("paragraph heading slide cell item block section line table picture image break page_break list "
                    "bullet footnote endnote step textbox shape chart row placeholder")  # fmt: skip

MANY = vocabulary("paragraphs headings slides cells items steps bullets checklist blocks")
_NO_PLACES = vocabulary("layout placeholder style theme template master color colour font")
"""Things whose index says nothing about the order of parts."""
_ABOUT = vocabulary("properties property metadata kernel")
"""Words for properties of a whole document."""


def is_document(name: str) -> bool:
    return name in _DOCUMENTS or name.endswith(("_filepath", "_file_path", "_filename"))


def index_argument(profile: ToolProfile) -> str | None:
    """Return the argument for a position: `index`, `paragraph_index`, `slide_number`."""
    numbers = (name for name, schema in profile.arguments.items() if argument_types(schema) & {"integer", "number"})
    return next((name for name in numbers if _is_index(snake(name))), None)


def indexed_item(item: Record) -> tuple[Json, Record]:
    """Return the index of a list item, and its other fields."""
    place = next((name for name in item if _is_index(snake(name))), "")
    text = next((name for name in item if snake(name) in _TEXTS), "")
    fields = {"text" if name == text else name: value for name, value in item.items() if name != place}
    return item.get(place), fields


def _is_index(name: str) -> bool:
    hit = _INDEX.fullmatch(name)
    if hit is None or name.startswith(("from_", "to_")) or hit["noun"] in _NO_PLACES:
        return False
    return not hit["noun"] or hit["noun"] in _PARTS or name.endswith(("_index", "_idx"))


def indexed_noun(profile: ToolProfile) -> str | None:
    """Return the kind of part that the index counts: from the argument's name, else from the tool's."""
    name = index_argument(profile)
    if name is None:
        return None
    hit = _INDEX.fullmatch(snake(name))
    noun = hit["noun"] if hit is not None else None
    return noun if noun in _PARTS else noun_of(profile)


def noun_of(profile: ToolProfile) -> str:
    """Return the kind of part in a tool's name."""
    listed = [singular(word) for word in profile.words]
    return next((word for word in reversed(listed) if word in _PARTS), "")


def assign_roles(profile: ToolProfile, operation: str) -> dict[str, str | None]:
    if operation == "move":
        return {
            "source": profile.argument({"from_index", "source_index", "old_index", "from_position", "from"}),
            "target": profile.argument({"to_index", "target_index", "new_index", "to_position", "to"}),
        }
    if operation == "copy":
        return {
            "document": next((name for name in profile.arguments if "source" in snake(name)), None),
            "target": next(
                (name for name in profile.arguments if snake(name).startswith(("dest", "target", "new"))), None
            ),
        }
    if operation in {"find", "replace_text", "replace_within"}:
        return {"query": profile.argument(_OLD), "replacement": profile.argument(_NEW)}
    if operation == "remove_many":
        return {"indexes": _index_list(profile)}
    if operation in {"add_many", "change_many"}:
        return {"items": _listed_parts(profile)}
    if operation in {"save", "open"}:
        named = profile.argument(("presentation_id", "document_id", "doc_id", "notebook_id", "id"), ("string",))
        return {"document": named, "target": _path_argument(profile)}
    if operation == "merge":
        texts = (name for name in profile.needed if main_type(profile.arguments.get(name, {})) == "string")
        return {"document": next(texts, None), "sources": _document_list(profile)}
    if operation == "reorder":
        return {"order": profile.argument(_ORDERS, ("array",))}
    return _text_arguments(profile) if operation in {"add", "put_in", "change"} else {}


def _text_arguments(profile: ToolProfile) -> dict[str, str | None]:
    """Return the arguments for the text of a part, and for the text beside which it is inserted."""
    near = profile.argument(_NEAR, ("string",))
    text = next((name for name in profile.arguments if snake(name) in _TEXTS), None)
    if near is None or text is not None:
        return {"text": text}
    named = (one for one in profile.arguments if one != near and snake(one).endswith(("_text", "_title", "_content")))
    return {"text": next(named, None), "near": near, "side": profile.argument({"position", "where", "placement"})}


def _path_argument(profile: ToolProfile) -> str | None:
    """Return the argument for the path to save a document at, besides the one for the document."""
    path = profile.argument(("file_path", "filepath", "path", "filename", "file_name"), ("string",))
    named = profile.argument(("presentation_id", "document_id", "doc_id", "notebook_id", "id"), ("string",))
    return path if named is not None else None


def _document_list(profile: ToolProfile) -> str | None:
    """Return the argument that lists the documents to merge."""
    lists = (name for name in profile.needed if main_type(profile.arguments.get(name, {})) == "array")
    return next((name for name in lists if is_document(snake(name).removesuffix("s"))), None)


def _index_list(profile: ToolProfile) -> str | None:
    """Return the argument that lists indexes: `cell_indices`."""
    return next((name for name in profile.arguments if snake(name).endswith(("indices", "indexes"))), None)


def _listed_parts(profile: ToolProfile) -> str | None:
    """Return the argument that lists parts with their indexes."""
    for name in profile.needed:
        part = profile.arguments.get(name, {})
        of_one = items(part) if main_type(part) == "array" else {}
        names = {snake(one) for one in properties(of_one)} or set(re.findall(r"\w+", str(part.get("description", ""))))
        if main_type(of_one) == "object" and any(_is_index(one) for one in names):
            return name
    return None


def choose_operation(  # noqa: C901, PLR0912 (one line for each operation)
    profile: ToolProfile, named: set[str], noun: str, index: str | None, indexed: set[str]
) -> tuple[str | None, Mapping[str, Json]]:
    """Return the operation of a tool by its words, and its fixed values; None if it has none."""
    of_whole = bool(named & DOCUMENT_WORDS)
    if named & {"reorder", "move"} and profile.argument({"from_index", "source_index", "from_position", "old_index"}):
        return "move", {}
    if named & {"done", "undone", "complete", "completed"} and index is not None:
        return "mark", {"done": "undone" not in named}
    if "replace" in named and named & {"search", "find", "text"} and index is None:
        return "replace_text", {}
    if named & {"find", "search"} and index is None and (of_whole or named & MANY):
        return "find", {}
    if "replace" in named and index is not None and profile.argument(_OLD) and profile.argument(_NEW):
        return "replace_within", {}
    if named & {"reorder", "rearrange"} and profile.argument(_ORDERS, ("array",)):
        return "reorder", {}
    if named & _TAKES and noun and index is None and _index_list(profile) is not None:
        return "remove_many", {}
    if named & (_MAKES | _EDITS) and noun and index is None and _listed_parts(profile) is not None:
        return "add_many" if named & _MAKES else "change_many", {}
    holder = indexed_noun(profile) if index in profile.needed else None
    if named & _FILLS and noun and holder in _HOLDERS and holder != noun:
        return "put_in", {"holder": holder}
    if named & _MAKES and noun and (noun in indexed or noun in _PARTS):
        return "add", {}
    if index is not None and noun:
        for words, operation in ((_TAKES, "remove"), (_READS, "read_part"), (_EDITS, "change")):
            if named & words:
                return operation, {}
    if profile.argument(_DOCUMENTS) or any(is_document(snake(name)) for name in profile.needed):
        if named & _ABOUT and not noun and index not in profile.needed and named & (_EDITS | _READS):
            return ("describe" if named & _EDITS else "info"), {}
        if named & {"validate", "verify"} and of_whole and not noun and len(profile.needed) == 1:
            return "validate", {}
    if "count" in named and noun and index is None and len(profile.needed) <= 1:
        return "count", {}
    whole_by = _path_argument(profile) if of_whole and not noun and index is None else None
    if whole_by is not None and named & {"save", "open", "load"}:
        return ("save" if "save" in named else "open"), {}
    if "merge" in named and of_whole and _document_list(profile) is not None:
        return "merge", {}
    if "create" in named and of_whole and not noun:
        return "make", {}
    if named & {"copy", "duplicate"} and of_whole:
        return "copy", {}
    if named & _TAKES and of_whole and not noun and index is None:
        return "drop", {}
    if "list" in named and named & {"documents", "docs", "presentations", "notebooks"}:
        return "documents", {}
    is_of_all = len(profile.needed) <= 1 and all(is_document(snake(name)) for name in profile.needed)
    if named & {*_READS, "list"} and index is None and is_of_all and named & MANY:
        return "outline", {}
    if named & _READS and of_whole and index is None:
        if named & {"text", "content"}:
            return "text", {}
        if named & {"outline", "structure"}:
            return "outline", {}
        if named & {"info", "properties", "metadata"}:
            return "info", {}
        if named <= {*_READS, *DOCUMENT_WORDS, "full", "entire"} and len(profile.needed) <= 1:
            return "whole", {}
    return None, {}
