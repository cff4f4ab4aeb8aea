"""What a command of the shell gets, and what it answers."""

from __future__ import annotations

import asyncio
import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from getopt import GetoptError, gnu_getopt
from pkgutil import get_data
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_sim.libraries.store import Store
from mcp_sim.types import Json

if TYPE_CHECKING:
    from bashkit import BuiltinContext, BuiltinResult, CommandContext

    from mcp_sim.libraries.shell.machine import Machine


SYSTEM: Mapping[str, Json] = json.loads(get_data("mcp_sim.libraries.shell", "system.json") or b"")


LINKS = 40  # as many as Linux follows


class Failed(Exception):
    """A command that fails. Its text goes to stderr as it is."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.text, self.code = text, code


@dataclass(slots=True)
class Node:
    """A file, directory or symbolic link."""

    path: str
    kind: str
    mode: int
    size: int
    modified: datetime
    target: str = ""

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)

    @property
    def is_directory(self) -> bool:
        return self.kind == "directory"

    @property
    def is_link(self) -> bool:
        return self.kind == "symlink"


def is_number(text: str) -> bool:
    """Return whether a text is a number in ASCII digits: Python also reads those of other scripts."""
    return text.isascii() and text.isdigit()


def split_options(words: Sequence[str], short: str, long: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options among the words in their order, by name without dashes, and the other words.

    `short` has the letters as `getopt` takes them; the value of a letter with `::` may be left out, and is empty then.
    `long` has the long names: `size=` takes a value, `color=?` may take one, and `all:a` is another name of `-a`.
    Raises `GetoptError` for an unknown option.
    """
    signs = {letter: "=?" if colons == "::" else "=" for letter, colons in re.findall(r"(\w)(::?)", short)}
    letters = dict(re.findall(r"([\w-]+):(\w)", long))
    names = [name + signs.get(letter, "") for name, _, letter in (word.partition(":") for word in long.split())]
    optional = {f"--{name.removesuffix('=?')}" for name in names if name.endswith("=?")}
    lone = {f"-{letter}" for letter, sign in signs.items() if sign == "=?"}
    given = [f"{word}=" if word in optional else word for word in words if word not in lone]
    pairs, rest = gnu_getopt(given, short.replace("::", ":"), [name.removesuffix("?") for name in names])
    pairs += [(word, "") for word in words if word in lone]
    return [(letters.get(name.lstrip("-"), name.lstrip("-")), value) for name, value in pairs], rest


