"""Operations on files, with the words and arguments by which tools mean them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_sim.plans.files.paths import FILE
from mcp_sim.plans.matching.matched_tools import MatchedTool, both, either, match_tool, named, possible_roles, takes
from mcp_sim.plans.matching.tool_profiles import ToolProfile, split_by_choice
from mcp_sim.plans.operation import TEXT, Operation, Test, pick, read_names, required_roles
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.plans import Verb

_WORDS = read_names(__name__)
_ROLES, NAMES = _WORDS.roles, _WORDS.facts
"""Each role by its name; `new_path` and `one` are other names for `path`."""

SPACES = _WORDS.terms("space")
"""What tools call a place that has files of its own."""
EXACT = _WORDS.terms("exact")
"""Names of arguments that are paths of files, whatever the tool is called."""
RANGES = ("patches", "ranges", "line_ranges", "edits", "changes")
STARTS = ("start", "start_line", "line_start", "from_line")
ENDS = ("end", "end_line", "line_end", "to_line")
SURE, LIKELY = 0.91, 0.7
"""How sure a match is if the tool's name mentions files (surer than that it computes something), and if not."""

_IDLE = _WORDS.terms("idle")

_FILES = "file|filename|filesystem"
_DIRECTORIES = "directory|dir|folder|subdirectory|subfolder"
_READS = "read|get|view|open|show|load|fetch|display|print|retrieve|cat"
_WRITES = "write|save|create|put|overwrite|update|store|upload|set|add|new|make"
_CHANGES = "edit|patch|update|modify|change"
_RUNS = _WORDS.terms("run")
_COMMANDS = _WORDS.terms("command")
"""Words in the names of tools that run command lines."""
_COMMAND_NAMES = _WORDS.terms("command_name")
OPERATION_WORDS = frozenset((*_READS.split("|"), *_WRITES.split("|"), "by", "path", "content", "text", "the", "a"))
"""Words for what is done to a file, as opposed to what the file is called."""


def _mentions_files(profile: ToolProfile) -> bool:
    """Return whether a tool's name mentions files or directories, or is a command for them."""
    return _OF_FILES(profile) or _alone(*_COMMAND_NAMES)(profile) or _runs_command_lines(profile)


def _alone(*names: str) -> Test:
    """Return a test whether one of these is the whole name of a tool."""
    return lambda profile: len(profile.words) == 1 and profile.words[0] in names


def _not(test: Test) -> Test:
    return lambda profile: not test(profile)


def _runs_command_lines(profile: ToolProfile) -> bool:
    called = {*words(profile.tool.name)}
    is_all = bool(called & _RUNS) and called <= _RUNS | _COMMANDS
    return is_all and takes(_ROLES["command"])(profile) and profile.selector is None


def _is_cwd(profile: ToolProfile) -> bool:
    return profile.has("cwd") or both(named(_DIRECTORIES), named("current|working|change|set"))(profile)


def _is_search_of_contents(profile: ToolProfile) -> bool:
    """Return whether a search is one of texts, also of things that the tool does not call files."""
    about, arguments = profile.description, profile.arguments
    is_said = any(phrase in about for phrase in ("file contents", "note contents"))
    is_of_files = "pattern" in arguments and "in file" in about
    is_of_notes = "query" in arguments and not profile.mentions("filename", "title", "glob")
    is_of_notes = is_of_notes and not _mentions_files(profile)
    return profile.has("content", "text", "line", "code", "grep") or is_said or is_of_files or is_of_notes


def _takes_line_numbers(profile: ToolProfile) -> bool:
    given = possible_roles(pick("start end", _ROLES), profile)
    return any("line" in name for name in given.values()) and not _EDITS(profile)


