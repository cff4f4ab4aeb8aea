"""Commands of the shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from mcp_sim.plans.files.paths import is_within, join_path, split_path
from mcp_sim.plans.files.request import FilesRequest
from mcp_sim.plans.files.shell import MISSING, CommandFunction, Failed, Shell, fail, parse_command_line, parse_words
from mcp_sim.plans.files.tree import Entry
from mcp_sim.plans.outcome import Outcome
from mcp_sim.plans.patterns import matches_wildcards, search_test
from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Record
from mcp_sim.types.lexicon.english import vocabulary

_STARTS = vocabulary("start launch spawn")
_DEEP = {"r", "R", "--recursive"}
_COUNT = re.compile(r"[0-9]{1,9}")


def run(request: FilesRequest) -> Outcome:
    """Run the shell `command`, a text or a list of words with more in `args`, in `cwd` with `stdin` as its input.

    Raises `Refused` if it cannot be parsed, or fails without a change and the result has no field for the exit code.
    """
    is_listed = isinstance(request.get("command"), list) or request.texts("args")
    words = [*request.texts("command"), *request.texts("args")]
    pipes = parse_words(words) if is_listed else parse_command_line(request.text("command"))
    if not pipes:
        raise Refused("invalid", "The command is empty")
    cwd = request.tree.directory(request.text("cwd", request.tree.working)).path
    shell = Shell(request.tree, cwd, COMMANDS, request.now)
    output, code = shell.run(pipes, request.text("stdin"))
    errors = "\n".join(shell.errors)
    text = output + (f"\n{errors}" if output and errors else errors)
    shows_code = request.tool is not None and request.tool.output_schema is not None
    is_started = not _STARTS.isdisjoint(request.tool_words)
    if code and not shows_code and not request.changes and not is_started:
        raise Refused("invalid", text or f"Command failed with exit code {code}", code=code)
    facts: Record = {"stdout": output, "stderr": errors, "exit_code": code, "success": code == 0, "output": text}
    return Outcome(text, facts)


def _join(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _echo(shell: Shell) -> str:
    flag = next((arg for arg in shell.args[:1] if arg in {"-n", "-e"}), "")
    text = " ".join(shell.args[1:] if flag else shell.args)
    text = text.replace("\\n", "\n").replace("\\t", "\t") if flag == "-e" else text
    return text if flag == "-n" else f"{text}\n"


def _cat(shell: Shell) -> str:
    text = "".join(content for _, content in shell.texts(shell.operands))
    numbered = (f"{at:6}\t{line}" for at, line in enumerate(text.splitlines(), 1))
    return _join([*numbered]) if "n" in shell.flags else text


def _ends(shell: Shell) -> str:
    """Run `head` or `tail` with `-n 3`, `-n3` or `-3`."""
    many, paths, words = 10, list[str](), iter(shell.args)
    for word in words:
        number = next(words, "") if word == "-n" else word.removeprefix("-n").lstrip("-") if word[:1] == "-" else None
        if number is None:
            paths.append(word)
        elif _COUNT.fullmatch(number):
            many = int(number)
        else:
            raise Failed(f"invalid number of lines: '{number}'")
    chosen = slice(many) if shell.name == "head" else slice(-many, None) if many else slice(0)
    return "".join(_join(text.splitlines()[chosen]) for _, text in shell.texts(paths))


def _wc(shell: Shell) -> str:
    lines: list[str] = []
    for path, text in shell.texts(shell.operands):
        counts = {"l": text.count("\n"), "w": len(text.split()), "c": len(text.encode("utf-8", "replace"))}
        shown = [str(count) for letter, count in counts.items() if letter in shell.flags or not shell.flags]
        lines.append(" ".join([*shown, path] if path else shown))
    return _join(lines)


def _sort(shell: Shell) -> str:
    lines = shell.lines()
    return _join(sorted(set(lines) if "u" in shell.flags else lines, reverse="r" in shell.flags))


def _grep(shell: Shell) -> str:
    flags, (pattern, *paths) = shell.flags, shell.required()
    holds, is_deep = _line_test(pattern, flags), bool(_DEEP & flags)
    if is_deep:
        paths = [file for path in paths or ["."] for file in _files_below(shell, path)]
    has_name = "h" not in flags and (len(paths) > 1 or is_deep)
    lines = [
        f"{path}:" * has_name + f"{at}:" * ("n" in flags) + line
        for path, text in shell.texts(paths)
        for at, line in enumerate(text.splitlines(), 1)
        if holds(line)
    ]
    output = f"{len(lines)}\n" if "c" in flags else _join(lines)
    return output if lines else fail()


def _line_test(pattern: str, flags: set[str]) -> Callable[[str], bool]:
    try:
        test = search_test(re.escape(pattern) if "F" in flags else pattern, ignores_case="i" in flags).counted
    except Refused as refused:
        raise Failed(str(refused)) from None
    return (lambda line: not test(line)) if "v" in flags else test


def _files_below(shell: Shell, path: str) -> Iterator[str]:
    """Yield the paths of the files below a directory, or that of a file, beginning with the given path."""
    entry = shell.find(path)
    for inner in (entry, *shell.tree.below(entry.path)):
        if inner.is_file:
            yield _shown(inner, entry, path)


def _shown(entry: Entry, base: Entry, path: str) -> str:
    return path.rstrip("/") + entry.path[len(base.path.rstrip("/")) :]


def _ls(shell: Shell) -> str:
    lists_all, is_long, blocks = not {"a", "A"}.isdisjoint(shell.flags), "l" in shell.flags, list[str]()
    for path in shell.operands or ["."]:
        entry = shell.find(path)
        inside = [
            (inside_entry.name, inside_entry)
            for inside_entry in shell.tree.inside(entry.path)
            if lists_all or inside_entry.name[0] != "."
        ]
        rows = [(path, entry)] if entry.is_file else inside
        lines = _join([_long(inside_entry, name) if is_long else name for name, inside_entry in rows])
        blocks.append(lines if entry.is_file or len(shell.operands) < 2 else f"{path}:\n{lines}")
    return "\n".join(blocks)


def _long(entry: Entry, name: str) -> str:
    mode, size = ("-rw-r--r--", entry.size) if entry.is_file else ("drwxr-xr-x", 4096)
    return f"{mode} 1 user user {size:>6} {str(entry.record.get('modified_at', ''))[:10]} {name}"


def _find(shell: Shell) -> str:
    """Run `find DIRECTORY -name PATTERN -type f|d -maxdepth N`."""
    args = shell.args
    at = next((place for place, arg in enumerate(args) if arg.startswith("-")), len(args))
    tests = dict(zip(args[at::2], args[at + 1 :: 2], strict=False))
    unknown = set(tests) - {"-name", "-iname", "-type", "-maxdepth"}
    if unknown or (len(args) - at) % 2:
        raise Failed(f"unknown predicate '{next(iter(sorted(unknown)), args[-1])}'")
    lines: list[str] = []
    for path in args[:at] or ["."]:
        entry = shell.find(path)
        levels = int(tests["-maxdepth"]) if _COUNT.fullmatch(tests.get("-maxdepth", "")) else None
        below = shell.tree.below(entry.path, levels) if levels != 0 else ()
        lines += [_shown(inner, entry, path) for inner in (entry, *below) if _is_found(inner, tests)]
    return _join(lines)


def _is_found(entry: Entry, tests: Mapping[str, str]) -> bool:
    name, kind = tests.get("-name", tests.get("-iname", "*")), "f" if entry.is_file else "d"
    shown, name = (entry.name.lower(), name.lower()) if "-iname" in tests else (entry.name, name)
    return matches_wildcards(shown, name) and tests.get("-type", kind) == kind


def _cd(shell: Shell) -> str:
    path = next(iter(shell.args), shell.tree.working)
    entry = shell.find(path)
    if entry.is_file:
        raise Failed(f"{path}: Not a directory")
    shell.cwd = entry.path
    return ""


def _mkdir(shell: Shell) -> str:
    is_deep = bool({"p", "--parents"} & shell.flags)
    for path in shell.required():
        place = shell.at(path)
        if shell.tree.find(place) is not None and not is_deep:
            raise Failed(f"cannot create directory '{path}': File exists")
        if not is_deep:
            shell.need_parent(path)
        shell.tree.make(place)
    return ""


def _rmdir(shell: Shell) -> str:
    for path in shell.required():
        entry = shell.find(path)
        if entry.is_file or shell.tree.inside(entry.path):
            raise Failed(f"failed to remove '{path}': {'Not a directory' if entry.is_file else 'Directory not empty'}")
        shell.tree.remove(entry)
    return ""


def _rm(shell: Shell) -> str:
    for path in shell.required():
        if "f" in shell.flags and shell.tree.find(shell.at(path)) is None:
            continue
        entry = shell.find(path, f"cannot remove '{{path}}': {MISSING}")
        if not entry.is_file and not _DEEP & shell.flags:
            raise Failed(f"cannot remove '{path}': Is a directory")
        if not split_path(entry.path):
            raise Failed("it is dangerous to operate recursively on '/'")
        shell.tree.remove(entry)
    return ""


def _touch(shell: Shell) -> str:
    for path in shell.required():
        entry = shell.tree.find(shell.at(path))
        if entry is None or entry.is_file:
            shell.write(path, "", appends=True)
    return ""


def _copy(shell: Shell) -> str:
    """Run `cp` or `mv`."""
    *sources, last = shell.required(2)
    place = shell.at(last)
    existing = shell.tree.find(place)
    is_directory = existing is not None and not existing.is_file
    if len(sources) > 1 and not is_directory:
        raise Failed(f"target '{last}' is not a directory")
    shell.need_parent(last)
    for path in sources:
        entry = shell.find(path, f"cannot stat '{{path}}': {MISSING}")
        target = join_path(place, entry.name) if is_directory else place
        if is_within(target, [entry.path]):
            raise Failed(f"cannot put '{path}' into itself: '{path}' and '{last}' are the same file")
        if shell.name == "cp" and not entry.is_file and {*_DEEP, "a"}.isdisjoint(shell.flags):
            raise Failed(f"-r not specified; omitting directory '{entry.name}'")
        shell.tree.copy(entry, target)
        if shell.name == "mv":
            shell.tree.remove(entry)
    return ""


COMMANDS: Mapping[str, CommandFunction] = {
    "basename": lambda shell: f"{shell.required()[0].rstrip('/').rsplit('/', 1)[-1]}\n",
    "cat": _cat, "cd": _cd, "cp": _copy, "date": lambda shell: f"{shell.now:%a %b %d %H:%M:%S UTC %Y}\n",
    "echo": _echo, "false": lambda _: fail(), "find": _find, "grep": _grep, "head": _ends, "ls": _ls, "mkdir": _mkdir,
    "mv": _copy, "pwd": lambda shell: f"{shell.cwd}\n", "rm": _rm, "rmdir": _rmdir, "sort": _sort, "tail": _ends,
    "touch": _touch, "true": lambda _: "", "uniq": lambda shell: _join([line for line, _ in groupby(shell.lines())]),
    "wc": _wc, "whoami": lambda _: "user\n",
}  # fmt: skip
