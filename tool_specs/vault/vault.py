"""A simulated vault of Markdown notes, with tags and links between notes."""

import json
import posixpath
from base64 import urlsafe_b64decode, urlsafe_b64encode

import notes
from garden import NOTES
from notes import Problem

from mcp_sim.programs import Refused, Result, initial, invalid_arguments, records, tool
from mcp_sim.programs.helpers import compact, indented, javascript_length, new_uuid

tables = {
    "vault": {"key": "name", "natural": True, "fields": {"name": ""}},
    "folder": {"key": "place", "natural": True, "fields": {"place": "", "vault": "", "path": ""}},
    "note": {"key": "place", "natural": True, "fields": {"place": "", "vault": "", "path": "", "content": ""}},
}

TITLES = {
    "create_note": "Create Obsidian Note", "edit_note": "Edit Obsidian Note", "read_note": "Read Obsidian Note",
    "delete_note": "Delete Obsidian Note", "move_note": "Move Obsidian Note", "list_vaults": "List Obsidian Vaults",
    "create_directory": "Create Obsidian Directory", "search_vault": "Search Obsidian Vault",
    "add_tags": "Add Obsidian Tags", "remove_tags": "Remove Obsidian Tags", "rename_tag": "Rename Obsidian Tag",
    "manage_tags": "Manage Obsidian Tags",
}  # fmt: skip
LONGEST_ANSWER = 25_000
WRONG = {
    "vault": "Vault id is required; call obsidian_list_vaults to discover valid ids.",
    "path": "Path is required and must be relative to the vault root.",
    "query": "Search query is required and must be a string.",
    "content": "content is required and must be a Markdown string.",
    "mode": "mode must be 'trash' or 'permanent'. Use 'trash' for recoverable deletion.",
    "tags": "tags must be an array of tag strings.",
    "paths": "paths must be an array of vault-relative note paths.",
    "location": "location must be 'frontmatter', 'content', or 'both'.",
    "old_tag": "old_tag is required and must be a tag string.",
    "new_tag": "new_tag is required and must be a tag string.",
}
"""Argument -> what the server says about a wrong or missing one."""
OPERATIONS = {
    "obsidian_edit_note": "operation must be one of 'append', 'prepend', or 'replace'.",
    "obsidian_manage_tags": "operation must be 'add' or 'remove'.",
}
EMPTY = {
    "query": "Search query cannot be empty.",
    "path": "Path cannot be empty.",
    "tags": "At least one tag is required for an add operation.",
}
NO_NOTE = "The requested path does not exist."


# answers


def answer(name, data):
    text = f"{TITLES[name]} succeeded.\n{indented(data)}"
    text = text if len(text) <= LONGEST_ANSWER else f"{text[: LONGEST_ANSWER - 1]}…"
    return Result(text=text, structured={"ok": True, "data": data})


def refused(problem):
    error = {"code": problem.code, "message": problem.message, "retryable": problem.code == "REVISION_CONFLICT"}
    error |= {"details": problem.details} if problem.details else {}
    return Refused(Result(text=f"{problem.code}: {problem.message}", structured={"ok": False, "error": error}))


def invalid(tool_name, name, message):
    return Refused(f"Input validation error: Invalid arguments for tool {tool_name}: {name}: {message}")


def done(world, name, data):
    return answer(name, {**data, "transaction_id": new_uuid(world)})


# notes


class Vault:
    """One of the vaults."""

    def __init__(self, world, name):
        self._world, self.name = world, name
        if name not in world.vault:
            known = [row["name"] for row in world.vault]
            raise refused(Problem("VAULT_NOT_FOUND", f"Vault '{name}' is not configured.", available_vaults=known))

    def checked(self, path, *, is_note=True):
        try:
            return notes.checked_path(path, is_note=is_note)
        except Problem as problem:
            raise refused(problem) from None

    def at(self, path):
        return self._world.note.get(f"{self.name}/{path}")

    def note(self, path, if_match=None):
        row = self.at(self.checked(path))
        if row is None:
            raise refused(Problem("NOTE_NOT_FOUND", NO_NOTE))
        if if_match is not None and if_match != notes.etag(row["content"]):
            why = "The note changed after it was read. Read it again and retry."
            raise refused(Problem("REVISION_CONFLICT", why))
        return row

    def all(self, scope=""):
        """Return the notes in the order of their paths."""
        rows = [row for row in self._world.note.find(vault=self.name) if is_below(row["path"], scope)]
        return sorted(rows, key=lambda row: (row["path"].lower(), row["path"]))

    def has_folder(self, path):
        return not path or f"{self.name}/{path}" in self._world.folder

    def make_folders(self, path):
        parts = path.split("/") if path else []
        for count in range(1, len(parts) + 1):
            folder = "/".join(parts[:count])
            if not self.has_folder(folder):
                self._world.folder.add(place=f"{self.name}/{folder}", vault=self.name, path=folder)

    def add(self, path, content):
        self.make_folders(posixpath.dirname(path))
        return self._world.note.add(place=f"{self.name}/{path}", vault=self.name, path=path, content=content)

    def relink(self, old, new):
        """Let links to a note lead to its new path, or strike them out. Returns what the server says about it."""
        rows, updated = self.all(), []
        links = notes.Links([row["path"] for row in rows])
        for row in rows:
            text = row["content"] if row["path"] == old else links.rewritten(row["content"], row["path"], old, new)
            if text != row["content"]:
                row["content"] = text
                updated.append(row["path"])
        return {"updated_backlinks": updated, "ambiguous_links": links.ambiguous}


