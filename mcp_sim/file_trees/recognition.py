"""Which of a server's tools work on files, and what does each do to them?

What is looked at: words like `read` beside `file` or `directory` in a name, or the name of a shell command; a path
among the arguments; several tools of the family together; no required argument that means something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.claiming.purposes import Purpose
from mcp_sim.domain import Plan, Verb
from mcp_sim.file_trees.entities import FILE
from mcp_sim.schemas import expanded, items, main_type, properties, required
from mcp_sim.words import vocabulary, words

VERBS: Mapping[str, Verb] = {
    "allowed": "get", "append": "update", "delete_lines": "update", "replace_lines": "update",
    "cd": "update", "copy": "create", "delete": "delete", "diff": "get",
    "du": "get", "edit": "update", "exists": "get", "find": "search", "grep": "search", "head": "get",
    "insert": "update", "list": "list", "mkdir": "create", "move": "update", "pwd": "get", "read": "get",
    "read_many": "get", "rmdir": "delete", "run": "update", "sort": "get", "stat": "get", "tail": "get",
    "touch": "create",
    "tree": "list", "wc": "get", "write": "update",
}  # fmt: skip
"""Operation -> what it does to files, as plans say it."""

_SHELL = {
    "ls": "list", "dir": "list", "cat": "read", "cd": "cd", "chdir": "cd", "pwd": "pwd", "cp": "copy", "mv": "move",
    "rm": "delete", "unlink": "delete", "rmdir": "rmdir", "mkdir": "mkdir", "touch": "touch", "grep": "grep",
    "find": "find", "glob": "find", "tail": "tail", "head": "head", "wc": "wc", "sort": "sort", "diff": "diff",
    "du": "du", "echo": "write", "tree": "tree", "stat": "stat",
}  # fmt: skip
_FILES = ("file", "filename", "filesystem")
_DIRECTORIES = ("directory", "dir", "folder", "subdirectory", "subfolder")
_READS = ("read", "get", "view", "open", "show", "load", "fetch", "display", "print", "retrieve", "cat")
_WRITES = ("write", "save", "create", "put", "overwrite", "update", "store", "upload", "set", "add", "new", "make")
_PATHS = (
    "path", "file_path", "filepath", "filename", "file_name", "file", "pathname", "relative_path", "full_path",
    "directory", "dir", "dir_name", "directory_name", "dir_path", "directory_path", "folder", "folder_path",
    "folder_name", "subdirectory", "target_file", "target_path", "absolute_path", "root", "base_path", "start_path",
)  # fmt: skip
_SOURCES = ("source", "src", "old_path", "from", "from_path", "source_path", "old_name", *_PATHS)
_DESTINATIONS = ("destination", "dest", "dst", "new_path", "new_name", "to", "to_path", "target", "destination_path")
_CONTENTS = ("content", "contents", "text", "data", "file_content", "file_text", "body", "new_content")
_EXACT = vocabulary("path paths file_path filepath filename file_name absolute_path relative_path file_paths")

_ARGUMENTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "paths": (("paths", "files", "file_paths", "filenames", "file_names"), "array"),
    "path": (_PATHS, "string"),
    "content": (_CONTENTS, ""),
    "edits": (("edits", "changes", "replacements", "operations"), "array"),
    "old": (("old_text", "old_string", "old_str", "old", "search", "find", "search_text", "old_content"), "string"),
    "new": (("new_text", "new_string", "new_str", "new", "replace", "replacement", "replace_text"), "string"),
    "everywhere": (("replace_all", "all_occurrences", "global"), "boolean"),
    "line": (("line", "line_number", "insert_line", "at_line", "after_line", "position"), ""),
    "start": (("start_line", "offset", "start", "from_line", "line_start", "begin", "first_line"), ""),
    "end": (("end_line", "end", "to_line", "line_end", "stop", "last_line"), ""),
    "limit": (("limit", "length", "num_lines", "line_count", "max_lines"), ""),
    "head": (("head",), ""),
    "tail": (("tail",), ""),
    "lines": (("lines", "n", "num_lines", "count", "line_count"), ""),
    "pattern": (("pattern", "query", "regex", "search_pattern", "search_term", "text", "name", "glob", "term",
                 "file_pattern", "content_pattern", "keyword"), "string"),
    "exclude": (("exclude_patterns", "exclude", "ignore", "ignore_patterns"), ""),
    "recursive": (("recursive", "recurse", "force"), "boolean"),
    "depth": (("max_depth", "depth"), ""),
    "sort": (("sort_by", "sort", "order_by"), "string"),
    "hidden": (("a", "all", "show_hidden", "include_hidden", "hidden"), "boolean"),
    "human": (("human_readable", "human"), "boolean"),
    "mode": (("mode", "unit"), "string"),
    "case": (("case_sensitive", "match_case"), "boolean"),
    "ignore_case": (("ignore_case", "case_insensitive"), "boolean"),
    "overwrite": (("overwrite", "force", "replace_existing"), "boolean"),
    "append": (("append",), "boolean"),
    "times": (("expected_replacements", "expected_occurrences", "expected_count"), ""),
    "command": (("command", "cmd", "command_line", "commands"), ""),
    "args": (("args", "arguments"), "array"),
    "cwd": (("cwd", "workdir", "working_dir", "working_directory", "work_dir", "directory", "dir", "path"), "string"),
    "stdin": (("stdin", "input"), "string"),
    "dry": (("dry_run", "preview"), "boolean"),
    "parents": (("parents", "create_parents", "create_dirs", "recursive", "make_parents"), "boolean"),
}  # fmt: skip
"""What an operation may need -> the names of arguments that give it, and their type."""

_NEEDS: Mapping[str, str] = {
    "append": "path content", "delete_lines": "path start end", "replace_lines": "path start end content",
    "cd": "path", "delete": "path", "du": "path human", "exists": "path",
    "edit": "path edits old new everywhere dry times", "find": "path pattern exclude depth", "head": "path lines",
    "grep": "path pattern case ignore_case exclude", "insert": "path line content",
    "list": "path hidden recursive depth sort",
    "mkdir": "path parents", "read": "path start end limit head tail", "read_many": "paths", "rmdir": "path recursive",
    "sort": "path", "stat": "path", "tail": "path lines", "touch": "path", "tree": "path depth exclude",
    "wc": "path mode", "write": "path content overwrite append parents", "allowed": "", "pwd": "",
    "run": "command args cwd stdin",
}  # fmt: skip
_MUST: Mapping[str, str] = {
    "append": "path content", "delete_lines": "path start", "replace_lines": "path start content",
    "cd": "path", "delete": "path", "edit": "path", "grep": "pattern", "head": "path",
    "insert": "path line content", "mkdir": "path", "read": "path", "read_many": "paths", "rmdir": "path",
    "sort": "path", "stat": "path", "exists": "path", "tail": "path", "touch": "path", "wc": "path",
    "run": "command", "write": "content", "move": "source destination", "copy": "source destination",
    "diff": "path other",
}  # fmt: skip
_RUNS = vocabulary("run execute exec shell bash sh terminal")
_COMMANDS = vocabulary(
    "command commands cmd shell bash sh terminal cli line exec execute ssh system local safe in the a and"
)
"""The words that the name of a tool consists of which runs command lines."""
_KNOWN = vocabulary(
    "path paths file files filename name type kind size bytes content contents text data lines line total count "
    "success message error result results matches entries items children directory directories folder is modified "
    "created at time mtime ctime accessed permissions mode encoding exists offset limit has more truncated output "
    "diff source destination old new status extension mime hash checksum depth pattern query words characters "
    "usage"
)
"""The words of what a tool of a file tree may tell."""

_BY_PATH = vocabulary("read read_many write append edit delete move replace_lines delete_lines")
"""What is done to a file where an argument is called a path, whatever the name of the tool."""
_IDLE = vocabulary("encoding format timeout reason description explanation message verbose sort_by sort_order")


@dataclass(frozen=True, slots=True)
class Found:
    """A purpose that works on files: what it does, what its arguments are for, and whether its name speaks of files."""

    purpose: Purpose
    operation: str
    arguments: Mapping[str, str]
    named: bool


def plans_of(listed: Sequence[Purpose]) -> list[Plan]:
    """The plans of the tools that work on files; none where too little speaks for it."""
    found = [one for purpose in listed for one in judged(purpose)]
    sure = [one for one in found if one.named]
    operations = {one.operation for one in sure}
    reads = operations & {"read", "read_many", "list", "tree"}
    paths = sum(1 for one in sure if {"path", "paths", "source"} & one.arguments.keys())
    if not paths or len(operations) < (2 if reads else 3) or not operations - {"exists", "stat", "diff", "pwd"}:
        found = [one for one in found if one.operation == "run"]
    if not found or sum(1 for one in found if _tells_records(one)) > len(found) / 4:
        return []
    return list(_plans(found, len(operations)))


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
        yield Plan(tool, verb, FILE, "file_tree", operation, arguments, confidence=confidence, reasons=reasons)


def _tells_records(one: Found) -> bool:
    """Must its result hold at least two things that no file has: an owner, tags, a title?"""
    tool = one.purpose.tool
    schema = expanded(tool.output_schema) if tool.output_schema is not None and one.operation != "run" else {}
    parts = (*properties(schema).values(), *(items(part) for part in properties(schema).values()), schema)
    return any(len([name for name in required(part) if not _KNOWN & set(words(name))]) > 1 for part in parts)


def judged(purpose: Purpose) -> Iterator[Found]:
    """What a purpose does to files, if it does anything to them."""
    operation = operation_of(purpose)
    if operation is None:
        return
    arguments = arguments_of(purpose, operation)
    used = set(arguments.values())
    lost = [name for name in purpose.needed if name not in used and name not in _IDLE]
    lacks = [
        role for role in _MUST.get(operation, "").split() if role not in arguments and not _instead(role, arguments)
    ]
    lost = [name for name in lost if main_type(purpose.arguments.get(name, {})) != "boolean"]
    if lost or lacks:
        return
    named = _is_named(purpose)
    if named or (operation in _BY_PATH and used & _EXACT):
        yield Found(purpose, operation, arguments, named)


def _instead(role: str, arguments: Mapping[str, str]) -> bool:
    return role == "path" and "paths" in arguments


def _is_named(purpose: Purpose) -> bool:
    return purpose.has(*_FILES, *_DIRECTORIES) or _shell(purpose) is not None or _runs(purpose)


def _runs(purpose: Purpose) -> bool:
    """Does it run command lines, of any kind?"""
    named = {*words(purpose.tool.name)}
    is_all = bool(named & _RUNS) and named <= _RUNS | _COMMANDS
    return is_all and "command" in _given(purpose, ("command",)) and purpose.selector is None


def _shell(purpose: Purpose) -> str | None:
    """The shell command that a name is."""
    return _SHELL.get(purpose.words[0]) if len(purpose.words) == 1 else None


def operation_of(purpose: Purpose) -> str | None:
    """What the words and arguments of a purpose come to."""
    command = _shell(purpose)
    if command is not None:
        return command
    return next((name for name, holds in _RULES if holds(purpose)), None)


def _many(purpose: Purpose) -> bool:
    return "paths" in _given(purpose, ("paths",))


def _is_cwd(purpose: Purpose) -> bool:
    return purpose.has("cwd") or (purpose.has(*_DIRECTORIES) and purpose.has("current", "working", "change", "set"))


def _of_content(purpose: Purpose) -> bool:
    told = purpose.has("content", "text", "line", "code", "grep")
    return told or ("pattern" in purpose.arguments and "in file" in purpose.said) or "file contents" in purpose.said


def _by_lines(purpose: Purpose) -> bool:
    """Does it take lines by their numbers?"""
    given = _given(purpose, ("start", "end"))
    return any("line" in name for name in given.values()) and not _edits(purpose)


def _edits(purpose: Purpose) -> bool:
    given = _given(purpose, ("edits", "old", "new"))
    return "edits" in given or {"old", "new"} <= given.keys()


_RULES: tuple[tuple[str, Callable[[Purpose], bool]], ...] = (
    ("run", _runs),
    ("allowed", lambda p: p.has("allowed", "permitted") and p.has(*_DIRECTORIES, "path", "root")),
    ("tree", lambda p: p.has("tree") and not p.needed - _EXACT),
    ("cd", lambda p: _is_cwd(p) and p.has("change", "set", "switch", "cd") and bool(p.needed)),
    ("pwd", lambda p: (_is_cwd(p) and not p.needed) or (p.has("get") and p.has("directory") and not p.arguments)),
    ("move", lambda p: p.has("move", "rename", "mv")),
    ("copy", lambda p: p.has("copy", "duplicate", "cp")),
    ("append", lambda p: p.has("append")),
    ("insert", lambda p: p.has("insert") and "line" in _given(p, ("line",))),
    ("replace_lines", lambda p: p.has("edit", "replace", "update", "modify", "change", "set") and _by_lines(p)),
    ("delete_lines", lambda p: p.has("delete", "remove") and p.has("line") and _by_lines(p)),
    ("edit", lambda p: p.has("edit", "replace", "patch", "modify", "update") and _edits(p)),
    ("mkdir", lambda p: p.has("create", "make", "new", "add", "mkdir") and p.has(*_DIRECTORIES, "mkdir")),
    ("rmdir", lambda p: p.has("delete", "remove", "rmdir") and p.has(*_DIRECTORIES, "rmdir") and not p.has(*_FILES)),
    ("delete", lambda p: p.has("delete", "remove", "unlink", "trash", "rm")),
    ("exists", lambda p: p.has("exist", "exists")),
    ("stat", lambda p: p.has("info", "stat", "metadata", "property", "attribute", "detail", "status", "information")),
    ("du", lambda p: p.has("size", "usage")),
    ("grep", lambda p: p.has("search", "find", "grep") and _of_content(p)),
    ("find", lambda p: p.has("search", "find", "glob", "locate")),
    ("head", lambda p: p.has("head")),
    ("tail", lambda p: p.has("tail")),
    ("wc", lambda p: p.has("count") and p.has("word", "line", "character")),
    ("diff", lambda p: p.has("diff", "compare")),
    ("list", lambda p: p.has("list", "ls", "browse", "enumerate", "show", "listing") and not p.has("content")),
    ("list", lambda p: p.has("list") and p.has(*_DIRECTORIES)),
    ("read_many", lambda p: p.has(*_READS) and _many(p)),
    ("write", lambda p: p.has(*_WRITES) and "content" in _given(p, ("content",))),
    ("touch", lambda p: p.has("create", "touch") and p.has(*_FILES)),
    ("read", lambda p: p.has(*_READS)),
)


def arguments_of(purpose: Purpose, operation: str) -> dict[str, str]:
    """What an operation needs -> the argument that gives it."""
    if operation in {"move", "copy"}:
        destination = purpose.argument_like(_DESTINATIONS, ("string",))
        named = (_other(purpose, name, destination) for name in _SOURCES)
        source = next((name for name in named if name is not None), None)
        found = {"source": source, "destination": destination, **_given(purpose, ("overwrite",))}
        return {role: name for role, name in found.items() if name is not None}
    if operation == "diff":
        named = [name for name in purpose.arguments if name in purpose.needed][:2]
        return dict(zip(("path", "other"), named, strict=False))
    found = _given(purpose, tuple(_NEEDS[operation].split()))
    name = purpose.argument_like(("name",), ("string",)) if operation in {"mkdir", "touch", "write"} else None
    return {"path": name, **found} if name is not None and "path" not in found else found


def _other(purpose: Purpose, name: str, taken: str | None) -> str | None:
    found = purpose.argument_like((name,), ("string",))
    return found if found != taken else None


def _given(purpose: Purpose, roles: Sequence[str]) -> dict[str, str]:
    """The roles that arguments have, each argument one; the earlier role has the choice."""
    found: dict[str, str] = {}
    for role in roles:
        names, kind = _ARGUMENTS[role]
        argument = purpose.argument_like(names, (kind,) if kind else ())
        if argument is not None and argument not in found.values():
            found[role] = argument
    return found
