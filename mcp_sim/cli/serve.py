"""`mcp-sim serve`: serve a scenario as an MCP server. Over stdio, stdout carries only the protocol."""

from __future__ import annotations

import argparse
import gc
import logging
import os
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import anyio

from mcp_sim import __version__
from mcp_sim.cli.files import open_shared_trace, open_stored_trace, open_trace
from mcp_sim.cli.judging import Judging
from mcp_sim.cli.parsing import count, trust_option
from mcp_sim.cli.serve_compile import Compilation, background_compilation, compiling
from mcp_sim.cli.startup import LEVELS, Loaded, announcement, freeze_collector, logs_calls
from mcp_sim.cli.terminal import counted, first_few
from mcp_sim.faults.compile import with_intensity
from mcp_sim.server.call_log import CallLog, LogLines
from mcp_sim.server.deliverability import Transport, check_deliverable, only_server
from mcp_sim.server.opening import Opening
from mcp_sim.server.standard_streams import StandardStreams, standard_streams
from mcp_sim.server.worlds import Worlds, checked_name
from mcp_sim.simulator.compile import Present, load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types.clock import Mode
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import Sink, stores
from mcp_sim.types.scenario import Presented, Scenario
from mcp_sim.world.world import World

STDERR = 2
MOST_DOUBTS = 10  # a client shows stderr in a small window; `mcp-sim check` lists all


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="a scenario, tool spec or tools/list result: a file, or a shipped name")
    add("--seed", type=int, metavar="N", help="replace the scenario's seed")
    add("--intensity", type=float, metavar="0..1", help="replace the scenario's intensity of faults")
    add("--clock", choices=["virtual", "real"], help="real (the default): delays take real time; virtual: they do not")
    add("--trace", type=Path, metavar="FILE", help="write the trace to FILE, as JSONL")
    add("--report", type=Path, metavar="FILE", help="write the verdicts on each world to FILE, as JSON, when it ends")
    add("--world-model", metavar="MODEL", help="builtin, openai:MODEL@URL, replay:DIR, upstream:SERVER, shadow:SERVER")
    add(
        "--compile",
        metavar="MODEL",
        help="openai:MODEL@URL answers, and writes a program in the background; what passes the gate answers then",
    )
    trust_option(parser)
    add("--strict", action="store_true", help="refuse to serve if the plan of a tool is a guess")
    add("--log-level", choices=LEVELS, default="info", help="info (the default): a line per call")
    add("--ledger-keep", type=count, default=1000, metavar="N", help="entries kept in memory (default 1000)")
    add("--server", metavar="NAME", help="over stdio: the server to serve, of a scenario with several")
    add("--world", action="append", default=[], metavar="NAME", help="name of a world; over HTTP may be repeated")
    add("--store", type=Path, metavar="FILE", help="over stdio: keep the world in FILE between runs")
    add(
        "--gym",
        metavar="[HOST:]PORT",
        help="serve the endpoints of NeMo Gym instead, for a trainer; port 0: any free one",
    )
    control = parser.add_argument_group("the control plane, for tests, trainers and people")
    control.add_argument("--control", metavar="[HOST:]PORT", help="serve the control plane there; port 0: any free one")
    control.add_argument(
        "--control-token-file",
        type=Path,
        metavar="FILE",
        help="file with its token; default: MCP_SIM_CONTROL_TOKEN, else a new token in a private file",
    )
    _http_arguments(parser.add_argument_group("over HTTP, for many worlds and all servers of a scenario"))


def _http_arguments(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage] (has no public name)
    add = group.add_argument
    add("--http", metavar="[HOST:]PORT", help="serve over streamable HTTP; port 0: any free one")
    add("--sse", action="store_true", help="serve the older HTTP+SSE, too, at paths that end in sse instead of mcp")
    add(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="number of processes that share the port and the worlds (default 1)",
    )
    add(
        "--worlds",
        choices=["any", "declared"],
        default="any",
        help="any (the default): create worlds when first named; declared: only those of --world",
    )
    add("--max-worlds", type=count, default=10_000, metavar="N", help="maximum number of worlds (default 10000)")
    add(
        "--max-megabytes",
        type=count,
        default=2048,
        metavar="N",
        help="maximum memory of all worlds, in MiB (default 2048)",
    )
    add(
        "--max-sessions",
        type=count,
        default=2000,
        metavar="N",
        help="maximum number of sessions of older protocols (default 2000)",
    )
    add("--session-idle", default="5m", metavar="SPAN", help="time after which an idle session ends (default 5m)")
    add("--unread", default="60s", metavar="SPAN", help="time a client may leave an answer unread (default 60s)")
    add("--grace", default="2s", metavar="SPAN", help="time for running calls at shutdown (default 2s)")
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name by which clients reach this server",
    )
    add("--token-file", type=Path, metavar="FILE", help="file with bearer tokens, one per line: TOKEN, or NAME TOKEN")


