"""Snapshots of files, the differences between them, and patches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from hashlib import sha1
from io import StringIO
from typing import TypeAlias

from mcp_sim.libraries.line_changes import steps, unified
from mcp_sim.types import Record

Snapshot: TypeAlias = Mapping[str, str]
"""Texts of files by their path below the root of a repository."""

Difference: TypeAlias = Mapping[str, "tuple[str | None, str | None]"]
"""Path -> the text before and after; None if there is no file."""

_HEADING = re.compile(r"[A-Za-z_$]")
_LONGEST_HEADING = 80  # as in git
MOST_COMPARED = 4_000_000  # SequenceMatcher is quadratic: one call must not hold the world for seconds


def difference(before: Snapshot, after: Snapshot) -> Difference:
    """Return the changed paths of two snapshots, sorted."""
    paths = sorted(before.keys() | after.keys())
    return {path: (before.get(path), after.get(path)) for path in paths if before.get(path) != after.get(path)}


def kind_of(before: str | None, after: str | None) -> str:
    """Return what a change does to a file: `added`, `deleted` or `modified`."""
    return "added" if before is None else "deleted" if after is None else "modified"


def render_patch(changes: Difference, context: int = 3) -> str:
    """Return changes as `git diff` prints them, with these many lines of context."""
    return "\n".join(line for path, change in changes.items() for line in _patch(path, *change, context))


def count_lines(before: str | None, after: str | None) -> tuple[int, int]:
    """Return how many lines a change adds and removes."""
    old, new = (before or "").splitlines(), (after or "").splitlines()
    taken = steps(old, new)
    changed = [(end - start, last - first) for kind, start, end, first, last in taken if kind != "equal"]
    return sum(added for _, added in changed), sum(removed for removed, _ in changed)


def hash_of(kind: str, content: str) -> str:
    """Return the id that git gives to a content."""
    data = content.encode("utf-8", "surrogatepass")
    return sha1(b"%s %d\0%b" % (kind.encode(), len(data), data), usedforsecurity=False).hexdigest()


def commit_hash(row: Record) -> str:
    """Return the id that git gives to a commit: message, author, email, date, parents, and a tree of path -> blob."""
    seconds = int(datetime.fromisoformat(row["date"]).timestamp())
    person = f"{row['author']} <{row['email']}> {seconds} +0000"
    lines = [f"tree {_tree_hash(row['tree'])}", *(f"parent {parent}" for parent in row["parents"])]
    lines += [f"author {person}", f"committer {person}", "", row["message"]]
    return hash_of("commit", "\n".join(lines))


def _tree_hash(tree: Mapping[str, str]) -> str:
    """Return the id that git gives to a directory of files with the usual mode."""
    folders: dict[str, dict[str, str]] = {}
    entries: list[tuple[bytes, bytes, str]] = []
    for path, blob in tree.items():
        name, _, rest = path.partition("/")
        if rest:
            folders.setdefault(name, {})[rest] = blob
        else:
            entries.append((name.encode("utf-8", "surrogatepass"), b"100644", blob))
    for name, inner in folders.items():  # git sorts directories as though their names ended in a slash
        entries.append((name.encode("utf-8", "surrogatepass") + b"/", b"40000", _tree_hash(inner)))
    content = b"".join(
        b"%b %b\0%b" % (mode, name.rstrip(b"/"), bytes.fromhex(blob)) for name, mode, blob in sorted(entries)
    )
    return sha1(b"tree %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def merge_texts(base: str, ours: str, theirs: str, name: str) -> tuple[str, bool]:
    """Merge two texts that were one: return the result, and whether no lines are in conflict.

    Lines in conflict are between the marks that git writes. Texts that are too long to compare are in conflict.
    """
    old, here, there = ([*StringIO(text)] for text in (base, ours, theirs))
    if max(len(here), len(there)) * len(old) > MOST_COMPARED:
        return f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> {name}\n", False
    left, right = _matches(old, here), _matches(old, there)
    parts: list[str] = []
    is_whole = True
    start = mine = their = 0
    for at in range(len(old) + 1):
        if at < len(old) and (at not in left or at not in right):
            continue
        end, last = (left[at], right[at]) if at < len(old) else (len(here), len(there))
        before, first, second = old[start:at], here[mine:end], there[their:last]
        if first in (second, before):
            parts += second
        elif second == before:
            parts += first
        else:
            is_whole = False
            parts += ["<<<<<<< HEAD\n", *_ended(first), "=======\n", *_ended(second), f">>>>>>> {name}\n"]
        parts += old[at : at + 1]
        start, mine, their = at + 1, end + 1, last + 1
    return "".join(parts), is_whole


def _matches(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Return the lines that two texts share: line of the old -> line of the new."""
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return {block.a + offset: block.b + offset for block in blocks for offset in range(block.size)}


def _ended(lines: Sequence[str]) -> list[str]:
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]


def _patch(path: str, before: str | None, after: str | None, context: int) -> Iterator[str]:
    yield f"diff --git a/{path} b/{path}"
    if before is None:
        yield "new file mode 100644"
    if after is None:
        yield "deleted file mode 100644"
    yield f"index {_short(before)}..{_short(after)}{'' if None in {before, after} else ' 100644'}"
    old, new = [*StringIO(before or "")], [*StringIO(after or "")]
    if old == new:
        return
    yield f"--- {'/dev/null' if before is None else f'a/{path}'}"
    yield f"+++ {'/dev/null' if after is None else f'b/{path}'}"
    for line in unified(old, new, context):
        is_head = line.startswith("@@")
        yield _headed(line, old) if is_head else line.removesuffix("\n")
        if not is_head and not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _headed(line: str, old: Sequence[str]) -> str:
    """Return the first line of a hunk with the last line before it that begins with a letter, as git shows it."""
    start, _, many = line.split(" ")[1].lstrip("-").partition(",")
    before = old[: int(start) - (many != "0")]
    heading = next((text for text in reversed(before) if _HEADING.match(text)), "")
    return f"{line.rstrip()} {heading.rstrip()[:_LONGEST_HEADING]}".rstrip()


def _short(text: str | None) -> str:
    return "0" * 7 if text is None else hash_of("blob", text)[:7]
