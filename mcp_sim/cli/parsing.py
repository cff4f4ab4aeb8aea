"""Parse command lines, and report what is invalid in two lines, with the nearest valid choice."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from mcp_sim.types.clock import duration
from mcp_sim.types.errors import UsageError, did_you_mean


class CommandParser(argparse.ArgumentParser):
    """An argument parser that raises `UsageError` instead of printing the whole usage."""

    _is_mixing = False
    _own_usage: str | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride] (has overloads)
        """Parse arguments. Options may precede an argument that can be left out, which argparse takes for missing."""
        is_optional = any(action.nargs == "?" and not action.option_strings for action in self._actions)
        if self._is_mixing or not is_optional:
            return super().parse_known_args(args, namespace)
        self._is_mixing, self._own_usage = True, self.usage
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_mixing = False

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` with a message, and the command that shows what is valid."""
        written = self._own_usage if self._is_mixing else self.usage  # argparse sets another one while it mixes
        usage = f"usage: {written}; " if written else ""
        _, _, command = self.prog.partition(" ")
        raise UsageError(f"{f'{command}: ' if command else ''}{message}\n{usage}see {self.prog} --help")

    def refuse(self, unknown: Iterable[str], given: Sequence[str]) -> NoReturn:
        """Raise `UsageError` for arguments that the command does not take, with a hint at what was meant."""
        words = list(unknown)
        option = next((word.partition("=")[0] for word in words if word.startswith("-")), None)
        hint = "" if option is None else _near(option, self._option_string_actions)
        if not hint and " -- " in (self.usage or "") and "--" not in given:
            hint = "; write -- before the command and its options"
        self.error(f"unrecognized arguments: {' '.join(words)}{hint}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise `ArgumentError` for a value that is not among the choices."""
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, f"invalid choice {value!r}{did_you_mean(str(value), action.choices)}")


def trust_option(parser: argparse.ArgumentParser) -> None:
    """Add `--trust PATH`, which may be repeated; `load(..., trust=args.trust)` takes the list."""
    parser.add_argument(
        "--trust",
        action="append",
        type=Path,
        default=[],
        metavar="PATH",
        help="trust this document, or all below this folder: they may run code, send keys, and name files anywhere",
    )


def script_option(parser: argparse.ArgumentParser) -> None:
    usual = "default: script.yaml beside the scenario"
    parser.add_argument("--script", type=Path, metavar="FILE", help=f"the calls that carry out the task; {usual}")


def count(text: str) -> int:
    """Parse a whole number from 1. Raises `ArgumentTypeError`."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {text!r}")
    return int(text)


def number(low: float, high: float, text: str) -> float:
    """Parse a number between two others. Raises `ArgumentTypeError`."""
    with suppress(ValueError):
        if low <= float(text) <= high:
            return float(text)
    raise argparse.ArgumentTypeError(f"must be a number from {low} to {high}, not {text!r}")


share = partial(number, 0, 1)


def positive_seconds(option: str, text: str) -> float:
    """Return the seconds of a duration. Raises `UsageError` that names the option."""
    try:
        seconds = duration(text).total_seconds()
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
    if seconds <= 0:
        raise UsageError(f"{option} must be greater than 0")
    return seconds


def writable_folder(option: str, folder: Path) -> Path:
    """Return a folder if files can be written there, be it that it is created. Raises `UsageError`.

    Commands check it before they begin to work, and not when the work would be lost.
    """
    if not _takes_files(folder):
        raise UsageError(f"{option} {folder}: files cannot be written there; name a folder of yours")
    return folder


def writable_file(option: str, path: Path) -> Path:
    """Return a file if it can be written, be it that its folder is created. Raises `UsageError`."""
    is_special = path.exists() and not path.is_file()  # a device or a pipe is written to, a file is replaced
    if path.is_dir() or not (os.access(path, os.W_OK) if is_special else _takes_files(path.resolve().parent)):
        raise UsageError(f"{option} {path}: cannot be written; name a file in a folder of yours")
    return path


def _takes_files(folder: Path) -> bool:
    existing = next((parent for parent in (folder, *folder.parents) if parent.exists()), Path())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


_ADDRESS = re.compile(r"(?:(?P<host>[\w.-]+|\[[0-9a-fA-F:]+\]):)?(?P<port>\d{1,5})(?P<path>/.*)?")


def server_url(text: str) -> str:
    """Return the URL of a running server, which is also written as its address: `8930`, `HOST:8930/w/WORLD/mcp`."""
    address = _ADDRESS.fullmatch(text)
    if address is None:
        return text
    return f"http://{address['host'] or '127.0.0.1'}:{address['port']}{address['path'] or ''}"


def _near(option: str, known: Iterable[str]) -> str:
    """Return the nearest option as an appendix to a message, '' if none is similar."""
    names = [name.lstrip("-") for name in known if name.startswith("--")]
    near = get_close_matches(option.lstrip("-"), names, n=1, cutoff=0.6)
    return f"; did you mean --{near[0]}?" if near else ""
