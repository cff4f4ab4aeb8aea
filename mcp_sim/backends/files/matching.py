"""Which of a server's tools work on files?

What is looked at: words like `read` beside `file` or `directory` in a name, or the name of a shell command; a path
among the arguments; several tools of the family together; no required argument that means something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.backends.files.arguments import (
    EXACT,
    MUST,
    NAMES,
    arguments_of,
    given_instead,
    given_roles,
    lists_spaces,
    space_nouns,
)
from mcp_sim.backends.files.entities import FILE
from mcp_sim.backends.files.operation_rules import DEEDS, VERBS, is_named, operation_of
from mcp_sim.backends.matching.operations import Way
from mcp_sim.backends.matching.tool_profiles import Purpose, choices
from mcp_sim.types.json_schema.shapes import expanded, items, main_type, properties, required
from mcp_sim.types.lexicon.words import singular, snake, vocabulary, words
from mcp_sim.types.plans import Plan

_KNOWN = vocabulary(
    "path paths file files filename name type kind size bytes content contents text data lines line total count "
    "success message error result results matches entries items children directory directories folder is modified "
    "created at time mtime ctime accessed permissions mode encoding exists offset limit has more truncated output "
    "diff source destination old new status extension mime hash checksum depth pattern query words characters "
    "usage"
)
"""The words of what a tool of a file tree may tell."""

_BY_PATH = vocabulary("read read_many write append edit delete move replace_lines delete_lines front_matter grep")
"""What is done to a file where an argument is called a path, whatever the name of the tool."""

_IDLE = vocabulary(
    "encoding format timeout timeout_ms timeout_seconds reason description explanation message verbose sort_by "
    "sort_order"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A purpose that works on files: what it does, what its arguments are for, and whether its name speaks of files."""

    purpose: Purpose
    operation: str
    arguments: Mapping[str, str]
    named: bool


def plans_of(listed: Sequence[Purpose]) -> list[Plan]:
    """The plans of the tools that work on files; none where too little speaks for it."""
    found = _with_spaces(listed, _of_files([one for purpose in listed for one in judged(purpose)]))
    sure = [one for one in found if one.named]
    operations = {one.operation for one in sure}
    reads = operations & {"read", "read_many", "read_ranges", "list", "tree"}
    paths = sum(1 for one in sure if {"path", "paths", "files", "source"} & one.arguments.keys())
    if not paths or len(operations) < (2 if reads else 3) or not operations - {"exists", "stat", "diff", "pwd"}:
        found = [one for one in found if one.operation == "run"]
    if not found or sum(1 for one in found if _tells_records(one)) > len(found) / 4:
        return []
    return list(_plans(found, len(operations)))


def _of_files(found: Sequence[Found]) -> list[Found]:
    """Those that work on files by their words; and on notes or pages, where these are read and written by a path."""
    nouns = _nouns_by_path(found, "read") & _nouns_by_path(found, "write")
    told = [replace(one, named=one.named or bool(nouns & _spoken_of(one))) for one in found]
    return [one for one in told if "space" in one.arguments or _is_of_files(one)]


def _spoken_of(one: Found) -> frozenset[str]:
    """The words of a tool's name; of one that searches, as `search_wiki` does, those of its description too."""
    is_search = one.operation in {"find", "grep"}
    return one.purpose.nouns.union(map(singular, one.purpose.told) if is_search else ())


def _nouns_by_path(found: Sequence[Found], operation: str) -> frozenset[str]:
    """The words of the tools that do this to texts by their paths, other than what is done."""
    told = (one for one in found if one.operation == operation and _by_path(one) and _takes_text(one))
    return frozenset(noun for one in told for noun in one.purpose.nouns) - DEEDS


def _by_path(one: Found) -> bool:
    place = snake(one.arguments.get("path", ""))
    return place in EXACT or place.endswith("_path")


def _takes_text(one: Found) -> bool:
    content = one.arguments.get("content")
    return content is None or main_type(one.purpose.arguments[content]) == "string"


def _with_spaces(listed: Sequence[Purpose], found: Sequence[Found]) -> list[Found]:
    """The same where files are read and written by their names in a project, a vault or the like, and all of these.

    Elsewhere what must be told of a project is no place of a file.
    """
    spaced = [one for one in found if "space" in one.arguments]
    by_name = {one.operation for one in spaced if snake(one.arguments.get("path", "")) in NAMES}
    if not {"read", "write"} <= by_name:
        plain = [one for one in found if one.arguments.get("space") not in one.purpose.needed]
        return [one for one in map(_without_space, plain) if _is_of_files(one)]
    nouns = space_nouns(one.purpose for one in spaced)
    lists = [Found(one, "list", {}, named=True) for one in listed if lists_spaces(one, nouns)]
    told = [replace(one, named=one.named or "space" in one.arguments) for one in found]
    return [*(one for one in told if one.purpose not in [each.purpose for each in lists]), *lists]


