"""`serve --compile`: have the language model that answers write a program in the background, and then run it.

The program is written by `mcp-sim compile` in a process of its own. It is kept in a folder of the user, which no
document can write to, under the hash of what the model was asked and of the model; later starts begin with it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from subprocess import DEVNULL, PIPE

import anyio

from mcp_sim import __version__
from mcp_sim.cli.terminal import counted
from mcp_sim.faults.compile import with_intensity
from mcp_sim.server.call_log import CallLog
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types.errors import DocumentError, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.programs import PROGRAM
from mcp_sim.types.scenario import Scenario

_FAILED = {1: "no tool passes the gate", 4: "the model does not answer"}
"""The exit codes of `compile` that say why there is no program."""


@frozen
class Compilation:
    """What is compiled, by which model, and where the program is kept."""

    args: argparse.Namespace
    writer: tuple[str, ...]
    """The options of `compile` that name the model."""
    file: Path

    @property
    def known(self) -> Path | None:
        """The program, if it was written before."""
        return self.file if self.file.is_file() else None

    def scenario(self, program: Path | None = None) -> Scenario:
        """Return the scenario with a program, or as it is. Raises `DocumentError`, `UsageError`."""
        args = self.args
        model = args.compile or args.world_model
        scenario = load(args.scenario, world_model=model, trust=args.trust, program=program)
        return with_intensity(scenario, args.intensity)


def background_compilation(args: argparse.Namespace) -> Compilation | None:
    """Return what `--compile` or the scenario's world model asks for. Raises `UsageError` if it cannot be done."""
    if args.compile is not None and args.world_model is not None:
        raise UsageError("--compile names the world model, too: leave out --world-model")
    if args.compile is None and not _may_ask(Path(args.scenario)):
        return None
    scenario = load(args.scenario, world_model=args.compile, trust=args.trust)
    writer = _writer(scenario, args)
    if writer is None:
        return None
    if scenario.domain.programs or len(scenario.servers) > 1:
        raise UsageError(f"{args.scenario}: a program is written in the background for one server that has none")
    if args.store is not None or args.workers != 1:
        raise UsageError(
            "a program is written in the background only for worlds in memory and one process: "
            "leave out --store and --workers"
        )
    # Only here, since most servers are started without it.
    from mcp_sim.recordings.compiling.prompt import prompt_text  # noqa: PLC0415 (see above)
    from mcp_sim.recordings.compiling.subject import read_subject  # noqa: PLC0415 (see above)

    prompt = prompt_text(read_subject(args.scenario, args.trust))
    key = sha256("\0".join([__version__, *writer, prompt]).encode()).hexdigest()
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    folder = Path(home).expanduser() / "mcp-sim" / "programs"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Compilation(args, writer, folder / f"program_{key[:32]}.py")


def _may_ask(scenario: Path) -> bool:
    """Whether a document mentions the option, so that it is worth reading it twice. A pipe cannot be read twice."""
    try:
        return scenario.is_file() and b"compile" in scenario.read_bytes()
    except OSError:
        return False


def _writer(scenario: Scenario, args: argparse.Namespace) -> tuple[str, ...] | None:
    """Return the options that name the model which is to write, or None."""
    from mcp_sim.models.world_models.openai import Openai  # noqa: PLC0415 (only where a model may be named)

    models = [entry.world_model for entry in scenario.world_models if isinstance(entry.world_model, Openai)]
    model = next((model for model in models if model.compile or args.compile is not None), None)
    if model is None:
        if args.compile is not None:
            raise UsageError(f"--compile {args.compile}: write it as openai:MODEL@URL")
        return None
    key = () if model.api_key_env is None else ("--api-key-env", model.api_key_env)
    thinking = () if model.thinking is None else ("--thinking", str(model.thinking))
    return "--by", f"openai:{model.model}@{model.base_url}", *key, *thinking


@asynccontextmanager
async def compiling(compilation: Compilation | None, simulator: Simulator, log: CallLog) -> AsyncGenerator[None]:
    """Have the program written while the block runs, unless there is nothing to compile or it is known."""
    if compilation is None or compilation.known is not None:
        if compilation is not None:
            log.say([f"Programs answer {_answered(simulator.scenario)}: {compilation.file}"])
        yield
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_compile, compilation, simulator, log)
        yield
        tasks.cancel_scope.cancel()


async def _compile(compilation: Compilation, simulator: Simulator, log: CallLog) -> None:
    log.say(["The model writes a program in the background; it answers itself until then."])
    draft = compilation.file.with_name(f"draft_{os.getpid()}.py")
    trust = [word for path in compilation.args.trust for word in ("--trust", str(path))]
    words = ["compile", compilation.args.scenario, *compilation.writer, *trust, "-o", str(draft), "--json"]
    try:
        code = await _run([sys.executable, "-m", "mcp_sim", *words])
        if code != 0 or not draft.is_file():
            why = _FAILED.get(code, f"`mcp-sim compile` ended with {code}")
            log.say([f"No program was written: {why}. The model goes on answering."])
            return
        draft.replace(compilation.file)
    finally:
        for file in draft.parent.glob(f"{draft.stem}.*"):
            file.unlink(missing_ok=True)
    try:
        scenario = compilation.scenario(compilation.file)
        await simulator.adopt(scenario)
    except (DocumentError, UsageError) as error:
        # The program is at fault only if its scenario can still be read.
        with suppress(DocumentError, UsageError):
            compilation.scenario()
            compilation.file.unlink(missing_ok=True)
        log.say([f"The program cannot be served: {error}. The model goes on answering."])
        return
    log.say([f"Programs answer {_answered(scenario)} from the next call on: {compilation.file}"])


async def _run(command: list[str]) -> int:
    """Run a command until it ends, and return its exit code. Its processes end with this task."""
    process = await anyio.open_process(command, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, start_new_session=True)
    try:
        if process.stderr is not None:
            async for _ in process.stderr:
                pass
        return await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with anyio.CancelScope(shield=True):
                await process.wait()


def _answered(scenario: Scenario) -> str:
    plans = scenario.domain.plans.values()
    return f"{sum(plan.backend == PROGRAM for plan in plans)} of {counted(len(plans), 'tool')}"
