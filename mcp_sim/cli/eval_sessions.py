"""Recorded sessions as samples of `mcp-sim eval`, and what the built-in world answers to their calls."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from mcp_sim.models.evaluation.results import Results
from mcp_sim.models.evaluation.samples import Sample
from mcp_sim.models.language_model.domains import DOMAINS, Form, system_text
from mcp_sim.models.language_model.domains.forms import json_call
from mcp_sim.models.language_model.prompt import encodable, system
from mcp_sim.recordings.responders import Simulations
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sessions import Answer, Session, read_sessions
from mcp_sim.types import Json
from mcp_sim.types.errors import McpSimError, UsageError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import canonical

BUILTIN = "builtin"
"""The model that is mcp-sim's own world, by the tool spec of the sessions."""
MCP = "mcp"
"""The domain whose form is used by default."""


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
    """Add the options of recorded sessions."""
    group = parser.add_argument_group("recorded sessions")
    group.add_argument("--spec", metavar="SPEC", help="the tool spec of the recorded server: a file, or a shipped name")
    group.add_argument("--domain", choices=[MCP, *DOMAINS], help=f"the form of prompts and judging (default {MCP})")


def refuse_session_options(args: argparse.Namespace) -> None:
    """Raise `UsageError` for options of recorded sessions, which a benchmark does not use."""
    for option, value in {"--spec": args.spec, "--domain": args.domain}.items():
        if value is not None:
            raise UsageError(f"{option} goes with `eval sessions`; each file of {args.benchmark} names its domain")
