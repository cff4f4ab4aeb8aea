"""`mcp-sim trajectories`: write the worlds of traces as training data, as chats or as turns to predict."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from mcp_sim.cli.grade import grades_of, scenario_of
from mcp_sim.cli.parsing import trust_option
from mcp_sim.cli.terminal import counted, json_line, note
from mcp_sim.cli.traces import read_worlds
from mcp_sim.training.rows import Words, calls_of, chat_row, digest, messages_of, provenance, turn_rows
from mcp_sim.training.tools import definition_of, function_names, in_form
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_values import encode
from mcp_sim.types.scenario import Scenario

TEXTS = ("prompt", "response")  # columns that are lists of texts

ROWS_AT_ONCE = 1000  # rows of a Parquet file that are held in memory until they are written


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("traces", type=Path, nargs="+", metavar="TRACE", help="files that --trace wrote")
    parser.add_argument(
        "--form",
        choices=["chat", "turns"],
        default="chat",
        help="chat (the default): a row per world; turns: a row per call, as AgentWorldBench has them",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="FILE.jsonl or FILE.parquet; default: JSONL on stdout"
    )
    parser.add_argument("--scenario", metavar="SCENARIO", help="the scenario; needed if its file was moved")
    parser.add_argument(
        "--words",
        metavar="HOW",
        help="how texts are split for the masks of turns: signs (the default), space, or a tokenizer.json",
    )
    trust_option(parser)


def run(args: argparse.Namespace) -> int:
    """Exit with 0, or 2 if a file is not a trace or its scenario cannot be found."""
    if args.words is not None and args.form != "turns":
        raise UsageError("--words splits the texts of turns: add --form turns, or leave it out")
    words = _words(args.words or "signs")
    with ExitStack() as stack:
        write = stack.enter_context(_Rows(args.output)).write
        seen, worlds, left_out = set[str](), 0, 0
        for trace in args.traces:
            for rows in _rows_of(trace, scenario_of(trace, args.scenario, args.trust), args.form, words):
                worlds += 1
                for row in rows:
                    name = digest(row)
                    left_out += name in seen
                    if name not in seen:
                        write(row)
                    seen.add(name)
    written = f"{counted(len(seen), 'row')} of {counted(worlds, 'world')}"
    note(f"{written}; {left_out} left out, since they repeat others")
    return 0


def _rows_of(trace: Path, scenario: Scenario, form: str, words: Words) -> Iterator[Iterable[Record]]:
    """Yield the rows of each world of a trace that was called."""
    worlds = {name: world for name, world in read_worlds(trace).items() if calls_of(world.since_opening())}
    names = function_names(scenario.domain.tools)
    listed = [
        (names[tool], definition_of(scenario.listed(scenario.domain.tools[tool])))
        for server in scenario.servers.values()
        for tool in server.tools
    ]
    for name, grade in grades_of(worlds, scenario, trace, None, strict=False):
        world, steps = worlds[name], worlds[name].since_opening()
        if form == "chat":
            tools = in_form(listed, "openai")
            messages = messages_of(steps, scenario.task, world.answer, function_names(scenario.domain.tools))
            crash = world.crash_since_opening()
            yield [chat_row(messages, tools, grade, scenario, steps, "" if crash is None else str(crash["error"]))]
            continue
        system = f"You are the server of these tools:\n{json.dumps(in_form(listed, 'mcp'), ensure_ascii=False)}"
        beside = {"reward": grade.reward, "outcome": grade.outcome, **provenance(scenario, steps)}
        yield ({**row, **beside} for row in turn_rows(steps, system, names, words))


def _words(how: str) -> Words:
    if how == "space":
        return str.split
    if how == "signs":
        return re.compile(r"\w+|[^\w\s]").findall
    if not Path(how).is_file():
        raise UsageError(f"--words {how}: expected signs, space, or the file of a tokenizer")
    tokenizer = _package("tokenizers").Tokenizer.from_file(how)
    return lambda text: tokenizer.encode(text).tokens


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise UsageError(f"this needs the package {name}: pip install {name.partition('.')[0]}") from None


class _Rows:
    """Writes rows to a file, or as JSONL to stdout."""

    def __init__(self, path: Path | None) -> None:
        if path is not None and path.suffix not in (".jsonl", ".parquet"):
            raise UsageError(f"{path}: expected a file that ends in .jsonl or .parquet")
        self._path, self._held = path, list[Record]()
        self._stack = ExitStack()
        self._flush: Callable[[], None] = self._write_lines
        if path is not None and path.suffix == ".parquet":
            self._arrow, self._parquet = _package("pyarrow"), _package("pyarrow.parquet")
            self._writer: Any = None
            self._flush = self._write_table

    def __enter__(self) -> Self:
        self._lines = sys.stdout.buffer
        if self._path is not None and self._flush == self._write_lines:
            self._lines = self._stack.enter_context(self._path.open("wb"))
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._stack.close()

    def write(self, row: Record) -> None:
        self._held.append(row)
        if len(self._held) >= ROWS_AT_ONCE:
            self._flush()

    def _write_lines(self) -> None:
        self._lines.writelines(json_line(row) for row in self._held)
        self._held.clear()

    def _write_table(self) -> None:
        """Write the rows as Parquet. All rows have the columns of the first."""
        if not self._held:
            return
        if self._writer is None:
            schema = self._arrow.schema([(name, self._type(name, value)) for name, value in self._held[0].items()])
            self._writer = self._stack.enter_context(self._parquet.ParquetWriter(self._path, schema))
        rows = [{name: _cell(name, value) for name, value in row.items()} for row in self._held]
        self._writer.write_table(self._arrow.Table.from_pylist(rows, schema=self._writer.schema))
        self._held.clear()

    def _type(self, name: str, value: Any) -> Any:
        arrow = self._arrow
        if name == "messages":
            function = arrow.struct([("name", arrow.string()), ("arguments", arrow.string())])
            call = arrow.struct([("id", arrow.string()), ("type", arrow.string()), ("function", function)])
            texts = [(key, arrow.string()) for key in ("role", "content", "tool_call_id", "name")]
            return arrow.list_(arrow.struct([*texts, ("tool_calls", arrow.list_(call))]))
        if name in TEXTS:
            return arrow.list_(arrow.string())
        if isinstance(value, bool):
            return arrow.bool_()
        if isinstance(value, int):
            return arrow.int64()
        # A reward that is None is that of a crash.
        return arrow.float64() if isinstance(value, float | None) else arrow.string()


def _cell(name: str, value: Json) -> Json:
    """Return the value of a column: what has other keys in each row as a JSON text."""
    if isinstance(value, dict) or (isinstance(value, list) and name not in (*TEXTS, "messages")):
        return encode(value).decode()
    return value  # pyright: ignore[reportUnknownVariableType] (narrowed from any JSON value)
