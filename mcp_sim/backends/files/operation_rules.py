"""Choose the operation of a tool on files from its words and arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mcp_sim.backends.files.arguments import EXACT, assign_roles, range_arguments
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types.lexicon.english import vocabulary, words
from mcp_sim.types.plans import Verb

VERBS: Mapping[str, Verb] = {
    "allowed": "get", "append": "update", "batch": "update", "delete_lines": "update", "replace_lines": "update",
    "cd": "update", "copy": "create", "delete": "delete", "diff": "get",
    "du": "get", "edit": "update", "exists": "get", "find": "search", "grep": "search", "head": "get",
    "insert": "update", "list": "list", "mkdir": "create", "move": "update", "pwd": "get", "read": "get",
    "read_many": "get", "rmdir": "delete", "run": "update", "sort": "get", "stat": "get", "tail": "get",
    "touch": "create",
    "tree": "list", "wc": "get", "write": "update", "prepend": "update", "overwrite": "update",
    "add_tags": "update", "remove_tags": "update", "rename_tag": "update",
    "read_ranges": "get", "front_matter": "get", "change_ranges": "update",
}  # fmt: skip
"""Operation -> its verb in plans."""

_SHELL = {
    "ls": "list", "dir": "list", "cat": "read", "cd": "cd", "chdir": "cd", "pwd": "pwd", "cp": "copy", "mv": "move",
    "rm": "delete", "unlink": "delete", "rmdir": "rmdir", "mkdir": "mkdir", "touch": "touch", "grep": "grep",
    "find": "find", "glob": "find", "tail": "tail", "head": "head", "wc": "wc", "sort": "sort", "diff": "diff",
    "du": "du", "echo": "write", "tree": "tree", "stat": "stat",
}  # fmt: skip
_WHOLE = ("replace", "overwrite", "update", "rewrite")
"""Choices of a tool that overwrite a whole file."""

_IN_FILES = ("frontmatter", "front matter", "hierarch")
"""Words of descriptions that show that tags are stored in files."""

_FILES = ("file", "filename", "filesystem")
_DIRECTORIES = ("directory", "dir", "folder", "subdirectory", "subfolder")
_READS = ("read", "get", "view", "open", "show", "load", "fetch", "display", "print", "retrieve", "cat")
_WRITES = ("write", "save", "create", "put", "overwrite", "update", "store", "upload", "set", "add", "new", "make")
OPERATION_WORDS: frozenset[str] = frozenset((*_READS, *_WRITES, "create", "by", "path", "content", "text", "the", "a"))
"""Words for what is done to a file, as opposed to what the file is called."""

_RUNS = vocabulary("run execute exec shell bash sh terminal start launch spawn")
_COMMANDS = vocabulary(
    "command commands cmd shell bash sh terminal cli line exec execute ssh system local safe process in the a and"
)
"""Words in the names of tools that run command lines."""


def is_named(profile: ToolProfile) -> bool:
    return profile.has(*_FILES, *_DIRECTORIES) or _shell(profile) is not None or _runs(profile)


def _runs(profile: ToolProfile) -> bool:
    """Return whether a tool runs arbitrary command lines."""
    named = {*words(profile.tool.name)}
    is_all = bool(named & _RUNS) and named <= _RUNS | _COMMANDS
    return is_all and "command" in assign_roles(profile, ("command",)) and profile.selector is None


def _shell(profile: ToolProfile) -> str | None:
    """Return the operation of a shell command that is the whole name."""
    return _SHELL.get(profile.words[0]) if len(profile.words) == 1 else None


def choose_operation(profile: ToolProfile) -> str | None:
    """Return the operation of a tool, None if it has none."""
    command = _shell(profile)
    if command is not None:
        return command
    return next((name for name, holds in _RULES if holds(profile)), None)


def _many(profile: ToolProfile) -> bool:
    return "paths" in assign_roles(profile, ("paths",))


def _is_cwd(profile: ToolProfile) -> bool:
    return profile.has("cwd") or (profile.has(*_DIRECTORIES) and profile.has("current", "working", "change", "set"))


def _of_content(profile: ToolProfile) -> bool:
    is_named = profile.has("content", "text", "line", "code", "grep") or "note contents" in profile.description
    return (
        is_named
        or ("pattern" in profile.arguments and "in file" in profile.description)
        or "file contents" in profile.description
    )


def _of_notes(profile: ToolProfile) -> bool:
    """Return whether a tool searches the text of things that it does not call files."""
    return not is_named(profile) and "query" in profile.arguments and not profile.mentions("filename", "title", "glob")


def _by_lines(profile: ToolProfile) -> bool:
    """Return whether a tool takes line numbers."""
    given = assign_roles(profile, ("start", "end"))
    return any("line" in name for name in given.values()) and not _edits(profile)


def _edits(profile: ToolProfile) -> bool:
    given = assign_roles(profile, ("edits", "old", "new"))
    return "edits" in given or {"old", "new"} <= given.keys()


def _of_tags(profile: ToolProfile) -> bool:
    """Return whether a tool works on tags that are stored in files."""
    return profile.has("tag") and any(word in profile.description for word in _IN_FILES)


_RULES: tuple[tuple[str, Callable[[ToolProfile], bool]], ...] = (
    ("run", _runs),
    (
        "change_ranges",
        lambda p: p.has("edit", "patch", "update", "modify", "change", "delete") and bool(range_arguments(p)),
    ),
    ("read_ranges", lambda p: p.has(*_READS) and bool(range_arguments(p))),
    ("allowed", lambda p: p.has("allowed", "permitted") and p.has(*_DIRECTORIES, "path", "root")),
    ("tree", lambda p: p.has("tree") and not p.needed - EXACT),
    ("cd", lambda p: _is_cwd(p) and p.has("change", "set", "switch", "cd") and bool(p.needed)),
    ("pwd", lambda p: (_is_cwd(p) and not p.needed) or (p.has("get") and p.has("directory") and not p.arguments)),
    ("rename_tag", lambda p: p.has("rename", "replace") and _of_tags(p)),
    ("add_tags", lambda p: p.has("add", "insert") and _of_tags(p)),
    ("remove_tags", lambda p: p.has("remove", "delete") and _of_tags(p)),
    ("move", lambda p: p.has("move", "rename", "mv")),
    ("copy", lambda p: p.has("copy", "duplicate", "cp")),
    ("append", lambda p: p.has("append")),
    ("prepend", lambda p: p.has("prepend")),
    ("insert", lambda p: p.has("insert") and "line" in assign_roles(p, ("line",))),
    ("replace_lines", lambda p: p.has("edit", "replace", "update", "modify", "change", "set") and _by_lines(p)),
    ("delete_lines", lambda p: p.has("delete", "remove") and p.has("line") and _by_lines(p)),
    ("edit", lambda p: p.has("edit", "replace", "patch", "modify", "update") and _edits(p)),
    ("overwrite", lambda p: p.choice in _WHOLE and not _edits(p)),
    ("mkdir", lambda p: p.has("create", "make", "new", "add", "mkdir") and p.has(*_DIRECTORIES, "mkdir")),
    ("rmdir", lambda p: p.has("delete", "remove", "rmdir") and p.has(*_DIRECTORIES, "rmdir") and not p.has(*_FILES)),
    ("delete", lambda p: p.has("delete", "remove", "unlink", "trash", "rm")),
    ("exists", lambda p: p.has("exist", "exists")),
    ("front_matter", lambda p: p.has("frontmatter", "front") and p.has(*_READS)),
    ("stat", lambda p: p.has("info", "stat", "metadata", "property", "attribute", "detail", "status", "information")),
    ("du", lambda p: p.has("size", "usage")),
    ("grep", lambda p: p.has("search", "find", "grep") and (_of_content(p) or _of_notes(p))),
    ("find", lambda p: p.has("search", "find", "glob", "locate")),
    ("head", lambda p: p.has("head")),
    ("tail", lambda p: p.has("tail")),
    ("wc", lambda p: p.has("count") and p.has("word", "line", "character")),
    ("diff", lambda p: p.has("diff", "compare")),
    ("read", lambda p: p.has("extract") and _by_lines(p)),
    ("list", lambda p: p.has("list", "ls", "browse", "enumerate", "show", "listing") and not p.has("content")),
    ("list", lambda p: p.has("list") and p.has(*_DIRECTORIES)),
    ("read_many", lambda p: p.has(*_READS) and _many(p)),
    ("write", lambda p: p.has(*_WRITES) and "content" in assign_roles(p, ("content",))),
    ("touch", lambda p: p.has("create", "touch") and p.has(*_FILES)),
    ("read", lambda p: p.has(*_READS)),
)