def run(args: argparse.Namespace) -> int:
    """Exit with 0 when the client has disconnected, 130 after Ctrl-C, 143 after SIGTERM."""
    if args.gym is not None:
        return import_module("mcp_sim.cli.serve_gym").run(args)
    gc.disable()  # until all is loaded: there is nothing to collect yet, and looking costs a tenth of the start
    if args.control_token_file is not None and args.control is None:
        raise UsageError("--control-token-file needs --control PORT")
    if find_spec("mcp") is None:  # a client would be answered before the SDK is imported
        raise ModuleNotFoundError(name="mcp")
    if args.http is not None:
        # The port is open before the documents are read: a client that is early waits, and is not refused.
        with _serve_http().bound(args) as listener, _loaded(args, "http", background_compilation(args)) as loaded:
            return _serve_http().run(loaded, args, listener)
    _check_stdio(args)
    return anyio.run(_serve, args, background_compilation(args))


@contextmanager
def _loaded(
    args: argparse.Namespace, transport: Transport, compilation: Compilation | None, present: Present = lambda _: None
) -> Generator[Loaded]:
    """Load what is served. `present` gets the servers before their tools are planned."""
    program = None if compilation is None else compilation.known
    model = args.compile or args.world_model
    scenario = load(args.scenario, world_model=model, trust=args.trust, program=program, present=present)
    scenario = with_intensity(scenario, args.intensity)
    if args.strict:
        _refuse_guesses(scenario, args.scenario)
    clock: Mode = args.clock or scenario.clock.mode or "real"
    server = only_server(scenario, args.server) if transport == "stdio" else ""
    check_deliverable(scenario, transport, clock)
    logging.basicConfig(handlers=[LogLines(STDERR)], level=args.log_level.upper())
    for library in ("mcp", "httpx2", "openai"):
        logging.getLogger(library).setLevel(logging.DEBUG if args.log_level == "debug" else logging.ERROR)
    with ExitStack() as stack:
        log = CallLog(
            STDERR,
            crashes_only=not logs_calls(args),
            with_worlds=transport == "http",
            with_idle=args.log_level == "debug",
        )
        stack.callback(log.close)
        sinks = list[Sink]()
        if args.trace is not None and args.store is None:
            opened = open_trace if args.workers == 1 else open_shared_trace
            sinks.append(opened(args.trace, scenario))
            stack.callback(sinks[-1].close)
        simulator = Simulator(
            scenario, [*sinks, log], args.ledger_keep
        )  # the log comes last: a trace may reject a step
        if args.log_level != "error":
            log.say(_warnings(scenario, args.scenario))
        judging = Judging(scenario, log.say if logs_calls(args) else None, args.report)
        yield Loaded(simulator, server, clock, log, judging, compilation)


def _refuse_guesses(scenario: Scenario, reference: str) -> None:
    guessed = ", ".join(first_few([plan.tool for plan in scenario.guesses]))
    if guessed:
        raise UsageError(
            f"the plans of these tools are guesses: {guessed}; "
            f"`mcp-sim plan {reference}` prints the lines that correct them"
        )


def _warnings(scenario: Scenario, reference: str) -> Iterator[str]:
    """Yield the first warnings about the documents."""
    yield from map(str, scenario.warnings[:MOST_DOUBTS])
    if len(scenario.warnings) > MOST_DOUBTS:
        yield f"{len(scenario.warnings) - MOST_DOUBTS} more warnings: mcp-sim check {reference}"


def _serve_http() -> ModuleType:
    """Return the module that serves over HTTP; it is slow to import."""
    return import_module("mcp_sim.cli.serve_http")


async def _serve(args: argparse.Namespace, compilation: Compilation | None) -> int:
    with standard_streams() as streams:
        opening = Opening(streams.source, streams.target)

        def present(servers: Mapping[str, Presented]) -> None:
            name = args.server or next(iter(servers))
            if name in servers and (args.server or len(servers) == 1):
                opening.answer(servers[name], silence=0)

        with _loaded(args, "stdio", compilation, present) as loaded:
            return await _serve_loaded(loaded, streams, opening, args)


