"""A Python whose processes need not import the package: forks of a process that has imported it.

A test that runs `mcp-sim`, or a server of the SDK, would spend most of its time in imports. `PYTHON` hands its
arguments, environment, folder and standard streams to a fork of a warm process, passes signals on, and ends with its
exit code. tests/test_packaging.py starts `mcp-sim` itself.

While tests run, `PYTHON` is `sys.executable` (tests/conftest.py), so that what mcp-sim starts is a fork as well.
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
"""Takes `-m MODULE ...`, `-c CODE ...`, or `FILE ...`. With other options, or another seed of hashes, it is `COLD`."""

COLD = sys.executable
"""The Python that imports what it needs."""


FORKING = str(PROGRAMS / "forking-python")
"""Like `PYTHON`, and forks confined processes of programs as well, whose texts then all have the same hashes."""


def pid_of(process: subprocess.Popen[Any]) -> int:
    """Return the id of the process that does the work of one that `PYTHON` started."""
    return int((PROGRAMS / f"socket-{process.pid}").read_text(encoding="ascii"))


# The workers of pytest-xdist start with -u, and write to no buffered stream. pytest cannot rewrite the assertions of
# what is already imported.
_CHOICE = """\
case "$1 $2" in "-u -c" | "{ignored} -c") shift ;; esac
case "$1 $2 $3" in
    "-m pytest --assert=plain") ;;
    "-m pytest"*) exec "{cold}" "$@" ;;
    "-m "* | "-c "* | [!-]*) ;;
    *) exec "{cold}" "$@" ;;
esac
"""


_OTHER_HASHES = """\
[ "$PYTHONHASHSEED" = "{seed}" ] || exec "{cold}" "$@"
"""


def _write_programs() -> None:
    other_hashes = _OTHER_HASHES.format(cold=COLD, seed=os.environ.get("PYTHONHASHSEED", ""))
    programs = {
        "python": ("", other_hashes + _CHOICE.format(cold=COLD, ignored="-u")),
        "forking-python": ("", _CHOICE.format(cold=COLD, ignored="-P")),
        "mcp-sim": (" -m mcp_sim", ""),
    }
    for name, (words, choice) in programs.items():
        program = PROGRAMS / name
        client = f'"{COLD}" -I -S "{_HERE / "client.py"}" "{PROGRAMS / "socket"}"'
        program.write_text(f'#!/bin/sh\n{choice}exec {client}{words} "$@"\n', encoding="utf-8")
        program.chmod(0o755)


def _start() -> None:
    """Start the process that forks. It imports at the first use, and ends with this process, which holds its stdin."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(PROGRAMS / "socket"))
        listener.listen(64)
        process = subprocess.Popen(
            [COLD, str(_HERE / "server.py"), str(listener.fileno())],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "WARM_PYTHON": PYTHON},
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