def is_below(path, scope):
    return not scope or path.startswith(f"{scope}/")


def encoded(value):
    return urlsafe_b64encode(compact(value).encode()).decode().rstrip("=")


def decoded(cursor):
    try:
        value = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@tool(reads=True, verb="list", entity="vault")
def obsidian_list_vaults(world):
    names = [row["name"] for row in world.vault]
    return answer("list_vaults", {"vaults": names, "count": len(names)})


@tool(verb="get", entity="note")
def obsidian_read_note(world, vault, path, cursor=None, max_chars=20_000):
    row = Vault(world, vault).note(path)
    text, offset = row["content"], 0
    mark = {"version": 1, "path": row["path"], "etag": notes.etag(text)}
    if cursor is not None:
        offset = decoded(cursor).get("offset", -1)
        if decoded(cursor) != {**mark, "offset": offset} or not isinstance(offset, int) or offset < 0:
            raise refused(Problem("INVALID_CURSOR", "Read cursor is invalid or the note has changed."))
    content = text[offset : offset + max_chars]
    end = offset + len(content)
    following = {"next_cursor": encoded({**mark, "offset": end})} if end < len(text) else {}
    data = {"path": row["path"], "content": content, "etag": mark["etag"], "total_characters": javascript_length(text)}
    return answer("read_note", {**data, "offset": offset, "has_more": end < len(text), **following})


@tool(verb="create", entity="note")
def obsidian_create_note(world, vault, path, content="", create_parents=True):
    here = Vault(world, vault)
    path = here.checked(path)
    if not create_parents and not here.has_folder(posixpath.dirname(path)):
        raise refused(Problem("NOTE_NOT_FOUND", "The parent directory does not exist."))
    if here.at(path) is not None:
        raise refused(Problem("ALREADY_EXISTS", "The destination already exists."))
    here.add(path, content)
    return done(world, "create_note", {"path": path, "etag": notes.etag(content)})


@tool(verb="update", entity="note")
def obsidian_edit_note(world, vault, path, operation, content, if_match=None):
    row = Vault(world, vault).note(path, if_match)
    before = row["content"]
    row["content"] = {"append": before + content, "prepend": content + before, "replace": content}[operation]
    return done(world, "edit_note", {"path": row["path"], "etag": notes.etag(row["content"])})


@tool(verb="delete", entity="note")
def obsidian_delete_note(
    world, vault, path, mode="trash", backlink_action="preserve", if_match=None, confirm_path=None
):
    if mode == "permanent" and confirm_path is None:
        why = "confirm_path is required when mode is 'permanent'; repeat the target path exactly."
        raise invalid("obsidian_delete_note", "confirm_path", why)
    here = Vault(world, vault)
    row = here.note(path)
    path = row["path"]
    if mode == "permanent" and here.checked(confirm_path) != path:
        raise refused(Problem("INVALID_ARGUMENT", f"Permanent deletion requires confirm_path '{path}'."))
    here.note(path, if_match)
    links = {"updated_backlinks": [], "ambiguous_links": 0}
    if backlink_action == "mark_broken":
        links = here.relink(path, None)
    world.note.delete(row)
    trash = {"trash_id": new_uuid(world)} if mode == "trash" else {}
    return done(world, "delete_note", {"path": path, "mode": mode, **trash, **links})


