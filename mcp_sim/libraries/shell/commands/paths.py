"""Where paths lead: realpath, readlink."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from mcp_sim.libraries.shell.commands.invocation import LINKS, Body, Failed, Invocation


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
    options, paths = run.options(
        "emsqLPz", ["relative-to=", "canonicalize-existing", "canonicalize-missing", "no-symlinks"]
    )
    if not paths:
        raise Failed("realpath: missing operand\nTry 'realpath --help' for more information.\n")
    for path in paths:
        place = run.place(path) if options.keys() & {"s", "no-symlinks"} else resolved(run, path)
        needed = place if options.keys() & {"e", "canonicalize-existing"} else posixpath.dirname(place)
        if run.look(needed) is None and not options.keys() & {"m", "canonicalize-missing"}:
            run.fail(f"realpath: {path}: No such file or directory\n")
            continue
        base = options.get("relative-to")
        run.out.append(f"{place if base is None else posixpath.relpath(place, run.place(base))}\n")


def readlink(run: Invocation) -> None:
    options, paths = run.options("femnqsvz", ["canonicalize", "canonicalize-existing", "no-newline"])
    if not paths:
        raise Failed("readlink: missing operand\nTry 'readlink --help' for more information.\n")
    end = "" if options.keys() & {"n", "no-newline"} else "\n"
    for path in paths:
        node = run.look(path)
        if options.keys() & {"f", "e", "m", "canonicalize", "canonicalize-existing"}:
            run.out.append(f"{resolved(run, path)}{end}")
        elif node is None or not node.is_link:
            run.code = 1
        else:
            run.out.append(f"{node.target}{end}")


BODIES: Mapping[str, Body] = {"realpath": realpath, "readlink": readlink}
