"""A running shell: an interpreter of bash with a file system of its own, which follows the files of a world.

The interpreter is bashkit. It has no access to files, processes, the environment or the network of the host, and bounds
time and memory. What it gets from the host is the time of its files, which is replaced by the time of the world.
"""

from __future__ import annotations

import asyncio
import posixpath
import shlex
from base64 import b64decode, b64encode
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from random import Random
from time import time
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from mcp_sim.libraries.files.tree import DIRECTORY, FILE, directories_above, is_within
from mcp_sim.libraries.shell.commands.invocation import Body, run_on_bytes, run_on_text
from mcp_sim.libraries.store import Store
from mcp_sim.types import Record
from mcp_sim.types.clock import iso_seconds

if TYPE_CHECKING:
    from bashkit import Bash, BuiltinContext, BuiltinResult, CommandContext, ExecResult, FileSystem
BINARIES = ("/usr/bin", "/bin")
SYSTEM = frozenset({"/proc", "/dev", *BINARIES})
"""What the interpreter provides. Changes there are not kept."""
INSTALLED = 1736150400
"""The time of what belongs to the system, 6 January 2025."""
MOUNTED: Mapping[str, Mapping[str, str]] = {
    "/dev": {"null": "", "zero": "\0" * (1 << 20)},
    "/etc": {},
    "/root": {},
    "/proc": {
        "version": "Linux version 6.1.0-28-amd64 (gcc-12) #1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1\n",
        "cpuinfo": "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) CPU @ 2.20GHz\ncpu cores\t: 1\n",
        "meminfo": "MemTotal:        4022296 kB\nMemFree:         2871664 kB\nMemAvailable:    3384228 kB\n",
        "loadavg": "0.08 0.03 0.01 1/98 412\n",
        "uptime": "350735.47 234388.90\n",
    },
}
"""The folders of the interpreter that are replaced by others, with their files."""


def furnish(machine: Machine, commands: Iterable[str]) -> None:
    """Replace the files that the interpreter begins with, which are those of another system."""
    fs, mount = machine.fs, machine.bash.mount
    programs = {entry["name"] for entry in fs.read_dir(BINARIES[0])} | {*commands}
    for entry in fs.read_dir("/"):
        if f"/{entry['name']}" not in {*MOUNTED, "/bin", "/usr"}:
            fs.remove(f"/{entry['name']}", True)
    for folder, files in MOUNTED.items():  # the interpreter protects its own there
        mount(folder, _filled(files))
    binaries = _filled({name: f'#!/bin/sh\nexec {name} "$@"\n' for name in sorted(programs)}, mode=0o755)
    for folder in BINARIES:
        mount(folder, binaries)
    paths = [f"{BINARIES[0]}/{name}" for name in sorted(programs)]
    machine.touch(dict.fromkeys([*paths, *BINARIES, *MOUNTED, "/usr", "/"], INSTALLED))


def _filled(files: Mapping[str, str], mode: int = 0o644) -> FileSystem:
    """Return a file system with these files alone."""
    from bashkit import FileSystem  # noqa: PLC0415 (only with the extra `terminal`)

    system = FileSystem()
    for entry in system.read_dir("/"):
        system.remove(f"/{entry['name']}", True)
    for name, text in files.items():
        system.write_file(f"/{name}", text.encode())
        system.chmod(f"/{name}", mode)
    return system


MODES = {FILE: "644", DIRECTORY: "755"}
"""The modes of records without a mode."""

LIMITS: Mapping[str, Any] = {
    "max_commands": 50_000,  # half of what the interpreter runs in all its life
    "max_loop_iterations": 100_000,
    "max_memory": 32 << 20,  # a text that doubles needs three times as much; the watchdog of programs allows 128 MB
}
SECONDS = 5.0
"""How long a command may take: less than the watchdog of programs allows (10 s), since it holds a thread."""
_EXHAUSTED = "execution error: session"
"""How the interpreter begins to say that it runs no more."""
_MOST_RUNS = 900
"""How many scripts an interpreter gets: it runs a thousand, and a call needs fewer than ten."""
_RANDOM = 1 << 14
"""How many random bytes a call finds in /dev/urandom."""
_AT_ONCE = 400
"""How many paths a command gets: more do not fit into a command line of the interpreter."""

