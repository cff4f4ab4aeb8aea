"""Plant faults in programs of the catalogue, and see whether measure and the gate notice.

    python benchmarks/mutants.py RECORDINGS [--programs memory,git,...] [--correct a,b] [--json FILE]

RECORDINGS has a folder of sessions for each program, as `record_servers.py` writes them. Four kinds of faults are
planted into the tools that sessions call most, three of each kind per program: a write is forgotten, the answer is a
constant, two fields are swapped, a name of another recorded world leaks into the answer. A mutant is caught if
`measure` scores the form or the behaviour of a tool lower than that of the program as it is. Where it does not, the
gate judges it.

`--correct`: programs whose functions the gate must keep, with the sessions where there are some.

Exit status: 0, 1 if a mutant is not caught or fewer than 97 % of the correct functions are kept.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import io
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, cast

import yaml

from mcp_sim.cli import main as mcp_sim
from mcp_sim.recordings.known import ForeignData, data_of
from mcp_sim.recordings.score import Report, measure
from mcp_sim.spec.sessions import Session, read_sessions
from mcp_sim.spec.sources import shipped

PROGRAMS = "excel,filesystem,git,memory,word"
CORRECT = "calendar,memory,sequential_thinking,time"
OF_A_KIND = 3
KEPT = 0.97  # the share of correct functions that the gate must keep
Mutate = Callable[[ast.Module, ast.FunctionDef, "Recorded"], bool]
"""Plants a fault into a function. Returns whether it could."""


class Recorded:
    """What sessions show of a tool."""

    def __init__(self, tool: str, sessions: Sequence[Session]) -> None:
        self.tool = tool
        self.answers = [
            call.answer["result"]
            for session in sessions
            for call in session.calls
            if call.tool == tool and "result" in call.answer and not call.answer["result"].get("isError")
        ]
        users = [session for session in sessions if any(call.tool == tool for call in session.calls)]
        data = data_of(sessions)
        foreign = [name for session in users for name in sorted(data) if ForeignData(data, session).shown_by(name)]
        self.foreign = foreign[0] if foreign else None


# faults ---------------------------------------------------------------------------------------------------------------


def forget(module: ast.Module, function: ast.FunctionDef, _: Recorded) -> bool:
    """Remove the first statement that writes."""
    for parent in ast.walk(function):
        for name in ("body", "orelse"):
            body: Any = getattr(parent, name, None)
            if isinstance(body, list):
                statements = cast("list[ast.stmt]", body)
                at = next((at for at, statement in enumerate(statements) if is_write(statement)), None)
                if at is not None:
                    statements[at] = ast.Pass()
                    return True
    return False


def is_write(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Delete):
        return True
    if isinstance(statement, ast.Assign):
        return any(isinstance(target, ast.Subscript) for target in statement.targets)
    # The value of a call that is a statement is not used: it is made for what it does.
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)


def answer_constant(module: ast.Module, function: ast.FunctionDef, recorded: Recorded) -> bool:
    """Answer what the first recorded call was answered."""
    if len({json.dumps(answer, sort_keys=True) for answer in recorded.answers}) < 2:
        return False  # it is a constant
    first = recorded.answers[0]
    value = first.get("structuredContent", first["content"][0].get("text") if first.get("content") else None)
    function.body = [ast.Return(ast.parse(repr(value), mode="eval").body)]
    return value is not None


def swap(module: ast.Module, function: ast.FunctionDef, _: Recorded) -> bool:
    """Swap the values of the first two fields of an object or a text that differ."""
    for node in ast.walk(function):
        if isinstance(node, ast.Dict) and all(node.keys) and len({*map(ast.dump, node.values[:2])}) > 1:
            node.values[0], node.values[1] = node.values[1], node.values[0]
            return True
        if isinstance(node, ast.JoinedStr):
            fields = [part for part in node.values if isinstance(part, ast.FormattedValue)]
            if len(fields) > 1 and ast.dump(fields[0].value) != ast.dump(fields[1].value):
                fields[0].value, fields[1].value = fields[1].value, fields[0].value
                return True
    return False


LEAK = """
def leaking(value, name):
    if isinstance(value, str):
        return f"{value}\\n{name}"
    if isinstance(value, dict):
        return {**value, "note": name}
    if isinstance(value, list):
        return [*value, name]
    structured = None if value.structured is None else leaking(value.structured, name)
    return type(value)(None if value.text is None else leaking(value.text, name), structured, value.blocks)
"""


def leak(module: ast.Module, function: ast.FunctionDef, recorded: Recorded) -> bool:
    """Show a name of another recorded world in the answer."""
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    if recorded.foreign is None or not returns:
        return False
    for node in returns:
        name = ast.Constant(recorded.foreign)
        node.value = ast.Call(ast.Name("leaking"), [node.value or ast.Constant(None), name], [])
    module.body += ast.parse(LEAK).body
    return True


FAULTS: dict[str, Mutate] = {"forgets": forget, "constant": answer_constant, "swaps": swap, "leaks": leak}


def mutants(text: str, sessions: Sequence[Session]) -> Iterator[tuple[str, str, str]]:
    """Yield kind, tool and text of the mutants of a program, those of the tools that are called most first."""
    counts = Counter(call.tool for session in sessions for call in session.calls)
    tools = [tool for tool, _ in counts.most_common()]
    for kind, mutate in FAULTS.items():
        planted = 0
        for tool in tools:
            module = ast.parse(text)
            function = function_of(module, tool)
            if planted == OF_A_KIND or function is None or not mutate(module, function, Recorded(tool, sessions)):
                continue
            planted += 1
            yield kind, tool, ast.unparse(ast.fix_missing_locations(module))


def function_of(module: ast.Module, tool: str) -> ast.FunctionDef | None:
    """Return the function of a tool: by its name, or by that of its decorator."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and any("tool" in ast.dump(deco) for deco in node.decorator_list):
            names = [
                part.value for deco in node.decorator_list for part in ast.walk(deco) if isinstance(part, ast.Constant)
            ]
            if node.name == tool or tool in names:
                return node
    return None


