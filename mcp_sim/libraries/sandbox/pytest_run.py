"""Run pytest on files in memory, in a confined process."""

from __future__ import annotations

import ast
import builtins
import io
import os
import re
import sys
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from itertools import count
from linecache import getline
from pathlib import Path
from types import MethodType

from mcp_sim.types import Json

_ADDRESS = re.compile(r"\b0x(?:[0-9a-f]{12}\b|[0-9a-f]{0,11}(?=\.\.\.))")
"""The address of an object, as Linux has it, or the beginning of one. Shorter numbers may be those of the tests."""
_FIRST_ADDRESS, _STEP = 0x7F0000001000, 0x10
_WHOLE = len("0x7f0000001000")
_PREFIX = "usr"
"""Where Python seems to be."""
_TICK = 0.0005
"""Seconds between two looks at the clock with which pytest measures tests."""


def version(_: Json) -> str:
    """Return the version of pytest. Raises `ImportError` if it is not installed."""
    import pytest  # noqa: PLC0415 (pytest need not be installed)

    return pytest.__version__


def run(job: Mapping[str, Json]) -> Json:
    """Run pytest with `arguments` in a `directory`, after writing `files`. Return its stdout, stderr and exit code.

    Addresses and seconds are always the same. `fails` maps tests to the errors that they raise instead of running.
    """
    for file in job["files"]:
        path = Path(file["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        if "target" in file:
            path.symlink_to(file["target"])
            continue
        path.write_bytes(b64decode(file["base64"]))
        path.chmod(int(file["mode"], 8))
    os.environ.clear()
    os.environ.update(job["environment"], PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    os.chdir(job["directory"])
    sys.path[:0] = job["path"]
    sys.executable = "/usr/bin/python3"
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        code = _run_pytest(job["arguments"], job["fails"])
    most = int(job["most"])
    return {"stdout": _settled(out.getvalue()[:most]), "stderr": _settled(errors.getvalue()[:most]), "exit_code": code}


def _run_pytest(arguments: list[str], fails: Mapping[str, str]) -> int:
    """Run pytest with a clock that does not depend on the speed of the machine."""
    import pytest  # noqa: PLC0415 (pytest need not be installed)
    from _pytest import timing  # noqa: PLC0415 (part of pytest)

    ticks = count()
    timing.perf_counter = lambda: next(ticks) * _TICK

    class Failing:
        """Lets tests fail that are declared to."""

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_call(self, item: pytest.Item) -> None:
            error = fails.get(item.nodeid.partition("[")[0])
            if error is not None and isinstance(item, pytest.Function):
                item.obj = _failing(item, error)

    return int(pytest.main(arguments, plugins=[Failing()] if fails else []))


def _failing(item: Json, error: str) -> Json:
    """Return a function that raises an error in the last line of a test, as its source shows it."""
    code = item.obj.__code__
    last = max(line for _, _, line in code.co_lines() if line)
    line = getline(code.co_filename, last).rstrip()
    name, _, text = error.partition(": ")
    is_kind = isinstance(getattr(builtins, name, None), type)
    act = f"raise {name}({text!r})" if is_kind else f"raise AssertionError({error!r})"
    tree = ast.parse(f"def failing({', '.join(code.co_varnames[: code.co_argcount])}): {act}")
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.lineno, definition.end_lineno = code.co_firstlineno, last
    for node in ast.walk(definition.body[0]):
        if isinstance(node, ast.expr | ast.stmt):
            node.lineno = node.end_lineno = last
            node.col_offset, node.end_col_offset = len(line) - len(line.lstrip()), len(line)
    names: dict[str, Json] = {}
    exec(compile(tree, code.co_filename, "exec"), names)  # noqa: S102 (the function above)
    return MethodType(names["failing"], item.obj.__self__) if isinstance(item.obj, MethodType) else names["failing"]


def _settled(text: str) -> str:
    """Replace addresses by those that every run has, in the order in which they appear, and the places of Python."""
    numbers: Iterator[int] = count(_FIRST_ADDRESS, _STEP)
    addresses: dict[str, str] = {}
    for prefix in (sys.prefix, sys.base_prefix):
        text = text.replace(prefix[1:], _PREFIX)  # pytest shows it from the root or from the directory of the tests
    return _ADDRESS.sub(
        lambda match: (addresses.setdefault(match[0], f"{next(numbers):#x}") if len(match[0]) == _WHOLE
                       else f"{_FIRST_ADDRESS:#x}"[: len(match[0])]),
        text,
    )  # fmt: skip
