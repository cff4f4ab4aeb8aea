"""pytest itself, on the files of a directory, in a confined process.

Tests that someone edits do not count: the given ones run. New ones run beside them.
"""

from __future__ import annotations

import ast
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from threading import BoundedSemaphore
from time import monotonic

from mcp_sim.libraries.files import Files, below, is_within
from mcp_sim.libraries.files.tree import FILE
from mcp_sim.libraries.sandbox import Limits, Stopped, Unconfined, own_files, run_confined
from mcp_sim.libraries.shell.commands.invocation import Failed, Invocation
from mcp_sim.libraries.shell.machine import bytes_of
from mcp_sim.libraries.store import LibraryError, Store
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object

PYTEST = "pytest"
"""The runner of a test that pytest itself runs."""
SECONDS = 9.0
"""How long a command may take that runs it: less than the watchdog of programs allows (10 s)."""
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 (empty folders of the confined process alone)
_MODULE = "mcp_sim.libraries.sandbox.pytest_run"
_LIMITS = Limits(memory=1 << 30, cpu=8, files=256, file_size=16 << 20)
_LARGEST = 16 << 20
"""Bytes of all files together."""
_MOST = 1 << 20
"""Characters of an output."""
_AT_ONCE = BoundedSemaphore(4)  # each run may take a gigabyte
_TESTS = ("test_*.py", "*_test.py")
_SETTINGS = (
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)
"""What decides which tests run, and how. None is added to those that were given."""


def collected(disk: Files, root: str) -> list[str]:
    """Return the names of a directory's tests. Raises `LibraryError` if there is no test, or no pytest."""
    names = [
        f"{below(entry.path, root)}::{name}"
        for entry in disk.walk(root)
        if _fits(entry.path, _TESTS)
        for name in _tests_of(entry.text)
    ]
    if not names:
        raise LibraryError(f"tests: {root}: no tests in files named test_*.py; give their files")
    problem = _problem(root)
    if problem:
        declare = "declare what the files must hold for each test to pass"
        raise LibraryError(f"tests: {root}: pytest cannot run here: {problem}; or {declare}")
    return names


def _tests_of(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in tree.body:
        if isinstance(node, functions) and node.name.startswith("test"):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            methods = (inner.name for inner in node.body if isinstance(inner, functions))
            yield from (f"{node.name}::{name}" for name in methods if name.startswith("test"))


@cache
def _problem(root: str) -> str:
    """Return why pytest cannot run on files in a directory of this machine; '' if it can."""
    try:
        run_confined(f"{_MODULE}:version", None, seconds=60, limits=_LIMITS, writable=_folders(root))
    except Unconfined as error:
        return str(error)
    except Stopped as error:
        return f"{error}; install mcp-sim[terminal]" if "No module" in str(error) else str(error)
    return ""


def _folders(root: str) -> list[Path]:
    return [Path(root), _temporary()]


@cache
def _temporary() -> Path:
    """Return the folder for temporary files of the confined process: one without parts of Python or mcp-sim."""
    usual, other = map(Path, _TEMPORARY)
    return other if any(path.is_relative_to(usual) for path in own_files()) else usual


def run_suite(run: Invocation, root: str, rows: Sequence[Record], *, as_module: bool) -> None:
    """Run pytest, with `python -m pytest` if `as_module`: then the directory is where Python looks for modules."""
    files = [*_files(run.store, root)]
    if sum(len(file.get("base64", "")) for file in files) > _LARGEST * 4 // 3:
        raise Failed("pytest: No space left on device\n")
    environment = {"HOME": "/root", "USER": run.user, "LOGNAME": run.user, "LANG": "C.UTF-8", "TZ": "UTC"}
    if str(_temporary()) != _TEMPORARY[0]:
        environment["TMPDIR"] = str(_temporary())
    job: Json = {
        "files": files,
        "directory": run.directory,
        "path": [run.directory] if as_module else [],
        "environment": {**environment, "PATH": "/usr/local/bin:/usr/bin:/bin"},
        "arguments": run.arguments,
        "fails": {str(row["name"]): str(row["fails"]) for row in rows if row.get("fails")},
        "most": _MOST,
    }
    started = monotonic()
    if not _AT_ONCE.acquire(timeout=SECONDS / 2):
        raise Failed("Killed\n", 137)
    try:
        left = SECONDS - (monotonic() - started)
        done = run_confined(f"{_MODULE}:run", job, seconds=left, limits=_LIMITS, writable=_folders(root), hash_seed=0)
    except (Stopped, Unconfined) as error:
        raise Failed("Killed\n", 137) from error
    finally:
        _AT_ONCE.release()
    result = as_object(done)
    run.out.append(str(result["stdout"]))
    run.errors.append(str(result["stderr"]))
    run.code = int(result["exit_code"])


def _files(store: Store, root: str) -> Iterator[Mapping[str, Json]]:
    """Yield the files of a directory, with tests and settings as they were given."""
    given = store.view.initial_records(store.prefix + FILE)
    present = {str(row["path"]): row for row in store.rows(FILE) if is_within(str(row["path"]), [root])}
    protected = {
        str(path): row for path, row in given.items() if is_within(str(path), [root]) and _is_test(str(path), root)
    }
    for path, row in sorted({**present, **protected}.items()):
        if path not in protected and _fits(path, _SETTINGS):
            continue
        if row.get("target"):
            yield {"path": path, "target": str(row["target"])}
        else:
            content = b64encode(bytes_of(row)).decode()
            yield {"path": path, "base64": content, "mode": str(row.get("mode") or "644")}


def _is_test(path: str, root: str) -> bool:
    folders = below(path, root).split("/")[:-1]
    return _fits(path, (*_TESTS, *_SETTINGS)) or not {"test", "tests"}.isdisjoint(folders)


def _fits(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path.rpartition("/")[2], pattern) for pattern in patterns)
