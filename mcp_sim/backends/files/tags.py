"""What do the tools do that keep tags in files: in a list ahead of the text, and as `#tag` within it?"""

from __future__ import annotations

import re
from collections.abc import Callable

from mcp_sim.backends.files.paths import ROOT, joined
from mcp_sim.backends.files.request import Asked
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.spec.yaml12 import load
from mcp_sim.types import Record
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_schema.shapes import as_object

_AHEAD = re.compile(r"\A---\n(.*?)^---\n+", re.DOTALL | re.MULTILINE)
_LIST = re.compile(r"^tags:[ ]*(.*)\n((?:[ ]*-[ ].*\n)*)", re.MULTILINE)


def ahead(text: str) -> str:
    """The lines ahead of a text, between two of three dashes; nothing where there are none."""
    found = _AHEAD.match(text)
    return found[1] if found is not None else ""


def fields_of(said: str) -> Record:
    """What the lines ahead of a text hold; nothing where they are no YAML."""
    try:
        return as_object(load(said.encode(), "front matter").value)
    except DocumentError:
        return {}


def add(asked: Asked) -> Outcome:
    """Each tag once ahead of the text, and in it, unless the call says where."""
    where = asked.text("location", "both")

    def tagged(text: str, tags: list[str]) -> str:
        body = text
        if where != "content":
            body = _with_list(text, [*_listed(text), *(tag for tag in tags if tag not in _listed(text))])
        fresh = [f"#{tag}" for tag in tags if not _inline(tag).search(text)] if where != "frontmatter" else []
        return f"{body.rstrip()}\n\n{' '.join(fresh)}\n" if fresh else body

    return _changed(asked, tagged, "Added", "to")


def remove(asked: Asked) -> Outcome:
    """These tags nowhere in the files."""

    def bare(text: str, tags: list[str]) -> str:
        kept = [tag for tag in _listed(text) if tag not in tags]
        text = _with_list(text, kept) if len(kept) < len(_listed(text)) else text
        for tag in tags:
            text = _inline(tag).sub("", text)
        return text

    return _changed(asked, bare, "Removed", "from")


def rename(asked: Asked) -> Outcome:
    """Another word for a tag in all files, and for those below it."""
    old, new = asked.text("old_tag").lstrip("#"), asked.text("new_tag").lstrip("#")
    base = asked.tree.at(asked.text("path", ROOT))
    rows = [entry for entry in asked.tree.below(base) if entry.is_file and _has(entry.content or "", old)]
    for entry in rows:
        asked.tree.write(entry.path, _renamed(entry.content or "", old, new))
    paths = [asked.tree.told(entry.path) for entry in rows]
    told = f"Renamed tag {old} to {new} in {len(rows)} files"
    facts = {"files": paths, "count": len(rows), "old_tag": old, "new_tag": new}
    return Outcome("\n".join([told, *paths]), facts, changes=tuple(asked.tree.changes))


def _renamed(text: str, old: str, new: str) -> str:
    def other(tag: str) -> str:
        return new + tag[len(old) :] if tag == old or tag.startswith(f"{old}/") else tag

    listed = _listed(text)
    text = _with_list(text, [other(tag) for tag in listed]) if listed else text
    return re.sub(rf"(?<![\w#])#{re.escape(old)}(?![\w-])", f"#{new}", text)


def _has(text: str, tag: str) -> bool:
    listed = any(one == tag or one.startswith(f"{tag}/") for one in _listed(text))
    return listed or f"#{tag}" in text


def _changed(asked: Asked, change: Callable[[str, list[str]], str], done: str, where: str) -> Outcome:
    """The files that a call names, each with its text changed; all must be there."""
    tags = [tag.lstrip("#") for tag in asked.texts("tags")]
    base = asked.text("path") if asked.texts("paths") else ""
    named = asked.texts("paths") or asked.texts("path")
    entries = [asked.tree.file(joined(base, name) if base else name) for name in named]
    for entry in entries:
        asked.tree.write(entry.path, change(entry.content or "", tags))
    names = [asked.tree.told(entry.path) for entry in entries]
    told = f"{done} {', '.join(tags)} {where} {', '.join(names)}"
    return Outcome(told, {"files": names, "tags": tags, "count": len(names)}, changes=tuple(asked.tree.changes))


def _listed(text: str) -> list[str]:
    """The tags ahead of a text."""
    ahead = _AHEAD.match(text)
    found = _LIST.search(ahead[1]) if ahead is not None else None
    if found is None:
        return []
    told = found[1].strip("[] ").split(",") if found[1].strip("[] ") else found[2].splitlines()
    return [one.strip().removeprefix("- ").strip(" \"'#") for one in told]


def _with_list(text: str, tags: list[str]) -> str:
    """The text with these tags ahead of it, in order."""
    lines = "tags:\n" + "".join(f"  - {tag}\n" for tag in sorted(tags)) if tags else "tags: []\n"
    ahead = _AHEAD.match(text)
    if ahead is None:
        return f"---\n{lines}---\n\n{text}"
    inside = _LIST.sub("", ahead[1]) + lines
    return f"---\n{inside}---\n\n{text[ahead.end() :]}"


def _inline(tag: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w#])#{re.escape(tag)}(?![\w/-])[ \t]*")
