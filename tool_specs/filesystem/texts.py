"""Edits, patches, globs, sizes and times as the server of files shows them."""

import re
from datetime import datetime

from mcp_sim.libraries.line_changes import unified
from mcp_sim.libraries.patterns import PatternError, search_test
from mcp_sim.programs import Refused

CONTEXT = 4
UNITS = ("B", "KB", "MB", "GB", "TB")


def edited(text, old, new):
    """Return the text with the first occurrence of `old` replaced, and whether there is one.

    Without an exact match, lines that differ only in the space around them are replaced, with the indentation kept.
    """
    if old in text:
        return text.replace(old, new, 1), True
    lines, wanted = text.split("\n"), old.split("\n")
    for at in range(len(lines) - len(wanted) + 1):
        here = lines[at : at + len(wanted)]
        if all(line.strip() == other.strip() for line, other in zip(here, wanted, strict=True)):
            lines[at : at + len(wanted)] = _indented(new.split("\n"), wanted, _indent(here[0]))
            return "\n".join(lines), True
    return text, False


def _indented(lines, wanted, first):
    """Return new lines with the indentation of the first old line; the others keep theirs relative to it."""
    shown = [first + lines[0].lstrip()]
    for at, line in enumerate(lines[1:], 1):
        old, new = _indent(wanted[at]) if at < len(wanted) else "", _indent(line)
        deeper = " " * max(0, len(new) - len(old))
        shown.append(first + deeper + line.lstrip() if old and new else line)
    return shown


def _indent(line):
    return line[: len(line) - len(line.lstrip())]


def patch(before, after, path):
    """Return the difference of two texts with four lines of context."""
    lines = [f"Index: {path}", "=" * 67, f"--- {path}\toriginal", f"+++ {path}\tmodified"]
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in unified(old, new, CONTEXT):
        if line.startswith("@@"):
            lines.append(re.sub(r"([-+]\d+)(?= )", r"\1,1", line))
        else:
            lines.append(line.rstrip("\n"))
            lines += [] if line.endswith("\n") else ["\\ No newline at end of file"]
    return "\n".join(lines) + "\n"


SIGNS = {"**/": "(?:.*/)?", "/**": "(?:/.*)", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def glob_test(pattern):
    """Return a test whether a whole path matches. `**` spans folders, `{a,b}` are alternatives."""
    parts = re.split(r"(\*\*/|/\*\*|\*\*|\*|\?|\{[^{}]*\})", re.sub(r"(?:\*\*/)+", "**/", pattern))
    texts = [SIGNS.get(part) or _alternatives(part) or re.escape(part) for part in parts]
    try:
        return search_test(rf"(?s)\A(?:{''.join(texts)})\z")
    except PatternError:
        raise Refused("pattern is too long") from None


def _alternatives(part):
    is_set = part.startswith("{") and part.endswith("}") and "," in part
    return f"(?:{'|'.join(map(re.escape, part[1:-1].split(',')))})" if is_set else ""


def size_text(size):
    """Return a size in the largest unit in which it is one or more: `1.50 KB`."""
    power = min(max(size.bit_length() - 1, 0) // 10, len(UNITS) - 1)
    return f"{size / 1024**power:.2f} {UNITS[power]}" if power else f"{size} B"


def time_text(moment):
    """Return a time as JavaScript prints it in UTC."""
    return f"{datetime.fromisoformat(moment):%a %b %d %Y %H:%M:%S} GMT+0000 (Coordinated Universal Time)"
