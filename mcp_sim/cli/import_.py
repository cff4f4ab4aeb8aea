"""`mcp-sim import`: create tool specs from live servers, client configurations, OpenAPI or function lists."""

from __future__ import annotations

import argparse
import inspect
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
from pydantic import ValidationError

from mcp_sim.cli.files import back_up, replace_file
from mcp_sim.cli.terminal import counted, first_few, json_option, note, print_json
from mcp_sim.simulator.compile import check, load
from mcp_sim.spec.foreign.files import distinct
from mcp_sim.spec.foreign.secrets import MissingValue, fill_placeholders
from mcp_sim.spec.import_files import Files, build_files, differences, scenario_text, with_program
from mcp_sim.spec.messages import error_messages
from mcp_sim.types import Record
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers
from mcp_sim.types.readable import printable

NO_ANSWER = 4  # the exit code if a server does not answer

MOST_DOUBTS = 20  # a list of hundreds of tools would scroll the result away
LONGEST_LINE = 1000  # the most characters of a server's message that are shown

SCENARIO = "scenario.yaml"

_OPTIONS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "name": ("--name", {"metavar": "NAME", "help": "the server's name, and that of its files"}),
    "headers": (
        "--header",
        {"metavar": "'NAME: VALUE'", "action": "append", "help": "an HTTP header, with ${NAME} of the environment"},
    ),
    "env": ("--env", {"metavar": "NAME=VALUE", "action": "append", "help": "a variable for the command"}),
    "folder": ("--cwd", {"metavar": "FOLDER", "help": "where the command runs"}),
    "transport": ("--transport", {"choices": ["http", "sse"], "help": "the transport of the URL; default http"}),
    "servers": ("--server", {"metavar": "GLOB", "action": "append", "help": "only the servers that match; may be "
                             "repeated"}),
    "timeout": ("--timeout", {"metavar": "SECONDS", "type": float, "help": "how long a server may take; default 60"}),
}  # fmt: skip
"""Option of an importer -> its flag on the command line."""


def arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    for name in importers.names():
        kind = importers[name]
        manual = inspect.getdoc(kind) or ""
        sub = kinds.add_parser(name, help=manual.partition("\n")[0], description=manual)
        for field, (flag, options) in _OPTIONS.items():
            if field in kind.model_fields:
                sub.add_argument(flag, dest=field, **options)
        sub.set_defaults(parser=sub)
        sub.add_argument(
            "-o", "--output", type=Path, default=Path(), metavar="FOLDER", help="where the files go; default here"
        )
        sub.add_argument(
            "--check", action="store_true", help="write nothing; exit 1 with a diff where the tools have changed"
        )
        sub.add_argument(
            "--no-program", action="store_true", help="do not attach the shipped program of a server that is recognised"
        )
        json_option(sub, "what was imported")
        is_command = "env" in kind.model_fields
        sub.add_argument(
            "sources",
            nargs=argparse.REMAINDER if is_command else "+",
            metavar="COMMAND... | URL" if is_command else "FILE",
            help=kind.model_fields["sources"].description,
        )


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if documents have errors or --check finds a difference, 2 if nothing can be imported.

    Exit with 4 if a server does not answer; the others are imported.
    """
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)  # its log has messages, and these may have secrets
    results = anyio.run(_importer(args).imported)
    for result in results:
        if isinstance(result, Unreached):
            for line in f"{result.name}: {result.reason}".splitlines():
                note(_line(line))
    # The servers under distinct names, so that their files have distinct names.
    found = [imported for imported in results if isinstance(imported, Imported)]
    names = distinct([server.name for server in found])
    servers = [
        Imported(name, server.tools, server.spec, server.doubts) for name, server in zip(names, found, strict=True)
    ]
    written = [] if args.check else _write(servers, args)
    reports = [Checked(server.name, [*_checked(server, args.output)]) for server in servers] if args.check else written
    scenario = _write_scenario(written, args.output)
    if args.json:
        print_json({"servers": [report.to_json() for report in reports], "scenario": scenario and str(scenario)})
    else:
        for report in reports:
            report.print()
        print(f"{scenario}: {', '.join(spec.name for spec in written)} in one world\n" if scenario else "", end="")
    if len(servers) < len(results):
        return NO_ANSWER
    return 1 if any(report.has_failed for report in reports) else 0


def _line(text: str) -> str:
    """Return a message of a server as a line that is not too long and has no control characters."""
    line = text.rstrip("\n")
    return printable(line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 3]}...")


def _importer(args: argparse.Namespace) -> Importer:
    """Return the importer with the options of the command line. Raises `UsageError` if they are invalid."""
    kind = importers[args.kind]
    sources = args.sources[1:] if args.sources[:1] == ["--"] else args.sources
    if "env" in kind.model_fields and sources == args.sources:
        _note_a_late_output(sources)
    options: dict[str, Any] = {"sources": sources}
    for field, (flag, _) in _OPTIONS.items():
        value = getattr(args, field, None)
        if value is not None:
            options[field] = _pairs(flag, value) if field in {"headers", "env"} else value
    if "env" in kind.model_fields:
        options |= _with_secrets(options)
    try:
        return kind.model_validate(options)
    except ValidationError as error:
        problems = "; ".join(message for _, message in error_messages(error, kind, options))
        if not sources:
            args.parser.error("nothing to import; name a source")
        raise UsageError(f"import {args.kind}: {problems}") from None


def _note_a_late_output(sources: Sequence[str]) -> None:
    """Note on stderr that a last `-o` goes to the server, since the user may have meant mcp-sim."""
    *command, option, value = ["", "", *sources]
    if option in {"-o", "--output"} and any(command):
        note(
            f"note: {option} {printable(value)} comes after the command, so it goes to the server; for mcp-sim, put it "
            "before the command (with -- before the command, there is no note)"
        )


def _pairs(flag: str, values: Sequence[str]) -> dict[str, str]:
    sign = ":" if flag == "--header" else "="
    pairs = [value.partition(sign) for value in values]
    if not all(name.strip() and text for name, text, _ in pairs):
        raise UsageError(f"{flag} must be like NAME{sign}VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _with_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return headers, variables and URL with `${NAME}` filled in from the environment."""
    try:
        parts = {key: {name: fill_placeholders(value, os.environ) for name, value in options.get(key, {}).items()}
                 for key in ("headers", "env")}  # fmt: skip
        sources = [fill_placeholders(word, os.environ) if "://" in word else word for word in options["sources"]]
    except MissingValue as error:
        raise UsageError(str(error)) from None
    secrets = [
        source.partition("?")[2] for source, raw in zip(sources, options["sources"], strict=True) if source != raw
    ]
    return {**parts, "sources": sources, "secrets": secrets}


# writing --------------------------------------------------------------------------------------------------------------


