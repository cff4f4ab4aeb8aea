"""`mcp-sim serve --http`: serve a scenario over HTTP."""

from __future__ import annotations

import argparse
import gc
import logging
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING

import anyio

from mcp_sim import __version__
from mcp_sim.cli.judging import Judging
from mcp_sim.cli.parsing import positive_seconds
from mcp_sim.cli.serve_compile import compiling
from mcp_sim.cli.serve_control import barring, controlled, token_of
from mcp_sim.cli.startup import Loaded, announcement, freeze_collector, logs_calls
from mcp_sim.cli.terminal import counted
from mcp_sim.server.access import TOKEN_VARIABLE, Access, access
from mcp_sim.server.control.tokens import ControlToken
from mcp_sim.server.http import HttpServer, Limits
from mcp_sim.server.listening import bind, listen, parse_address, url
from mcp_sim.server.workers import Worker
from mcp_sim.server.worlds import DEFAULT, Worlds, checked_name
from mcp_sim.types.clock import Mode
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

if TYPE_CHECKING:
    from mcp_sim.server.control.controls import Controls

MOST_WORKERS = 64  # a mistyped number must not start hundreds of processes

SWITCH_SECONDS = 0.001
"""Seconds after which a thread with a long call lets the event loop go on, which needs several turns for a request."""


@frozen
class _Port:
    """The socket of the agents, who is admitted to it, and the token of the control plane."""

    listener: socket.socket
    rules: Access
    token: ControlToken | None


def bound(args: argparse.Namespace) -> socket.socket:
    """Return the listening socket. Raises `UsageError` for invalid options, before anything is loaded."""
    host, port = parse_address(args.http)
    _limits(args)
    positive_seconds("--unread", args.unread)
    if args.server is not None:
        raise UsageError("--server works over stdio only; over HTTP all servers are served")
    if args.store is not None:
        raise UsageError("--store works over stdio only; over HTTP worlds are kept in memory")
    if args.workers != 1:
        if not 1 <= args.workers <= MOST_WORKERS:
            raise UsageError(f"--workers must be between 1 and {MOST_WORKERS}, not {args.workers}")
        if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
            raise UsageError("--workers needs Linux or macOS: this system cannot pass connections between processes")
        if args.control is not None:
            raise UsageError("--control works with one worker only; leave out --workers, or serve on several ports")
        if args.report is not None:
            raise UsageError("--report works with one worker only; use --trace FILE, and then `mcp-sim grade FILE`")
    for name in args.world:
        checked_name(name)
    return bind(host, port)


def run(loaded: Loaded, args: argparse.Namespace, listener: socket.socket) -> int:
    """Serve until a signal arrives. Return 130 after Ctrl-C, 143 after SIGTERM."""
    logging.getLogger("uvicorn").setLevel(logging.DEBUG if args.log_level == "debug" else logging.ERROR)
    if loaded.simulator.scenario.auth is not None:
        if args.workers > 1:
            raise UsageError("a scenario with `auth` works with one worker only; leave out --workers")
        if args.token_file is not None or os.environ.get(TOKEN_VARIABLE):
            raise UsageError(
                f"a scenario with `auth` makes its own tokens; leave out --token-file and {TOKEN_VARIABLE}"
            )
    rules = access(parse_address(args.http)[0], args.allow_host, args.token_file, os.environ)
    with token_of(args) as token:
        port = _Port(listener, barring(rules, token), token)
        serve = partial(_serve, loaded, args, port)
        return _run(serve) if args.workers == 1 else _run_workers(loaded, serve, listener, args)


def _run(serve: Callable[..., Awaitable[int]], *worker: Worker) -> int:
    has_uvloop = find_spec("uvloop") is not None  # it does not exist on every platform
    return anyio.run(serve, *worker, backend_options={"use_uvloop": has_uvloop})


def _run_workers(
    loaded: Loaded, serve: Callable[..., Awaitable[int]], listener: socket.socket, args: argparse.Namespace
) -> int:
    """Serve in several processes, which share what is loaded, and the records that their worlds begin with."""
    from mcp_sim.cli import outcome  # noqa: PLC0415 (imports this module)
    from mcp_sim.server.supervisor import Supervisor  # noqa: PLC0415 (not on every platform)

    if not loaded.simulator.scenario.domain.programs:  # they may start threads and processes
        loaded.simulator.base(args.seed).counts()
    gc.freeze()

    def work(worker: Worker) -> int:
        return outcome(partial(_run, serve, worker))

    grace = positive_seconds("--grace", args.grace)
    return Supervisor(args.workers, listener, work, lambda line: loaded.log.say([line]), grace).run()