class Invocation:
    """One run of a command: its arguments, input and files, and the time and the chance of the world."""

    def __init__(self, machine: Machine, context: BuiltinContext | CommandContext, read: Callable[[], bytes]) -> None:
        self.machine, self._context = machine, context
        self.name, self.arguments = context.name, [*context.argv]
        self._read = read
        self._input: bytes | None = None
        self.directory = context.cwd
        self.fs = context.fs
        self.out: list[str] = []
        self.errors: list[str] = []
        self.code = 0

    @property
    def input(self) -> bytes:
        """What a pipe or a redirection gives the command, as far as it has not been taken."""
        if self._input is None:
            self._input = self._read()
        return self._input

    def take_line(self) -> str:
        """Take the next line of the input."""
        line, _, self._input = self.input.partition(b"\n")
        return line.decode("utf-8", "replace")

    def write(self, data: bytes) -> None:
        """Print bytes, which need not be text."""
        self.out.append(data.decode("utf-8", "surrogateescape"))

    @property
    def store(self) -> Store:
        return self.machine.store

    @property
    def chance(self) -> Random:
        return self.machine.chance

    @property
    def now(self) -> datetime:
        """The time of the world, with what commands have waited in this call."""
        return self.machine.time

    @cached_property
    def env(self) -> Mapping[str, str]:
        return self._context.env

    @property
    def user(self) -> str:
        return "root"

    def options(self, short: str, long: str = "", usage: int = 1) -> tuple[dict[str, str], list[str]]:
        """Return the options by name, and the other arguments. Fails for unknown ones."""
        pairs, rest = self.pairs(short, long, usage)
        return dict(pairs), rest

    def pairs(self, short: str, long: str = "", usage: int = 1) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the options in their order, and the other arguments. Fails for unknown ones."""
        try:
            return split_options(self.arguments, short, long)
        except GetoptError as error:
            sign = f"unrecognized option '--{error.opt}'" if len(error.opt) > 1 else f"invalid option -- '{error.opt}'"
            raise Failed(f"{self.name}: {sign}\nTry '{self.name} --help' for more information.\n", usage) from None

    def place(self, path: str) -> str:
        """Return the absolute path of an argument."""
        return posixpath.normpath(posixpath.join(self.directory, path))

    def look(self, path: str, *, follow: bool = False) -> Node | None:
        """Return what is at a path, or None. `follow`: what its symbolic links lead to."""
        place = self.place(path)
        for _ in range(LINKS):
            if place.startswith("/dev/"):  # a pipe of a process substitution, which seems to be a link
                return self._node(place, self.fs.stat(place)) if self.fs.exists(place) else None
            target = self._target(place)
            if target and follow:
                place = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
                continue
            if target:
                return Node(place, "symlink", 0o777, len(target.encode()), self.machine.time_of_link(place), target)
            if not self.fs.exists(place):
                return None
            return self._node(place, self.fs.stat(place))
        return None

    def list(self, path: str) -> list[Node]:
        """Return the content of a directory, sorted by the bytes of the names."""
        place = self.place(path)
        entries = sorted(self.fs.read_dir(place), key=lambda entry: entry["name"])
        return [self._node(posixpath.join(place, entry["name"]), entry["metadata"]) for entry in entries]

    def _node(self, place: str, metadata: Mapping[str, Any]) -> Node:
        kind = metadata["file_type"]
        if kind == "symlink":
            target, moment = self.fs.read_link(place), self.machine.time_of_link(place)
        else:
            given = self.machine.dated.get(place)
            target, moment = "", self.machine.world_time(float(metadata["modified"] if given is None else given))
        return Node(place, kind, metadata["mode"] & 0o7777, metadata["size"], moment, target)

    def _target(self, place: str) -> str:
        try:
            return self.fs.read_link(place)
        except RuntimeError:  # no symbolic link, or nothing at all
            return ""

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; those of the input for `-`. Fails as GNU commands do."""
        if path == "-":
            return self.input
        node = self.look(path, follow=True)
        if node is None:
            raise Failed(f"{self.name}: {path}: No such file or directory\n")
        if node.is_directory:
            raise Failed(f"{self.name}: {path}: Is a directory\n")
        return self.fs.read_file(node.path)

    def text(self, path: str) -> str:
        return self.read(path).decode("utf-8", "replace")

    def date(self, path: str, moment: datetime) -> None:
        """Give a file a time. The interpreter gets it when the command has ended."""
        self.machine.dated[path] = int(moment.timestamp())

    def fail(self, text: str, code: int = 1) -> None:
        """Report a failure and go on."""
        self.errors.append(text)
        self.code = max(self.code, code)


Body: TypeAlias = Callable[[Invocation], None]
_LOST = "\ufffd"
"""What the interpreter gives a command instead of bytes that are not text."""


def run_on_text(body: Body, machine: Machine, context: BuiltinContext) -> BuiltinResult:
    """Run a command whose input and output are texts. The machine notes where bytes were lost."""
    from bashkit import BuiltinResult  # noqa: PLC0415 (an extra, and loaded with the first command)

    given = context.stdin or ""
    invocation = Invocation(machine, context, lambda: given.encode("utf-8", "surrogateescape"))
    _run(body, invocation)
    printed = "".join(invocation.out).encode("utf-8", "surrogateescape")
    text = printed.decode("utf-8", "replace")
    machine.has_lost_bytes |= _LOST in given or _LOST in text
    return BuiltinResult(text, "".join(invocation.errors), invocation.code)


async def run_on_bytes(body: Body, machine: Machine, context: CommandContext) -> int:
    """Run a command whose input and output are bytes. Return its exit code.

    It runs in a thread of its own and reads its input when it needs it: other commands of a loop may read it, too.
    """
    loop = asyncio.get_running_loop()

    async def read() -> bytes:
        return b"".join([chunk async for chunk in context.stdin])

    invocation = Invocation(machine, context, lambda: asyncio.run_coroutine_threadsafe(read(), loop).result())
    await asyncio.to_thread(_run, body, invocation)
    await context.stdout.write("".join(invocation.out).encode("utf-8", "surrogateescape"))
    await context.stderr.write("".join(invocation.errors).encode("utf-8", "surrogateescape"))
    return invocation.code


def _run(body: Body, invocation: Invocation) -> None:
    try:
        body(invocation)
    except Failed as failure:
        invocation.fail(failure.text, failure.code)
    except (ValueError, OverflowError, TypeError, OSError):  # not a number, or too large
        invocation.fail(f"{invocation.name}: invalid argument\n")
    except RuntimeError as error:  # from the files of the interpreter
        invocation.fail(f"{invocation.name}: {error}\n")
