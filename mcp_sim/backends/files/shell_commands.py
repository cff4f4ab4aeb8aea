"""Commands of the shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import chain

from mcp_sim.backends.files.paths import join_path, split_path
from mcp_sim.backends.files.request import FilesRequest
from mcp_sim.backends.files.shell import (
    MISSING,
    CommandFunction,
    Failed,
    Pipe,
    Shell,
    join_lines,
    line_count,
    operands,
    parse_command_line,
    parse_words,
    split_flags,
)
from mcp_sim.backends.files.tree import Entry
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.patterns import search_test
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Record
from mcp_sim.types.lexicon.english import vocabulary


def _echo(_shell: Shell, args: list[str], _given: str) -> str:
    bare = args[1:] if args[:1] == ["-n"] else args[1:] if args[:1] == ["-e"] else args
    text = " ".join(bare)
    text = text.replace("\\n", "\n").replace("\\t", "\t") if args[:1] == ["-e"] else text
    return text if args[:1] == ["-n"] else f"{text}\n"


def _cat(shell: Shell, args: list[str], given: str) -> str:
    flags, paths = split_flags(args)
    text = "".join(content for _, content in shell.texts(paths, given))
    if "n" not in flags:
        return text
    return join_lines([f"{at:6}\t{line}" for at, line in enumerate(text.splitlines(), 1)])


def _ls(shell: Shell, args: list[str], _given: str) -> str:
    flags, paths = split_flags(args)
    found = [(path, shell.find(path)) for path in paths or ["."]]
    return "\n".join(_listed(shell, path, entry, flags, titled=len(found) > 1) for path, entry in found)


def _listed(shell: Shell, path: str, entry: Entry, flags: set[str], *, titled: bool) -> str:
    if entry.is_file:
        return join_lines([_long(entry, path) if "l" in flags else path])
    rows = (one for one in shell.tree.inside(entry.path) if {"a", "A"} & flags or not one.name.startswith("."))
    lines = join_lines([_long(one, one.name) if "l" in flags else one.name for one in rows])
    return f"{path}:\n{lines}" if titled else lines


def _long(entry: Entry, name: str) -> str:
    mode, size = ("-rw-r--r--", entry.size) if entry.is_file else ("drwxr-xr-x", 4096)
    return f"{mode} 1 user user {size:>6} {str(entry.record.get('modified_at', ''))[:10]} {name}"


def _pwd(shell: Shell, _args: list[str], _given: str) -> str:
    return f"{shell.cwd}\n"


def _cd(shell: Shell, args: list[str], _given: str) -> str:
    entry = shell.find(args[0] if args else shell.tree.working)
    if entry.is_file:
        raise Failed(f"{args[0]}: Not a directory")
    shell.cwd = entry.path
    return ""


def _mkdir(shell: Shell, args: list[str], _given: str) -> str:
    flags, paths = split_flags(args)
    deep = bool({"p", "--parents"} & flags)
    for path in operands(paths):
        place = shell.at(path)
        if shell.tree.find(place) is not None and not deep:
            raise Failed(f"cannot create directory '{path}': File exists")
        if not deep:
            shell.above(path)
        shell.tree.make(place)
    return ""


def _rmdir(shell: Shell, args: list[str], _given: str) -> str:
    for path in operands(split_flags(args)[1]):
        entry = shell.find(path)
        if entry.is_file or shell.tree.inside(entry.path):
            raise Failed(f"failed to remove '{path}': {'Not a directory' if entry.is_file else 'Directory not empty'}")
        shell.tree.remove(entry)
    return ""


def _rm(shell: Shell, args: list[str], _given: str) -> str:
    flags, paths = split_flags(args)
    for path in operands(paths):
        entry = shell.tree.find(shell.at(path))
        if entry is None and "f" not in flags:
            raise Failed(f"cannot remove '{path}': {MISSING}")
        if entry is not None and not entry.is_file and not {"r", "R", "--recursive"} & flags:
            raise Failed(f"cannot remove '{path}': Is a directory")
        if entry is not None and not split_path(entry.path):
            raise Failed("it is dangerous to operate recursively on '/'")
        if entry is not None:
            shell.tree.remove(entry)
    return ""


def _touch(shell: Shell, args: list[str], _given: str) -> str:
    for path in operands(split_flags(args)[1]):
        found = shell.tree.find(shell.at(path))
        if found is None or found.is_file:
            shell.write(path, "" if found is None else found.content or "")
    return ""


def _cp(shell: Shell, args: list[str], _given: str) -> str:
    flags, paths = split_flags(args)
    for entry, target in _targets(shell, paths):
        if not entry.is_file and not {"r", "R", "a", "--recursive"} & flags:
            raise Failed(f"-r not specified; omitting directory '{entry.name}'")
        shell.tree.copy(entry, target)
    return ""


def _mv(shell: Shell, args: list[str], _given: str) -> str:
    for entry, target in _targets(shell, split_flags(args)[1]):
        shell.tree.copy(entry, target)
        shell.tree.remove(entry)
    return ""


def _targets(shell: Shell, paths: list[str]) -> Iterator[tuple[Entry, str]]:
    """Yield what to copy or move, and where to."""
    *sources, last = operands(paths, 2)
    place = shell.at(last)
    found = shell.tree.find(place)
    is_directory = found is not None and not found.is_file
    if len(sources) > 1 and not is_directory:
        raise Failed(f"target '{last}' is not a directory")
    shell.above(last)
    for path in sources:
        entry = shell.tree.find(shell.at(path))
        if entry is None:
            raise Failed(f"cannot stat '{path}': {MISSING}")
        target = join_path(place, entry.name) if is_directory else place
        if target == entry.path or target.startswith(f"{entry.path}/"):
            raise Failed(f"'{path}' and '{last}' are the same file")
        yield entry, target


def _ends(shell: Shell, args: list[str], given: str) -> str:
    """`head` and `tail`."""
    many, paths = line_count(args)
    part = slice(many) if shell.name == "head" else slice(-many, None) if many else slice(0)
    return "".join(join_lines(text.splitlines()[part]) for _, text in shell.texts(paths, given))


def _wc(shell: Shell, args: list[str], given: str) -> str:
    flags, paths = split_flags(args)
    lines: list[str] = []
    for path, text in shell.texts(paths, given):
        counts = {"l": text.count("\n"), "w": len(text.split()), "c": len(text.encode("utf-8", "replace"))}
        shown = [str(count) for letter, count in counts.items() if letter in flags or not flags]
        lines.append(" ".join([*shown, path] if path else shown))
    return join_lines(lines)


def _grep(shell: Shell, args: list[str], given: str) -> str:
    flags, words = split_flags(args)
    pattern, *paths = operands(words)
    holds = _holding(pattern, flags)
    is_deep = bool({"r", "R"} & flags)
    if is_deep:
        paths = [*chain.from_iterable(_below(shell, path) for path in paths or ["."])]
    named = "h" not in flags and (len(paths) > 1 or is_deep)
    lines = [
        f"{path}:" * named + f"{at}:" * ("n" in flags) + line
        for path, text in shell.texts(paths, given)
        for at, line in enumerate(text.splitlines(), 1)
        if holds(line)
    ]
    if not lines:
        raise Failed("")
    return f"{len(lines)}\n" if "c" in flags else join_lines(lines)


def _holding(pattern: str, flags: set[str]) -> Callable[[str], bool]:
    try:
        test = search_test(re.escape(pattern) if "F" in flags else pattern, ignores_case="i" in flags)
    except Refused as refused:
        raise Failed(str(refused)) from None
    return (lambda line: not test(line)) if "v" in flags else test


def _below(shell: Shell, path: str) -> Iterator[str]:
    """Yield the paths of the files below a directory, beginning with the given path."""
    entry = shell.find(path)
    if entry.is_file:
        yield path
        return
    for one in shell.tree.below(entry.path):
        if one.is_file:
            yield path.rstrip("/") + one.path[len(entry.path.rstrip("/")) :]


def _sort(shell: Shell, args: list[str], given: str) -> str:
    flags, paths = split_flags(args)
    lines = [line for _, text in shell.texts(paths, given) for line in text.splitlines()]
    return join_lines(sorted(set(lines) if "u" in flags else lines, reverse="r" in flags))


def _uniq(shell: Shell, args: list[str], given: str) -> str:
    lines = [line for _, text in shell.texts(split_flags(args)[1], given) for line in text.splitlines()]
    return join_lines([line for at, line in enumerate(lines) if at == 0 or line != lines[at - 1]])


def _find(shell: Shell, args: list[str], _given: str) -> str:
    """`find DIRECTORY -name PATTERN -type f|d`."""
    at = next((place for place, one in enumerate(args) if one.startswith("-")), len(args))
    tests = dict(zip(args[at::2], args[at + 1 :: 2], strict=False))
    unknown = set(tests) - {"-name", "-iname", "-type", "-maxdepth"}
    if unknown or (len(args) - at) % 2:
        raise Failed(f"unknown predicate '{next(iter(sorted(unknown)), args[-1])}'")
    lines: list[str] = []
    for path in args[:at] or ["."]:
        entry = shell.find(path)
        levels = int(tests["-maxdepth"]) if tests.get("-maxdepth", "").isdigit() else None
        below = shell.tree.below(entry.path, levels) if levels != 0 else ()
        start = len(entry.path.rstrip("/"))
        lines += [path.rstrip("/") + one.path[start:] for one in (entry, *below) if _is_found(one, tests)]
    return join_lines(lines)


def _is_found(entry: Entry, tests: Mapping[str, str]) -> bool:
    name = tests.get("-name", tests.get("-iname", "*"))
    called = fnmatchcase(entry.name.lower(), name.lower()) if "-iname" in tests else fnmatchcase(entry.name, name)
    return called and tests.get("-type", "f" if entry.is_file else "d") == ("f" if entry.is_file else "d")


def _date(shell: Shell, _args: list[str], _given: str) -> str:
    return f"{shell.now:%a %b %d %H:%M:%S UTC %Y}\n"


def _base(_shell: Shell, args: list[str], _given: str) -> str:
    return f"{operands(args)[0].rstrip('/').rsplit('/', 1)[-1]}\n"


def _false(_shell: Shell, _args: list[str], _given: str) -> str:
    raise Failed("")


COMMANDS: Mapping[str, CommandFunction] = {
    "basename": _base, "cat": _cat, "cd": _cd, "cp": _cp, "date": _date, "echo": _echo, "false": _false,
    "find": _find, "grep": _grep, "head": _ends, "ls": _ls, "mkdir": _mkdir, "mv": _mv, "pwd": _pwd, "rm": _rm,
    "rmdir": _rmdir, "sort": _sort, "tail": _ends, "touch": _touch, "true": lambda _shell, _args, _given: "",
    "uniq": _uniq, "wc": _wc, "whoami": lambda _shell, _args, _given: "user\n",
}  # fmt: skip


_STARTS = vocabulary("start launch spawn")


def run(request: FilesRequest) -> Outcome:
    """Run the shell `command`, a text or a list of words with more in `args`, in `cwd` with `stdin` as its input.

    Raises `Refused` if the command cannot be parsed, or fails without a change, unless the result has a field for the
    exit code, or the command is only started.
    """
    cwd = request.tree.directory(request.text("cwd", request.tree.working)).path
    ran = Shell(request.tree, cwd, COMMANDS, request.now).run(_parse_request(request), request.text("stdin"))
    text = ran.output + (f"\n{ran.errors}" if ran.output and ran.errors else ran.errors)
    shows_code = request.tool is not None and request.tool.output_schema is not None
    is_started = not _STARTS.isdisjoint(request.tool_words)
    if ran.code and not shows_code and not request.changes and not is_started:
        raise Refused("invalid", text or f"Command failed with exit code {ran.code}", code=ran.code)
    facts: Record = {"stdout": ran.output, "stderr": ran.errors, "exit_code": ran.code, "success": ran.code == 0}
    return Outcome(text, {**facts, "output": text})


def _parse_request(request: FilesRequest) -> list[Pipe]:
    command = request.get("command")
    if isinstance(command, list) or request.texts("args"):
        found = parse_words([*request.texts("command"), *request.texts("args")])
    else:
        found = parse_command_line(request.text("command"))
    if not found:
        raise Refused("invalid", "The command is empty")
    return found
