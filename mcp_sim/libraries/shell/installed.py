"""What the system has by itself, which replaces what the interpreter begins with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bashkit import FileSystem

    from mcp_sim.libraries.shell.machine import Machine

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
    from bashkit import FileSystem  # noqa: PLC0415 (optional)

    system = FileSystem()
    for entry in system.read_dir("/"):
        system.remove(f"/{entry['name']}", True)
    for name, text in files.items():
        system.write_file(f"/{name}", text.encode())
        system.chmod(f"/{name}", mode)
    return system
