"""The front matter of files, and tags: in a list in the front matter, and as `#tag` in the text."""

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


def front_matter(request: FilesRequest) -> Outcome:
    """Return the fields at the beginning of a file, between lines of three dashes."""
    header, _ = _split(request.file.text)
    try:
        fields = as_object(load((header or "").encode(), "front matter").value)
    except DocumentError:
        fields = {}
    facts: Record = {"path": request.path, "frontmatter": fields}
    return Outcome(header or f"{request.path} has no front matter", facts, "frontmatter")


def _split(text: str) -> tuple[str | None, str]:
    """Return the lines before a text, between two lines of three dashes (None if they are missing), and the text."""
    match = _FRONT_MATTER.match(text)
    return (None, text) if match is None else (match[1], text[match.end() :])


def add_tags(request: FilesRequest) -> Outcome:
    """Add `tags` to the files at `paths` or `path`: to front matter and text, or `frontmatter` or `content` only."""
    where = request.text("location", "both")

    def tagged(text: str, tags: list[str]) -> str:
        listed = _listed_tags(text)
        body = text if where == "content" else _with_tags(text, [*listed, *(tag for tag in tags if tag not in listed)])
        fresh = [f"#{tag}" for tag in tags if not _inline_pattern(tag).search(text)] if where != "frontmatter" else []
        return f"{body.rstrip()}\n\n{' '.join(fresh)}\n" if fresh else body

    return _change_files(request, tagged, "Added", "to")


def remove_tags(request: FilesRequest) -> Outcome:
    """Remove `tags` from the files at `paths` or `path`. If a file does not exist, none is changed."""

    def bare(text: str, tags: list[str]) -> str:
        listed = _listed_tags(text)
        text = text if set(listed).isdisjoint(tags) else _with_tags(text, [tag for tag in listed if tag not in tags])
        for tag in tags:
            text = _inline_pattern(tag).sub("", text)
        return text

    return _change_files(request, bare, "Removed", "from")


def _change_files(request: FilesRequest, change: Callable[[str, list[str]], str], done: str, where: str) -> Outcome:
    tags = [tag.lstrip("#") for tag in request.texts("tags")]
    entries = [request.tree.file(name) for name in request.texts("paths") or request.texts("path")]
    for entry in entries:
        request.tree.write(entry.path, change(entry.text, tags))
    names = [request.tree.display_path(entry.path) for entry in entries]
    message = f"{done} {', '.join(tags)} {where} {', '.join(names)}"
    return Outcome(message, {"files": names, "tags": tags, "count": len(names)})


def rename_tag(request: FilesRequest) -> Outcome:
    """Rename `old_tag` and its nested tags to `new_tag` in all files of the space."""
    old, new = request.text("old_tag").lstrip("#"), request.text("new_tag").lstrip("#")
    paths: list[str] = []
    for entry in [*request.tree.below(request.tree.at(request.path))]:
        listed = _listed_tags(entry.text)
        renamed = [new + tag[len(old) :] if f"{tag}/".startswith(f"{old}/") else tag for tag in listed]
        if renamed != listed or f"#{old}" in entry.text:
            text = _with_tags(entry.text, renamed) if listed else entry.text
            text = re.sub(rf"(?<![\w#])#{re.escape(old)}(?![\w-])", f"#{new}", text)
            request.tree.write(entry.path, text)
            paths.append(request.tree.display_path(entry.path))
    message = f"Renamed tag {old} to {new} in {len(paths)} files"
    return Outcome("\n".join([message, *paths]), {"files": paths, "count": len(paths), "old_tag": old, "new_tag": new})


def _listed_tags(text: str) -> list[str]:
    match = _LIST.search(_split(text)[0] or "")
    if match is None:
        return []
    items = match[1].strip("[] ").split(",") if match[1].strip("[] ") else match[2].splitlines()
    return [item.strip().removeprefix("- ").strip(" \"'#") for item in items]


def _with_tags(text: str, tags: list[str]) -> str:
    """Return the text with these tags in its front matter, sorted."""
    lines = "tags:\n" + "".join(f"  - {tag}\n" for tag in sorted(tags)) if tags else "tags: []\n"
    header, body = _split(text)
    return f"---\n{_LIST.sub('', header or '')}{lines}---\n\n{body}"


def _inline_pattern(tag: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w#])#{re.escape(tag)}(?![\w/-])[ \t]*")
