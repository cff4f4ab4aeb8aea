"""The system calls that a confined process may make, as a filter for the kernel (seccomp)."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import struct
from collections.abc import Iterator, Mapping, Sequence
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


def _conditions() -> Mapping[str, _Condition]:
    """Return the calls that are allowed only with certain arguments."""
    itself = _Condition(0, [os.getpid()])
    return {
        "clone": _Condition(0, bit=_CLONE_THREAD),  # threads, no processes
        "fcntl": _Condition(1, [_DUPLICATE, *_FLAGS, _DUPLICATE_CLOSING]),
        "ioctl": _Condition(1, [_TERMINAL_SETTINGS, _BLOCKING, *_CLOSE_ON_EXEC, _AVAILABLE]),
        "kill": itself,
        "prlimit64": _Condition(2, _NO_POINTER),  # reads limits
        "sendto": _Condition(4, _NO_POINTER),  # to whom the socket is connected
        "socketpair": _Condition(0, [_UNIX]),
        "tgkill": itself,
    }


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
    conditions = _conditions()
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
