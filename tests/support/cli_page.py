"""Write docs/cli.md from the help of the commands: python tests/support/cli_page.py"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from mcp_sim.cli import COMMANDS, module_of
from mcp_sim.cli.parsing import CommandParser

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"

HEAD = """\
# The command line

`mcp-sim COMMAND --help` prints the same about one command.

SCENARIO is a file, the name of a scenario or tool spec that ships (`mcp-sim list scenarios`, `mcp-sim list catalogue`),
or a `tools/list` result as JSON. Tools without a scenario get a world without faults. Durations are written `250ms`,
`30s`, `5m`, `2h` or `1d`. TRACE is a file that `--trace` wrote. Results go to stdout, messages to stderr.

## Exit codes

- 0: done
- 1: documents have errors; an expectation, agent, record or sample failed; a difference, weakness or regression was
  found; a score or rank correlation is too low; nothing was kept or passed the gate
- 2: invalid usage
- 3: mcp-sim could not answer a call, which is a crash and not a simulated fault; an agent could not be started
- 4: a server does not answer, or a language model after the start; the runs decide nothing, since no fault was
  applied or a verdict is missing; the agent of `hunt` fails without faults
- 130, 143: ended by Ctrl-C, by SIGTERM
- 141: what reads the output has ended before the command
"""

KNOWN = frozenset({"SCENARIO", "TRACE"})
"""Arguments that HEAD describes."""

MANY = 2
"""An option of this many commands is described once, at the beginning."""

GUIDES: Mapping[str, str] = {
    "init": "testing-agents.md#your-own-tools",
    "serve": "serving.md",
    "connect": "serving.md#connect",
    "run": "testing-agents.md",
    "compare": "testing-agents.md#two-versions-of-an-agent",
    "hunt": "testing-agents.md#hunting-for-faults",
    "curriculum": "testing-agents.md#the-next-scenarios",
    "view": "testing-agents.md#the-viewer",
    "show": "testing-agents.md#looking-at-a-run",
    "explain": "testing-agents.md#looking-at-a-run",
    "grade": "testing-agents.md#looking-at-a-run",
    "diff": "testing-agents.md#looking-at-a-run",
    "trust": "scenarios.md#trust",
    "import": "tool-specs.md#importing",
    "plan": "tool-specs.md#plans",
    "generate": "scenarios.md#generated-records",
    "compile": "programs.md#programs-that-a-language-model-writes",
    "learn": "recording.md#learning-a-tool-spec",
    "record": "recording.md",
    "measure": "recording.md#measuring-fidelity",
    "eval": "world-models.md#measuring-a-model",
}
"""Command -> the section that describes it at length."""


Row = tuple[str, str]
"""An argument as users write it, and its help."""


def page() -> str:
    """Return the page."""
    parsers = {name: _parser(name) for name in COMMANDS}
    uses = Counter(row for parser in parsers.values() for row in _rows(parser) if row[0].startswith("-"))
    common = [row for row, number in uses.items() if number >= MANY]
    lines = [HEAD, "## Common options\n", *_items(common)]
    for name, parser in parsers.items():
        lines += _section(name, parser, common)
    return "\n".join(lines)


def _parser(command: str) -> argparse.ArgumentParser:
    parser = CommandParser(prog=f"mcp-sim {command}", add_help=False)
    module_of(command).arguments(parser)
    return parser


def _section(name: str, parser: argparse.ArgumentParser, common: Sequence[Row]) -> Iterator[str]:
    rows = [*_rows(parser)]
    positional = [_written(action) for action in parser._actions if not action.option_strings]
    usage = parser.usage or " ".join([parser.prog, *positional])
    text = f"{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}"
    yield f"## {name}\n"
    yield f"{f'[{text}]({GUIDES[name]})' if name in GUIDES else text}.\n"
    yield f"`{usage.replace(', or ', '`<br>`').replace(', ', '`<br>`')}`\n"
    yield from _items([row for row in rows if row not in common and row[0] not in KNOWN])
    shared = [f"`{argument.split()[0]}`" for argument, meaning in rows if (argument, meaning) in common]
    if shared:
        yield f"Also {', '.join(shared)}.\n"


def _rows(parser: argparse.ArgumentParser) -> Iterator[Row]:
    """Yield the arguments of a command; of one with kinds, each kind, then the options of all kinds."""
    options: dict[Row, None] = {}
    for action in parser._actions:
        choices = cast("object", action.choices)
        if isinstance(choices, Mapping):
            kinds = cast("Mapping[str, argparse.ArgumentParser]", choices)
            for kind, subparser in kinds.items():
                yield kind, (subparser.description or "").partition("\n")[0].removesuffix(".")
                options.update(dict.fromkeys(_rows(subparser)))
        elif action.dest != "help":
            argument = _written(action)
            yield argument, "print the result as JSON" if argument == "--json" else action.help or ""
    yield from (row for row in options if row[0].startswith("-"))


def _written(action: argparse.Action) -> str:
    """Return an argument as a user writes it: `--seed N`, `[CALLS]`, `PATH...`."""
    choices = "|".join(map(str, action.choices or ()))
    value = str(action.metavar or choices or action.dest.upper())
    match action.nargs:
        case 0:
            return ", ".join(action.option_strings)
        case "?":
            value = f"[{value}]"
        case "*" | "+":
            value = f"{value}..."
        case _:
            pass
    return " ".join([*action.option_strings[:1], value])


def _items(rows: Sequence[Row]) -> Iterator[str]:
    for argument, meaning in rows:
        yield f"- `{argument}`: {meaning}"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
