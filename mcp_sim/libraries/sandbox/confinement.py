"""Limits that a process sets itself and cannot lift again."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import stat
import struct
import sys
import sysconfig
import threading
import zoneinfo
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mcp_sim.types.frozen import frozen

_TABLE = Path(__file__).with_name("system_calls.json")
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Machine -> the kernel's number for it. They are the columns of `system_calls.json`, in this order."""

_LOAD, _IS, _HAS, _RETURN = 0x20, 0x15, 0x45, 0x06
"""Instructions: load a word; skip lines unless it equals a value, or has a bit of it; return."""
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in `struct seccomp_data`."""
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000  # what linux/seccomp.h has a filter return
_NOT_PERMITTED, _NOT_KNOWN = 1, 38  # EPERM and ENOSYS
_CLONE_THREAD = 0x10000  # of linux/sched.h
_TERMINAL_SETTINGS, _BLOCKING, _CLOSE_ON_EXEC, _AVAILABLE = 0x5401, 0x5421, (0x5450, 0x5451), 0x541B
"""TCGETS, FIONBIO, FIONCLEX and FIOCLEX, FIONREAD of asm-generic/ioctls.h."""
_DUPLICATE, _FLAGS, _DUPLICATE_CLOSING = 0, (1, 2, 3, 4), 1030
"""Commands of fcntl: F_DUPFD, F_GETFD to F_SETFL, F_DUPFD_CLOEXEC."""
_UNIX = 1  # AF_UNIX
_SET_FILTER, _ALL_THREADS = 1, 1  # SECCOMP_SET_MODE_FILTER and SECCOMP_FILTER_FLAG_TSYNC
_NUMBERS_OF_SECCOMP = {"x86_64": 317, "aarch64": 277}


@frozen
class _Condition:
    """What the argument of a call must be for the call to be allowed: one of the values, or with this bit."""

    argument: int
    values: Sequence[int] = ()
    bit: int = 0


_NO_POINTER = (0,)  # compared by identity: the value also has its upper 32 bits checked


def deny_system_calls(*, writes: bool = False) -> bool:
    """Let all but the listed system calls of this process fail, for good. Return whether they do.

    Those that write files are listed for processes that have files to write, which other limits protect from them.

    They do not if those of this machine are not known, or if the kernel takes no filter.

    The process must have given up new privileges (`PR_SET_NO_NEW_PRIVS`).
    """
    if platform.machine() not in _ARCHITECTURES:
        return False
    code = ctypes.create_string_buffer(b"".join(_filter(platform.machine(), writes=writes)))
    program = ctypes.create_string_buffer(struct.pack("HP", (len(code) - 1) // 8, ctypes.addressof(code)))
    number = ctypes.c_long(_NUMBERS_OF_SECCOMP[platform.machine()])
    call = ctypes.CDLL(None, use_errno=True).syscall
    return call(number, ctypes.c_ulong(_SET_FILTER), ctypes.c_ulong(_ALL_THREADS), program) == 0


def _filter(machine: str, *, writes: bool) -> Iterator[bytes]:
    """Yield the instructions of the filter."""
    column = [*_ARCHITECTURES].index(machine)
    table: Mapping[str, Mapping[str, Sequence[int | None]]] = json.loads(_TABLE.read_text(encoding="utf-8"))
    numbers = {**table["all"], **(table["writing"] if writes else {})}
    # Calls that are allowed only with certain arguments.
    itself = _Condition(0, [os.getpid()])
    conditions = {
        "clone": _Condition(0, bit=_CLONE_THREAD),  # threads, no processes
        "fcntl": _Condition(1, [_DUPLICATE, *_FLAGS, _DUPLICATE_CLOSING]),
        "ioctl": _Condition(1, [_TERMINAL_SETTINGS, _BLOCKING, *_CLOSE_ON_EXEC, _AVAILABLE]),
        "kill": itself,
        "prlimit64": _Condition(2, _NO_POINTER),  # reads limits
        "sendto": _Condition(4, _NO_POINTER),  # to whom the socket is connected
        "socketpair": _Condition(0, [_UNIX]),
        "tgkill": itself,
    }
    yield _instruction(_LOAD, _ARCHITECTURE)
    yield _instruction(_IS, _ARCHITECTURES[machine], 1)
    yield _instruction(_RETURN, _KILL)
    yield _instruction(_LOAD, _NUMBER)
    for name, columns in numbers.items():
        wanted = columns[column]
        if wanted is None:
            continue
        lines = [*_lines(name, conditions.get(name))]
        yield _instruction(_IS, wanted, 0, len(lines))
        yield from lines
    yield _instruction(_RETURN, _FAIL | _NOT_PERMITTED)


def _lines(name: str, condition: _Condition | None) -> Iterator[bytes]:
    """Yield what decides about one system call."""
    if name == "clone3":  # its flags are out of reach of a filter; glibc then uses clone
        yield _instruction(_RETURN, _FAIL | _NOT_KNOWN)
    elif condition is None:
        yield _instruction(_RETURN, _ALLOW)
    else:
        low = _ARGUMENTS + 8 * condition.argument
        if condition.values is _NO_POINTER:  # whose second word is zero, too
            yield _instruction(_LOAD, low + 4)
            yield _instruction(_IS, 0, 1)
            yield _instruction(_RETURN, _FAIL | _NOT_PERMITTED)
        yield _instruction(_LOAD, low)
        for code, value in [*((_IS, value) for value in condition.values), (_HAS, condition.bit)]:
            yield _instruction(code, value, 0, 1)
            yield _instruction(_RETURN, _ALLOW)
        yield _instruction(_RETURN, _FAIL | _NOT_PERMITTED)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


# files, memory and time -----------------------------------------------------------------------------------------------


_CREATE, _ADD, _ENTER = 444, 445, 446
"""The system calls of Landlock, on all machines."""
_WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 1, 1 << 2, 1 << 3  # access rights of linux/landlock.h
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Version of Landlock -> how many rights on files it knows; 16 from version 5 on."""
_NO_NEW_PRIVILEGES, _SIGNAL_OF_PARENT, _KILLED = 38, 1, 9  # of linux/prctl.h, and SIGKILL
_NULL = Path(os.devnull)
_MODULES = ("stdlib", "platstdlib", "purelib", "platlib")
_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000  # of linux/sched.h
_BIND, _PRIVATE, _WITH_THOSE_BELOW, _DETACH = 4096, 1 << 18, 16384, 2  # of linux/mount.h
_BASE = Path("/tmp")  # noqa: S108 (a place to mount at, which exists everywhere; nothing is written to it)
_SET_ATTRIBUTES, _HERE, _RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1  # mount_setattr on all machines, and its flags
_ROOM = b"size=64m,nr_inodes=20000"
"""What a process with files to write may hold in them, in memory."""
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
"""The system call that the C library has no function for."""
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
"""Where the libraries are that Python's modules load."""


