"""Print which functions of mcp_sim no document, no shipped scenario and no recording runs, or only one of them.

    python benchmarks/coverage.py [DIR|FILE ...] [--recordings DIR ...] [--under mcp_sim/plans/infer ...]

Documents are tools/list results, OpenAPI documents, and folders of them (as for `guard.py`); the shipped tool specs are
always read. Each is loaded and answers a random walk. Each shipped scenario answers the agent that knows its task, and
a walk with its faults. For each folder of recordings a spec is learnt, measured, and the sessions are answered by a
perfect language model (`oracle.py`).

    python benchmarks/coverage.py --path [SCENARIO]

With `--path`, the files that a warm get and a warm create go through in a scenario with the tools of the CRM: an entry
is the start of a function or the resumption of a coroutine, a jump an entry in another file than the one before.

The list of functions that one source alone runs names it. Results of functools.cache are dropped before each source,
so that they do not hide what later sources need. `--under` chooses modules by the beginnings of their paths.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from types import CodeType, FrameType

Codes = dict[int, CodeType]


class Recorder:
    """Collects the code objects that run, in all threads. It starts before mcp_sim is imported."""

    def __init__(self) -> None:
        self.codes: Codes = {}
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self.codes[id(frame.f_code)] = frame.f_code

    def take(self) -> Codes:
        """Return the codes that ran since the last call of this."""
        taken, self.codes = self.codes, {}
        return taken


RECORDER = Recorder() if __name__ == "__main__" else None

import argparse
import ast
import asyncio
import gc
import io
from collections import Counter, defaultdict
from functools import lru_cache, partial
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import guard
import oracle
from common.measuring import print_table

import mcp_sim
from mcp_sim import Simulator
from mcp_sim.cli import main as command
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sessions import read_sessions
from mcp_sim.spec.sources import shipped
from mcp_sim.types.errors import McpSimError

PACKAGE = Path(mcp_sim.__file__).parent
SESSIONS = 4
"""The recorded sessions of each server that a perfect language model answers; the functions are those of one."""

Name = tuple[str, int, str]
"""A function: its file, first line and qualified name."""


def main(arguments: argparse.Namespace) -> int:
    """Run all sources, and print what they do not run."""
    assert RECORDER is not None
    ran = defaultdict[Name, list[str]](list)
    for code in names(RECORDER.take()):
        ran[code].append("import")
    with suppress(KeyboardInterrupt):  # the report then has the sources so far
        for source, run in sources(arguments):
            drop_cached_results()
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), suppress(McpSimError):
                run()
            for code in names(RECORDER.take()):
                ran[code].append(source)
            print(source, file=sys.stderr, flush=True)
    files = [file for file in sorted(PACKAGE.rglob("*.py")) if shown(file).startswith(tuple(arguments.under))]
    declared = dict(chain.from_iterable(map(functions, files)))
    print_modules(declared, ran)
    print_functions("Run by nothing", [name for name in declared if name not in ran], declared)
    print_alone(declared, ran)
    return 0


def sources(arguments: argparse.Namespace) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what runs functions, by name."""
    for document in guard.documents(arguments.places):
        yield document.name, partial(guard.take_answers, [document])
    for name in sorted(shipped("scenarios")):
        yield f"scenario {name}", lambda name=name: asyncio.run(guard.played(load(name), 0))
    for folder in arguments.recordings:
        for server in sorted(file.parent for file in (*folder.glob("tools.json"), *folder.glob("*/tools.json"))):
            yield f"recordings {server.name}", partial(recorded, server)


def recorded(folder: Path) -> None:
    """Learn a spec from the sessions of a server, measure it, and let a perfect language model answer."""
    with TemporaryDirectory() as scratch:
        spec = f"{scratch}/learnt.yaml"
        command(["learn", str(folder), "--sessions", "*", "-o", spec])
        command(["measure", spec, str(folder), "--jobs", "1", "--limit", str(SESSIONS)])
    for session in read_sessions(folder, limit=SESSIONS):
        oracle.replay((session, True, False))


def drop_cached_results() -> None:
    """Empty the caches of mcp_sim's functions, so that each source runs all that it needs."""
    for value in gc.get_objects():
        if isinstance(value, CACHED) and value.__module__.startswith("mcp_sim"):
            value.cache_clear()


CACHED = type(lru_cache(len))

# the path of a call ---------------------------------------------------------------------------------------------------

