"""What `compile` and `learn` share: ask for a program, put it through the gate, write and report what is kept."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from shlex import quote
from time import monotonic
from typing import cast

import anyio

from mcp_sim.cli import ranking
from mcp_sim.cli.files import back_up, read_text, replace_file
from mcp_sim.cli.models import model_options, named_line
from mcp_sim.cli.parsing import count, writable_file
from mcp_sim.cli.terminal import counted, first_few, json_option, note, note_step, print_json, print_table
from mcp_sim.models.language_model.endpoint import EndpointSettings, Request, open_endpoint
from mcp_sim.models.language_model.prompt import Message
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.recordings.compiling.gate import Gate
from mcp_sim.recordings.compiling.prompt import LONGEST, prompt_text
from mcp_sim.recordings.compiling.rounds import ROUNDS, Author, Outcome, write_program
from mcp_sim.recordings.compiling.subject import PROGRAM, Subject, can_be_edited
from mcp_sim.recordings.ranking import validity_report
from mcp_sim.simulator.compile import load
from mcp_sim.spec import yaml12
from mcp_sim.spec.program_files import modules_beside
from mcp_sim.spec.sources import display
from mcp_sim.spec.tool_specs import is_tool_list
from mcp_sim.types import Record
from mcp_sim.types.errors import Unanswered, UsageError

MAX_TOKENS = 32_768  # room for a program of a large server after the model has reasoned


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name an author and show what it is asked."""
    parser.add_argument("--by", metavar="MODEL", help="the language model that writes: openai:MODEL@URL")
    parser.add_argument("--docs", metavar="FILE", type=Path, help="documentation of the server, as text")
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=count,
        default=ROUNDS,
        help=f"how often the model is asked at most; default {ROUNDS}",
    )
    parser.add_argument(
        "--samples",
        metavar="N",
        type=count,
        default=1,
        help="have N programs written, and keep the best answers; default 1",
    )
    parser.add_argument(
        "--reply",
        metavar="FILE",
        type=Path,
        action="append",
        help="take the program from a file: a reply from a chat, or Python; may be repeated, like --samples",
    )
    parser.add_argument("--show-prompt", action="store_true", help="print the prompt, and ask nothing")
    model_options(parser, MAX_TOKENS)
    ranking.arguments(parser)
    json_option(parser, "the report")


def with_documentation(subject: Subject, args: argparse.Namespace) -> Subject:
    """Return a subject with the documentation that the command line names."""
    return subject if args.docs is None else replace(subject, documentation=read_text(args.docs))


def file_name(subject: Subject) -> str:
    """Return the name of a server as a name for files, without suffix."""
    name = re.sub(r"\W+", "_", subject.server).strip("_")
    return name if name.isidentifier() else f"server_{name}".rstrip("_")


def run(subject: Subject, args: argparse.Namespace, output: Path | None) -> int:
    """Show the prompt, or have the program written. Return the exit code."""
    if args.show_prompt:
        print(prompt_text(subject), end="")
        return 0
    if args.by is None and args.reply is None:
        raise UsageError(
            f"{args.command}: who writes? Name a model with --by openai:MODEL@URL, or take --show-prompt to any chat "
            "and its answer back with --reply FILE"
        )
    began, file, source = monotonic(), _output_file(subject, output), _source(args)
    # The modules beside programs that are given as Python files.
    replies = args.reply or ()
    modules = dict[str, str]()
    for reply in replies:
        for name, text in modules_beside(reply).items() if reply.suffix == ".py" else ():
            if modules.setdefault(name, text) != text or name == PROGRAM:
                raise UsageError(f"--reply {reply}: the module {name} beside it needs another name")
    subject = replace(subject, modules=modules)
    try:
        gate = Gate(subject, anyio.run(ranking.ranking, subject, args, note_step))
        outcome = anyio.run(_written, gate, source, args.rounds, args.samples)
    except Unanswered as error:
        note(f"mcp-sim: {error}")
        return 4
    kept = {} if outcome.judged is None else {"program": display(file)}
    report = {**report_of(gate, outcome), **kept, "seconds": round(monotonic() - began, 1)}
    written = _write(subject, outcome, file)
    written += [] if outcome.judged is None else _needed_trust(subject, file, args.trust)
    _print(report, outcome, written, as_json=args.json, shows_complaints=args.reply is not None)
    return 0 if outcome.judged is not None else 1


