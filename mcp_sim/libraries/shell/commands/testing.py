"""pytest, over declared tests: what files must hold for each test to pass. Tests that someone edits do not count."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby

from mcp_sim.libraries.files import below, is_within, join
from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation
from mcp_sim.libraries.shell.commands.suites import PYTEST, run_suite
from mcp_sim.types import Record
from mcp_sim.types.conditions import matcher

_WIDTH = 80
_VERSIONS = "Python 3.11.2, pytest-8.3.4, pluggy-1.5.0"
_NOTHING = 5  # pytest's exit code if no test was collected
_USAGE = 4


@dataclass(slots=True)
class _Case:
    """A test, and why it fails; '' if it passes."""

    name: str
    failure: str
    source: str
    line: int = 1

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]


def pytest(run: Invocation, *, as_module: bool = False) -> None:
    run.machine.collect(fs=run.fs)
    root = next(
        (str(row["root"]) for row in run.store.rows("test_case") if is_within(run.directory, [str(row["root"])])), ""
    )
    rows = [row for row in run.store.rows("test_case") if row["root"] == root]
    if rows and rows[0].get("runner") == PYTEST:
        run_suite(run, root, rows, as_module=as_module)
    else:
        options, targets = run.options(
            "qvxk:sm:rp:lW:", "quiet:q verbose:v exitfirst:x maxfail= tb= no-header lf co collect-only color="
        )
        chosen = _chosen(run, rows, root, targets, options.get("k", ""))
        cases = [_judged(run, row, root) for row in chosen]
        if options.keys() & {"x", "maxfail"}:
            first = next((at for at, case in enumerate(cases) if case.failure), len(cases))
            cases = cases[: first + 1]
        _report(run, cases, root, options)
        run.code = _NOTHING if not cases else int(any(case.failure for case in cases))


def _chosen(run: Invocation, rows: Sequence[Record], root: str, targets: Sequence[str], words: str) -> list[Record]:
    """Return the tests that targets and words name. Fails if a target names nothing."""
    chosen: list[Record] = []
    for target in targets or [root or "."]:
        path, _, name = target.partition("::")
        place = below(run.place(path), root)
        hits = [
            row
            for row in rows
            if not place
            or row["name"].startswith((f"{place}::", f"{place.rstrip('/')}/"))
            or fnmatchcase(row["name"], place)
        ]
        hits = [row for row in hits if not name or row["name"].partition("::")[2].startswith(name)]
        if not hits and run.look(path) is None:
            raise Failed(f"ERROR: file or directory not found: {target}\n\n", _USAGE)
        chosen += [row for row in hits if row not in chosen]
    return [row for row in chosen if _fits(words, str(row["name"]))]


def _fits(words: str, name: str) -> bool:
    """Return whether a name fits an expression of `-k`: words with `and`, `or` and `not`."""
    if not words:
        return True
    plain = " ".join(words.split())
    return any(
        all(
            (condition.removeprefix("not ").strip().lower() in name.lower()) is not condition.startswith("not ")
            for condition in alternative.split(" and ")
        )
        for alternative in plain.split(" or ")
    )


def _judged(run: Invocation, row: Record, root: str) -> _Case:
    """Return a test with its outcome. All the files that it needs must hold what it declares."""
    name, failure = str(row["name"]), ""
    needs: Mapping[str, object] = row.get("needs") or {}
    for path, wanted in needs.items():
        try:
            text = run.text(join(root, path))
            ast.parse(text) if path.endswith(".py") else None
        except Failed:
            failure = f"FileNotFoundError: [Errno 2] No such file or directory: '{path}'"
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            failure = f"SyntaxError: invalid syntax ({path.rpartition('/')[2]})"  # versions of Python say more
        else:
            failure = failure if matcher(wanted)(text) else str(row.get("error") or "AssertionError")
    if row.get("fails"):
        failure = str(row["fails"])
    return _Case(name, failure, str(row.get("source") or ""), int(row.get("line") or 1))


def _report(run: Invocation, cases: Sequence[_Case], root: str, options: Mapping[str, str]) -> None:
    """Print what pytest prints."""
    is_quiet, is_verbose = "q" in options, "v" in options
    say = run.out.append
    if not is_quiet:
        say(_rule("test session starts") + f"platform linux -- {_VERSIONS}\nrootdir: {root or run.directory}\n")
        say(f"collected {len(cases)} item{'' if len(cases) == 1 else 's'}\n\n")
    run.out += _progress(cases, is_verbose=is_verbose and not is_quiet, is_quiet=is_quiet)
    failed = [case for case in cases if case.failure]
    if failed and options.get("tb") != "no":
        say("\n" + _rule("FAILURES"))
        for case in failed:
            title = case.name.partition("::")[2].replace("::", ".")
            say(f"{f' {title} '.center(_WIDTH, '_')}\n\n")
            *above, last = case.source.splitlines() or [""]
            say("".join(f"    {line}\n" for line in above) + f">   {last}\nE       {case.failure}\n\n")
            kind = case.failure.partition(":")[0]
            say(f"{case.file}:{case.line}: {'AssertionError' if kind.startswith('assert') else kind}\n")
    if failed:
        say(_rule("short test summary info"))
        run.out += [f"FAILED {case.name} - {case.failure}\n" for case in failed]
    counts = [(len(failed), "failed"), (len(cases) - len(failed), "passed")]
    total = ", ".join(f"{count} {what}" for count, what in counts if count) or "no tests ran"
    seconds = f"{0.01 + 0.002 * len(cases):.2f}s"
    say(f"{total} in {seconds}\n" if is_quiet else ("" if failed else "\n") + _rule(f"{total} in {seconds}"))


def _progress(cases: Sequence[_Case], *, is_verbose: bool, is_quiet: bool) -> Iterator[str]:
    done = 0
    for file, group in groupby(cases, key=lambda case: case.file):
        members = [*group]
        if is_verbose:
            for case in members:
                done += 1
                line = f"{case.name} {'FAILED' if case.failure else 'PASSED'}"
                yield f"{line}{f'[{100 * done // len(cases):3}%]'.rjust(_WIDTH - len(line))}\n"
            continue
        done += len(members)
        marks = "".join("F" if case.failure else "." for case in members)
        line = f"{file} {marks}"
        share = f"[{100 * done // len(cases):3}%]"
        if is_quiet:
            yield marks if done < len(cases) else f"{marks}{share.rjust(_WIDTH - len(cases))}\n"
        else:
            yield f"{line}{share.rjust(_WIDTH - len(line))}\n"


def _rule(text: str) -> str:
    return f"{f' {text} '.center(_WIDTH, '=')}\n"


def python(run: Invocation) -> None:
    """Answer for `python -m pytest` and `--version`; other programs are not run."""
    words = run.arguments
    if words[:2] == ["-m", "pytest"]:
        run.arguments = words[2:]
        pytest(run, as_module=True)
    elif words[:1] == ["--version"]:
        run.out.append("Python 3.11.2\n")
    else:
        raise Failed(f"bash: line 1: {run.name}: command not found\n", 127)


BODIES: Mapping[str, Body] = {"pytest": pytest, "python": python, "python3": python}
