"""The command line: `mcp-sim COMMAND`. One module per command, imported only when it is the one that runs.

A command has `arguments(parser)`, which declares what it takes, and `run(args) -> int`, which is its exit code:

    0    done
    1    the documents have errors, or an expectation failed; `diff`: the runs differ
    2    the command line asks for something impossible
    3    mcp-sim could not answer a call (a crash, as opposed to a simulated fault)
    4    nobody answers at the URL that `connect` was given; a server that `import` asks does not answer
    130  Ctrl-C;  143  SIGTERM
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword

from mcp_sim import __version__
from mcp_sim.server.descriptors import open_standard_streams
from mcp_sim.types.errors import Crash, DocumentError, McpSimError, UsageError, did_you_mean

COMMANDS = {
    "serve": "serve a scenario as an MCP server, over stdio or HTTP",
    "connect": "speak to a running HTTP server over stdio",
    "demo": "watch a scripted agent work through a flaky CRM over a real MCP connection",
    "play": "run calls from a file or stdin in one world, without MCP",
    "show": "show a trace as a table: served, true, committed, faults; or one step in full",
    "explain": "tell which call of a trace would fire what, and why the others did not",
    "diff": "show two traces side by side: what was served and written otherwise, and how the worlds end",
    "check": "check scenarios and tool specs; every problem with its place",
    "import": "make tool specs of live servers, a client's configuration, OpenAPI, or functions",
    "plan": "show what mcp-sim inferred about each tool",
    "generate": "invent the records of a fictional world, into a file that scenarios can begin with",
    "eval": "measure a language model as a world model, by AgentWorldBench",
    "list": "document perturbations, triggers, expectations, world models, and what ships",
    "schema": "print the JSON Schema of scenarios, tool specs or presets, for editors",
    "client-config": "print the entry that a client needs to start mcp-sim",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; every error of the user is a message on stderr and an exit code, never a traceback."""
    open_standard_streams()
    words = [*(sys.argv[1:] if argv is None else argv)]  # `list` is a command, and so a name of this package
    try:
        return _ran(words)
    except DocumentError as error:
        return _fail(str(error), 1)
    except Crash as error:
        return _fail(f"mcp-sim: crash: {error}", 3)
    except McpSimError as error:
        return _fail(f"mcp-sim: {error}", 2)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _let_go_of_stdout()
        return 0
    except OSError as error:
        _let_go_of_stdout()
        return _fail(f"mcp-sim: {error.strerror}{f': {error.filename}' if error.filename else ''}", 2)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """All commands by name and help; only the one that is asked for brings its arguments."""
    parser = argparse.ArgumentParser(
        prog="mcp-sim", description="A stand-in for any MCP server: with state, and with the faults of the real one."
    )
    parser.add_argument("--version", action="version", version=f"mcp-sim {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == asked:
            module = import_module(f"mcp_sim.cli.{_module(name)}")
            command.set_defaults(run=module.run, usage=command.format_usage)
            module.arguments(command)
    return parser


def _module(command: str) -> str:
    """The module of a command; one whose name is a word of Python has `_` behind it."""
    return f"{command}_" if iskeyword(command) else command.replace("-", "_")


def _ran(words: Sequence[str]) -> int:
    """Run the command, and find out whether what it printed arrived."""
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        raise UsageError(f"there is no command {words[0]!r}{did_you_mean(words[0], COMMANDS)}")
    gc.disable()  # nothing of what is loaded here is garbage, and looking for it takes its time
    parser = _parser(words)
    gc.enable()
    args, unknown = parser.parse_known_args(words)
    if unknown:
        usage = args.usage if args.command is not None else parser.format_usage
        raise UsageError(f"unrecognized arguments: {' '.join(unknown)}\n{usage()}".rstrip())
    if args.command is None:
        parser.print_help()
        return 2
    code = args.run(args)
    sys.stdout.flush()
    return code


def _let_go_of_stdout() -> None:
    """What is still to be written goes nowhere, so that the interpreter does not stumble over it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code