def _source(args: argparse.Namespace) -> list[str] | EndpointSettings:
    """Return the replies that are given, or the endpoint that is asked. Raises `UsageError`."""
    if args.reply is not None:
        return [read_text(reply) for reply in args.reply]
    options = {"max_tokens": args.max_tokens, "thinking": args.thinking, "api_key_env": args.api_key_env}
    return named_line(args.by, "--by", **options)


async def _written(gate: Gate, source: list[str] | EndpointSettings, most: int, samples: int) -> Outcome:
    """Return what an author writes. The plans are tried first: a server that cannot be served is not at fault."""
    note_step("trying the inferred plans out")
    await anyio.to_thread.run_sync(lambda: gate.plans)  # it is kept
    async with _author(source) as (author, longest):
        prompt = prompt_text(gate.subject, longest)
        rounds, programs = (1, len(source)) if isinstance(source, list) else (most, samples)
        return await write_program(gate, prompt, author, rounds, note_step, programs)


@asynccontextmanager
async def _author(source: list[str] | EndpointSettings) -> AsyncGenerator[tuple[Author, int]]:
    """Yield who writes, and how long a prompt may be in characters."""
    if isinstance(source, list):

        async def given(_messages: Sequence[Message], number: int) -> Reply:
            return Reply(source[number])

        yield given, LONGEST
        return
    async with open_endpoint(source) as endpoint:

        async def asked(messages: Sequence[Message], number: int) -> Reply:
            return await endpoint.complete(Request(messages, None, seed=len(messages) + 1_000 * number))

        yield asked, min(LONGEST, endpoint.max_characters or LONGEST)


# files ----------------------------------------------------------------------------------------------------------------


def _output_file(subject: Subject, output: Path | None) -> Path:
    """Return the Python file to write. Raises `UsageError` if it cannot be one."""
    if output is None:
        if not can_be_edited(subject.file):
            raise UsageError(f"{subject.server} ships with mcp-sim; name the file to write with -o FILE.py")
        return writable_file("-o", cast("Path", subject.file).with_name(f"{file_name(subject)}.py"))
    if output.suffix != ".py" or not output.stem.isidentifier():
        raise UsageError(f"-o {output}: must be a Python file, such as {file_name(subject)}.py")
    return writable_file("-o", output)


def _write(subject: Subject, outcome: Outcome, file: Path) -> list[str]:
    """Write the program, and a spec that names it unless there is one. Return sentences about what was written."""
    if outcome.judged is None:
        return [f"Nothing was written: no tool passes the gate, and {subject.server} keeps its inferred plans."]
    notes = list[str]()
    for path, text in _files(subject, file, notes):
        copy = back_up(path)
        replace_file(path, text if text is not None else outcome.judged.text)
        notes.append(f"Wrote {path}." + (f" Its previous content is in {copy}." if copy is not None else ""))
    return notes


