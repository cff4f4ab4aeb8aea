"""Commands that list files: ls, du, tree."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from mcp_sim.libraries.shell.commands.invocation import Body, Invocation, Node, is_number

_BLOCK = 4  # KiB, as on ext4
_RECENT = timedelta(seconds=15778476)
"""Half a year: older files are listed with their year, as GNU ls does."""
_SIGNS = {"directory": "d", "symlink": "l"}
_INDICATORS = {"directory": "/", "symlink": "@"}
_LONG = (
    "all:a almost-all:A human-readable:h recursive:R reverse:r directory:d classify:F size:s numeric-uid-gid:n "
    "no-group:G inode:i color=? group-directories-first time-style= full-time sort= format="
)
_DU_LONG = "summarize:s human-readable:h all:a total:c bytes:b max-depth:d separate-dirs:S apparent-size exclude= time"


def mode_text(node: Node) -> str:
    """Return a mode as `ls -l` shows it."""
    bits = ["rwx"[at % 3] if node.mode >> (8 - at) & 1 else "-" for at in range(9)]
    for special, at, signs in ((0o4000, 2, "sS"), (0o2000, 5, "sS"), (0o1000, 8, "tT")):
        if node.mode & special:
            bits[at] = signs[bits[at] == "-"]
    return _SIGNS.get(node.kind, "-") + "".join(bits)


def human(size: float) -> str:
    """Return a number of bytes as `-h` shows it: rounded up, with one digit after the point below ten."""
    units = iter("KMGTP")
    unit = ""
    while size >= 1024:
        size, unit = size / 1024, next(units)
    if unit and size < 10:
        size = math.ceil(size * 10) / 10
        return f"{size:.1f}{unit}" if size < 10 else f"10{unit}"
    return f"{math.ceil(size)}{unit}"


def blocks(node: Node) -> int:
    """Return how many KiB a file takes on the disk."""
    return 0 if node.is_link else math.ceil(node.size / 1024 / _BLOCK) * _BLOCK


def ls(run: Invocation) -> None:
    options, paths = run.options("aAlhRtrS1dFpsigGnoUXkCmxQ", _LONG, 2)
    _Listing(run, options).list_all(paths or ["."])


class _Listing:
    """One run of ls."""

    def __init__(self, run: Invocation, options: Mapping[str, str]) -> None:
        self._run, self._flags, self._options = run, options.keys(), options
        self._is_long = bool(self._flags & {"l", "n", "o", "g", "full-time"})

    def list_all(self, paths: Sequence[str]) -> None:
        files: list[tuple[str, Node]] = []
        folders: list[tuple[str, Node]] = []
        for path in paths:
            node = self._run.look(path, follow=not self._is_long and "d" not in self._flags)
            if node is not None and path.endswith("/"):
                node = self._run.look(path, follow=True)
            node = node or self._run.look(path)
            if node is None:
                self._run.fail(f"ls: cannot access '{path}': No such file or directory\n", 2)
            elif node.is_directory and "d" not in self._flags:
                folders.append((path, node))
            else:
                files.append((path, node))
        self._run.out += self._lines(self._sorted(files))
        titled = len(paths) > 1 or "R" in self._flags
        for number, (path, _) in enumerate(self._sorted(folders)):
            if number or files:
                self._run.out.append("\n")
            self._folder(path, titled=titled)

    def _folder(self, path: str, *, titled: bool) -> None:
        if titled:
            self._run.out.append(f"{path}:\n")
        nodes = [(node.name, node) for node in self._run.list(path)]
        if not self._flags & {"a", "A"}:
            nodes = [(name, node) for name, node in nodes if not name.startswith(".")]
        nodes = self._sorted(nodes)
        dots = (
            [(name, self._run.look(posixpath.join(path, name))) for name in (".", "..")] if "a" in self._flags else []
        )
        shown = [*((name, node) for name, node in dots if node is not None), *nodes]
        if self._is_long or "s" in self._flags:
            total = sum(_BLOCK if node.is_directory else blocks(node) for _, node in shown)
            self._run.out.append(f"total {human(total * 1024) if 'h' in self._flags and total else total}\n")
        self._run.out += self._lines(shown)
        if "R" in self._flags:
            for name, node in nodes:
                if node.is_directory:
                    self._run.out.append("\n")
                    self._folder(posixpath.join(path, name), titled=True)

    def _sorted(self, nodes: list[tuple[str, Node]]) -> list[tuple[str, Node]]:
        order = self._options.get("sort", "")
        if "U" in self._flags or order == "none":
            return nodes
        nodes = sorted(nodes, key=lambda pair: pair[0].encode("utf-8", "surrogateescape"))
        if "t" in self._flags or order == "time":
            nodes.sort(key=lambda pair: pair[1].modified, reverse=True)
        elif "S" in self._flags or order == "size":
            nodes.sort(key=lambda pair: -_size(pair[1]))
        elif "X" in self._flags or order == "extension":
            nodes.sort(key=lambda pair: posixpath.splitext(pair[0])[1])
        if "r" in self._flags:
            nodes.reverse()
        if "group-directories-first" in self._flags:
            nodes.sort(key=lambda pair: not pair[1].is_directory)
        return nodes

    def _lines(self, nodes: Sequence[tuple[str, Node]]) -> Iterator[str]:
        if "m" in self._flags and nodes:
            yield ", ".join(name for name, _ in nodes) + "\n"
            return
        rows = [self._cells(node) for _, node in nodes]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for cells, (name, node) in zip(rows, nodes, strict=True):
            padded = [
                cell.ljust(width) if cell.isalpha() else cell.rjust(width)
                for cell, width in zip(cells, widths, strict=True)
            ]
            yield " ".join([*padded, self._name(name, node)]) + "\n"

    def _name(self, name: str, node: Node) -> str:
        if "Q" in self._flags:
            name = f'"{name}"'
        if node.is_link and self._is_long:
            return f"{name} -> {node.target}"
        if "F" in self._flags:
            return name + _INDICATORS.get(node.kind, "*" if node.mode & 0o111 else "")
        return f"{name}/" if "p" in self._flags and node.is_directory else name

    def _cells(self, node: Node) -> list[str]:
        flags, cells = self._flags, list[str]()
        if "i" in flags:
            cells.append(str(1_000_000 + sum(node.path.encode()) * 131 % 900_000))
        if "s" in flags:
            taken = _BLOCK if node.is_directory else blocks(node)
            cells.append(human(taken * 1024) if "h" in flags else str(taken))
        if not self._is_long:
            return cells
        links = 1
        if node.is_directory:
            links = 2 + sum(child.is_directory for child in self._run.list(node.path))
        owner = "0" if "n" in flags else self._run.user
        cells += [mode_text(node), str(links)]
        cells += [owner] if "g" not in flags else []
        cells += [owner] if not flags & {"o", "G"} else []
        size = _size(node)
        return [*cells, human(size) if "h" in flags else str(size), self._time(node)]

    def _time(self, node: Node) -> str:
        style = self._options.get("time-style", "full-iso" if "full-time" in self._flags else "")
        moment = node.modified
        if style == "full-iso":
            return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond:06d}000 +0000"
        if style == "long-iso":
            return f"{moment:%Y-%m-%d %H:%M}"
        if style.startswith("+"):
            return moment.strftime(style[1:])
        is_recent = self._run.now - _RECENT < moment <= self._run.now
        return f"{moment:%b} {moment.day:2d} " + (f"{moment:%H:%M}" if is_recent else f" {moment:%Y}")


def _size(node: Node) -> int:
    return _BLOCK * 1024 if node.is_directory else node.size


def du(run: Invocation) -> None:
    options, paths = run.options("shacbkSd:mLx0", _DU_LONG)
    deepest = options.get("d")
    depth = 0 if "s" in options else int(deepest) if deepest and is_number(deepest) else 1 << 30
    usage = _Usage(run, options, depth)
    total = 0
    for path in paths or ["."]:
        node = run.look(path)
        if node is None:
            run.fail(f"du: cannot access '{path}': No such file or directory\n")
        else:
            total += usage.measure(path, node, 0)
    if "c" in options:
        run.out.append(f"{usage.show(total)}\ttotal\n")


class _Usage:
    """One run of du. What was counted is not counted again; directories take nothing, as on tmpfs."""

    def __init__(self, run: Invocation, options: Mapping[str, str], depth: int) -> None:
        self._run, self._flags, self._depth = run, options.keys(), depth
        self._seen: set[str] = set()

    def show(self, size: int) -> str:
        if "b" in self._flags:
            return str(size)
        if "h" in self._flags:
            return human(size * 1024)
        return str(math.ceil(size / 1024)) if "m" in self._flags else str(size)

    def measure(self, path: str, node: Node, level: int) -> int:
        """Print what is at a path, and return its size: in bytes with -b, else in KiB."""
        if node.path in self._seen:
            return 0
        self._seen.add(node.path)
        size = _size(node) if "b" in self._flags else 0 if node.is_directory else self._kilobytes(node)
        below = 0
        if node.is_directory:
            for child in self._run.list(node.path):
                inner = self.measure(f"{path.rstrip('/')}/{child.name}", child, level + 1)
                if child.is_directory and "S" in self._flags:
                    below += inner
                else:
                    size += inner
        if level <= self._depth and (node.is_directory or "a" in self._flags or not level):
            time = f"\t{node.modified:%Y-%m-%d %H:%M}" if "time" in self._flags else ""
            self._run.out.append(f"{self.show(size)}{time}\t{path}\n")
        return size + below

    def _kilobytes(self, node: Node) -> int:
        return math.ceil(node.size / 1024) if "apparent-size" in self._flags else blocks(node)


def tree(run: Invocation) -> None:
    options, paths = run.options("adfpugL:hsFI:P:CDi", "noreport dirsfirst charset=")
    branches = _Tree(run, options)
    for path in paths or ["."]:
        node = run.look(path, follow=True)
        if node is None or not node.is_directory:
            run.out.append(f"{path}  [error opening dir]\n")
            run.code = 2
        else:
            run.out.append(f"{branches.facts(node)}{path}\n")
            branches.folders += 1
            branches.grow(path, "", 1)
    if "noreport" not in options:
        folders, files = branches.folders - (1 if run.code else 0), branches.files
        report = f"{folders} director{'y' if folders == 1 else 'ies'}"
        run.out.append(f"\n{report}{'' if 'd' in options else f', {files} file' + ('' if files == 1 else 's')}\n")


class _Tree:
    """One run of tree."""

    def __init__(self, run: Invocation, options: Mapping[str, str]) -> None:
        self._run, self._options = run, options
        deepest = options.get("L", "")
        self._depth = int(deepest) if is_number(deepest) else 1 << 30
        self.folders = self.files = 0

    def facts(self, node: Node) -> str:
        facts = [mode_text(node)] if "p" in self._options else []
        facts += [f"{self._run.user:8}" for letter in "ug" if letter in self._options]
        size = _size(node)
        facts += [f"{human(size):>4}"] if "h" in self._options else [f"{size:>11}"] if "s" in self._options else []
        return f"[{' '.join(facts)}]  " if facts else ""

    def grow(self, path: str, before: str, level: int) -> None:
        nodes = [node for node in self._run.list(path) if self._is_shown(node)]
        if "dirsfirst" in self._options:
            nodes.sort(key=lambda node: not node.is_directory)
        for number, node in enumerate(nodes, 1):
            is_last = number == len(nodes)
            place = f"{path.rstrip('/')}/{node.name}"
            name = (place if "f" in self._options else node.name) + (f" -> {node.target}" if node.is_link else "")
            name += "/" if "F" in self._options and node.is_directory else ""
            self._run.out.append(f"{before}{'└── ' if is_last else '├── '}{self.facts(node)}{name}\n")
            if not node.is_directory:
                self.files += 1
                continue
            self.folders += 1
            if level < self._depth:
                self.grow(place, before + ("    " if is_last else "│\xa0\xa0 "), level + 1)

    def _is_shown(self, node: Node) -> bool:
        if node.name.startswith(".") and "a" not in self._options:
            return False
        from fnmatch import fnmatchcase  # noqa: PLC0415 (for a rare option)

        ignored = self._options.get("I", "").split("|")
        if any(pattern and fnmatchcase(node.name, pattern) for pattern in ignored):
            return False
        wanted = self._options.get("P", "").split("|")
        if wanted != [""] and not node.is_directory and not any(fnmatchcase(node.name, pattern) for pattern in wanted):
            return False
        return node.is_directory or "d" not in self._options


BODIES: Mapping[str, Body] = {"ls": ls, "du": du, "tree": tree}
