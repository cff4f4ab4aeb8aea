"""A Python whose processes need not import the package: forks of a process that has imported it.

A test that runs `mcp-sim`, or a server of the SDK, would spend most of its time in imports. `PYTHON` hands its
arguments, environment, folder and standard streams to a fork of a warm process, passes signals on, and ends with its
exit code. tests/test_packaging.py starts `mcp-sim` itself.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from support.places import ROOT

_HERE = Path(__file__).parent
_folder = tempfile.TemporaryDirectory(prefix="warm-")

PROGRAMS = Path(_folder.name)
"""A folder for PATH, with `python` and `mcp-sim`."""

PYTHON = str(PROGRAMS / "python")
"""Takes `-m MODULE ...`, `-c CODE ...`, or `FILE ...`."""


def pid_of(process: subprocess.Popen[Any]) -> int:
    """Return the id of the process that does the work of one that `PYTHON` started."""
    return int((PROGRAMS / f"socket-{process.pid}").read_text(encoding="ascii"))


def _write_programs() -> None:
    for name, words in (("python", ""), ("mcp-sim", " -m mcp_sim")):
        program = PROGRAMS / name
        client = f'"{sys.executable}" -I -S "{_HERE / "client.py"}" "{PROGRAMS / "socket"}"'
        program.write_text(f'#!/bin/sh\nexec {client}{words} "$@"\n', encoding="utf-8")
        program.chmod(0o755)


def _start() -> None:
    """Start the process that forks. It imports at the first use, and ends with this process, which holds its stdin."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(PROGRAMS / "socket"))
        listener.listen(64)
        process = subprocess.Popen(
            [sys.executable, str(_HERE / "server.py"), str(listener.fileno())],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        )

    def end() -> None:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()

    atexit.register(end)


_write_programs()
_start()
