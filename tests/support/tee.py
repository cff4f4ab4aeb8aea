"""A tee between a client and a server over stdio: `python tee.py LOG COMMAND...` writes LOG.in and LOG.out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread


def copy(source: int, target: int, log: Path) -> None:
    with log.open("wb", buffering=0) as written:
        while data := os.read(source, 65536):
            written.write(data)
            view = memoryview(data)
            while view:
                view = view[os.write(target, view) :]
    os.close(target)


if __name__ == "__main__":
    name, *command = sys.argv[1:]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        Thread(target=copy, args=(0, process.stdin.fileno(), Path(f"{name}.in")), daemon=True).start()
        copy(process.stdout.fileno(), 1, Path(f"{name}.out"))
    sys.exit(process.returncode)