def _files(subject: Subject, file: Path, notes: list[str]) -> Iterator[tuple[Path, str | None]]:
    """Yield the files to write, the program (None) first. What the user has to do is added to `notes`."""
    yield file, None
    for name, module in subject.modules.items():
        path = file.parent / name
        if not path.is_file() or path.read_text(encoding="utf-8") != module:
            path.parent.mkdir(parents=True, exist_ok=True)
            yield path, module
    spec = subject.file if can_be_edited(subject.file) else None
    if spec is None or spec.parent.resolve() != file.parent.resolve():
        tools = file.with_suffix(".tools.json")
        yield tools, json.dumps({"tools": subject.tools}, indent=2, ensure_ascii=False) + "\n"
        yield file.with_suffix(".yaml"), _spec_text(subject, tools.name, file.name)
        return
    text = spec.read_text(encoding="utf-8")
    if is_tool_list(yaml12.load(text.encode(), display(spec)).value):
        if not file.with_suffix(".yaml").exists():
            yield file.with_suffix(".yaml"), _spec_text(subject, spec.name, file.name)
        return
    program_line = re.search(r"^program:[ \t]*(\S+)", text, re.MULTILINE)
    if program_line is not None and program_line[1].strip("'\"") == file.name:
        return
    if text.lstrip().startswith("{") or program_line is not None:
        notes.append(f"Write `program: {file.name}` into {spec}.")
    else:
        yield spec, f"{text.rstrip()}\nprogram: {file.name}\n"


def _needed_trust(subject: Subject, file: Path, trust: Iterable[Path]) -> Iterator[str]:
    """Yield how to serve a program that was written, if it is not trusted."""
    edited_specs = [
        spec for spec in (subject.file, file.with_suffix(".yaml")) if spec is not None and can_be_edited(spec)
    ]
    for spec in {path.resolve(): path for path in edited_specs if path.is_file()}.values():
        if load(spec, trust=trust).untrusted:
            command = f"mcp-sim trust {quote(display(spec))}"
            yield f"To serve it, read {file} and run `{command}`."


def _spec_text(subject: Subject, tools: str, program: str) -> str:
    """Return a tool spec: what the subject's own says, with its tools and the program in files."""
    kept = {key: value for key, value in subject.document.items() if key not in {"mcp_sim", "tools"}}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in kept.items()]
    return f"mcp_sim: 1\n{''.join(lines)}tools: {tools}\nprogram: {program}\n"


# report ---------------------------------------------------------------------------------------------------------------


def _print(report: Record, outcome: Outcome, written: Sequence[str], *, as_json: bool, shows_complaints: bool) -> None:
    if as_json:
        print_json(report)
    else:
        # Why no tool is kept, if it is the same for several tools; else ''.
        reasons = {tool["why"][0].split("\n")[0] if tool["why"] else "" for tool in report["tools"].values()}
        shared = reasons.pop() if len(reasons) == 1 and len(report["tools"]) > 1 else ""
        print_table([*_rows(report, shared)])
        if shared:
            print(f"All tools: {shared}")
        print(_totals(report))
        if report["sessions"]["held_back"]:
            print(f"Held back for the gate: {', '.join(first_few(report['sessions']['held_back']))}.")
        if report["sessions"]["scored"]:
            print(f"Held back for the score: {', '.join(first_few(report['sessions']['scored']))}.")
        for line in ranking.lines(report["validity"]):
            print(line)
        if outcome.votes:
            print("\n".join(["Programs agree:", *_vote_lines(outcome)]))
    if shows_complaints and outcome.complaints and not as_json:
        print(f"\nFor the model:\n\n{outcome.complaints}")
    for line in written:
        note(line)


def _vote_lines(outcome: Outcome) -> Iterator[str]:
    """Yield in how many calls of each tool the programs agree, and the first call in which they do not."""
    for tool, vote in outcome.votes.items():
        yield f"  {tool}: {vote.agreement:.0%} of {vote.calls} calls"
        if vote.call:
            yield f"    {vote.call}"
            yield from (
                f"    {number} of {sum(vote.answers.values())}: {text}" for text, number in vote.answers.items()
            )


def _rows(report: Record, shared: str) -> Iterator[list[str]]:
    yield ["tool", "result", "gate", "plan", "checked", "why"]
    for tool, tried in report["tools"].items():
        scores = ["-" if tried[name] is None else f"{tried[name]:.3f}" for name in ("held_back", "plan")]
        why = tried["why"][0].split("\n")[0] if tried["why"] else ""
        yield [tool, tried["result"], *scores, ", ".join(tried["checks"]) or "-", "" if why == shared else why]
    for hook, tried in report["hooks"].items():
        if not tried["kept"]:
            yield [hook, "dropped", "-", "-", "answers", *tried["why"][:1]]


