"""A simulated file system with the tools of the reference server: texts, folders, edits, searches."""

import json
import re
from base64 import b64encode

from archive import FILES, ROOT
from texts import edited, glob_test, patch, size_text, time_text

from mcp_sim.libraries.files import (
    AlreadyExists,
    FileError,
    IntoItself,
    IsADirectory,
    NotADirectory,
    NotEmpty,
    NotFound,
    allowed_directories,
    below,
    is_within,
    normalize,
    parent,
)
from mcp_sim.programs import Refused, Result, initial, invalid_arguments, tool
from mcp_sim.programs.helpers import indented, zod_refusal

tables = {
    "place": {"singleton": True, "fields": {"allowed": {"type": "array", "items": {"type": "string"}, "default": []}}}
}

CODES = {
    NotFound: "ENOENT: no such file or directory", IsADirectory: "EISDIR: illegal operation on a directory",
    NotADirectory: "ENOTDIR: not a directory", AlreadyExists: "EEXIST: file already exists",
    NotEmpty: "ENOTEMPTY: directory not empty", IntoItself: "EINVAL: invalid argument",
}  # fmt: skip
MEDIA = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "bmp": "image/bmp", "svg": "image/svg+xml", "mp3": "audio/mpeg", "wav": "audio/wav", "ogg": "audio/ogg",
    "flac": "audio/flac",
}  # fmt: skip


@initial
def begin(given, world):
    """Fill the allowed folders with the given files, else with an archive of a small company."""
    allowed = allowed_directories(given)
    if world.files.load(given):
        tops = [entry.path for entry in world.files.list() if not entry.is_file]
        folders = [parent(entry.path) for entry in world.files.walk() if entry.is_file]
        world.place["allowed"] = allowed or [_common(folders) or (tops or ["/"])[0]]
    else:
        world.files.load({"files": FILES}, (allowed or [ROOT])[0])
        world.place["allowed"] = allowed or [ROOT]
    for path in world.place["allowed"]:
        world.files.make(path)


def _common(folders):
    parts = [folder.split("/") for folder in folders]
    shared = [names[0] for names in zip(*parts, strict=False) if len({*names}) == 1]
    return "/".join(shared)


def placed(world, path):
    """Return the absolute path, which is inside an allowed folder. Relative paths are below the first one."""
    place, allowed = normalize(path, world.place["allowed"][0]), world.place["allowed"]
    if not is_within(place, allowed):
        raise Refused(f"Access denied - path outside allowed directories: {place} not in {', '.join(allowed)}")
    return place


def failed(error, call, where):
    """Return the refusal in the words of Node.js: `ENOENT: no such file or directory, open '/a'`."""
    return Refused(f"{CODES[type(error)]}, {call} {where}")


def looked_up(world, path, call):
    place = placed(world, path)
    try:
        return world.files.entry(place)
    except FileError as error:
        raise failed(error, call, f"'{place}'") from None


def opened(world, path):
    entry = looked_up(world, path, "open")
    if not entry.is_file:
        raise Refused("EISDIR: illegal operation on a directory, read")
    return entry


def shown(text):
    return Result(text=text, structured={"content": text})


def listed(world, path):
    entry = looked_up(world, path, "scandir")
    if entry.is_file:
        raise Refused(f"{CODES[NotADirectory]}, scandir '{entry.path}'")
    return world.files.list(entry.path)


# reading


@tool(verb="get", entity="file", key="path")
def read_text_file(world, path, head=None, tail=None):
    if head and tail:
        raise Refused("Cannot specify both head and tail parameters simultaneously")
    text = opened(world, path).text
    if tail:
        return shown("\n".join(text.split("\n")[-int(tail) :]))
    return shown("\n".join(text.splitlines()[: int(head)]) if head else text)


@tool(verb="get", entity="file", key="path")
def read_file(world, path, head=None, tail=None):
    return read_text_file(world, path, head, tail)


@tool(verb="get", entity="file", key="path")
def read_media_file(world, path):
    entry = opened(world, path)
    kind = MEDIA.get(entry.name.rpartition(".")[2].lower(), "application/octet-stream")
    data = b64encode(entry.text.encode()).decode()
    block = {"type": kind.partition("/")[0], "data": data, "mimeType": kind}
    if block["type"] not in ("image", "audio"):
        block = {"type": "resource", "resource": {"uri": f"file://{entry.path}", "mimeType": kind, "blob": data}}
    return Result(blocks=[block], structured={"content": [block]})


@tool(verb="list", entity="file")
def read_multiple_files(world, paths):
    texts = []
    for path in paths:
        try:
            texts.append(f"{path}:\n{opened(world, path).text}\n")
        except Refused as refusal:
            texts.append(f"{path}: Error - {refusal}")
    return shown("\n---\n".join(texts))