async def _serve_loaded(loaded: Loaded, streams: StandardStreams, opening: Opening, args: argparse.Namespace) -> int:
    simulator, server, clock, log, judging, compilation = loaded
    async with simulator, _world(simulator, clock, args) as world:
        if logs_calls(args):
            counts = simulator.counts(args.seed) if args.store is None else world.version.state.counts()
            log.say(_over_stdio(world, counts, server, args.scenario, on_terminal=os.isatty(streams.source)))
        scenario = world.scenario
        opening.answer(Presented(scenario.servers[server], world.catalogue(server), scenario.interactions))
        # Imported late, so that clients and problems of documents do not wait for the SDK.
        from mcp_sim.server.impersonation import Context, Impersonation  # noqa: PLC0415 (loads the SDK)
        from mcp_sim.server.stdio import Stdio  # noqa: PLC0415 (loads the SDK)

        async def world_of(_ctx: Context) -> World:
            return world

        freeze_collector()
        stdio = Stdio(streams, opening.opened)
        async with _controlled(simulator, world, log, args), compiling(compilation, simulator, log):
            code = await stdio.serve(Impersonation(scenario, server, world_of, stdio.break_off))
        judging.judge(world)
        judging.finish()
        return code


@asynccontextmanager
async def _controlled(
    simulator: Simulator, world: World, log: CallLog, args: argparse.Namespace
) -> AsyncGenerator[None]:
    """Serve the control plane of one world within a block, if there is one."""
    if args.control is None:
        yield
        return
    # Imported late, since clients wait for a server over stdio.
    from mcp_sim.cli.serve_control import controlled, token_of  # noqa: PLC0415 (loads an HTTP server)
    from mcp_sim.server.control.controls import Controls, Setting  # noqa: PLC0415 (loads an HTTP server)

    worlds = Worlds(partial(simulator.world, seed=args.seed, clock=world.clock.mode), args.max_worlds)
    worlds.add(world)
    setting = Setting(world.origin.seed, world.clock.mode, "stdio")
    with token_of(args) as token:
        async with controlled(lambda: Controls(simulator, worlds, setting), token, args) as line:
            log.say([line])
            yield


@asynccontextmanager
async def _world(simulator: Simulator, clock: Mode, args: argparse.Namespace) -> AsyncGenerator[World]:
    """Yield the world of this process: a new one, or the one from the store."""
    name = args.world[0] if args.world else "default"
    if args.store is None:
        yield simulator.world(name, seed=args.seed, clock=clock)
        return
    from mcp_sim.simulator.persistence import StoreKeeper, identity  # noqa: PLC0415 (needed for --store only)

    store = stores["sqlite"].model_validate({"path": args.store})
    with ExitStack() as stack:
        opened = stack.enter_context(store.open(identity(simulator.scenario, args.seed, __version__)))
        trace = None
        if args.trace is not None:
            trace = stack.enter_context(closing(open_stored_trace(args.trace, simulator.scenario, args.store, name)))
        keeper = stack.enter_context(closing(StoreKeeper(simulator, opened, name, trace)))
        yield keeper.world(args.seed, clock)


def _check_stdio(args: argparse.Namespace) -> None:
    """Raise `UsageError` for options that need HTTP."""
    parser = argparse.ArgumentParser(add_help=False)
    _http_arguments(parser.add_argument_group())
    usual = vars(parser.parse_args([]))
    for name in (name for name, value in usual.items() if getattr(args, name) != value):
        raise UsageError(f"--{name.replace('_', '-')} works over HTTP only; add --http PORT")
    if args.world and args.store is None:
        raise UsageError("over stdio a process has one world; --world works only with --store")
    if len(args.world) > 1:
        raise UsageError("over stdio a process has one world; give --world only once")
    if args.store is not None and args.trace is not None and args.store.resolve() == args.trace.resolve():
        raise UsageError(f"--store and --trace both name {args.store}; use separate files")
    for name in args.world:
        checked_name(name)


def _over_stdio(
    world: World, counts: Mapping[str, int], server: str, reference: str, *, on_terminal: bool
) -> Iterator[str]:
    """Yield what is served, and on a terminal how to connect a client."""
    spec = world.scenario.servers[server]
    yield f"mcp-sim {__version__} serves {spec.name} over stdio: {counted(len(spec.tools), 'tool')}"
    yield from announcement(world.scenario, counts, world.origin.seed, world.clock.mode, reference)
    if on_terminal:
        yield "Waiting for an MCP client on stdin. Clients start this command themselves; print a client's entry with"
        yield f"  mcp-sim client-config {reference} --client claude-desktop"
        yield "Press Ctrl-C to stop."
