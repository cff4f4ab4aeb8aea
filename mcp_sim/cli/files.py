"""How is a file of the user's replaced, so that nothing is lost whatever happens in between?"""

from __future__ import annotations

import os
import shutil
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile

from mcp_sim.types.errors import UsageError


def replace_file(path: Path, text: str) -> None:
    """Write a file as a whole or not at all; folders are made. Raises UsageError where it cannot be written."""
    target = path.resolve()
    fresh = None
    try:
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


def kept(path: Path) -> Path | None:
    """A copy of a file as it is, under the first name that is free; None where there is no file."""
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