# catching them --------------------------------------------------------------------------------------------------------


async def caught_by_measure(name: str, text: str | None, sessions: Sequence[Session]) -> Report:
    """Return what measure reports of a service with another text of its program; None: its own."""
    with tempfile.TemporaryDirectory() as scratch:
        spec = copied(name, text, Path(scratch))
        return await measure(spec, sessions, trust=[spec.parent], cold=False)


def copied(name: str, text: str | None, scratch: Path) -> Path:
    """Copy a service with the modules beside its program, and return the spec. `text`: see `caught_by_measure`."""
    folder = scratch / name
    shutil.copytree(shipped("tool_specs")[name].parent, folder)
    spec = folder / f"{name}.yaml"
    if text is not None:
        (folder / program_of(spec)).write_text(text, encoding="utf-8")
    return spec


def program_of(spec: Path) -> str:
    return str(yaml.safe_load(spec.read_text(encoding="utf-8"))["program"])


def is_lower(report: Report, original: Report) -> bool:
    """Whether a tool is answered worse, in form or in behaviour."""
    return bool(report.crashes) or any(
        (getattr(scores, half) or 0.0) < (getattr(original.tools[key], half) or 0.0) - 1e-9
        for key, scores in report.tools.items()
        for half in ("form", "behaviour")
    )


def judged(name: str, text: str, recordings: Path | None) -> dict[str, Any]:
    """Return the gate's report of a program: with sessions if there are some, else on the list of tools."""
    with tempfile.TemporaryDirectory() as scratch:
        service = copied(name, text, Path(scratch))
        reply = service.parent / program_of(service)
        output = io.StringIO()
        with redirect_stdout(output):
            if recordings is not None:
                mcp_sim(["learn", str(recordings), "--reply", str(reply), "-o", str(Path(scratch) / "out"), "--json"])
            else:
                spec = without_program(name, Path(scratch))
                mcp_sim(["compile", str(spec), "--reply", str(reply), "-o", str(Path(scratch) / "out.py"), "--json"])
        if not output.getvalue():
            raise SystemExit(f"{name}: the gate does not run here")
        return json.loads(output.getvalue())


def without_program(name: str, scratch: Path) -> Path:
    """Write the list of tools of a service, and return the file."""
    spec = shipped("tool_specs")[name]
    tools = yaml.safe_load(spec.read_text(encoding="utf-8"))["tools"]
    source = spec.parent / tools if isinstance(tools, str) else None
    copy = scratch / f"{name}.json"
    copy.write_text(json.dumps({"tools": tools}) if source is None else source.read_text(encoding="utf-8"))
    return copy


def is_kept(name: str, tool: str, text: str, recordings: Path) -> bool:
    """Whether the gate keeps the function of a tool."""
    return bool(judged(name, text, recordings / name)["tools"].get(tool, {}).get("kept"))


def plant(recordings: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each mutant."""
    rows = list[dict[str, Any]]()
    for name in names:
        sessions = read_sessions(recordings / name)
        spec = shipped("tool_specs")[name]
        text = (spec.parent / program_of(spec)).read_text(encoding="utf-8")
        original = asyncio.run(caught_by_measure(name, None, sessions))
        for kind, tool, mutant in mutants(text, sessions):
            by = "measure" if is_lower(asyncio.run(caught_by_measure(name, mutant, sessions)), original) else ""
            if not by and is_kept(name, tool, text, recordings) and not is_kept(name, tool, mutant, recordings):
                by = "gate"
            rows.append({"program": name, "kind": kind, "tool": tool, "caught by": by})
            print(f"{name:12} {kind:10} {tool:28} {by or 'NOT CAUGHT'}", flush=True)
    return rows


def keep(recordings: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each correct program: how many functions the gate keeps."""
    rows = list[dict[str, Any]]()
    for name in names:
        spec = shipped("tool_specs")[name]
        text = (spec.parent / program_of(spec)).read_text(encoding="utf-8")
        folder = recordings / name
        report = judged(name, text, folder if folder.is_dir() else None)
        module = ast.parse(text)
        tools = [tool for tool in report["tools"] if function_of(module, tool) is not None]
        lost = {tool: report["tools"][tool]["why"] for tool in tools if not report["tools"][tool]["kept"]}
        rows.append({"program": name, "functions": len(tools), "lost": lost})
        print(f"{name:12} {len(tools) - len(lost)} of {len(tools)} functions kept {json.dumps(lost)[:300]}", flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", metavar="RECORDINGS", type=Path)
    parser.add_argument("--programs", metavar="NAMES", default=PROGRAMS)
    parser.add_argument("--correct", metavar="NAMES", default=CORRECT)
    parser.add_argument("--json", metavar="FILE", type=Path)
    args = parser.parse_args()
    planted = plant(args.recordings, [name for name in args.programs.split(",") if name])
    correct = keep(args.recordings, [name for name in args.correct.split(",") if name])
    missed = [row for row in planted if not row["caught by"]]
    functions, lost = sum(row["functions"] for row in correct), sum(len(row["lost"]) for row in correct)
    print(f"{len(planted) - len(missed)} of {len(planted)} mutants caught")
    print(f"{functions - lost} of {functions} functions of correct programs kept")
    if args.json is not None:
        args.json.write_text(json.dumps({"mutants": planted, "correct": correct}, indent=1), encoding="utf-8")
    return int(bool(missed) or functions - lost < KEPT * functions)


if __name__ == "__main__":
    sys.exit(main())
