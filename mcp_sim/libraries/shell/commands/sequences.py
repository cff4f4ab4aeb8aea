"""seq and yes, which print as much as they are asked for: those of the interpreter stop early and say so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from itertools import repeat

from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation

_MOST_LINES = 1_000_000
_MOST_CHARACTERS = 1 << 20
"""How much `yes` prints: as much as a command shows, since nothing that reads it ends it."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_FORMAT = re.compile(r"((?:[^%]|%%)*)(%[-+ 0#]*[0-9]*(?:\.[0-9]+)?[efgaEFGA])((?:[^%]|%%)*)")
_HELP = "Try 'seq --help' for more information.\n"


def seq(run: Invocation) -> None:
    # Negative numbers are no options.
    at = next((at for at, word in enumerate(run.arguments) if _NUMBER.fullmatch(word)), len(run.arguments))
    numbers, run.arguments = run.arguments[at:], run.arguments[:at]
    options, rest = run.options("s:wf:", ["separator=", "equal-width", "format="])
    words = [*rest, *numbers]
    if not words:
        raise Failed(f"seq: missing operand\n{_HELP}")
    if len(words) > 3:
        raise Failed(f"seq: extra operand '{words[3]}'\n{_HELP}")
    start, step, end = _range(words)
    if not step:
        raise Failed(f"seq: invalid Zero increment value: '{words[1]}'\n{_HELP}")
    length = int((end - start) / step) + 1 if (end - start) / step >= 0 else 0
    values = [start + step * number for number in range(min(length, _MOST_LINES))]
    if not values:
        return
    texts = _texts(words, values, options)
    run.out.append(options.get("s", options.get("separator", "\n")).join(texts) + "\n")


def _range(words: list[str]) -> tuple[Decimal, Decimal, Decimal]:
    for word in words:
        if not _NUMBER.fullmatch(word):
            raise Failed(f"seq: invalid floating point argument: '{word}'\n{_HELP}")
    try:
        values = [Decimal(word) for word in words]
    except InvalidOperation:
        raise Failed(f"seq: invalid floating point argument: '{words[0]}'\n{_HELP}") from None
    return (values[0] if len(values) > 1 else Decimal(1)), (values[1] if len(values) > 2 else Decimal(1)), values[-1]


def _texts(words: list[str], values: list[Decimal], options: Mapping[str, str]) -> list[str]:
    pattern = options.get("f", options.get("format"))
    if pattern is not None:
        match = _FORMAT.fullmatch(pattern)
        if match is None:
            raise Failed(f"seq: format '{pattern}' has no % directive\n")
        return [pattern % float(value) for value in values]
    places = max(len(word.partition(".")[2]) for word in words[:-1] or ["1"])
    texts = [f"{value:.{places}f}" for value in values]
    width = max(len(texts[0]), len(texts[-1])) if options.keys() & {"w", "equal-width"} else 0
    return [text.zfill(width) for text in texts]


def yes(run: Invocation) -> None:
    line = f"{' '.join(run.arguments) or 'y'}\n"
    run.out += repeat(line, _MOST_CHARACTERS // len(line))


BODIES: Mapping[str, Body] = {"seq": seq, "yes": yes}