@tool(verb="list", entity="file")
def list_directory(world, path):
    return shown("\n".join(f"[{'FILE' if entry.is_file else 'DIR'}] {entry.name}" for entry in listed(world, path)))


@tool(verb="list", entity="file")
def list_directory_with_sizes(world, path, sortBy="name"):
    entries = listed(world, path)
    entries.sort(key=lambda entry: entry.name.lower())
    if sortBy == "size":
        entries.sort(key=lambda entry: -entry.size)
    lines = [
        f"[FILE] {entry.name:<30} {size_text(entry.size):>10}" if entry.is_file else f"[DIR] {entry.name:<30} "
        for entry in entries
    ]
    files = [entry for entry in entries if entry.is_file]
    total = f"\nTotal: {len(files)} files, {len(entries) - len(files)} directories"
    combined = size_text(sum(entry.size for entry in files))
    return shown("\n".join([*lines, total, f"Combined size: {combined}"]))


@tool(verb="list", entity="file")
def directory_tree(world, path, excludePatterns=()):
    top = looked_up(world, path, "scandir").path
    tests = [glob_test(pattern) for given in excludePatterns for pattern in _tree_patterns(given)]

    def nodes(folder):
        for entry in listed(world, folder):
            if not any(test(below(entry.path, top)) for test in tests):
                node = {"name": entry.name, "type": "file" if entry.is_file else "directory"}
                yield node if entry.is_file else {**node, "children": [*nodes(entry.path)]}

    return shown(indented([*nodes(top)]))


def _tree_patterns(pattern):
    return [pattern] if "*" in pattern else [pattern, f"**/{pattern}", f"**/{pattern}/**"]


@tool(verb="search", entity="file")
def search_files(world, path, pattern, excludePatterns=()):
    top = looked_up(world, path, "scandir").path
    wanted, unwanted = glob_test(pattern), [glob_test(given) for given in excludePatterns]
    paths = []

    def search(folder):
        for entry in listed(world, folder):
            place = below(entry.path, top)
            if any(test(place) for test in unwanted):
                continue
            if wanted(place):
                paths.append(entry.path)
            if not entry.is_file:
                search(entry.path)

    search(top)
    return shown("\n".join(paths) or "No matches found")


@tool(verb="get", entity="file", key="path")
def get_file_info(world, path):
    entry = looked_up(world, path, "stat")
    changed = time_text(entry.modified)
    facts = {
        "size": entry.size if entry.is_file else 4096, "created": time_text(entry.created), "modified": changed,
        "accessed": changed, "isDirectory": not entry.is_file, "isFile": entry.is_file,
        "permissions": "644" if entry.is_file else "755",
    }  # fmt: skip
    return shown("\n".join(f"{name}: {json.dumps(value).strip(chr(34))}" for name, value in facts.items()))


@tool(reads=True)
def list_allowed_directories(world):
    return shown("\n".join(["Allowed directories:", *world.place["allowed"]]))


# writing


@tool(verb="update", entity="file", key="path")
def write_file(world, path, content):
    place = placed(world, path)
    try:
        world.files.write(place, content)
    except IsADirectory as error:
        temporary = f"{place}.{world.random.getrandbits(128):032x}.tmp"
        raise failed(error, "rename", f"'{temporary}' -> '{place}'") from None
    except FileError as error:
        raise failed(error, "open", f"'{place}'") from None
    return shown(f"Successfully wrote to {path}")


@tool(verb="update", entity="file", key="path")
def edit_file(world, path, edits, dryRun=False):
    entry = opened(world, path)
    text = entry.text.replace("\r\n", "\n")
    for edit in edits:
        old, new = (edit[name].replace("\r\n", "\n") for name in ("oldText", "newText"))
        text, is_changed = edited(text, old, new)
        if not is_changed:
            raise Refused(f"Could not find exact match for edit:\n{edit['oldText']}")
    difference = patch(entry.text, text, entry.path)
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`{3,}", difference))])
    if not dryRun:
        world.files.write(entry.path, text)
    return shown(f"{fence}diff\n{difference}{fence}\n\n")


@tool(verb="create", entity="directory", key="path")
def create_directory(world, path):
    place = placed(world, path)
    try:
        world.files.make(place)
    except FileError as error:
        raise failed(error, "mkdir", f"'{place}'") from None
    return shown(f"Successfully created directory {path}")


@tool(verb="update", entity="file", key="source")
def move_file(world, source, destination):
    old, new = placed(world, source), placed(world, destination)
    if world.files.exists(new):
        raise Refused(f"Destination already exists: {destination}")
    try:
        world.files.move(old, new)
    except FileError as error:
        raise failed(error, "rename", f"'{old}' -> '{new}'") from None
    return shown(f"Successfully moved {source} to {destination}")


@invalid_arguments
def invalid(world, tool, arguments, problems):
    return zod_refusal(world, tool, arguments, problems)