UNCONFINED = "MCP_SIM_RUN_UNCONFINED_CODE"
"""The environment variable with which code runs although the kernel confines it in part only."""


class Unconfined(Exception):
    """This system cannot confine a process."""


@frozen
class Limits:
    """Limits of a process."""

    memory: int = 1 << 30
    """Bytes of address space."""
    cpu: int = 60
    """Seconds of processor time, in all."""
    files: int = 64
    """Open files."""
    file_size: int = 0
    """Bytes of a file that it writes."""


def restrict(limits: Limits, readable: Iterable[Path] = (), writable: Sequence[Path] = ()) -> None:
    """Limit this process for good, before it has threads.

    It may read Python's own libraries and the `readable` files and folders. The `writable` folders are new and in
    memory; it writes nothing else. Raises `Unconfined` if the kernel cannot enforce all of it, unless the environment
    has `UNCONFINED`: then what it can enforce has to do. Nor does it see the names, sizes and times of other files, if
    the kernel lets users have namespaces (`_hide_files`). `writable` folders need them.
    """
    if sys.platform == "win32":
        raise Unconfined("Windows has no limits for processes that mcp-sim knows")
    if threading.active_count() > 1:
        raise RuntimeError("a process is confined before it has threads")
    closes, denies = False, False
    if sys.platform == "linux":
        _prctl(_SIGNAL_OF_PARENT, _KILLED)
        _prctl(_NO_NEW_PRIVILEGES, 1)
        shown = [*own_files(), *readable, *([_NULL] if writable else ())]
        for folder in writable:
            both = next((path for path in shown if folder.is_relative_to(path) or path.is_relative_to(folder)), None)
            if both is not None:
                raise Unconfined(
                    f"{folder} overlaps {both}, which this Python needs; install mcp-sim in another folder"
                )
        if not _hide_files(shown) and writable:
            raise Unconfined("this system lets users have no namespaces (in a container, its seccomp profile decides)")
        for folder in writable:
            folder.mkdir(parents=True, exist_ok=True)
        closes = _close_files(shown, writable)
    _set_limits(limits)
    if sys.platform == "linux":
        denies = deny_system_calls(writes=bool(writable))
    if not (closes and denies) and not os.environ.get(UNCONFINED):
        lacks = "Landlock (Linux 5.13)" if not closes else "a filter of system calls (seccomp)"
        raise Unconfined(
            f"this system lacks {lacks}, so that they could read and change your files; use a Linux that has it, "
            f"for instance in a virtual machine, or set {UNCONFINED}=1 to run them with your rights all the same"
        )


def own_files() -> list[Path]:
    """Return the files and folders that Python and mcp-sim consist of."""
    package = Path(__file__).resolve().parents[2]
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    modules = [sysconfig.get_path(name, vars=given) for given in (None, base) for name in _MODULES]
    shipped = [package.parent / name for name in ("scenarios", "tool_specs", "presets")]  # in a checkout
    return [package, *shipped, *map(Path, (*modules, *zoneinfo.TZPATH, *_SYSTEM))]


