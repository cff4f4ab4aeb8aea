"""Options of the command line that name a language model and configure it."""

from __future__ import annotations

import argparse
import os

from mcp_sim.cli.parsing import count
from mcp_sim.models.language_model.endpoint import EndpointSettings
from mcp_sim.spec.entries import named_world_model
from mcp_sim.types import Json
from mcp_sim.types.errors import UsageError

TIMEOUT = "30m"
"""The timeout of a request. No agent waits for its answer, and the engine may run on a CPU."""


def model_options(parser: argparse.ArgumentParser, most_tokens: int) -> None:
    """Add the options that configure a language model. `most_tokens` is the default of --max-tokens."""
    parser.add_argument(
        "--api-key-env", metavar="NAME", help="environment variable with the API key; default OPENAI_API_KEY"
    )
    thinking_option(parser, "--thinking", "the model")
    limit = f"maximum length of an answer in tokens; default {most_tokens}"
    parser.add_argument("--max-tokens", metavar="N", type=count, default=most_tokens, help=limit)


def thinking_option(parser: argparse.ArgumentParser, name: str, who: str) -> None:
    """Add an option that says whether a model reasons."""
    described = f"whether {who} reasons first, for at most N tokens"
    parser.add_argument(name, metavar="off|on|N", type=thinking, help=described)


def named_line(text: str, option: str, **options: Json) -> EndpointSettings:
    """Return the endpoint that an option names, with these options of the world model `openai`. Raises `UsageError`."""
    from mcp_sim.models.world_models.openai import Openai  # noqa: PLC0415 (loads the models package only when needed)

    model = None
    if text.startswith("openai:"):
        model = named_world_model(text, option, timeout=TIMEOUT, **options).world_model
    if not isinstance(model, Openai):
        raise UsageError(f"{option} {text}: write it as openai:MODEL@URL")
    return model.trusted().line(os.environ)


def thinking(text: str) -> Json:
    """Parse --thinking: off, on, or a number of tokens. Raises `ArgumentTypeError`."""
    if text in ("off", "on"):
        return text
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be off, on or a number of tokens, not {text!r}")
    return int(text)
