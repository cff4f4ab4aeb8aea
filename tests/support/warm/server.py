"""Import all of mcp_sim at the first connection, fork a process for each, and end with stdin."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from contextlib import suppress

PATH = [entry for entry in sys.path[1:] if entry != os.environ["PYTHONPATH"]]


def listen(listener: socket.socket) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the process that started this one
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, go_on)
    clients: dict[int, socket.socket] = {}
    has_imported = False
    while True:
        ready, _, _ = select.select([listener, sys.stdin, woken], [], [])
        if woken in ready:
            os.read(woken, 1)
            report_ended(clients)
        if sys.stdin in ready:
            return
        if listener in ready:
            if not has_imported:
                import_package()
                has_imported = True
            connection, _ = listener.accept()
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                work(connection)
            clients[pid] = connection


def go_on(_number: int, _frame: object) -> None:
    """Handle a signal, so that it is written to the pipe for wakeups."""


def import_package() -> None:
    import gc
    import importlib
    import multiprocessing
    import pkgutil

    for module in pkgutil.walk_packages(importlib.import_module("mcp_sim").__path__, "mcp_sim."):
        # The adapters import trainers, which are not installed.
        if not module.name.endswith("__main__") and ".adapters." not in module.name:
            importlib.import_module(module.name)
    multiprocessing.set_executable(sys.executable)  # its processes inherit open files
    sys.executable = os.environ["WARM_PYTHON"]
    gc.freeze()  # the forks share the memory of what is imported


def report_ended(clients: dict[int, socket.socket]) -> None:
    """Send each client whose process has ended the exit code, negative if a signal ended it."""
    with suppress(ChildProcessError):  # no child is left
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with clients.pop(ended[0]) as client, suppress(OSError):  # a killed client hears nothing
                client.sendall(f"{os.waitstatus_to_exitcode(ended[1])}\n".encode())


def work(connection: socket.socket) -> None:
    """Become the process that the client describes."""
    import atexit
    import fcntl
    import json
    import random
    import threading

    data, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    while not data.endswith(b"\n"):
        data += connection.recv(1 << 20) or os._exit(1)  # the client has gone
    task = json.loads(data)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    connection.sendall(f"{os.getpid()}\n".encode())
    connection.recv(1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # from here on, ends this process when the client is killed
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(connection, fcntl.F_SETFL, fcntl.fcntl(connection, fcntl.F_GETFL) | os.O_ASYNC)
    os.chdir(task["folder"])
    os.environ.clear()
    os.environ.update(task["environment"])
    sys.path[:] = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *PATH]
    random.seed()
    code = exit_code(task["words"])
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] (what the end of an interpreter does)
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage] (what the end of an interpreter does)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def exit_code(words: list[str]) -> int:
    import traceback

    try:
        run(words)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        return 1
    return 0


def run(words: list[str]) -> None:
    """Run a module, code or a file as `__main__`."""
    import runpy
    import types
    from pathlib import Path

    kind, *rest = words
    if kind == "-m":
        sys.argv = rest
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), main.__dict__)
    elif kind.startswith("-"):
        sys.exit(f"a warm Python takes -m, -c or a file, not {kind}")
    else:
        sys.argv = words
        sys.path.insert(0, str(Path(kind).resolve().parent))
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    listen(socket.socket(fileno=int(sys.argv[1])))
