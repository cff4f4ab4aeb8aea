"""The command line: `mcp-sim COMMAND`. Each command is a module that is imported only when it runs.

A command has `arguments(parser)`, which declares its arguments, and `run(args)`, which returns its exit code:

    0    done
    1    the documents have errors, or an expectation failed; `diff`: something differs; `run`: the agent failed;
         `measure`, `validity`: the score is below --at-least; `hunt`: the agent has a weakness
    2    invalid usage
    3    mcp-sim could not answer a call (a crash, not a simulated fault); `run`: the agent could not be started
    4    no answer: from the URL given to `connect`, from a server that `import` or `diff` asks, from a language model;
         `run`: no run decides whether the agent passes; `hunt`: it fails without faults
    130  Ctrl-C;  143  SIGTERM
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Any, cast

from mcp_sim import __version__
from mcp_sim.cli.parsing import CommandParser
from mcp_sim.cli.streams import for_people
from mcp_sim.server.descriptors import open_standard_streams
from mcp_sim.types.errors import Crash, DocumentError, McpSimError, UsageError, continued, did_you_mean

COMMANDS = {
    "init": "write a first scenario, with a tool spec and a test, for given tools",
    "serve": "serve a scenario as an MCP server, over stdio or HTTP",
    "connect": "connect a stdio client to a running HTTP server",
    "run": "run your agent in worlds of a scenario, and judge what it did",
    "compare": "compare two reports of runs: whether a later version of an agent is worse",
    "hunt": "search for faults that make your agent fail, and write them as regression tests",
    "curriculum": "write the next scenarios for an agent, from what it failed at",
    "demo": "watch a scripted agent work with a flaky CRM over a real MCP connection",
    "play": "run calls from a file or stdin in one world, without MCP",
    "grade": "judge the worlds of a trace by the expectations of their scenario",
    "show": "show a trace as a table of calls, answers, changes and faults, or one step in full",
    "explain": "show which faults fire at each call of a trace, and why the others do not",
    "view": "write traces as one HTML file that shows them in a browser",
    "expand": "write concrete tasks from a scenario whose records are picked by seed",
    "trajectories": "write the worlds of traces as training data: chats with tools, or turns to predict",
    "diff": "compare two traces, or recorded sessions with the live server",
    "trust": "trust documents, so that they may run code, send keys, and name files anywhere",
    "check": "check scenarios and tool specs, and report every problem with its place",
    "import": "create tool specs from live servers, client configurations, OpenAPI or function lists",
    "plan": "show what mcp-sim inferred about each tool",
    "generate": "generate records, with or without a language model, into a file for scenarios",
    "compile": "have a language model write a program for a server, and keep what passes the gate",
    "learn": "learn a tool spec from recorded sessions, or have a language model write a program from them",
    "record": "record what passes between a client and a real server, for learn, measure and replay:DIR",
    "measure": "replay recorded sessions of a real server, and measure how faithful the answers are",
    "validity": "measure whether agents rank on a simulation as they do on a real server",
    "eval": "evaluate a world model with AgentWorldBench, or with recorded sessions",
    "list": "document perturbations, triggers, expectations, world models, and shipped documents",
    "schema": "print the JSON Schema of scenarios, tool specs or presets, for editors",
    "client-config": "print the entry that a client needs to start mcp-sim",
    "completion": "print the completion script of a shell",
}


OF_THE_WHOLE = frozenset({"argcomplete", "httptools", "httpx2", "mcp", "mcp_types", "openai", "starlette", "uvicorn"})
"""Packages that mcp-sim-core does without: what serves, records and asks language models needs them."""


READER_LEFT = 141
"""The code of a program that SIGPIPE ends, in a shell. With 0, `mcp-sim run ... | head` would pass what has failed."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. User errors are messages on stderr and exit codes, never tracebacks."""
    open_standard_streams()
    if argv is None and "_ARGCOMPLETE" in os.environ:
        completion = module_of("completion")
        completion.complete(_parser(completion.requested_words()))
        return 0
    words = [*(sys.argv[1:] if argv is None else argv)]  # `list` is a command, and so a name of this package
    with for_people():
        return outcome(lambda: _ran(words))


def outcome(action: Callable[[], int]) -> int:
    """Return the exit code of an action. User errors become messages on stderr."""
    try:
        return _unwrapped(action)
    except DocumentError as error:
        return _fail(str(error), 1)
    except Crash as error:
        return _fail(continued(f"mcp-sim: crash: {error}"), 3)
    except McpSimError as error:
        return _fail(continued(f"mcp-sim: {error}"), 2)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in OF_THE_WHOLE:
            raise
        return _fail(f"mcp-sim: this needs {error.name}, which mcp-sim-core does without: pip install mcp-sim", 2)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _discard_stdout()
        return READER_LEFT
    except OSError as error:
        _discard_stdout()
        return _fail(continued(f"mcp-sim: {error.strerror}{f': {error.filename}' if error.filename else ''}"), 2)


def _unwrapped(action: Callable[[], int]) -> int:
    """Run an action. An exception that task groups have wrapped is raised as it was."""
    try:
        return action()
    except BaseExceptionGroup as group:
        raise _innermost(group) from None


def _innermost(error: BaseException) -> BaseException:
    """Return the only exception in nested groups, else the error itself."""
    inner = cast("BaseExceptionGroup[BaseException]", error).exceptions if _is_group(error) else ()
    return _innermost(inner[0]) if len(inner) == 1 else error


def _is_group(error: BaseException) -> bool:
    return isinstance(error, BaseExceptionGroup)


def _parser(words: Sequence[str]) -> CommandParser:
    """Return the parser with all commands; only the requested one has its arguments."""
    parser = CommandParser(prog="mcp-sim", description="A stateful fake for any MCP server, with injectable failures.")
    parser.add_argument("--version", action="version", version=f"mcp-sim {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    requested = next((word for word in words if not word.startswith("-")), None)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == requested:
            module = module_of(name)
            command.set_defaults(run=module.run, parser=command)
            module.arguments(command)
    return parser


def module_of(command: str) -> Any:
    """Import the module of a command. If its name is a Python keyword, that of the module has a trailing `_`."""
    return import_module(
        f"mcp_sim.cli.{command}_" if iskeyword(command) else f"mcp_sim.cli.{command.replace('-', '_')}"
    )


def _ran(words: Sequence[str]) -> int:
    """Run the command, and flush its output so that a closed pipe is noticed."""
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        raise UsageError(f"unknown command {words[0]!r}{did_you_mean(words[0], COMMANDS)}")
    gc.disable()  # loading creates no garbage, so looking for it only costs time
    parser = _parser(words)
    gc.enable()
    args, unknown = parser.parse_known_args(words)
    if unknown:
        (parser if args.command is None else args.parser).refuse(unknown, words)
    if args.command is None:
        parser.print_help()
        return 2
    code = args.run(args)
    sys.stdout.flush()
    return code


def _discard_stdout() -> None:
    """Discard buffered output, so that the interpreter does not fail on it when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code