TABLES = (DIRECTORY, FILE)
Version: TypeAlias = Mapping[str, Any]
"""The version of a file: its type, mode, time of modification and size, as the interpreter returns them."""
Place: TypeAlias = "tuple[str, str]"
"""A table, and the path of a record in it."""


class Machine:
    """An interpreter whose files are those of a view. One call uses it at a time.

    Commands get and print texts, unless it `keeps_bytes`: then what is not text goes through pipes as it is, but each
    command takes a hundred times as long.
    """

    def __init__(
        self,
        commands: Mapping[str, Body],
        host: str,
        env: Mapping[str, str],
        seconds: float,
        *,
        keeps_bytes: bool = False,
    ) -> None:
        from bashkit import Bash  # noqa: PLC0415 (optional, and loaded with the first command)

        builtins = {} if keeps_bytes else {name: self._on_text(body) for name, body in commands.items()}
        limits: Mapping[str, Any] = {"timeout_seconds": seconds, **LIMITS}
        self.bash: Bash = Bash(username="root", hostname=host, env=dict(env), custom_builtins=builtins, **limits)
        self.keeps_bytes = keeps_bytes
        if keeps_bytes:
            for name, body in commands.items():
                self.bash.add_command(name, self._on_bytes(body))
        self.has_lost_bytes = False
        """Whether a command of this call has got or printed bytes that are not text, and lost them."""
        self.fs: FileSystem = self.bash.fs()
        self._runs = 0
        self._ending: BaseException | None = None
        """What the watchdog raised in a command: the interpreter takes it for a failure of the command."""
        self.is_exhausted = False
        """Whether the interpreter has refused a script, since it has run as many commands as it may."""
        self.store: Store
        self.now: datetime
        self.chance = Random(0)  # noqa: S311 (replaced by the draws of each call)
        self.fresh: Mapping[str, str] = {}
        """What a new shell remembers."""
        self.replaced: dict[str, Record | None] = {}
        """The files that this call has written -> their records before it."""
        self.dated: dict[str, int] = {}
        """The times that commands of this call have given to files, in seconds since 1970."""
        self.slept = 0.0
        """Seconds that commands of this call have waited, in the time of the world."""
        self.started = 0.0
        """When this call began, in the time of the host, which new files have."""
        self._origins: tuple[Any, ...] = ()
        self._known: dict[Place, Record | None] = {}
        """The records that the files have, where these are not the initial ones."""
        self._seen: dict[str, Version] = {}
        self._unsettled: set[str] = set()
        """The files that have not got the times of their records yet."""
        furnish(self, commands)

    def execute(self, script: str) -> ExecResult:
        """Run a script, and count it: the interpreter runs a limited number. Raises what the watchdog raised in it."""
        self._runs += 1
        return self._checked(self.bash.execute_sync(script))

    def _checked(self, result: ExecResult) -> ExecResult:
        if self._ending is not None:
            raise self._ending
        if result.error is not None and result.error.startswith(_EXHAUSTED):
            self.is_exhausted = True
        return result

    def execute_given(self, script: str) -> ExecResult:
        """Run a script that an agent has written."""
        if not self.keeps_bytes:
            return self.execute(script)
        self._runs += 1

        async def run() -> ExecResult:
            return await self.bash.execute(script)

        # In `execute_sync` a pipe between two commands on bytes waits for ever; and this thread may have a loop.
        with ThreadPoolExecutor(1) as pool:
            return self._checked(pool.submit(asyncio.run, run()).result())

    @property
    def is_worn(self) -> bool:
        """Whether the next call should get another interpreter."""
        return self.is_exhausted or self._runs > _MOST_RUNS

    # following a view

    def begin(self, store: Store) -> None:
        """Begin a call: move the files to the state before it."""
        self.store, self.now, self.slept, self.replaced, self.dated = store, store.now, 0.0, {}, {}
        self.has_lost_bytes = False
        self.follow()
        noise = store.draws.generator("urandom").randbytes(_RANDOM)
        for name, data in (("null", b""), ("random", noise), ("urandom", noise)):
            self.fs.write_file(f"/dev/{name}", data)
        self.started = time()

    def distance(self, store: Store) -> int:
        """Return how many files differ from those of a view with the same beginning."""
        return sum(1 for _ in self._moved(store))

    def has_origin(self, store: Store) -> bool:
        """Return whether the files began as those of a view did."""
        return len(self._origins) == 2 and all(
            mine is other for mine, other in zip(self._origins, _origins(store), strict=True)
        )

    def follow(self, fs: FileSystem | None = None) -> None:
        """Move the files to the newest records, also of this call."""
        if not self.has_origin(self.store):
            self._origins = _origins(self.store)
            self._known = {}
            initial = {(table, str(key)): row for table, rows in zip(TABLES, self._origins, strict=True)
                       for key, row in rows.items()}  # fmt: skip
            self._place(initial, fs)
            self._seen = self._scan(fs or self.fs)
            self.touch({"/": INSTALLED})
        moved = dict(self._moved(self.store))
        if moved:
            self._look_at(self._place(moved, fs), fs or self.fs)
            self._known.update(moved)

    def _moved(self, store: Store) -> Iterator[tuple[Place, Record | None]]:
        """Yield the places whose records are not those that the files have, and these records."""
        for table, origin in zip(TABLES, self._origins, strict=True):
            name = store.prefix + table
            written = store.view.written(name)
            keys = {*map(str, written), *(path for kind, path in self._known if kind == table)}
            for path in sorted(keys):
                wanted = written[path].record if path in written else origin.get(path)
                present = self._known.get((table, path), origin.get(path))
                if wanted is not present and wanted != present:
                    yield (table, path), wanted

    def _place(self, records: Mapping[Place, Record | None], fs: FileSystem | None = None) -> Iterable[str]:
        """Write records as files, with modes and times, and remove those that are gone. Return the written paths."""
        files = fs or self.fs
        for _, path in sorted((place for place, record in records.items() if record is None), reverse=True):
            if self._seen.pop(path, None) is not None:
                files.remove(path, True)
        present = [(table, path, record) for (table, path), record in records.items() if record is not None]
        times: dict[str, int] = {}
        for table, path, record in sorted(present, key=lambda item: item[1].split("/")):
            try:
                self._write(files, table, path, record)
            except (RuntimeError, ValueError):  # the interpreter refuses some names and sizes: it has no such file
                continue
            if not record.get("target"):
                times[path] = _seconds(record, self.now)
        if fs is None:
            self.touch(times)
        return times

    def _look_at(self, paths: Iterable[str], files: FileSystem) -> None:
        """Take the versions of files for those that were seen. A command sets their times when it has ended."""
        for path in paths:
            self._seen[path] = files.stat(path)
        if files is not self.fs:
            self._unsettled.update(paths)

    def _write(self, files: FileSystem, table: str, path: str, record: Record) -> None:
        """Write a record as a file or directory, with its mode."""
        for folder in (*directories_above(path), *([path] if table == DIRECTORY else [])):
            if not files.exists(folder):
                files.mkdir(folder)
        if record.get("target"):
            if path in self._seen:
                files.remove(path)
            files.symlink(str(record["target"]), path)
            return
        if table == FILE:
            files.write_file(path, bytes_of(record))
        mode = int(str(record.get("mode") or MODES[table]), 8)
        if (path in self._seen or mode != int(MODES[table], 8)) and files.stat(path)["mode"] & 0o7777 != mode:
            files.chmod(path, mode)

    def touch(self, times: Mapping[str, int]) -> None:
        """Set the times of files."""
        by_time: dict[int, list[str]] = {}
        for path, seconds in times.items():
            by_time.setdefault(seconds, []).append(path)
        lines = [
            f"command touch -d @{seconds} -- {shlex.join(paths[at : at + _AT_ONCE])}"
            for seconds, paths in by_time.items()
            for at in range(0, len(paths), _AT_ONCE)
        ]
        if lines:
            self.execute("\n".join(lines))

    # writing back

    def collect(self, within: Sequence[str] | None = None, fs: FileSystem | None = None) -> None:
        """Write the files that changed since the last time as records: those at and below some paths, or all.

        They are written in the order of their paths: the library lists a directory in another order each time.
        """
        files = fs or self.fs
        now, gone = self._below(files, within) if self._is_plain(within) else self._everything(files)
        changed = sorted(path for path, version in now.items() if self._seen.get(path) != version)
        for path in sorted(gone):
            for table in TABLES:
                if self.store.get(table, path) is not None:
                    self.store.remove(table, path)
                    self._known[table, path] = None
            del self._seen[path]
        for path in changed:
            self._record(files, path, now[path])
            self._seen[path] = now[path]
        if fs is not None:
            self._unsettled.update(changed)
        else:
            changed, self._unsettled = [*{*changed, *self._unsettled}], set()
            folders = {posixpath.dirname(path) for path in (*changed, *gone)}
            self._settle({*changed, *(folders & self._seen.keys())})
            if "/" in folders:
                self.touch({"/": INSTALLED})

    def _is_plain(self, within: Sequence[str] | None) -> TypeGuard[Sequence[str]]:
        """Whether paths are what they seem: no symbolic links are on the way."""
        places = {folder for path in within or () for folder in (*directories_above(path), path)}
        return (
            within is not None
            and "/" not in within
            and not any(place in self._seen and self._seen[place]["file_type"] == "symlink" for place in places)
        )

    def _everything(self, files: FileSystem) -> tuple[dict[str, Version], list[str]]:
        """Return the versions of all files, and the paths of those that are gone."""
        now = self._scan(files)
        return now, [path for path in self._seen if path not in now]

    def _below(self, files: FileSystem, within: Sequence[str]) -> tuple[dict[str, Version], list[str]]:
        """Return the versions of the files at and below paths, and the paths of those that are gone."""
        now: dict[str, Version] = {}
        for path in within:
            top = next((place for place in (*directories_above(path), path) if place not in self._seen), path)
            now |= self._scan(files, top)
        known = [path for path in self._seen if is_within(path, within)] if within else []
        return now, [path for path in known if path not in now]

    def _settle(self, changed: Iterable[str]) -> None:
        """Give files the times of their records."""
        times: dict[str, int] = {}
        for path in changed:
            record = self._known.get((FILE, path)) or self.store.get(DIRECTORY, path)
            if record is not None and path in self._seen and not record.get("target"):
                times[path] = _seconds(record, self.now)
        self.touch(times)
        self._look_at(times, self.fs)

    def _record(self, files: FileSystem, path: str, version: Version) -> None:
        """Write the record of a file that changed."""
        kind, mode, modified = version["file_type"], version["mode"], version["modified"]
        table, other = (DIRECTORY, FILE) if kind == "directory" else (FILE, DIRECTORY)
        if self.store.get(other, path) is not None:
            self.store.remove(other, path)
            self._known[other, path] = None
        before = self.store.get(table, path)
        if kind == "file":
            self.replaced.setdefault(path, before)
        octal = f"{mode:o}"
        if kind == "directory" and before is not None and (before.get("mode") or MODES[table]) == octal:
            return  # its own time is that of its record: new files in it leave the record as it is
        times = iso_seconds(self.world_time(modified))
        record: Record = {"path": path, "folder": path.rpartition("/")[0] or "/"}
        if kind == "symlink":
            record |= {"content": "", "target": files.read_link(path)}
        elif kind == "file":
            record |= content_of(files.read_file(path))
        record["created_at"] = times if before is None else before.get("created_at") or times
        record["modified_at"] = times
        if octal != MODES[table] and kind != "symlink":
            record["mode"] = octal
        self.store.put(table, path, record)
        self._known[table, path] = record

    def cut_off(self) -> bool:
        """Cut off what this call has written beyond the size of a partition. Return whether something was."""
        rows = {str(row["mount"]): row for row in self.store.rows("partition")}
        grown = self.growth([*rows]) if self.replaced else {}
        is_cut = False
        for path, before in self.replaced.items():
            mount = max((mount for mount in rows if is_within(path, [mount])), key=len, default=None)
            record = self.store.get(FILE, path)
            if mount is None or record is None:
                continue
            row = rows[mount]
            room = 0 if row.get("is_full") else int(row.get("size") or 0) - int(row.get("used") or 0) - grown[mount]
            data, old = bytes_of(record), bytes_of(before or {})
            if len(data) <= len(old) or (room >= 0 and not row.get("is_full")):
                continue
            kept = max(len(old), len(data) + min(0, room) * 1024) if not row.get("is_full") else len(old)
            if kept < len(data):
                self._cut(path, record, data[:kept], before)
                grown[mount] -= (len(data) - kept) // 1024
                is_cut = True
        return is_cut

    def _cut(self, path: str, record: Record, data: bytes, before: Record | None) -> None:
        """Let a file have fewer bytes; one that is as before has its record of before."""
        is_as_before = before is not None and bytes_of(before) == data
        after: Record = dict(before) if before is not None and is_as_before else {**record, **content_of(data)}
        self.store.put(FILE, path, after)
        self._place({(FILE, path): after})
        self._known[FILE, path] = after
        self._look_at([path], self.fs)

    def growth(self, mounts: Sequence[str]) -> dict[str, int]:
        """Return by how many KiB the files of each partition have grown since the world began."""
        grown = dict.fromkeys(mounts, 0)
        origin = self._origins[TABLES.index(FILE)]
        for kind, path in self._known:
            mount = max((mount for mount in mounts if is_within(path, [mount])), key=len, default=None)
            if kind == FILE and mount is not None:
                grown[mount] += kilobytes(self._known[kind, path]) - kilobytes(origin.get(path))
        return grown

    @property
    def time(self) -> datetime:
        """The time of the world, with what commands have waited in this call."""
        return self.now + timedelta(seconds=self.slept)

    def world_time(self, modified: float) -> datetime:
        """Return the time of a file in the world: now, if this call wrote it."""
        if self.started and self.started - 0.05 <= modified <= time():  # the clock of files may be coarser than ours
            return self.now
        return datetime.fromtimestamp(int(modified), self.now.tzinfo)

    def time_of_link(self, path: str) -> datetime:
        """Return the time of a symbolic link: that of its record, since the interpreter cannot set it."""
        record = self.store.get(FILE, path)
        return self.now if record is None else datetime.fromtimestamp(_seconds(record, self.now), self.now.tzinfo)

    def _scan(self, files: FileSystem, top: str = "") -> dict[str, Version]:
        """Return the version of each file and directory at and below a path."""
        versions: dict[str, Version] = {}
        if top:
            if files.exists(top) and files.stat(top)["file_type"] == "file" and top in self._seen:
                return {top: files.stat(top)}
            folder, name = posixpath.split(top)
            entries = files.read_dir(folder) if files.exists(folder) else []
            versions |= {
                f"{folder.rstrip('/')}/{name}": entry["metadata"] for entry in entries if entry["name"] == name
            }
            if top in SYSTEM or not versions or versions[top]["file_type"] != "directory":
                return {} if top in SYSTEM else versions
        folders = [top]
        while folders:
            folder = folders.pop()
            for entry in files.read_dir(folder or "/"):
                path, version = f"{folder}/{entry['name']}", entry["metadata"]
                if version["file_type"] == "directory":
                    if path in SYSTEM:
                        continue
                    folders.append(path)
                versions[path] = version
        return versions

    def _on_text(self, body: Body) -> Callable[[BuiltinContext], BuiltinResult]:
        def run(context: BuiltinContext) -> BuiltinResult:
            try:
                return run_on_text(body, self, context)
            except Exception:
                raise
            except BaseException as error:
                self._ending = error
                raise

        return run

    def _on_bytes(self, body: Body) -> Callable[[CommandContext], Coroutine[Any, Any, int]]:
        async def run(context: CommandContext) -> int:
            return await run_on_bytes(body, self, context)

        return run


def _origins(store: Store) -> tuple[Any, ...]:
    return tuple(store.view.initial_records(store.prefix + table) for table in TABLES)


def _seconds(record: Record, default: datetime) -> int:
    try:
        return int(datetime.fromisoformat(str(record.get("modified_at") or "")).timestamp())
    except ValueError:
        return int(default.timestamp())


def content_of(data: bytes) -> Record:
    """Return the fields of a content: text, or base64 for bytes that are not UTF-8."""
    try:
        return {"content": data.decode()}
    except UnicodeDecodeError:
        return {"content": b64encode(data).decode(), "encoding": "base64"}


def bytes_of(record: Record) -> bytes:
    """Return the bytes of a file."""
    text = str(record.get("content") or "")
    if record.get("encoding") == "base64":
        return b64decode(text, validate=False)
    return text.encode("utf-8", "surrogatepass")


def kilobytes(record: Record | None) -> int:
    """Return how much of the disk a file takes, in blocks of 4 KiB."""
    return 0 if record is None else -(-len(bytes_of(record)) // 4096) * 4
