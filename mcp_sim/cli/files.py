"""Read files of the user, and write them without losing any: replace, back up, and open traces."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from os import path as paths
from pathlib import Path
from tempfile import NamedTemporaryFile

from mcp_sim import __version__
from mcp_sim.spec.trust import read_whole
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import Sink
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.sinks.jsonl import Jsonl, SharedTrace
from mcp_sim.world.sinks.stored_trace import StoredTrace
from mcp_sim.world.trace import header_line


def replace_file(path: Path, text: str) -> None:
    """Write a file completely or not at all, and create its folder. Raises `UsageError` if it cannot be written.

    A device or a pipe is written to, and not replaced.
    """
    target = path.resolve()  # that of a pipe, such as `>(jq .)`, names no file
    fresh = None
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as stream:
            fresh = Path(stream.name)
            stream.write(text.encode())
        fresh.chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        fresh.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    finally:
        if fresh is not None:
            fresh.unlink(missing_ok=True)


def read_text(path: Path) -> str:
    """Return the text of a file, without a BOM, lines ended by a newline. Raises `UsageError` if it cannot be read."""
    try:
        return read_whole(path).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def back_up(path: Path) -> Path | None:
    """Copy a file to the first free name `FILE.bak`, `FILE.bak2`, ... and return it, None if there is no file.

    Raises `UsageError` if the copy cannot be written.
    """
    if not path.exists():
        return None
    names = (f"{path.name}.bak{'' if n == 1 else n}" for n in count(1))
    copy = next(path.with_name(name) for name in names if not path.with_name(name).exists())
    try:
        shutil.copy2(path, copy)
    except OSError as error:
        raise UsageError(f"cannot write {copy}: {error.strerror}") from None
    return copy


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def open_shared_trace(path: Path, scenario: Scenario) -> Sink:
    """Open the trace of several worker processes, a new file. Raises `UsageError` if the run reads this file."""
    return SharedTrace(_not_read(path, scenario, []), _header(scenario))


def open_trace(path: Path, scenario: Scenario, inputs: Sequence[Path | int] = ()) -> Jsonl:
    """Open the trace of a scenario, a new file.

    `inputs` are further files or descriptors that the run reads. Raises `UsageError` if the run reads this file.
    """
    return Jsonl(_not_read(path, scenario, inputs), _header(scenario))


def open_stored_trace(path: Path, scenario: Scenario, store: Path, world: str) -> StoredTrace:
    """Open the trace of a world in a store, which is continued. Raises `UsageError` if the run reads this file."""
    return StoredTrace(_not_read(path, scenario, [store]), _header(scenario), world)


def _not_read(path: Path, scenario: Scenario, inputs: Sequence[Path | int]) -> Path:
    if path.is_file() and any(_is_same(path, read) for read in (*scenario.files, *inputs)):
        raise UsageError(f"--trace {path}: this run reads that file; the trace would overwrite it")
    return path


def _header(scenario: Scenario) -> bytes:
    return header_line(scenario.name, scenario.sha256, __version__, scenario.path)


def _is_same(path: Path, read: Path | int) -> bool:
    with suppress(OSError):
        return paths.samefile(path, read)  # noqa: PTH121 (the argument may be a descriptor)
    return False
