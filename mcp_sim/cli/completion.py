"""`mcp-sim completion`: print the script with which a shell completes commands, options, shipped names and files."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping

import argcomplete
from argcomplete.completers import BaseCompleter, FilesCompleter
from argcomplete.shell_integration import shellcode

from mcp_sim.spec.sources import shipped

SHELLS = {
    "bash": "source <(mcp-sim completion bash)",
    "zsh": "source <(mcp-sim completion zsh)",
    "fish": "mcp-sim completion fish | source",
}
"""Shell -> the line for its start-up file."""


def arguments(parser: argparse.ArgumentParser) -> None:
    lines = "; ".join(f"{shell}: `{line}`" for shell, line in SHELLS.items())
    parser.description = f"Print the completion script of a shell. For its start-up file: {lines}."
    parser.add_argument("shell", choices=list(SHELLS), help="the shell")


def run(args: argparse.Namespace) -> int:
    """Print the script. Exit with 0."""
    print(shellcode(["mcp-sim"], shell=args.shell))
    return 0


def requested_words() -> list[str]:
    """Return the words of the command line that a shell completes, without the program."""
    line, point = os.environ.get("COMP_LINE", ""), os.environ.get("COMP_POINT", "")
    return line[: int(point) if point.isdecimal() else None].split()[1:]


def complete(parser: argparse.ArgumentParser) -> None:
    """Print what may come next for the shell that asks, and end the process."""
    argcomplete.autocomplete(parser, always_complete_options=False, default_completer=_Values())


class _Values(BaseCompleter):
    """Returns the shipped names and files for an argument."""

    def __call__(
        self, *, prefix: str, action: argparse.Action, parser: argparse.ArgumentParser, parsed_args: argparse.Namespace
    ) -> list[str]:
        names = _NAMES.get(action.dest, lambda _: ())(parsed_args)
        return [*names, *FilesCompleter()(prefix)]


def _documents(_: argparse.Namespace) -> Iterable[str]:
    return (*shipped("scenarios"), *shipped("tool_specs"))


def _families(_: argparse.Namespace) -> Iterable[str]:
    from mcp_sim.cli.list import FAMILIES  # noqa: PLC0415 (only `list` needs them)

    return FAMILIES


def _members(args: argparse.Namespace) -> Iterable[str]:
    from mcp_sim.cli.list import FAMILIES, members  # noqa: PLC0415 (only `list` needs them)

    return members(args.family) if getattr(args, "family", None) in FAMILIES else ()


_NAMES: Mapping[str, Callable[[argparse.Namespace], Iterable[str]]] = {
    "scenario": _documents,
    "paths": _documents,
    "source": lambda _: shipped("tool_specs"),
    "family": _families,
    "name": _members,
}
"""Argument -> the names that it may have besides files."""
