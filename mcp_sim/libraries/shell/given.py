"""The given state of a shell: files as texts by path or as rows, services, partitions and packages."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping

from mcp_sim.libraries.files import Files, normalize, parent
from mcp_sim.libraries.files.tree import DIRECTORY, FILE
from mcp_sim.libraries.git import Git
from mcp_sim.libraries.shell.commands.invocation import SYSTEM
from mcp_sim.libraries.shell.commands.suites import PYTEST, collected
from mcp_sim.libraries.store import LibraryError, Store
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import did_you_mean, nearest
from mcp_sim.types.json_schema.shapes import as_list, as_object, type_name

_TABLES = {"services": ("service", "name"), "partitions": ("partition", "mount"), "packages": ("package", "name")}
_PARTS = ("files", *_TABLES, "repositories", "tests")
_FILE_FIELDS: Mapping[str, Record] = {
    "path": {}, "folder": {}, "kind": {}, "text": {}, "base64": {}, "content": {}, "encoding": {}, "target": {},
    "mode": {}, "mtime": {}, "created_at": {}, "modified_at": {}, "repeat": {"type": "integer"},
}  # fmt: skip
_FIRST_PID = 400  # after those of the kernel and of the system


def load_given(store: Store, given: Json) -> None:
    """Create the files of a state and of every system, and the other records."""
    state = as_object(given)
    files = state.get("files", state if all(str(key).startswith("/") for key in state) else {})
    for key in state:
        if key not in _PARTS and (near := nearest(key, _PARTS)):  # other keys are for other servers
            raise LibraryError(f"world.state: unknown key {key!r}; did you mean {near!r}?")
    rows = [*_rows(SYSTEM["files"]), *_rows(files)]
    disk = Files(store)
    for folder in as_list(SYSTEM["directories"]):
        disk.make(str(folder))
    for row in rows:
        _load(store, disk, row)
    for name, (table, key) in _TABLES.items():
        for number, row in enumerate(_listed(state.get(name, SYSTEM.get(name)), key)):
            _check_row(row, TABLES[table], f"{name}: {row[key]}")
            usual: Record = {"pid": _FIRST_PID + 7 * number, "user": "root", "status": "running", "command": row[key]}
            store.put(table, str(row[key]), {**(usual if table == "service" else {}), **row})
    Git(store).load(state.get("repositories"))
    _load_tests(store, disk, state.get("tests"))


def _load_tests(store: Store, disk: Files, tests: Json) -> None:
    """Create tests: directory -> `pytest`, or name -> what files must hold, `error`; null is a test that passes.

    `pytest` alone is for the directories of all repositories.
    """
    if tests == PYTEST:
        tests = {repository.root: PYTEST for repository in Git(store).repositories}
    if isinstance(tests, str) or tests == {}:
        raise LibraryError(f"tests: expected {{DIRECTORY: {PYTEST}}}, or tests by name below it, got {tests!r}")
    for root, cases in as_object(tests).items():
        place = normalize(root)
        if cases == PYTEST:
            for name in collected(disk, place):
                store.put("test_case", name, {"name": name, "root": place, "runner": PYTEST, "fails": ""})
        elif not isinstance(cases, dict):
            raise LibraryError(f"tests: {root}: expected pytest, or tests by name, got {cases!r}")
        for name, given in as_object(cases).items():
            _check_row(as_object(given), TABLES["test_case"], f"tests: {name}")
            row: Record = {"name": name, "root": place, "needs": {}, "error": "", "fails": "", **as_object(given)}
            row |= _source(disk, f"{place}/{name.partition('::')[0]}", name.rpartition("::")[2])
            store.put("test_case", name, row)


def _check_row(row: Record, fields: Mapping[str, Record], place: str) -> None:
    """Raise `LibraryError` for an unknown field, or a value that should be a number."""
    for name, value in row.items():
        if name not in fields:
            raise LibraryError(f"{place}: unknown key {name!r}{did_you_mean(name, fields)}")
        if value is not None and fields[name].get("type") == "integer" and type_name(value) != "integer":
            raise LibraryError(f"{place}: {name}: expected a whole number, got {value!r}")


def _source(disk: Files, path: str, function: str) -> Record:
    """Return the lines of a test as they were given, and the number of the last one."""
    entry = disk.find(path)
    lines = "" if entry is None else entry.text
    start = re.search(rf"(?m)^( *)def {re.escape(function)}\(.*\n((?:\1 +.*\n|\n)*)", lines)
    source = "" if start is None else start[0].rstrip()
    above = 0 if start is None else lines[: start.start()].count("\n")
    return {"source": source, "line": above + source.count("\n") + 1}


def _rows(files: Json) -> Iterator[Record]:
    """Yield the rows of files given as rows, or as texts or rows by path; None is a directory."""
    for row in as_list(files):
        yield as_object(row)
    for path, value in as_object(files).items():
        if isinstance(value, dict):
            yield {"path": path, **value}
        else:
            is_directory = value is None or path.endswith("/")
            yield {"path": path, "kind": "directory"} if is_directory else {"path": path, "text": value}


def _load(store: Store, disk: Files, row: Record) -> None:
    path = row.get("path")
    if not isinstance(path, str) or not path.strip("/"):
        raise LibraryError(f"files: expected a path such as /srv/app.log, got {path!r}")
    _check_row(row, _FILE_FIELDS, f"files: {path}")
    place = normalize(path)
    extra: Record = {}
    if "mode" in row:
        extra["mode"] = _mode(row["mode"], path)
    if str(row.get("kind") or "").startswith("d"):
        disk.make(place)
        table = DIRECTORY
    else:
        table = FILE
        text, data = (row.get(name) for name in ("text", "base64"))
        if row.get("target") is not None:
            extra |= {"content": "", "target": str(row["target"])}
        elif data is not None:
            _check_base64(data, path)
            extra |= {"content": str(data), "encoding": "base64"}
        else:
            content = row.get("content", "") if text is None else text
            extra["content"] = (content if isinstance(content, str) else json.dumps(content)) * int(
                row.get("repeat", 1)
            )
        disk.make(parent(place))
    if row.get("mtime") is not None:
        extra["modified_at"] = str(row["mtime"])
    times: Record = {"created_at": store.time, "modified_at": store.time}
    store.put(table, place, {"path": place, "folder": parent(place), **times, **extra})


def _check_base64(data: Json, path: str) -> None:
    try:
        b64decode(str(data), validate=True)
    except ValueError:
        raise LibraryError(f"files: {path}: base64: expected the content in base64, got {str(data)[:40]!r}") from None


def _mode(value: Json, path: str) -> str:
    """Return a mode in octal digits. A number is what `stat` returns: 493 is 755."""
    try:
        number = value if isinstance(value, int) else int(str(value), 8)
    except ValueError:
        number = -1
    if number < 0 or (isinstance(value, int) and 0o777 < number < 0o1750):  # 644 and 755 are meant as octal digits
        raise LibraryError(f'files: {path}: mode: expected octal digits such as "755", got {value!r}')
    return f"{number:o}"


def _listed(value: Json, key: str) -> Iterator[Record]:
    """Yield rows given as a list of objects or names, or as an object by key."""
    for row in as_list(value):
        yield as_object(row) if isinstance(row, dict) else {key: row}
    for name, row in as_object(value).items():
        yield {key: name, **(as_object(row) if isinstance(row, dict) else {"version": row})}


_TEXT: Record = {"type": "string"}
_NUMBER: Record = {"type": "integer"}

TABLES: Mapping[str, Mapping[str, Record]] = {
    "shell_session": {"id": _TEXT, "cwd": _TEXT, "state": _TEXT, "blocked": _TEXT},
    "service": {
        "name": _TEXT, "command": _TEXT, "pid": _NUMBER, "port": _NUMBER, "user": _TEXT, "status": _TEXT,
        "responses": {"type": "object"},
    },
    "partition": {"mount": _TEXT, "device": _TEXT, "size": _NUMBER, "used": _NUMBER, "is_full": {"type": "boolean"}},
    "package": {"name": _TEXT, "version": _TEXT},
    "test_case": {
        "name": _TEXT, "root": _TEXT, "needs": {"type": "object"}, "error": _TEXT, "source": _TEXT, "fails": _TEXT,
        "line": _NUMBER, "runner": _TEXT,
    },
}  # fmt: skip
"""Table -> field -> its schema. The first field is the key."""
