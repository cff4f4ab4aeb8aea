"""`mcp-sim eval`: evaluate a world model with AgentWorldBench, or with recorded sessions."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from hashlib import sha256
from pathlib import Path

import anyio

from mcp_sim.cli.models import model_options, named_line, thinking_option
from mcp_sim.cli.parsing import count, trust_option
from mcp_sim.cli.terminal import Palette, Progress, json_option, note, print_json
from mcp_sim.models.evaluation.messages import DIMENSIONS, JudgePrompts, Sample, judging_messages, samples_in, shortened
from mcp_sim.models.evaluation.runner import Evaluation, Outcome, Results, ScoreSummary, summarize, summarize_by_domain
from mcp_sim.models.language_model.domains import DOMAINS, Form, json_call, system_text
from mcp_sim.models.language_model.endpoint import EndpointSettings, open_endpoint
from mcp_sim.models.language_model.prompt import encodable, system
from mcp_sim.recordings.responders import Simulations
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sessions import Answer, Session, read_sessions
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import McpSimError, Unanswered, UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import canonical
from mcp_sim.types.readable import table_lines

TEMPERATURE = 0.6  # the sampling temperature of the benchmark


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("benchmark", choices=["agentworld", "sessions"], help="AgentWorldBench, or sessions")
    parser.add_argument("data", metavar="DATA_DIR", type=Path, help="its {domain}_test.jsonl files, or sessions")
    parser.add_argument("--model", metavar="MODEL", required=True, help="openai:MODEL@URL; for sessions also builtin")
    parser.add_argument("--judge", metavar="MODEL", help="the judge: openai:MODEL@URL; without it, nothing is judged")
    parser.add_argument(
        "--judge-prompts",
        metavar="FOLDER",
        type=Path,
        help="the judge's prompts, DOMAIN/judge_system_prompt.txt, as published with the benchmark",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        help="folder for the results; default agentworld-results or sessions-results",
    )
    parser.add_argument(
        "--limit", metavar="N", type=count, help="at most N samples of a domain, or sessions of a server"
    )
    parser.add_argument("--concurrency", metavar="N", type=count, default=16, help="requests at a time; default 16")
    model_options(parser, 32_768)
    thinking_option(parser, "--judge-thinking", "the judge")
    session_options(parser)
    trust_option(parser)
    parser.add_argument("--judge-api-key-env", metavar="NAME", help="the same for the judge")
    json_option(parser, "the report")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if samples failed or lines are broken, 2 without any data, 4 if the model stops answering."""
    args.output = args.output or Path(f"{args.benchmark}-results")
    sessions, unreadable = list[Session](), list[str]()
    if args.benchmark == "sessions":
        samples, sessions = read_session_samples(args)
    else:
        refuse_session_options(args)
        samples, unreadable = samples_in(args.data, args.limit)
    for problem in shortened(unreadable):
        note(problem)
    prompts = None
    if args.judge_prompts is not None:
        prompts = JudgePrompts.of(args.judge_prompts, sorted({sample.domain for sample in samples}))
    is_builtin = bool(sessions) and args.model == BUILTIN
    line = partial(named_line, max_tokens=args.max_tokens, max_concurrency=args.concurrency, temperature=TEMPERATURE)
    model = judge = None
    if not is_builtin:
        model = line(args.model, "--model", thinking=args.thinking, api_key_env=args.api_key_env)
    if args.judge is not None:
        judge = line(args.judge, "--judge", thinking=args.judge_thinking, api_key_env=args.judge_api_key_env)
    predictions = Results.open(args.output / "predictions.jsonl", args.model if model is None else model.model)
    judgements = None if judge is None else Results.open(args.output / "judgements.jsonl", judge.model)
    progress = Progress(sys.stderr, len(samples))
    judging = judging_messages if prompts is None else prompts.messages
    evaluation = Evaluation(samples, predictions, judgements, None, None, progress.show, judging)
    try:
        if is_builtin:
            anyio.run(predict_builtin, args.spec, args.trust, sessions, samples, predictions)
        anyio.run(_evaluate, evaluation, model, judge, args.concurrency)
    except Unanswered as error:
        progress.clear()
        note(f"mcp-sim: {error}\nThe model stopped answering; results so far are kept in {args.output}.")
        return 4
    except KeyboardInterrupt:
        progress.clear()
        note(f"Results so far are kept in {args.output}; run the same command to continue.")
        raise
    progress.clear()
    return _reported([*evaluation.outcomes()], predictions.by, judge, args, len(unreadable))


async def _evaluate(
    evaluation: Evaluation, model: EndpointSettings | None, judge: EndpointSettings | None, at_once: int
) -> None:
    """Connect to the models that are needed, and run the evaluation."""
    async with AsyncExitStack() as stack:
        if model is not None and evaluation.lacks_predictions:
            evaluation.infer = (await stack.enter_async_context(open_endpoint(model))).complete
        if judge is not None and evaluation.lacks_judgements:
            evaluation.judge = (await stack.enter_async_context(open_endpoint(judge))).complete
        await evaluation.run(at_once)


# report ---------------------------------------------------------------------------------------------------------------


