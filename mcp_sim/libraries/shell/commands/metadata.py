"""stat, with the times of the world, and where paths lead: realpath, readlink."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from datetime import datetime

from mcp_sim.libraries.shell.commands.invocation import LINKS, Body, Failed, Invocation, Node
from mcp_sim.libraries.shell.commands.listing import mode_text


def resolved(run: Invocation, path: str) -> str:
    """Return an absolute path without symbolic links."""
    place = "/"
    parts: list[str] = run.place(path).strip("/").split("/")
    for _ in range(LINKS * len(parts)):
        if not parts:
            return place
        place = posixpath.join(place, parts.pop(0))
        node = run.look(place)
        if node is not None and node.is_link:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(place), node.target))
            parts, place = [*target.strip("/").split("/"), *parts], "/"
    raise Failed(f"{run.name}: {path}: Too many levels of symbolic links\n")


def realpath(run: Invocation) -> None:
    options, paths = run.options("emsqLPz", "relative-to= canonicalize-existing:e canonicalize-missing:m no-symlinks:s")
    if not paths:
        raise Failed("realpath: missing operand\nTry 'realpath --help' for more information.\n")
    for path in paths:
        place = run.place(path) if "s" in options else resolved(run, path)
        needed = place if "e" in options else posixpath.dirname(place)
        if run.look(needed) is None and "m" not in options:
            run.fail(f"realpath: {path}: No such file or directory\n")
            continue
        base = options.get("relative-to")
        run.out.append(f"{place if base is None else posixpath.relpath(place, run.place(base))}\n")


def readlink(run: Invocation) -> None:
    options, paths = run.options("femnqsvz", "canonicalize:f canonicalize-existing:e no-newline:n")
    if not paths:
        raise Failed("readlink: missing operand\nTry 'readlink --help' for more information.\n")
    end = "" if "n" in options else "\n"
    for path in paths:
        node = run.look(path)
        if options.keys() & {"f", "e", "m"}:
            run.out.append(f"{resolved(run, path)}{end}")
        elif node is None or not node.is_link:
            run.code = 1
        else:
            run.out.append(f"{node.target}{end}")


_KINDS = {"directory": "directory", "symlink": "symbolic link"}
_SIZE = 4096  # of a directory, and of a block of input and output
_DIRECTIVE = re.compile(r"%[-+ 0#]{0,5}([0-9]*)([A-Za-z%])")
_WIDEST = 4096  # characters that a value is filled up to
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_FULL = """  File: %N
  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F
Device: 254,1\tInode: %-11i Links: %h
Access: (%04a/%A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)
Access: %x
Modify: %y
Change: %z
 Birth: %w
"""


def stat(run: Invocation) -> None:
    options, paths = run.options("Lc:ft", "dereference:L format:c printf= terse:t file-system:f")
    if not paths:
        raise Failed("stat: missing operand\nTry 'stat --help' for more information.\n")
    pattern = options.get("c")
    printed = options.get("printf")
    for path in paths:
        node = run.look(path, follow="L" in options)
        if node is None:
            run.fail(f"stat: cannot statx '{path}': No such file or directory\n")
        elif printed is not None:
            run.out.append(_filled(re.sub(r"\\[nt\\]", lambda match: _ESCAPES[match[0]], printed), path, node))
        else:
            run.out.append(
                _filled(_FULL if pattern is None else f"{pattern}\n", path, node, quoted=pattern is not None)
            )


def _filled(pattern: str, path: str, node: Node, *, quoted: bool = True) -> str:
    size = _SIZE if node.is_directory else node.size
    kind = _KINDS.get(node.kind, "regular file" if size else "regular empty file")
    name = f"'{path}'" if quoted else path
    if node.is_link:
        name = f"{name} -> '{node.target}'" if quoted else f"{path} -> {node.target}"
    moment = _time(node.modified)
    values = {
        "n": path, "N": name, "s": str(size), "b": str(-(-size // 4096) * 8), "B": "512", "o": str(_SIZE), "F": kind,
        "a": f"{node.mode:o}", "A": mode_text(node), "u": "0", "U": "root", "g": "0", "G": "root", "h": "1",
        "f": f"{node.mode | {'directory': 0o040000, 'symlink': 0o120000}.get(node.kind, 0o100000):x}",
        "i": str(1_000_000 + sum(node.path.encode()) * 131 % 900_000), "d": "65025", "D": "fe01", "m": "/", "%": "%",
    }  # fmt: skip
    values |= dict.fromkeys("wxyz", moment) | dict.fromkeys("WXYZ", str(int(node.modified.timestamp())))
    return _DIRECTIVE.sub(lambda match: _padded(match, values.get(match[2], "?")), pattern)


def _padded(match: re.Match[str], value: str) -> str:
    width, flags = min(int(match[1] or 0), _WIDEST), match[0][1 : -1 - len(match[1])]
    if "0" in flags or match[1].startswith("0"):
        return value.rjust(width, "0")
    return value.ljust(width) if "-" in flags else value.rjust(width)


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond:06d}000 +0000"


BODIES: Mapping[str, Body] = {"stat": stat, "realpath": realpath, "readlink": readlink}