async def _serve(loaded: Loaded, args: argparse.Namespace, port: _Port, worker: Worker | None = None) -> int:
    simulator, _, clock, log, judging, compilation = loaded
    gc.disable()
    sys.setswitchinterval(SWITCH_SECONDS)
    where = url(parse_address(args.http)[0], port.listener)
    async with simulator:
        worlds = _worlds(partial(simulator.world, seed=args.seed, clock=clock), judging, args, worker)
        counts = simulator.counts(args.seed)
        limits, unread = _limits(args), positive_seconds("--unread", args.unread)
        server = HttpServer(
            simulator.scenario,
            worlds,
            port.rules,
            limits,
            lambda: log.say(_nameless(where)),
            worker,
            serves_older=args.sse,
        )
        seed = simulator.scenario.seed if args.seed is None else args.seed

        def controls() -> Controls:
            from mcp_sim.server.control.controls import Controls, Setting  # noqa: PLC0415 (only with a control plane)

            return Controls(simulator, worlds, Setting(seed, clock, "http"))

        async with controlled(controls, port.token, args) as control, server.open() as app:
            freeze_collector()
            lines = list(_announced(simulator.scenario, counts, clock, port.rules, where, control, args))
            begun = partial(log.say, lines) if worker is None else partial(worker.begin, partial(log.say, lines))
            async with compiling(compilation, simulator, log):
                code = await listen(
                    app, port.listener, begun, server.leave, limits.grace, unread, server.answer_at_once, worker
                )
        worlds.end()
        judging.finish()
        return code


def _worlds(make: Callable[[str], World], judging: Judging, args: argparse.Namespace, worker: Worker | None) -> Worlds:
    """Return the worlds of this process, which is one of several if there is a worker."""
    room, only_declared = args.max_megabytes * 1024 * 1024 // args.workers, args.worlds == "declared"
    worlds = partial(Worlds, declared=args.world, only_declared=only_declared, room=room, on_end=judging.judge)
    if worker is None:
        return worlds(make, args.max_worlds)

    def noted(name: str) -> World:
        worker.note(name)
        return make(name)

    return worlds(noted, args.max_worlds, lost=worker.lost, is_own=worker.has)


def _announced(
    scenario: Scenario,
    counts: Mapping[str, int],
    clock: Mode,
    rules: Access,
    where: str,
    control: str,
    args: argparse.Namespace,
) -> Iterator[str]:
    """Yield what is logged once the server listens; with few logs, only the address if the port was chosen freely."""
    if logs_calls(args):
        ends = ("mcp", "sse") if args.sse else ("mcp",)
        names = ", ".join(spec.name for spec in scenario.servers.values())
        tools = sum(len(spec.tools) for spec in scenario.servers.values())
        yield f"mcp-sim {__version__} serves {names} over HTTP: {counted(tools, 'tool')}"
        for name, end in product(scenario.servers, ends):
            yield f"  {where}/w/WORLD{f'/{name}' if len(scenario.servers) > 1 else ''}/{end}  (one agent, one WORLD)"
        if scenario.auth is not None:
            yield "  login    OAuth 2.1: clients register and log in by themselves"
        if rules.principals:
            yield f"  tokens   {len(rules.principals)}; every request needs one"
        seed = scenario.seed if args.seed is None else args.seed
        yield from announcement(scenario, counts, seed, clock, args.scenario)
    elif parse_address(args.http)[1] == 0:
        yield f"mcp-sim listens on {where}"
    if args.workers > 1 and logs_calls(args):
        yield f"  workers  {args.workers}; each has the worlds whose names belong to it"
    if control:
        yield control


def _limits(args: argparse.Namespace) -> Limits:
    return Limits(
        args.max_sessions,
        positive_seconds("--session-idle", args.session_idle),
        positive_seconds("--grace", args.grace),
    )


def _nameless(where: str) -> Iterator[str]:
    yield f"WARNING: a client without a session names no world; it shares the world {DEFAULT!r} with others like it."
    yield f"WARNING: to separate agents, give each its own URL, {where}/w/NAME/mcp"