def _reported(
    outcomes: Sequence[Outcome], model: str, judge: EndpointSettings | None, args: argparse.Namespace, unreadable: int
) -> int:
    """Print the report. Return the exit code: 1 if samples failed or lines could not be read."""
    overall, domains = summarize(outcomes), summarize_by_domain(outcomes)
    if args.json:
        prompts = None if args.judge_prompts is None else str(args.judge_prompts)
        about: Record = {"judge_prompts": prompts, "unreadable": unreadable}
        about |= {"benchmark": args.benchmark, "model": model, "judge": None if judge is None else judge.model}
        by_domain = {name: domain.to_json() for name, domain in domains.items()}
        print_json({**about, "domains": by_domain, "overall": overall.to_json()})
    else:
        print("\n".join(_table(overall, domains, Palette.of(sys.stdout))))
    for line in _remarks(outcomes, overall, judge):
        note(line)
    if unreadable:
        note(f"{unreadable} lines could not be read and are not counted.")
    if judge is not None:
        prompts = args.judge_prompts or "mcp-sim's own prompts; published scores are not comparable"
        note(f"Judged with {prompts}.")
    return int(bool(overall.unpredicted or overall.unjudged or unreadable))


def _table(overall: ScoreSummary, domains: Mapping[str, ScoreSummary], palette: Palette) -> Iterator[str]:
    rows = [_row(name, summary) for name, summary in {**domains, "overall": overall}.items()]
    heads = ("domain", "scored", *DIMENSIONS, "total", "failed")
    first, *others, last = table_lines([heads, *rows], right=range(1, len(heads)))
    yield palette.bold(first)
    yield from others
    yield palette.bold(last)


def _row(name: str, summary: ScoreSummary) -> tuple[str, ...]:
    figures = [*(summary.dimensions[dimension] for dimension in DIMENSIONS), summary.total]
    cells = ("-" if figure is None else f"{figure:.2f}" for figure in figures)
    return (name, f"{summary.scored}/{summary.samples}", *cells, str(summary.unpredicted + summary.unjudged))


def _remarks(outcomes: Sequence[Outcome], overall: ScoreSummary, judge: EndpointSettings | None) -> Iterator[str]:
    """Yield how many samples failed, and the most frequent reasons."""
    for stage, failed in (("prediction", overall.unpredicted), ("judging", overall.unjudged)):
        reasons = Counter(outcome.reason for outcome in outcomes if outcome.failed == stage)
        for reason, _ in reasons.most_common(1):
            yield f"{stage} failed for {failed} of {overall.samples} samples, most often: {reason}"
    if judge is None:
        yield "Nothing was judged; run the same command with --judge openai:MODEL@URL to judge the predictions."


# recorded sessions ----------------------------------------------------------------------------------------------------


BUILTIN = "builtin"  # the model that is mcp-sim's own world, by the tool spec of the sessions
MCP = "mcp"  # the domain whose form is used by default


def read_session_samples(args: argparse.Namespace) -> tuple[list[Sample], list[Session]]:
    """Return a sample for each call of some sessions, in the form of `--domain`, and the sessions.

    Raises `UsageError` without `--spec`.
    """
    if args.spec is None:
        raise UsageError("eval sessions needs --spec SPEC, the tool spec of the recorded server")
    domain, form = load(args.spec, trust=args.trust).domain, args.domain or MCP
    prompt = system(domain, {}) if form == MCP else system_text(form, None, domain, "")
    sessions = read_sessions(args.data, limit=args.limit)
    return [sample for session in sessions for sample in _samples(session, form, prompt)], sessions


def _samples(session: Session, domain: str, prompt: str) -> Iterator[Sample]:
    form, before = DOMAINS.get(domain, Form(json_call)), list[tuple[str, str]]()
    for call in session.calls:
        turn = encodable(form.action(call.tool, call.arguments)), encodable(_text(call.answer))
        digest = sha256(canonical([prompt, before, *turn]).encode()).hexdigest()[:16]
        yield Sample(_key(session, call.seq), domain, digest, prompt, tuple(before), *turn)
        before.append(turn)


def _key(session: Session, number: int) -> str:
    return f"{session.server}/{session.name}/{number}"


async def predict_builtin(
    spec: str, trust: Sequence[Path], sessions: Sequence[Session], samples: Sequence[Sample], predictions: Results
) -> None:
    """Keep what the world of a tool spec answers to the calls of each session, in their order."""
    digests = {sample.key: sample.digest for sample in samples}
    async with Simulations(spec, trust) as simulations:
        for session in sessions:
            async with simulations(session) as world:
                for call in session.calls:
                    key = _key(session, call.seq)
                    is_done = predictions.done(key, digests[key]) is not None
                    try:
                        result = {"text": encodable(_text(await world.call(call.tool, call.arguments)))}
                    except McpSimError as error:
                        result = {"failed": str(error)}
                    if not is_done:
                        predictions.keep(key, digests[key], result)


def _text(answer: Answer) -> str:
    """Return what an agent reads of an answer: its texts, or else JSON."""
    result = as_object(answer.get("result"))
    blocks: list[Json] = as_list(result.get("content"))
    texts = [str(as_object(block)["text"]) for block in blocks if as_object(block).get("type") == "text"]
    return "\n".join(texts) if texts else json.dumps(answer, ensure_ascii=False)


def session_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("recorded sessions")
    group.add_argument("--spec", metavar="SPEC", help="the tool spec of the recorded server: a file, or a shipped name")
    group.add_argument("--domain", choices=[MCP, *DOMAINS], help=f"the form of prompts and judging (default {MCP})")


def refuse_session_options(args: argparse.Namespace) -> None:
    """Raise `UsageError` for options of recorded sessions, which a benchmark does not use."""
    for option, value in {"--spec": args.spec, "--domain": args.domain}.items():
        if value is not None:
            raise UsageError(f"{option} goes with `eval sessions`; each file of {args.benchmark} names its domain")
