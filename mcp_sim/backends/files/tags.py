"""Tags in files: in a list in the front matter, and as `#tag` in the text."""

from __future__ import annotations

import re
from collections.abc import Callable

from mcp_sim.backends.files.request import FilesRequest
from mcp_sim.backends.outcome import Outcome
from mcp_sim.spec.yaml12 import load
from mcp_sim.types import Record
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_schema.shapes import as_object

_FRONT_MATTER = re.compile(r"\A---\n(.*?)^---\n+", re.DOTALL | re.MULTILINE)
_LIST = re.compile(r"^tags:[ ]*(.*)\n((?:[ ]*-[ ].*\n)*)", re.MULTILINE)


def front_matter_text(text: str) -> str:
    """Return the lines before a text, between two lines of three dashes; empty if there are none."""
    found = _FRONT_MATTER.match(text)
    return found[1] if found is not None else ""


def parse_front_matter(text: str) -> Record:
    """Return the fields of the front matter; empty if it is not valid YAML."""
    try:
        return as_object(load(text.encode(), "front matter").value)
    except DocumentError:
        return {}


def add(request: FilesRequest) -> Outcome:
    """Add each of `tags` once to the front matter and the text of the files at `paths` or `path`.

    `location` may be `frontmatter` or `content` only. Raises `Refused` if a file does not exist.
    """
    where = request.text("location", "both")

    def tagged(text: str, tags: list[str]) -> str:
        body = text
        if where != "content":
            body = _with_tags(text, [*_listed_tags(text), *(tag for tag in tags if tag not in _listed_tags(text))])
        fresh = [f"#{tag}" for tag in tags if not _inline_pattern(tag).search(text)] if where != "frontmatter" else []
        return f"{body.rstrip()}\n\n{' '.join(fresh)}\n" if fresh else body

    return _change_files(request, tagged, "Added", "to")


def remove(request: FilesRequest) -> Outcome:
    """Remove `tags` from the files at `paths` or `path`. Raises `Refused` if a file does not exist."""

    def bare(text: str, tags: list[str]) -> str:
        kept = [tag for tag in _listed_tags(text) if tag not in tags]
        text = _with_tags(text, kept) if len(kept) < len(_listed_tags(text)) else text
        for tag in tags:
            text = _inline_pattern(tag).sub("", text)
        return text

    return _change_files(request, bare, "Removed", "from")


def rename(request: FilesRequest) -> Outcome:
    """Rename `old_tag` and its nested tags to `new_tag` in all files of the space."""
    old, new = request.text("old_tag").lstrip("#"), request.text("new_tag").lstrip("#")
    base = request.tree.at(request.path)
    rows = [entry for entry in request.tree.below(base) if entry.is_file and _has(entry.content or "", old)]
    for entry in rows:
        request.tree.write(entry.path, _renamed(entry.content or "", old, new))
    paths = [request.tree.display_path(entry.path) for entry in rows]
    message = f"Renamed tag {old} to {new} in {len(rows)} files"
    facts = {"files": paths, "count": len(rows), "old_tag": old, "new_tag": new}
    return Outcome("\n".join([message, *paths]), facts)


def _renamed(text: str, old: str, new: str) -> str:
    def other(tag: str) -> str:
        return new + tag[len(old) :] if tag == old or tag.startswith(f"{old}/") else tag

    listed = _listed_tags(text)
    text = _with_tags(text, [other(tag) for tag in listed]) if listed else text
    return re.sub(rf"(?<![\w#])#{re.escape(old)}(?![\w-])", f"#{new}", text)


def _has(text: str, tag: str) -> bool:
    listed = any(one == tag or one.startswith(f"{tag}/") for one in _listed_tags(text))
    return listed or f"#{tag}" in text


def _change_files(request: FilesRequest, change: Callable[[str, list[str]], str], done: str, where: str) -> Outcome:
    """Change the text of the named files. All of them must exist."""
    tags = [tag.lstrip("#") for tag in request.texts("tags")]
    named = request.texts("paths") or request.texts("path")
    entries = [request.tree.file(name) for name in named]
    for entry in entries:
        request.tree.write(entry.path, change(entry.content or "", tags))
    names = [request.tree.display_path(entry.path) for entry in entries]
    message = f"{done} {', '.join(tags)} {where} {', '.join(names)}"
    return Outcome(message, {"files": names, "tags": tags, "count": len(names)})


def _listed_tags(text: str) -> list[str]:
    """Return the tags in the front matter of a text."""
    front_matter = _FRONT_MATTER.match(text)
    found = _LIST.search(front_matter[1]) if front_matter is not None else None
    if found is None:
        return []
    items = found[1].strip("[] ").split(",") if found[1].strip("[] ") else found[2].splitlines()
    return [one.strip().removeprefix("- ").strip(" \"'#") for one in items]


def _with_tags(text: str, tags: list[str]) -> str:
    """Return the text with these tags in its front matter, sorted."""
    lines = "tags:\n" + "".join(f"  - {tag}\n" for tag in sorted(tags)) if tags else "tags: []\n"
    front_matter = _FRONT_MATTER.match(text)
    if front_matter is None:
        return f"---\n{lines}---\n\n{text}"
    inside = _LIST.sub("", front_matter[1]) + lines
    return f"---\n{inside}---\n\n{text[front_matter.end() :]}"


def _inline_pattern(tag: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w#])#{re.escape(tag)}(?![\w/-])[ \t]*")
