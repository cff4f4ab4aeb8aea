"""An agent as a command: start it, wait for it, read its final answer, and end every process that it left."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from subprocess import DEVNULL
from tempfile import mkdtemp
from typing import Literal, TypedDict

import anyio
from anyio.abc import ByteReceiveStream, Process

from mcp_sim.types import Record
from mcp_sim.types.errors import McpSimError, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.scenario import Scenario

Transport = Literal["http", "stdio"]

_LAST_SECONDS = 2.0  # for what is still in the pipes
PREFIX = "MCP_SIM_"
LONGEST_ANSWER = 1024 * 1024  # an agent that prints without an end must not fill the memory; the answer is at the end
LONGEST_STDERR = 1024 * 1024
"""The bytes of an agent's stderr that are kept, from its end: a file and a page that a person opens."""
LONGEST_MESSAGE = 4000  # the characters of an agent's stderr in reports, which may have 100,000 runs

_PLACEHOLDER = re.compile(r"\{(task|url|mcp_config|dir|url:[^{}]+)\}")


class AgentNotStarted(McpSimError):
    """The command of an agent cannot be started."""

    def __init__(self, command: str, reason: str) -> None:
        self.command, self.reason = command, reason
        super().__init__(f"cannot start the agent {command!r}: {reason} (it must be in PATH, or a path to a file)")


@frozen
class Exit:
    """How an agent ended. `code` is None if it ran out of time."""

    code: int | None
    seconds: float
    answer: str
    errors: str
    """Its stderr. If it is longer than LONGEST_STDERR, the first line says how much is left out."""

    @property
    def problem(self) -> str | None:
        """What went wrong with the process, if anything."""
        if self.code is None:
            return f"the agent was stopped after {self.seconds:.0f} seconds (--timeout)"
        if self.code < 0:
            return f"the agent was ended by signal {-self.code}"
        return f"the agent exited with code {self.code}" if self.code else None


@frozen
class AgentCommand:
    """The command of an agent, with placeholders.

    `answer_file` is where it writes its final answer (None: to stdout); it may have placeholders, too. `hidden` are
    environment variables that it does not get.
    """

    words: tuple[str, ...]
    timeout: float
    transport: Transport = "http"
    answer_file: str | None = None
    hidden: frozenset[str] = frozenset()

    def check(self, scenario: Scenario) -> None:
        """Raise `UsageError` for placeholders without a value in this scenario, and for an impossible answer file."""
        if self.answer_file is not None and (not self.answer_file or Path(self.answer_file).is_dir()):
            raise UsageError(f"--answer-file: expected a file, got {self.answer_file!r}")
        for name in [name for word in (*self.words, self.answer_file or "") for name in _PLACEHOLDER.findall(word)]:
            if name == "task" and not scenario.task:
                raise UsageError(f"the command has {{task}}, but {scenario.path} has no `task:`")
            if name == "url" and len(scenario.servers) > 1:
                choices = ", ".join(f"{{url:{server}}}" for server in scenario.servers)
                raise UsageError(f"this scenario has several servers: write {{mcp_config}} or {choices} for {{url}}")
            if name.startswith("url:") and name[4:] not in scenario.servers:
                raise UsageError(f"{{{name}}}: the scenario has these servers: {', '.join(scenario.servers)}")

    def is_parallel(self) -> bool:
        """Whether several runs at a time do not write to one answer file."""
        return self.answer_file is None or "{dir}" in self.answer_file

    async def run(self, task: str, urls: Mapping[str, str], folder: Path) -> Exit:
        """Run the agent until it ends or its time is over. `folder` is its own, and empty.

        Raises `AgentNotStarted`. No process of the agent's process group is left behind, and on Linux none with the
        environment of the run.
        """
        config = folder / "mcp.json"
        config.write_text(json.dumps({"mcpServers": _entries(urls, self.transport)}, indent=2), encoding="utf-8")
        # The values of the placeholders. Without a name, a URL is that of the only server.
        only = {"url": next(iter(urls.values()))} if len(urls) == 1 else {}
        server_urls = {f"url:{server}": url for server, url in urls.items()}
        values = {"task": task, "mcp_config": str(config), "dir": str(folder), **only, **server_urls}
        answer_file = None if self.answer_file is None else Path(_filled(self.answer_file, values))
        if answer_file is not None:
            answer_file.unlink(missing_ok=True)
        words = [_filled(word, values) for word in self.words]
        began = time.monotonic()
        try:
            process = await anyio.open_process(
                words, stdin=DEVNULL, env=self._environment(values, urls), start_new_session=True
            )
        except OSError as error:
            raise AgentNotStarted(words[0], error.strerror or str(error)) from None
        stdout, stderr = _End(LONGEST_ANSWER), _End(LONGEST_STDERR)
        code, seconds = None, 0.0
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stdout.read, process.stdout)
            tasks.start_soon(stderr.read, process.stderr)
            try:
                code = await _ended(process, self.timeout)
            finally:
                kill_left_processes(PREFIX + "DIR", values["dir"])
            seconds = time.monotonic() - began
            # A process that left the group may hold the pipes open.
            tasks.cancel_scope.deadline = anyio.current_time() + _LAST_SECONDS
        await process.aclose()
        answer = stdout.text if answer_file is None else _answer(answer_file)
        return Exit(code, seconds, answer, stderr.text_with_note())

    def _environment(self, values: Mapping[str, str], urls: Mapping[str, str]) -> dict[str, str]:
        """Return this process's environment without settings of mcp-sim, and with those of the run."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(PREFIX) and name not in self.hidden
        }
        run = {"TASK": values["task"], "CONFIG": values["mcp_config"], "DIR": values["dir"]}
        run |= {"URL": values["url"]} if "url" in values else {}
        run |= {f"URL_{re.sub(r'[^A-Za-z0-9]', '_', server).upper()}": url for server, url in urls.items()}
        return {**kept, **{PREFIX + name: value for name, value in run.items()}}


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def _entries(urls: Mapping[str, str], transport: Transport) -> Record:
    """Return the entries of a client's configuration, by server."""
    if transport == "http":
        return {server: {"type": "http", "url": url} for server, url in urls.items()}
    return {server: {**stdio_command(url)} for server, url in urls.items()}