@tool(verb="update", entity="note")
def obsidian_move_note(world, vault, source, destination, update_links=True, if_match=None):
    if source == destination:
        raise invalid("obsidian_move_note", "destination", "destination must differ from source.")
    here = Vault(world, vault)
    row = here.note(source, if_match)
    old, new = row["path"], here.checked(destination)
    if old == new:
        raise refused(Problem("INVALID_ARGUMENT", "Source and destination are identical."))
    if here.at(new) is not None:
        raise refused(Problem("ALREADY_EXISTS", "The destination already exists."))
    links = here.relink(old, new) if update_links else {"updated_backlinks": [], "ambiguous_links": 0}
    here.make_folders(posixpath.dirname(new))
    row["path"], row["place"] = new, f"{vault}/{new}"
    return done(world, "move_note", {"source": old, "destination": new, "etag": notes.etag(row["content"]), **links})


@tool(verb="create", entity="folder")
def obsidian_create_directory(world, vault, path, recursive=True):
    here = Vault(world, vault)
    path = here.checked(path, is_note=False)
    if here.at(path) is not None:
        raise refused(Problem("ALREADY_EXISTS", "A file exists in the directory path."))
    if here.has_folder(path):
        raise refused(Problem("ALREADY_EXISTS", "The directory already exists."))
    if not recursive and not here.has_folder(posixpath.dirname(path)):
        raise refused(Problem("NOTE_NOT_FOUND", "The parent directory does not exist."))
    here.make_folders(path)
    return done(world, "create_directory", {"path": path, "created": True})


@tool(verb="search", entity="note")
def obsidian_search_vault(world, vault, query, scope="", mode="content", case_sensitive=False, limit=50, cursor=None):
    here = Vault(world, vault)
    signature = encoded([query, scope, mode, case_sensitive])
    start = {"file": 0, "match": 0}
    if cursor is not None:
        start = decoded(cursor)
        if start.get("signature") != signature or not all(isinstance(start.get(at), int) for at in ("file", "match")):
            raise refused(Problem("INVALID_CURSOR", "Search cursor does not match this query."))
    if scope and not here.has_folder(here.checked(scope, is_note=False)):
        raise refused(Problem("NOTE_NOT_FOUND", NO_NOTE))
    fold = str if case_sensitive else str.lower
    found = [
        (file, at, match)
        for file, row in enumerate(here.all(scope))
        for at, match in enumerate(matches(row, fold(query), mode, fold))
        if (file, at) >= (start["file"], start["match"])
    ]
    page, rest = found[:limit], found[limit:]
    following = {}
    if rest:
        following["next_cursor"] = encoded(
            {"version": 1, "signature": signature, "file": rest[0][0], "match": rest[0][1]}
        )
    data = {"matches": [match for *_, match in page], "count": len(page), "has_more": bool(rest)}
    return answer("search_vault", {**data, **following, "warnings": []})


def matches(row, query, mode, fold):
    path, text = row["path"], row["content"]
    if mode in {"filename", "both"} and query in fold(path):
        yield {"path": path, "kind": "filename", "line": 0, "snippet": path}
    if mode in {"content", "both"}:
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
            if query in fold(line):
                shown = line.strip()
                snippet = shown if len(shown) <= 300 else f"{shown[:299]}…"
                yield {"path": path, "kind": "content", "line": number, "snippet": snippet}
    if mode == "tag":
        for tag, line in notes.tags_of(text):
            if fold(tag) == query or fold(tag).startswith(f"{query}/"):
                yield {"path": path, "kind": "tag", "line": line, "snippet": f"#{tag}"}


# tags


def retagged(world, name, vault, paths, etags, change):
    """Change the tags of all notes, or of none. `change` returns the new text and the tags that changed."""
    here = Vault(world, vault)
    rows = [here.note(path, (etags or {}).get(path)) for path in dict.fromkeys(paths)]
    try:
        changes = [(row, *change(row["content"])) for row in rows]
    except Problem as problem:
        raise refused(problem) from None
    updated = []
    for row, text, tags in changes:
        if text != row["content"]:
            row["content"] = text
            updated.append({"path": row["path"], "tags": tags})
    data = {"updated": updated, "unchanged_count": len(rows) - len(updated)}
    return done(world, name, data) if updated else answer(name, {**data, "transaction_id": None})


def added(world, name, vault, paths, tags, location, position, normalization, etags):
    def change(text):
        wanted = notes.unique([notes.checked_tag(tag, normalization) for tag in tags])
        return notes.with_tags(text, wanted, location, position)

    return retagged(world, name, vault, paths, etags, change)


