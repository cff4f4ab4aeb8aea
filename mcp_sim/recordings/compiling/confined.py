"""Run a function of mcp-sim in a process of its own, with hard limits and without the user's environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from typing import Any

from mcp_sim.types import Json

MEMORY, CPU = 2 << 30, 240
_FILES = 64
_NEEDED = ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT")


class Stopped(Exception):
    """The process has come to a limit, or has failed. The text says which."""


def run_confined(target: str, argument: Json, *, seconds: float, hash_seed: int) -> Json:
    """Return what the function `module:name` returns. Raises `Stopped` if it comes to a limit or fails."""
    needed = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    fixed = {"PYTHONHASHSEED": str(hash_seed), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "TZ": "UTC"}
    try:
        done = subprocess.run(  # noqa: S603 (this Python, this module)
            [sys.executable, "-P", "-m", __name__, target],
            input=json.dumps(argument).encode(),
            capture_output=True,
            timeout=seconds,
            env=needed | fixed,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Stopped(f"did not end within {seconds:g} seconds") from None
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Stopped(f"ended with exit code {done.returncode}{''.join(f': {line[:300]}' for line in last)}")
    try:
        return json.loads(done.stdout)
    except (ValueError, RecursionError) as error:
        raise Stopped(f"answered what is no JSON: {error}") from None


def _limit() -> None:
    import resource  # noqa: PLC0415 (Windows has none)

    for limit, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, CPU),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))


def _main(target: str) -> None:
    output = os.dup(1)
    os.dup2(2, 1)
    module, _, name = target.partition(":")
    function: Any = getattr(import_module(module), name)
    argument = json.load(sys.stdin)
    if sys.platform != "win32":
        _limit()
    result = json.dumps(function(argument)).encode()
    while result:
        result = result[os.write(output, result) :]


if __name__ == "__main__":
    _main(*sys.argv[1:])