@frozen
class Written:
    """The tool spec of an imported server."""

    name: str
    spec: Path
    listed: int
    """How many tools the server lists."""
    tools: int
    """How many of them the spec serves."""
    entities: int
    guesses: int
    """How many plans are guesses."""
    program: str | None
    """The shipped program that answers tools of the server."""
    answered: int
    """How many of the tools a program answers."""
    planned: Sequence[str]
    """The tools that no program answers."""
    changes: Sequence[str]
    """The changes since the previous import, tool by tool."""
    doubts: Sequence[str]
    """What was not understood."""
    errors: Sequence[str]
    previous: Path | None
    """The copy of an existing spec that got new entries."""

    @property
    def has_failed(self) -> bool:
        return bool(self.errors)

    def to_json(self) -> Record:
        return {**asdict(self), "spec": str(self.spec), "previous": self.previous and str(self.previous)}

    def print(self) -> None:
        """Print what was imported, and on stderr what was not understood."""
        print(f"{self.spec}: {'has errors' if self.errors else self._summary()}")
        if self.program and not self.errors:
            print(f"  the shipped program {self.program} answers {self.answered} of them; without it: --no-program")
            if self.planned:
                print(f"  by their plans answer: {', '.join(first_few([*self.planned]))}")
        if self.changes:
            print(f"  since the last import: {', '.join(self.changes)}")
        if self.previous is not None:
            note(f"  Merged into {self.spec}. Its previous content is in {self.previous}.")
        doubts = [*self.doubts, *self.errors]
        for doubt in doubts[:MOST_DOUBTS]:
            note(f"  {_line(doubt)}")
        if len(doubts) > MOST_DOUBTS:
            note(f"  and {len(doubts) - MOST_DOUBTS} more like these")

    def _summary(self) -> str:
        left = f" of {self.listed}" if self.tools < self.listed else ""
        guesses = counted(self.guesses, "plan is a guess", "plans are guesses")
        guessed = f"; {guesses}: mcp-sim plan {self.spec}" if self.guesses else ""
        word = "tool" if self.listed == 1 else "tools"
        return f"{self.tools}{left} {word}, {counted(self.entities, 'entity', 'entities')}{guessed}"


def _write(servers: Sequence[Imported], args: argparse.Namespace) -> list[Written]:
    folder: Path = args.output
    known = servers if args.no_program else [with_program(server, folder) for server in servers]
    planned = [build_files(server, args.kind, folder) for server in known]  # all, before the first is written
    news = {server.name: _news(server, folder) for server in servers}
    return [_write_one(server, files, news[server.name]) for server, files in zip(servers, planned, strict=True)]


def _news(server: Imported, folder: Path) -> list[str]:
    """Return the changes since the previous import, tool by tool; empty if there was none."""
    try:
        lines = differences(server, folder)
    except (UsageError, DocumentError):
        return []
    return [line for line in lines if not line.startswith(" ")]


def _write_one(server: Imported, files: Files, changes: Sequence[str]) -> Written:
    previous = None
    for path, text in files.texts.items():
        if text is None:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_bytes() != text.encode():
            previous = back_up(path) if path == files.spec else previous
            replace_file(path, text)
    errors = [str(problem) for problem in check([files.spec]) if problem.severity == "error"]
    tools, entities, guesses, planned = 0, 0, 0, list[str]()
    if not errors:
        scenario = load(files.spec)
        domain = scenario.domain
        tools, entities, guesses = len(domain.tools), len(domain.entities), len(scenario.guesses)
        planned = [tool for tool in domain.tools if domain.program_of(tool) is None]
    numbers = (len(server.tools), tools, entities, guesses)
    about = (server.name, files.spec, *numbers, files.program, tools - len(planned), planned)
    return Written(*about, changes, files.doubts, errors, previous)


def _write_scenario(written: Sequence[Written], folder: Path) -> Path | None:
    """Write a scenario with all servers, if there are several, unless the file exists."""
    path = folder / SCENARIO
    if len(written) < 2:
        return None
    if path.exists():
        note(f"{path}: already exists and is not changed")
        return None
    replace_file(path, scenario_text({specification.name: specification.spec for specification in written}))
    return path


# --check --------------------------------------------------------------------------------------------------------------


@frozen
class Checked:
    """The differences between the tools of a server and those imported before, as the lines of a diff."""

    name: str
    differences: Sequence[str]

    @property
    def has_failed(self) -> bool:
        return bool(self.differences)

    def to_json(self) -> Record:
        return asdict(self)

    def print(self) -> None:
        """Print the differences."""
        print(f"{self.name}: {'changed' if self.differences else 'unchanged'}")
        print("".join(f"  {_line(line)}\n" for line in self.differences), end="")


def _checked(server: Imported, folder: Path) -> Iterator[str]:
    try:
        yield from differences(server, folder)
    except DocumentError as error:
        raise UsageError(f"{error.problems[0]}") from None