class StdioCommand(TypedDict):
    """The command of an MCP server over stdio, as `StdioServerParameters(**command)` takes it."""

    command: str
    args: list[str]
    env: dict[str, str]


def stdio_command(url: str) -> StdioCommand:
    """Return the command that connects a client to a URL over stdio."""
    path = {name: value for name, value in os.environ.items() if name == "PYTHONPATH"}  # clients pass few variables on
    python = str(Path(sys.executable).absolute())
    return {"command": python, "args": ["-m", "mcp_sim", "connect", url], "env": path}


async def _ended(process: Process, seconds: float) -> int | None:
    """Wait so long for a process, and end its group. Return its exit code, None if it ran out of time."""
    code = None
    try:
        with anyio.move_on_after(seconds):
            code = await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            _end_group(process)
            await process.wait()
    return code


def _end_group(process: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()


def _answer(path: Path) -> str:
    """Return the end of the answer file. Anything but a plain file, such as a link, is ignored."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return ""
        with open(path, "rb", opener=_without_waiting) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LONGEST_ANSWER))
            return file.read(LONGEST_ANSWER).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _without_waiting(path: str, flags: int) -> int:
    """Open a file. If it was just replaced by a link, raise an error; if by a pipe, do not wait."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


class _End:
    """The end of what a process writes. The rest is dropped: an agent may write gigabytes."""

    def __init__(self, size: int) -> None:
        self._size, self._count, self._kept = size, 0, bytearray()

    async def read(self, stream: ByteReceiveStream | None) -> None:
        """Read until all have closed the pipe."""
        assert stream is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for data in stream:
                self._count += len(data)
                self._kept += data
                if len(self._kept) > 2 * self._size:
                    del self._kept[: -self._size]

    @property
    def text(self) -> str:
        return self._kept[-self._size :].decode("utf-8", "replace").strip()

    def text_with_note(self) -> str:
        """Return it below a line that says how much is left out."""
        left_out = self._count - self._size
        return f"(the first {left_out:,} bytes are left out)\n{self.text}" if left_out > 0 else self.text


def model_keys(scenario: Scenario) -> frozenset[str]:
    """Return the environment variables with keys of the scenario's own language models."""
    named: Sequence[str | None] = [getattr(entry.world_model, "api_key_env", None) for entry in scenario.world_models]
    return frozenset(name for name in named if name)


PROCESSES = Path("/proc")


def kill_left_processes(variable: str, value: str) -> None:
    """Kill all processes of this user with a value in their environment, also those in sessions of their own.

    Only Linux shows the environment of processes; elsewhere nothing is killed.
    """
    mark = f"{variable}={value}".encode()
    for process in PROCESSES.glob("[0-9]*"):
        with suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)


@contextmanager
def fresh_folder() -> Generator[Path]:
    """Yield an empty folder, which is removed in the end, whatever an agent has left in it."""
    folder = Path(mkdtemp(prefix="mcp-sim-")).resolve()  # servers show paths without links
    try:
        yield folder
    finally:
        _remove_tree(folder)


def _remove_tree(folder: Path) -> None:
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
