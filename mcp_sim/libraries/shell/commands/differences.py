"""Commands that compare and split files: diff, cmp, split."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from mcp_sim.libraries.line_changes import Step, hunks, steps
from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation, Node, is_number

_NO_NEWLINE = "\\ No newline at end of file\n"
_DIFF_LONG = (
    "brief:q recursive:r ignore-case:i ignore-all-space:w ignore-space-change:b new-file:N report-identical-files:s "
    "side-by-side:y ignore-blank-lines:B text:a unified=? context=? color=? width:W suppress-common-lines"
)
_LONGEST_SUFFIX = 16
_MOST_PARTS = 676  # as two letters count


def diff(run: Invocation) -> None:
    options, paths = run.options("rquU:iwbBNsycaW:", _DIFF_LONG, 2)
    if len(paths) != 2:
        last = (paths or ["diff"])[-1]
        problem = f"missing operand after '{last}'" if len(paths) < 2 else f"extra operand '{paths[2]}'"
        raise Failed(f"diff: {problem}\ndiff: Try 'diff --help' for more information.\n", 2)
    _Comparison(run, options).compare(*paths)


class _Comparison:
    """One run of diff."""

    def __init__(self, run: Invocation, options: Mapping[str, str]) -> None:
        self._run = run
        self._flags = options.keys()
        width = options.get("U", options.get("unified"))
        self._context = None
        if "u" in options or width is not None:
            self._context = int(width) if width and is_number(width) else 3
        columns = options.get("W", str(WIDTH))
        if not is_number(columns) or not int(columns):
            raise Failed(f"diff: invalid width '{columns}'\ndiff: Try 'diff --help' for more information.\n", 2)
        self._width = int(columns)
        given = [argument for argument in run.arguments if argument.startswith("-") and argument != "-"]
        self._given = "".join(f" {argument}" for argument in given)

    def compare(self, first: str, second: str) -> None:
        nodes = [self._look(path) for path in (first, second)]
        missing = [path for path, node in zip((first, second), nodes, strict=True) if node is None and path != "-"]
        for path in missing:
            self._run.fail(f"diff: {path}: No such file or directory\n", 2)
        if missing:
            return
        folders = [node is not None and node.is_directory for node in nodes]
        if all(folders):
            self._folders(first, second)
        elif folders[0]:
            self._files(posixpath.join(first, posixpath.basename(second)), second)
        elif folders[1]:
            self._files(first, posixpath.join(second, posixpath.basename(first)))
        else:
            self._files(first, second)

    def _look(self, path: str) -> Node | None:
        return None if path == "-" else self._run.look(path, follow=True)

    def _folders(self, first: str, second: str) -> None:
        names = [{node.name for node in self._run.list(path)} for path in (first, second)]
        for name in sorted(names[0] | names[1]):
            here, there = posixpath.join(first, name), posixpath.join(second, name)
            if name not in names[0] or name not in names[1]:
                only = first if name in names[0] else second
                self._run.out.append(f"Only in {only}: {name}\n")
                self._run.code = max(self._run.code, 1)
                continue
            left, right = self._look(here), self._look(there)
            if left is None or right is None:
                continue
            if left.is_directory != right.is_directory:
                kinds = ["directory" if node.is_directory else "regular file" for node in (left, right)]
                self._run.out.append(f"File {here} is a {kinds[0]} while file {there} is a {kinds[1]}\n")
                self._run.code = max(self._run.code, 1)
            elif not left.is_directory:
                self._files(here, there, f"diff{self._given} {here} {there}\n")
            elif "r" in self._flags:
                self._folders(here, there)
            else:
                self._run.out.append(f"Common subdirectories: {here} and {there}\n")

    def _files(self, first: str, second: str, title: str = "") -> None:
        data = [self._run.read(path) for path in (first, second)]
        if data[0] == data[1]:
            if "s" in self._flags:
                self._run.out.append(f"Files {first} and {second} are identical\n")
            return
        if "a" not in self._flags and any(b"\0" in content for content in data):
            self._run.out.append(f"Binary files {first} and {second} differ\n")
            self._run.code = max(self._run.code, 2)
            return
        old, new = (content.decode("utf-8", "replace").splitlines(keepends=True) for content in data)
        every = steps([*map(self._plain, old)], [*map(self._plain, new)], self._context or 0)
        changes = [step for step in every if step[0] != "equal"]
        if not changes and "y" not in self._flags:
            return
        self._run.code = max(self._run.code, int(bool(changes)))
        if "q" in self._flags:
            self._run.out.append(f"Files {first} and {second} differ\n")
        elif "y" in self._flags:
            shows_common = "suppress-common-lines" not in self._flags
            self._run.out += [title, *side_by_side(old, new, every, self._width, shows_common=shows_common)]
        elif self._context is None:
            self._run.out += [title, *self._normal(old, new, changes)]
        else:
            self._run.out += [title, *self._unified(old, new, every, first, second)]

    def _plain(self, line: str) -> str:
        if "i" in self._flags:
            line = line.lower()
        if "w" in self._flags:
            return "".join(line.split())
        return " ".join(line.split()) if "b" in self._flags else line

    def _normal(self, old: Sequence[str], new: Sequence[str], changes: Sequence[Step]) -> Iterator[str]:
        for kind, start, end, first, last in changes:
            letter = {"insert": "a", "delete": "d"}.get(kind, "c")
            left = str(start) if kind == "insert" else _span(start, end)
            right = str(first) if kind == "delete" else _span(first, last)
            yield f"{left}{letter}{right}\n"
            yield from _marked("< ", old[start:end])
            yield from ("---\n",) if kind == "replace" else ()
            yield from _marked("> ", new[first:last])

    def _unified(
        self, old: Sequence[str], new: Sequence[str], every: Sequence[Step], first: str, second: str
    ) -> Iterator[str]:
        yield f"--- {first}\t{self._time(first)}\n"
        yield f"+++ {second}\t{self._time(second)}\n"
        for line in hunks(old, new, every, self._context or 0):
            yield from (f"{line}\n",) if line.startswith("@@") else _marked("", [line])

    def _time(self, path: str) -> str:
        node = self._look(path)
        moment = self._run.now if node is None else node.modified
        return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond:06d}000 +0000"


def _span(start: int, end: int) -> str:
    return str(end) if end - start == 1 else f"{start + 1},{end}"


def _marked(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f"{sign}{line}"
        if not line.endswith("\n"):
            yield f"\n{_NO_NEWLINE}"


def cmp(run: Invocation) -> None:
    options, paths = run.options("sln:b", "silent:s quiet:s bytes:n verbose:l", 2)
    if not paths:
        raise Failed("cmp: missing operand after 'cmp'\ncmp: Try 'cmp --help' for more information.\n", 2)
    first, second = paths[0], paths[1] if len(paths) > 1 else "-"
    try:
        left, right = run.read(first), run.read(second)
    except Failed as failure:
        raise Failed(failure.text, 2) from None
    if left == right:
        return
    run.code = 1
    if "s" in options:
        return
    at = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    if at is None:
        shorter, data = (first, left) if len(left) < len(right) else (second, right)
        if not data:
            run.errors.append(f"cmp: EOF on {shorter} which is empty\n")
        else:
            lines, is_whole = data.count(b"\n"), data.endswith(b"\n")
            line = f"{'line' if is_whole else 'in line'} {lines + (not is_whole)}"
            run.errors.append(f"cmp: EOF on {shorter} after byte {len(data)}, {line}\n")
    else:
        line = left[:at].count(b"\n") + 1
        run.out.append(f"{first} {second} differ: byte {at + 1}, line {line}\n")


def split(run: Invocation) -> None:
    options, rest = run.options(
        "l:b:a:dxn:e",
        "additional-suffix= numeric-suffixes=? hex-suffixes=? bytes:b lines:l suffix-length:a number:n verbose "
        "elide-empty-files:e",
    )
    source, prefix = rest[0] if rest else "-", rest[1] if len(rest) > 1 else "x"
    try:
        data = run.read(source)
    except Failed:
        raise Failed(f"split: cannot open '{source}' for reading: No such file or directory\n") from None
    parts = _parts(data, options)
    width = options.get("a", "2")
    if not is_number(width) or not 1 <= int(width) <= _LONGEST_SUFFIX:
        raise Failed(f"split: invalid suffix length: '{width}'\n")
    signs, first = "abcdefghijklmnopqrstuvwxyz", "0"
    for known, names in (("0123456789", ("d", "numeric-suffixes")), ("0123456789abcdef", ("x", "hex-suffixes"))):
        if not options.keys().isdisjoint(names):
            signs, first = known, options.get(names[1]) or "0"
    if not is_number(first) or len(parts) + int(first[:9]) > min(len(signs) ** int(width), _MOST_PARTS):
        raise Failed("split: output file suffixes exhausted\n")
    for number, piece in enumerate(parts, int(first)):
        name, rest_number = "", number
        for _ in range(int(width)):
            name, rest_number = signs[rest_number % len(signs)] + name, rest_number // len(signs)
        path = f"{prefix}{name}{options.get('additional-suffix', '')}"
        run.fs.write_file(run.place(path), piece)
        run.out += [f"creating file '{path}'\n"] if "verbose" in options else []


def _parts(data: bytes, options: Mapping[str, str]) -> list[bytes]:
    """Return what split writes into each file."""
    size = options.get("b")
    if size is not None:
        step = _bytes(size)
        return [data[at : at + step] for at in range(0, len(data), step)]
    chunks = options.get("n")
    if chunks is not None:
        by_lines, number = chunks.startswith("l/"), chunks.removeprefix("l/")
        if not is_number(number) or not 0 < int(number) <= _MOST_PARTS:
            raise Failed(f"split: invalid number of chunks: '{chunks}'\n")
        step, rest = divmod(len(data), int(number))
        ends = [at * step + min(at, rest) for at in range(1, int(number) + 1)]
        if by_lines:
            ends = [(data.find(b"\n", end - 1) + 1 or len(data)) if 0 < end < len(data) else end for end in ends]
        return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    count = options.get("l", "1000")
    if not is_number(count) or not int(count):
        raise Failed(f"split: invalid number of lines: '{count}'\n")
    lines = data.splitlines(keepends=True)
    return [b"".join(lines[at : at + int(count)]) for at in range(0, len(lines), int(count))]


def _bytes(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,18})([bkKmMgGtT]?)(i?B)?", text)
    if match is None or not int(match[1]):
        raise Failed(f"split: invalid number of bytes: '{text}'\n")
    base = 1000 if match[3] == "B" and match[2] else 1024
    return int(match[1]) * (512 if match[2] == "b" else base ** " KMGT".index(match[2].upper() or " "))


BODIES: Mapping[str, Body] = {"diff": diff, "cmp": cmp, "split": split}

# side by side ---------------------------------------------------------------------------------------------------------


WIDTH = 130
"""The usual width of GNU diff, in characters."""
_GUTTER = 3
_TAB = 8


def side_by_side(
    old: Sequence[str], new: Sequence[str], steps: Sequence[Step], width: int, *, shows_common: bool
) -> Iterator[str]:
    """Yield the lines of both files beside each other, with `|`, `<` or `>` between those that differ."""
    offset = (width + _TAB + _GUTTER) // (2 * _TAB) * _TAB
    half = max(0, min(offset - _GUTTER, width - offset))
    right = offset if half else width
    for kind, start, end, first, last in steps:
        if kind == "equal" and not shows_common:
            continue
        for left_line, right_line in zip_longest(old[start:end], new[first:last]):
            sign = " " if kind == "equal" else "<" if right_line is None else ">" if left_line is None else "|"
            text, column = _cut(left_line, 0, half)
            if sign != " ":
                middle = (half + right - 1) // 2
                text, column = f"{text}{_filling(column, middle)}{sign}", middle + 1
            if right_line is not None and right_line != "\n":
                text += _filling(column, right) + _cut(right_line, right, half)[0]
            yield f"{text}\n"


def _cut(line: str | None, start: int, half: int) -> tuple[str, int]:
    """Return what of a line fits into a column that begins at `start`, and where it ends."""
    text, column = "", 0
    for character in (line or "").rstrip("\n"):
        wide = _TAB - column % _TAB if character == "\t" else 1
        if column + wide > half - (character == "\t"):  # a tab does not end where the column does
            break
        text += _filling(start + column, start + column + wide) if character == "\t" else character
        column += wide
    return text, start + column


def _filling(start: int, end: int) -> str:
    """Return tabs and spaces from one place to another."""
    tabs = max(0, end // _TAB - start // _TAB)
    return "\t" * tabs + " " * (end - (end // _TAB * _TAB if tabs else start))