def _without_space(one: Found) -> Found:
    return replace(
        one, arguments={role: name for role, name in one.arguments.items() if role not in {"space", "folder"}}
    )


def _plans(found: Sequence[Found], company: int) -> Iterator[Plan]:
    by_tool: dict[str, list[Found]] = {}
    for one in found:
        by_tool.setdefault(one.purpose.tool.id, []).append(one)
    for tool, ways in by_tool.items():
        first = ways[0]
        reasons = (
            f"'{' '.join(first.purpose.words)}' means {first.operation}",
            f"{company} kinds of tools work on files",
        )
        confidence = 0.9 if first.named else 0.7
        if first.purpose.selector is None:
            verb, operation, arguments = VERBS[first.operation], first.operation, first.arguments
        else:
            verb, operation = (
                "update" if any(VERBS[one.operation] in {"create", "update", "delete"} for one in ways) else "get",
                "",
            )
            arguments = {"operation": first.purpose.selector}
        yield Plan(tool, verb, FILE, "files", operation, arguments, confidence=confidence, reasons=reasons)


def _tells_records(one: Found) -> bool:
    """Must its result hold at least two things that no file has: an owner, tags, a title?"""
    tool = one.purpose.tool
    schema = expanded(tool.output_schema) if tool.output_schema is not None and one.operation != "run" else {}
    parts = (*properties(schema).values(), *(items(part) for part in properties(schema).values()), schema)
    return any(len([name for name in required(part) if not _KNOWN & set(words(name))]) > 1 for part in parts)


def judged(purpose: Purpose) -> Iterator[Found]:
    """What a purpose does to files, if it is of files and does anything to them."""
    listed = list_of(purpose)
    if listed is not None and purpose.needed <= {listed}:
        yield Found(purpose, BATCH, {"operations": listed, **given_roles(purpose, ("dry", "stop"))}, is_named(purpose))
        return
    operation = operation_of(purpose)
    if operation is None:
        return
    arguments = arguments_of(purpose, operation)
    used = set(arguments.values())
    lost = [name for name in purpose.needed if name not in used and name not in _IDLE]
    lacks = [
        role for role in MUST.get(operation, "").split() if role not in arguments and not given_instead(role, arguments)
    ]
    lost = [name for name in lost if main_type(purpose.arguments.get(name, {})) != "boolean"]
    if lost or lacks:
        return
    yield Found(purpose, operation, arguments, is_named(purpose))


def _is_of_files(one: Found) -> bool:
    return one.named or (one.operation in _BY_PATH and bool({*one.arguments.values()} & EXACT))


BATCH = "batch"
_LISTS = ("operations", "actions", "steps", "tasks", "commands", "items", "changes")
_PLACES = ("source", "src", "target", "from")
"""What the path may be called where another operation of the list has two."""


def list_of(purpose: Purpose) -> str | None:
    """The argument that lists operations on files, if there is one."""
    name = purpose.argument(_LISTS, ("array",))
    return name if name is not None and len(ways_of(purpose, name)) > 1 else None


def ways_of(purpose: Purpose, name: str) -> dict[str, Way]:
    """What an item may say that is to be done -> how."""
    return {choice.choice: way for choice in choices_of(purpose, name) for way in _judged(choice)}


def choices_of(purpose: Purpose, name: str) -> list[Purpose]:
    """An item's own arguments, once for each thing that it may say is to be done."""
    item = items(purpose.arguments[name])
    of_items = replace(purpose, words=("file",), arguments=properties(item), needed=required(item))
    return [one for one in choices(of_items) if one.selector is not None]


def _judged(purpose: Purpose) -> Iterator[Way]:
    operation = operation_of(purpose)
    if operation is None:
        return
    roles = arguments_of(purpose, operation)
    wanted = MUST.get(operation, "").split()
    place = purpose.argument(_PLACES, ("string",)) if "path" in wanted and "path" not in roles else None
    roles |= {"path": place} if place is not None else {}
    if all(role in roles or given_instead(role, roles) for role in wanted):
        yield operation, roles