def removed(world, name, vault, paths, tags, patterns, location, include_children, normalization, etags):
    def change(text):
        wanted = [notes.checked_tag(tag, normalization) for tag in tags]
        gone = set()

        def keep(tag):
            if not notes.matches(tag, wanted, patterns, include_children):
                return tag
            gone.add(tag)
            return None

        return notes.changed_tags(text, keep, location), sorted(gone)

    if not tags and not patterns:
        raise invalid(f"obsidian_{name}", "tags", "At least one tag or pattern is required for a remove operation.")
    return retagged(world, name, vault, paths, etags, change)


@tool(verb="update", entity="note")
def obsidian_add_tags(
    world, vault, paths, tags, location="frontmatter", position="end", normalization="preserve", expected_etags=None
):
    return added(world, "add_tags", vault, paths, tags, location, position, normalization, expected_etags)


@tool(verb="update", entity="note")
def obsidian_remove_tags(
    world, vault, paths, tags=(), patterns=(), location="both", include_children=False, normalization="preserve",
    expected_etags=None,
):  # fmt: skip
    options = location, include_children, normalization, expected_etags
    return removed(world, "remove_tags", vault, paths, tags, patterns, *options)


@tool(verb="update", entity="note")
def obsidian_manage_tags(
    world, operation, vault, paths, tags=(), patterns=(), location=None, position="end", normalization="preserve",
    include_children=False, expected_etags=None,
):  # fmt: skip
    if operation == "remove":
        options = location or "both", include_children, normalization, expected_etags
        return removed(world, "manage_tags", vault, paths, tags or (), patterns or (), *options)
    if not tags:
        raise invalid("obsidian_manage_tags", "tags", EMPTY["tags"])
    options = location or "frontmatter", position, normalization, expected_etags
    return added(world, "manage_tags", vault, paths, tags, *options)


@tool(verb="update", entity="note")
def obsidian_rename_tag(
    world, vault, old_tag, new_tag, location="both", include_children=False, normalization="preserve",
    expected_etags=None,
):  # fmt: skip
    here = Vault(world, vault)
    try:
        old, new = (notes.checked_tag(tag, normalization) for tag in (old_tag, new_tag))
        changes = [(row, *renamed(row["content"], old, new, location, include_children)) for row in here.all()]
    except Problem as problem:
        raise refused(problem) from None
    updated = []
    for row, text, count in changes:
        if text != row["content"]:
            here.note(row["path"], (expected_etags or {}).get(row["path"]))
            row["content"] = text
            updated.append({"path": row["path"], "replacements": count})
    if not updated:
        return answer("rename_tag", {"updated": [], "transaction_id": None})
    return done(world, "rename_tag", {"updated": updated})


def renamed(text, old, new, location, include_children):
    """Return a note with a tag under another name, and how often it was renamed."""
    count = 0

    def change(tag):
        nonlocal count
        if not notes.matches(tag, [old], (), include_children):
            return tag
        count += 1
        return new + tag[len(old) :]

    return notes.changed_tags(text, change, location), count


@invalid_arguments
def refuse(_world, tool, arguments, problems):
    """Word what is wrong with an argument as the server does for it."""
    for name, message in EMPTY.items():
        if arguments.get(name) in ("", []):
            return invalid(tool, name, message)
    words = {**WRONG, "operation": OPERATIONS.get(tool, "")}
    if tool == "obsidian_search_vault":
        words["mode"] = "mode must be 'content', 'filename', 'both', or 'tag'."
    for problem in problems:
        for name, message in words.items():
            if f"'{name}'" in problem or problem.startswith(name):
                return invalid(tool, name, message)
    return Refused(f"Input validation error: Invalid arguments for tool {tool}: {'; '.join(problems)}")


@initial
def begin(given, world):
    """Fill the vault with the notes of `world.state`; with those of a garden if there is none."""
    given = {"vault": "garden", "notes": NOTES} if given is None else given
    vaults = given.get("vaults") if isinstance(given, dict) else None
    if isinstance(vaults, dict):
        for name, inner in vaults.items():
            load(world, name, inner)
        return
    named = given.get("vault") if isinstance(given, dict) else None
    names = vaults or [named.get("name", "notes") if isinstance(named, dict) else named or "notes"]
    for name in names[1:]:
        world.vault.add(name=name)
    load(world, names[0], given)


def load(world, name, given):
    world.vault.add(name=name)
    here = Vault(world, name)
    for row in records(given, "notes", "files", key="path", value="content"):
        here.add(str(row["path"]), str(row.get("content") or ""))