def _set_limits(limits: Limits) -> None:
    import resource  # noqa: PLC0415 (missing on Windows)

    chosen = {
        resource.RLIMIT_AS: limits.memory,
        resource.RLIMIT_CPU: limits.cpu,
        resource.RLIMIT_NOFILE: limits.files,
        resource.RLIMIT_FSIZE: limits.file_size,
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform != "linux":  # there, threads count too, and the filter denies processes
        chosen[resource.RLIMIT_NPROC] = 0
    for limit, value in chosen.items():
        hard = resource.getrlimit(limit)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with suppress(ValueError, OSError):  # macOS does not limit the address space
            resource.setrlimit(limit, (most, most))


def _hide_files(shown: Sequence[Path]) -> bool:
    """Leave nothing in the file system of this process but some files and folders, read-only. Return whether it could.

    Landlock denies what a file contains, but not whether it exists, how large it is and when it changed. Where users
    may have no namespaces, as by default in Docker, that much is left.
    """
    pivot_root = _PIVOT_ROOT.get(os.uname().machine)
    if pivot_root is None or not _enter_namespaces():
        return False
    _mount(b"none", str(_BASE), b"tmpfs", 0, _ROOM)
    before = _BASE / "before"
    before.mkdir()
    if _system_call(pivot_root, os.fsencode(_BASE), os.fsencode(before)) != 0:
        raise Unconfined(f"cannot change the root folder: {os.strerror(ctypes.get_errno())}")
    os.chdir("/")
    before = Path("/before")
    for path in sorted({*shown}):
        _show(before, path)
    if ctypes.CDLL(None, use_errno=True).umount2(os.fsencode(before), _DETACH) != 0:
        raise Unconfined(f"cannot leave the root folder: {os.strerror(ctypes.get_errno())}")
    before.rmdir()
    return True


def _enter_namespaces() -> bool:
    """Give this process mounts of its own. Return whether it may change them."""
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None).unshare(_NEW_USER | _NEW_MOUNTS) != 0:
        return False
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text, encoding="ascii")
        _mount(b"none", "/", None, _PRIVATE | _WITH_THOSE_BELOW)
    except (OSError, Unconfined):  # AppArmor of Ubuntu 24.04 lets users have such namespaces, but without any right
        return False
    return True


def _show(before: Path, path: Path) -> None:
    """Show a file or folder of the file system before, and where it links to, under its own name."""
    at = Path("/")
    for name in path.parts[1:]:
        at /= name
        original = before.joinpath(*at.parts[1:])
        if at.is_symlink() or not os.path.lexists(original):
            return  # what a link leads to is shown already, or a part of Python that this machine does not have
        if original.is_symlink():
            target = Path(os.path.normpath(at.parent / original.readlink()))
            at.symlink_to(target)
            _show(before, target.joinpath(*path.parts[len(at.parts) :]))
            return
        if at != path and not at.is_dir():
            at.mkdir()
    if at.is_mount() or (at.is_dir() and any(at.iterdir())):
        return  # a folder above it is shown
    original = before.joinpath(*at.parts[1:])
    if stat.S_ISDIR(original.stat().st_mode):
        at.mkdir(exist_ok=True)
    else:
        at.touch()
    _mount(os.fsencode(original), str(at), None, _BIND | _WITH_THOSE_BELOW)
    attributes = struct.pack("QQQQ", _READ_ONLY, 0, 0, 0)  # Landlock does not keep owners from changing modes and times
    if _system_call(_SET_ATTRIBUTES, _HERE, os.fsencode(at), _RECURSIVE, attributes, len(attributes)) != 0:
        raise Unconfined(f"cannot show files as read-only: {at}: {os.strerror(ctypes.get_errno())}")


def _mount(source: bytes, target: str, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    mount = ctypes.CDLL(None, use_errno=True).mount
    if mount(source, os.fsencode(target), kind, ctypes.c_ulong(flags), options) != 0:
        raise Unconfined(f"cannot show only some files: {target}: {os.strerror(ctypes.get_errno())}")


def _close_files(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Deny all other files, and TCP. Return whether the kernel does, which needs Landlock."""
    version = _system_call(_CREATE, None, 0, 1)
    if version < 1:
        return False
    rights = (1 << _RIGHTS.get(version, 16)) - 1
    attributes = struct.pack("QQQ", rights, 3, 3)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _system_call(_CREATE, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    for path in readable:
        with suppress(OSError):
            writes = _WRITE_FILE if path == _NULL else 0
            _allow(ruleset, path, _READ_FILE | (_READ_FOLDER if path.is_dir() else writes))
    for path in writable:
        _allow(ruleset, path, rights)
    has_entered = _system_call(_ENTER, ruleset, 0) == 0
    os.close(ruleset)
    return has_entered


def _allow(ruleset: int, path: Path, allowed: int) -> None:
    at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("=Qi", allowed, at)
    _system_call(_ADD, ruleset, 1, rule, 0)
    os.close(at)


def _prctl(option: int, value: int) -> None:
    arguments = (ctypes.c_ulong(value), *(ctypes.c_ulong(0) for _ in range(3)))
    ctypes.CDLL(None, use_errno=True).prctl(ctypes.c_int(option), *arguments)


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    given = (
        argument if argument is None or isinstance(argument, bytes) else ctypes.c_long(argument)
        for argument in arguments
    )
    return ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *given)
