"""Remove what an agent has left."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from pathlib import Path


def remove_tree(folder: Path) -> None:
    """Remove a folder, however deep its folders are. What may not be removed stays.

    Each folder is first moved to the top: paths would become too long, and recursion too deep.
    """
    numbers, waiting = count(), [folder]
    while waiting:
        current = waiting.pop()
        with suppress(OSError):
            current.chmod(0o700)
        with suppress(OSError), os.scandir(current) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        moved = folder.with_name(f"{folder.name}-{next(numbers)}")
                        Path(entry.path).rename(moved)
                        waiting.append(moved)
                    else:
                        Path(entry.path).unlink()
        with suppress(OSError):
            current.rmdir()