WARM_UP = 5
"""Calls before the counted one. They include the fault that strikes the first create of flaky_crm."""

PATHS = {
    "get_contact": {"contact_id": "con_00001"},
    "create_deal": {"title": "Path", "amount": 4000, "contact_id": "con_00001"},
}


async def print_paths(scenario: str) -> int:
    """Print the files, jumps and entries of each call."""
    rows = list[list[str]]()
    async with Simulator.load(scenario).open() as world:
        for tool, arguments in PATHS.items():
            for _ in range(WARM_UP):
                await world.call(tool, arguments)
            entries = list[str]()

            def note(frame: FrameType, event: str, _argument: object, entries: list[str] = entries) -> None:
                if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
                    entries.append(frame.f_code.co_filename)

            sys.setprofile(note)
            await world.call(tool, arguments)
            sys.setprofile(None)
            jumps = sum(before != after for before, after in pairwise(entries))
            rows.append([tool, str(len(set(entries))), str(jumps), str(len(entries))])
    print_table(f"One warm call, {scenario}", ["tool", "files", "jumps", "entries"], rows)
    return 0


# functions ------------------------------------------------------------------------------------------------------------


def functions(file: Path) -> Iterator[tuple[Name, int]]:
    """Yield the functions and methods that a file declares, with their numbers of lines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for prefix, node in definitions(tree, ""):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        yield (shown(file), first, f"{prefix}{node.name}"), (node.end_lineno or first) - first + 1


def definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions within a node that have a body, with the names around them."""
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if not is_declaration(child):
                yield prefix, child
            inner = f"{prefix}{child.name}.<locals>."
        elif isinstance(child, ast.ClassDef):
            inner = f"{prefix}{child.name}."
        yield from definitions(child, inner)


def is_declaration(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function only declares its signature, as in a protocol or an overload."""
    texts = [
        statement.value
        for statement in node.body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    ]
    return len(texts) == len(node.body)


def names(codes: Codes) -> Iterator[Name]:
    """Yield the functions of mcp_sim among codes."""
    for code in codes.values():
        if code.co_filename.startswith(str(PACKAGE)):
            yield shown(Path(code.co_filename)), code.co_firstlineno, code.co_qualname


def shown(file: Path) -> str:
    return file.relative_to(PACKAGE.parent).as_posix()


# reports --------------------------------------------------------------------------------------------------------------


def print_modules(declared: Mapping[Name, int], ran: Mapping[Name, Sequence[str]]) -> None:
    """Print the modules with functions that nothing runs: how many of all, and their lines."""
    total, never = Counter[str](), Counter[str]()
    lines = Counter[str]()
    for name, length in declared.items():
        total[name[0]] += 1
        if name not in ran:
            never[name[0]] += 1
            lines[name[0]] += length
    rows = [[file, f"{never[file]} of {total[file]}", str(lines[file])] for file in sorted(never)]
    print_table("Functions that nothing runs, by module", ["module", "functions", "lines"], rows)
    print(f"{never.total():,} of {total.total():,} functions, {lines.total():,} lines")


def print_functions(title: str, chosen: Iterable[Name], declared: Mapping[Name, int]) -> None:
    print(f"\n{title}")
    for file, line, name in chosen:
        print(f"  {file}:{line} {name} ({declared[file, line, name]} lines)")


def print_alone(declared: Mapping[Name, int], ran: Mapping[Name, Sequence[str]]) -> None:
    """Print the functions that one source alone runs, by source."""
    alone = defaultdict[str, list[Name]](list)
    for name in declared:
        if len(ran.get(name, ())) == 1:
            alone[ran[name][0]].append(name)
    for source, chosen in sorted(alone.items()):
        print_functions(f"Run by {source} alone ({sum(map(declared.__getitem__, chosen))} lines)", chosen, declared)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", type=Path, metavar="DIR|FILE", help="documents")
    parser.add_argument("--recordings", nargs="+", type=Path, default=[], metavar="DIR", help="folders of recordings")
    parser.add_argument("--under", nargs="+", default=["mcp_sim/"], metavar="PATH", help="modules to report")
    parser.add_argument("--path", nargs="?", const="flaky_crm", metavar="SCENARIO", help="the files of a call instead")
    options = parser.parse_args()
    sys.exit(asyncio.run(print_paths(options.path)) if options.path else main(options))
