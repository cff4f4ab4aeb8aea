"""Compare the shell of simulated terminals with a real bash, command by command.

    python benchmarks/libraries shell REFERENCE... [--verbose] [--runs N]

A reference is a JSON file that was recorded from a real bash: `cwd`, `tree` (rows with path, kind, mode, mtime, target,
and the content in base64), and `results` (cmd, stdout, stderr, code). Each command runs in a world of its own, as it
did there. Compared are stdout and the exit code. With `--runs N`, all commands also run N times one after another, with
the same seed, and what differs between runs is counted.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from argparse import ArgumentParser
from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mcp_sim import Simulator
from mcp_sim.types import ToolResult

Json = Any
KINDS = {"d": "directory", "l": "symlink", "f": "file"}


def given_files(reference: Json) -> Json:
    """Return the files of a reference as rows of a given state."""
    return [
        {
            "path": row["path"],
            "kind": KINDS[row["kind"]],
            "mode": row["mode"],
            "mtime": datetime.fromtimestamp(row["mtime"], UTC).isoformat(),
            **(
                {"base64": row["content"]}
                if row["content"] and not decoded(row["content"])
                else {"text": decoded(row["content"])}
            ),
            "target": row["target"],
        }
        for row in reference["tree"]
    ]


def decoded(content: str | None) -> str:
    try:
        return b64decode(content or "").decode()
    except UnicodeDecodeError:
        return ""


async def compare_commands(reference: Json, path: Path, *, verbose: bool) -> tuple[int, int]:
    """Return how many commands agree exactly, and how many but for the order of lines."""
    exact = unordered = 0
    async with Simulator.load(path).open(seed=1) as start:
        for known in reference["results"]:
            answer = await start.fork().call("run_command", {"command": known["cmd"], "workdir": reference["cwd"]})
            assert isinstance(answer.body, ToolResult)
            served: Mapping[str, Any] = answer.body.value
            has_code = served["exit_code"] == known["code"]
            is_exact = has_code and served["stdout"] == known["stdout"]
            exact += is_exact
            unordered += has_code and sorted(served["stdout"].splitlines()) == sorted(known["stdout"].splitlines())
            if verbose and not is_exact:
                print(f"$ {known['cmd']}")
                print(f"  expected {known['code']} {known['stdout'][:400]!r} {known['stderr'][:200]!r}")
                print(f"  got      {served['exit_code']} {served['stdout'][:400]!r} {served['stderr'][:200]!r}")
    return exact, unordered


async def count_differences(commands: Sequence[str], path: Path, runs: int) -> int:
    """Return how many answers differ from those of the first run. Each run is a world of its own."""
    first: list[str] = []
    count = 0
    for number in range(runs):
        async with Simulator.load(path).open(seed=7) as world:
            answers = [str((await world.call("run_command", {"command": text})).body) for text in commands]
        first = first or answers
        differing = [text for text, before, after in zip(commands, first, answers, strict=True) if before != after]
        count += len(differing)
        for text in differing[:5]:
            print(f"run {number} differs: {text}")
    return count


def terminal_of(reference: Json) -> Json:
    newest = max(row["mtime"] for row in reference["tree"])
    now = datetime.fromtimestamp(newest + 60, UTC).isoformat()
    world = {"now": now, "state": {"files": given_files(reference)}}
    return {"mcp_sim": 1, "name": "terminal-reference", "tools": "terminal", "world": world}


def compare_shells(references: Sequence[Path], runs: int, *, verbose: bool) -> None:
    """Print the shares of commands that agree, by reference."""
    for source in references:
        reference = json.loads(source.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "scenario.yaml")
            path.write_text(json.dumps(terminal_of(reference)), encoding="utf-8")
            exact, unordered = asyncio.run(compare_commands(reference, path, verbose=verbose))
            if runs:
                commands = [known["cmd"] for known in reference["results"]]
                differing = asyncio.run(count_differences(commands, path, runs))
                print(f"{source.stem}: {runs} runs of {len(commands)} commands, {differing} answers differ")
        count = len(reference["results"])
        shares = f"exact {exact / count:.1%}, but for the order of lines {unordered / count:.1%}"
        print(f"{source.stem}: {count} commands, {shares}")


def main(parser: ArgumentParser, arguments: Sequence[str]) -> int:
    parser.add_argument("references", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=0, help="compare so many runs with one seed")
    parser.add_argument("--verbose", action="store_true", help="print what differs")
    options = parser.parse_args(arguments)
    compare_shells(options.references, options.runs, verbose=options.verbose)
    return 0