def _lists_ranges(profile: ToolProfile) -> bool:
    """Return whether a tool takes ranges of lines in a file, or in each file of a list."""
    given = possible_roles(pick("path ranges files", _ROLES), profile)
    if {"path", "ranges"} <= given.keys():
        return _are_ranges(profile.arguments[given["ranges"]])
    return any(map(_are_ranges, properties(items(profile.arguments.get(given.get("files", ""), {}))).values()))


def _are_ranges(schema: Record) -> bool:
    parts = properties(items(schema)) if main_type(schema) == "array" else {}
    return any(snake(name) in STARTS for name in parts)


def _lists_operations(profile: ToolProfile) -> bool:
    """Return whether a list of several operations on files is all that a tool needs."""
    return profile.needed <= {_list_of_operations(profile)} and len(batch_choices(profile)) > 1


_OF_FILES = named(f"{_FILES}|{_DIRECTORIES}")
_ONE_DIRECTORY = both(named(f"delete|remove|rmdir {_DIRECTORIES}|rmdir"), _not(named(_FILES)))
_PATHS_GIVEN = takes(_ROLES["paths"])
_EDITS = either(takes(_ROLES["edits"]), takes(_ROLES["old"], _ROLES["new"]))


def _of(run: str, verb: Verb, line: str, means: Test, *, is_placed: bool = True) -> Operation:
    """Return an operation. `is_placed`: its paths may be within a space or folder that the call names."""
    picked = pick(f"{line} space? folder?" if is_placed else line, _ROLES)
    return Operation(run.partition(":")[2].rstrip("_"), run, verb, picked, means, FILE)


OPERATIONS = (
    _of("writing:batch", "update", "operations dry? stop?", _lists_operations, is_placed=False),
    _of("reading:find", "search", "pattern? path? exclude? depth? in_contents? kind? case? ignore_case?",
        _alone("find", "glob")),
    _of("shell_commands:run", "update", "command args? cwd? stdin?", _runs_command_lines, is_placed=False),
    _of("writing:change_ranges", "update", "path? ranges? hash? files?",
        both(named(f"{_CHANGES}|delete"), _lists_ranges)),
    _of("reading:read_ranges", "get", "path? ranges? hash? files?", both(named(_READS), _lists_ranges)),
    _of("reading:allowed", "get", "", named(f"allowed|permitted {_DIRECTORIES}|path|root"),
        is_placed=False),
    _of("reading:tree", "list", "path? depth? exclude?", both(named("tree"), lambda profile: profile.needed <= EXACT)),
    _of("writing:cd", "update", "path",
        either(_alone("cd", "chdir"),
               both(_is_cwd, named("change|set|switch|cd"), lambda profile: bool(profile.needed)))),
    _of("reading:pwd", "get", "", either(_alone("pwd"), both(_is_cwd, lambda profile: not profile.needed),
               both(named("get directory"), lambda profile: not profile.arguments)),
        is_placed=False),
    _of("writing:move", "update", "source destination overwrite?", named("move|rename|mv")),
    _of("writing:copy", "create", "source destination overwrite?", named("copy|duplicate|cp")),
    _of("writing:append", "update", "path content", named("append")),
    _of("writing:prepend", "update", "path content", named("prepend")),
    _of("writing:insert", "update", "path line content", both(named("insert"), takes(_ROLES["line"]))),
    _of("writing:replace_lines", "update", "path start end? content",
        both(named("edit|replace|update|modify|change|set"), _takes_line_numbers)),
    _of("writing:delete_lines", "update", "path start end?", both(named("delete|remove line"), _takes_line_numbers)),
    _of("writing:edit", "update", "path old? new? edits? everywhere? dry? times?",
        both(named("edit|replace|patch|modify|update"), _EDITS)),
    _of("writing:overwrite", "update", "path content",
        both(lambda profile: profile.choice in {"replace", "overwrite", "update", "rewrite"}, _not(_EDITS))),
    _of("writing:mkdir", "create", "new_path parents?", named(f"create|make|new|add|mkdir {_DIRECTORIES}|mkdir")),
    _of("writing:rmdir", "delete", "path recursive?", _ONE_DIRECTORY),
    _of("writing:delete", "delete", "path recursive?", named("delete|remove|unlink|trash|rm")),
    _of("reading:exists", "get", "path", named("exist|exists")),
    _of("reading:stat", "get", "path", named("info|stat|metadata|property|attribute|detail|status|information")),
    _of("reading:du", "get", "path? human?", either(_alone("du"), named("size|usage"))),
    _of("reading:grep", "search", "pattern path? case? ignore_case? exclude? among? kind?",
        both(named("search|find|grep"), _is_search_of_contents)),
    _of("reading:find", "search", "pattern? path? exclude? depth? in_contents? kind? case? ignore_case?",
        named("search|find|glob|locate")),
    _of("reading:head", "get", "path lines?", named("head")),
    _of("reading:tail", "get", "path lines?", named("tail")),
    _of("reading:wc", "get", "path mode?", either(_alone("wc"), named("count word|line|character"))),
    _of("reading:diff", "get", "one other", named("diff|compare")),
    _of("reading:sort", "get", "path", _alone("sort")),
    _of("reading:read", "get", "path start? end? limit? head? tail?", both(named("extract"), _takes_line_numbers)),
    _of("reading:list_", "list", "path? hidden? recursive? depth? sort? among? exclude?",
        either(_alone("dir"), both(named("list|ls|browse|enumerate|show|listing"), _not(named("content"))),
               named(f"list {_DIRECTORIES}"))),
    _of("reading:read_many", "get", "paths", both(named(_READS), _PATHS_GIVEN)),
    _of("writing:write", "update", "new_path? content overwrite? append? parents?",
        either(_alone("echo"), both(named(_WRITES), takes(_ROLES["content"])))),
    _of("writing:touch", "create", "new_path", either(_alone("touch"), named(f"create|touch {_FILES}"))),
    _of("reading:read", "get", "path start? end? limit? head? tail?", named(_READS)),
)  # fmt: skip


