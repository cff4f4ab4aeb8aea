"""What do the tools do that change a part of a file: a text in it, or some of its lines?"""

from __future__ import annotations

from mcp_sim.backends.compute.differences import differing, patch
from mcp_sim.backends.compute.replacing import replaced
from mcp_sim.backends.files.asking import Asked
from mcp_sim.backends.files.writing import content_of, written
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_text import encode
from mcp_sim.types.lexicon.words import snake


def edit(asked: Asked) -> Outcome:
    """Texts in a file replaced by others, all of them or none."""
    entry = asked.tree.file(asked.path)
    content, count = entry.content or "", 0
    for old, new in _edits(asked):
        if old not in content or not old:
            raise Refused("invalid", f"Text to replace not found in {asked.path}: {old}", path=asked.path)
        found, wanted = content.count(old), _times(asked)
        if wanted is not None and found != wanted:
            told = f"Text to replace occurs {found} times in {asked.path}, not {wanted}: {old}"
            raise Refused("invalid", told, path=asked.path)
        many = 1 if wanted is None and not asked.flag("everywhere") else found
        count, content = count + many, replaced(content, old, new, many)
    difference = _difference(asked, entry.content or "", content)
    if asked.flag("dry"):
        return Outcome(difference, {"diff": difference, "path": asked.path, "count": count}, "diff")
    done = f"Successfully edited {asked.path}\n{difference}"
    return written(asked, entry.path, content, done, diff=difference, count=count)


def _times(asked: Asked) -> int | None:
    """So often must the text to replace occur; None where that does not matter."""
    if "times" in asked.roles:
        return asked.number("times") or 1
    return 1 if "everywhere" in asked.roles and not asked.flag("everywhere") else None


def _difference(asked: Asked, before: str, after: str) -> str:
    """As a patch where the tool promises a diff, else as the lines that differ."""
    if not asked.says("diff", "patch"):
        return differing(before, after)
    return patch(before, after, asked.path)


def _edits(asked: Asked) -> list[tuple[str, str]]:
    if asked.get("old") is not None:
        return [(asked.text("old"), asked.text("new"))]
    found: list[tuple[str, str]] = []
    for one in as_list(asked.get("edits")):
        named = {snake(name): value for name, value in as_object(one).items()}
        old = next((value for name, value in named.items() if name.startswith(("old", "search", "find", "from"))), None)
        new = next((value for name, value in named.items() if name.startswith(("new", "replace", "to"))), "")
        if not isinstance(old, str):
            raise Refused("invalid", f"An edit needs a text to replace and a new text, not {encode(one).decode()}")
        found.append((old, str(new)))
    if not found:
        raise Refused("invalid", "Nothing to replace was given")
    return found


def insert(asked: Asked) -> Outcome:
    """Lines put behind a line; 0 is the beginning."""
    entry = asked.tree.file(asked.path)
    lines, at = (entry.content or "").split("\n"), asked.number("line")
    if at is None or not 0 <= at <= len(lines):
        raise Refused(
            "invalid", f"Invalid line {asked.get('line')}: {asked.path} has {len(lines)} lines", path=asked.path
        )
    text = "\n".join([*lines[:at], content_of(asked), *lines[at:]])
    return written(asked, entry.path, text, f"Successfully inserted at line {at} of {asked.path}")


def replace_lines(asked: Asked) -> Outcome:
    """Other lines in the place of some, counted from 1, the last one included."""
    return _with_lines(asked, content_of(asked).removesuffix("\n").split("\n"), "replaced")


def delete_lines(asked: Asked) -> Outcome:
    return _with_lines(asked, [], "deleted")


def _with_lines(asked: Asked, put: list[str], done: str) -> Outcome:
    entry = asked.tree.file(asked.path)
    content = entry.content or ""
    lines = content.splitlines()
    start = asked.number("start")
    said = asked.number("end")
    end = start if said is None else said if said >= 0 else len(lines)
    if start is None or end is None or not 1 <= start <= end <= max(len(lines), 1):
        told = f"Invalid lines {start} to {end}: {asked.path} has {len(lines)} lines"
        raise Refused("invalid", told, path=asked.path)
    kept = [*lines[: start - 1], *put, *lines[end:]]
    text = "\n".join(kept) + ("\n" if content.endswith("\n") and kept else "")
    told = f"Successfully {done} lines {start} to {end} of {asked.path}"
    return written(asked, entry.path, text, told, diff=_difference(asked, content, text), count=end - start + 1)