def _totals(report: Record) -> str:
    parts = [f"{report['kept']} of {counted(len(report['tools']), 'tool')} kept"]
    labels = {"scored": "score sessions", "held_back": "gate sessions", "shown": "shown sessions"}
    for name, label in labels.items():
        program, plans = report[name]["program"], report[name]["plans"]
        if program is not None and plans is not None:
            parts.append(f"{label} {program:.3f} (plans alone {plans:.3f})")
    tokens = sum(report["tokens"].get(name, 0) for name in ("prompt_tokens", "completion_tokens"))
    parts.append(f"{report['rounds']} rounds" if report["rounds"] != 1 else "1 round")
    parts += [f"{tokens:,} tokens"] if tokens else []
    return f"{'; '.join(parts)}; {report['seconds']:g} s."


def report_of(gate: Gate, outcome: Outcome) -> Record:
    judged, plans = outcome.judged, gate.plans
    tools = {str(tool["name"]): _tool_report(str(tool["name"]), gate, outcome) for tool in gate.subject.tools}
    held, ranks = None if judged is None else judged.held.score, gate.ranks(None)
    ours = [None] * len(ranks) if judged is None else gate.ranks(judged.text)
    # Whether each hook and resource of the program was kept, and why not.
    kept: Collection[str] = () if outcome.judged is None else outcome.judged.hooks
    hooks: Iterable[str] = () if outcome.best is None else outcome.best.hooks
    return {
        "server": gate.subject.server,
        "kept": sum(tool["kept"] for tool in tools.values()),
        "tools": tools,
        "hooks": {name: {"kept": name in kept, "why": [*outcome.dropped.get(name, ())]} for name in hooks},
        "sessions": {
            "shown": [session.name for session in gate.subject.shown],
            "held_back": [session.name for session in gate.subject.held],
            "scored": [session.name for session in gate.subject.scored],
        },
        "held_back": {"program": held, "plans": plans.held.score},
        "scored": {"program": None if judged is None else gate.score(judged.text), "plans": gate.score(None)},
        "shown": {"program": None if judged is None else judged.shown.score, "plans": plans.shown.score},
        "validity": validity_report(zip(ours, ranks, strict=True)),
        "rounds": outcome.tally.rounds,
        "tokens": outcome.tally.tokens,
        "complaints": outcome.complaints,
        "votes": {tool: vote.to_json() for tool, vote in outcome.votes.items()},
    }


def _tool_report(tool: str, gate: Gate, outcome: Outcome) -> Record:
    judged, plans = outcome.judged, gate.plans
    kept = judged is not None and tool in judged.functions
    shown = judged or outcome.best
    excused = outcome.excused.get(tool, ())
    excuses = [f"kept, since other functions work on what it creates: {reason}" for reason in excused]
    had = shown is None or shown.whole or tool in shown.functions or tool in outcome.dropped
    return {
        "kept": kept,
        "result": "kept" if kept else "dropped" if had else "missing",
        "checks": [] if shown is None else [*shown.checks.get(tool, ())],
        "held_back": None if shown is None else shown.held.tools.get(tool),
        "plan": plans.held.tools.get(tool),
        "why": excuses if kept else _why(tool, outcome),
    }


def _why(tool: str, outcome: Outcome) -> list[str]:
    """Return why a tool has no function of the program."""
    best = outcome.best
    if best is None:
        return outcome.complaints.split("\n")[:1]
    if tool in outcome.dropped:
        return [*outcome.dropped[tool]]
    if best.whole:
        return [*best.whole]
    if tool in best.functions:
        return ["the rest failed with it"]
    return ["the program has no function for it"]