def match_file_tool(profile: ToolProfile) -> Iterator[MatchedTool]:
    """Yield the first operation that a tool means, if its arguments fit. Required flags need no role."""
    meant = _meant(profile, OPERATIONS)
    if meant is not None:
        flags = (name for name in profile.needed if main_type(profile.arguments.get(name, {})) == "boolean")
        idle = {*flags, *(name for name in profile.needed if name in _IDLE)}
        yield from match_tool(profile, [meant], idle, SURE if _mentions_files(profile) else LIKELY)


def _meant(profile: ToolProfile, operations: Sequence[Operation]) -> Operation | None:
    return next(
        (operation for operation in operations if operation.means is not None and operation.means(profile)), None
    )


_PLACES = ("source", "src", "target", "from")
"""Names of the path in a list whose other operations have two paths."""


def batch_choices(profile: ToolProfile) -> dict[str, MatchedTool]:
    """Return what an item in the list of operations may select -> the operation and its arguments."""
    item = items(profile.arguments.get(_list_of_operations(profile), {}))
    whole = replace(profile, words=("file",), arguments=properties(item), needed=required(item))
    choices: dict[str, MatchedTool] = {}
    for tool_profile in split_by_choice(whole):
        meant = _meant(tool_profile, OPERATIONS[1:])
        if tool_profile.selector is not None and meant is not None:
            place = tool_profile.argument(_PLACES, TEXT)
            others = {"path": place} if place is not None and "path" in required_roles(meant) else {}
            arguments = {**others, **possible_roles(meant.roles, tool_profile)}
            if set(required_roles(meant)) <= arguments.keys():
                choices[tool_profile.choice] = MatchedTool(tool_profile, meant, arguments)
    return choices


def _list_of_operations(profile: ToolProfile) -> str:
    return possible_roles((_ROLES["operations"],), profile).get("operations", "")
