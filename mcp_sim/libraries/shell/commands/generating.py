"""Commands that generate what they print: sequences (seq, yes), and random values (shuf, mktemp, uuidgen)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from itertools import islice, repeat
from string import ascii_letters, digits
from typing import TypeAlias
from uuid import UUID

from mcp_sim.libraries.shell.commands.invocation import Body, Failed, Invocation, is_number

_MOST = 100_000  # lines, as many as other commands of the interpreter print


def shuf(run: Invocation) -> None:
    options, rest = run.options("n:i:er", "head-count:n input-range:i echo:e repeat:r")
    span = options.get("i")
    if span is not None:
        low, _, high = span.partition("-")
        if not (is_number(low) and is_number(high)):
            raise Failed(f"shuf: invalid input range: '{span}'\n")
        lines = [str(number) for number in range(int(low), min(int(high), int(low) + _MOST) + 1)]
    elif "e" in options:
        lines = rest
    else:
        lines = run.text(rest[0] if rest else "-").splitlines()
    count = options.get("n")
    if count is not None and not is_number(count):
        raise Failed(f"shuf: invalid line count: '{count}'\n")
    if "r" in options:
        lines = [run.chance.choice(lines) for _ in range(min(int(count or 0), _MOST))] if lines else []
    else:
        run.chance.shuffle(lines)
    run.out += [f"{line}\n" for line in lines[: None if count is None else int(count)]]


def mktemp(run: Invocation) -> None:
    options, rest = run.options("dqtup:", "directory:d tmpdir:p suffix= dry-run:u")
    template = rest[0] if rest else "tmp.XXXXXXXXXX"
    stem = template.rstrip("X")
    if len(template) - len(stem) < 3:
        raise Failed(f"mktemp: too few X's in template '{template}'\n")
    usual = "/tmp" if not rest or "t" in options else ""  # noqa: S108 (a folder of the simulated files, not of the host)
    folder = options.get("p", usual)
    name = stem + "".join(run.chance.choices(ascii_letters + digits, k=len(template) - len(stem)))
    path = f"{folder.rstrip('/')}/{name}" if folder else name
    path += options.get("suffix", "")
    if run.look(path.rpartition("/")[0] or ".") is None:
        raise Failed(f"mktemp: failed to create file via template '{template}': No such file or directory\n")
    if "d" in options:
        run.fs.mkdir(run.place(path))
        run.fs.chmod(run.place(path), 0o700)
    elif "u" not in options:
        run.fs.write_file(run.place(path), b"")
        run.fs.chmod(run.place(path), 0o600)
    run.out.append(f"{path}\n")


def uuidgen(run: Invocation) -> None:
    run.out.append(f"{UUID(int=run.chance.getrandbits(128), version=4)}\n")


_MOST_LINES = 1_000_000
_AT_ONCE = 10_000
"""Lines that are joined at once: a million texts at once take ten times the memory of what is printed."""
_MOST_CHARACTERS = 1 << 20
"""How much `yes` prints: as much as a command shows, since nothing that reads it ends it."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_FORMAT = re.compile(r"((?:[^%]|%%)*)(%[-+ 0#]*[0-9]*(?:\.[0-9]+)?[efgaEFGA])((?:[^%]|%%)*)")
_Number: TypeAlias = Decimal | int
_HELP = "Try 'seq --help' for more information.\n"


def seq(run: Invocation) -> None:
    # Negative numbers begin like options.
    at = next((at for at, word in enumerate(run.arguments) if _NUMBER.fullmatch(word)), len(run.arguments))
    numbers, run.arguments = run.arguments[at:], run.arguments[:at]
    options, rest = run.options("s:wf:", "separator:s equal-width:w format:f")
    words = [*rest, *numbers]
    if not words:
        raise Failed(f"seq: missing operand\n{_HELP}")
    if len(words) > 3:
        raise Failed(f"seq: extra operand '{words[3]}'\n{_HELP}")
    start, step, end = _range(words)
    if not step:
        raise Failed(f"seq: invalid Zero increment value: '{words[1]}'\n{_HELP}")
    length = min(int((end - start) / step) + 1, _MOST_LINES) if (end - start) / step >= 0 else 0
    if not length:
        return
    if all(is_number(word.lstrip("+-")) for word in words):
        start, step = int(start), int(step)  # a million of them take a fifth of the time of decimals
    show = _format(words, (start, start + step * (length - 1)), options)
    separator = options.get("s", "\n")
    texts = (show(start + step * number) for number in range(length))
    batches = iter(lambda: separator.join(islice(texts, _AT_ONCE)), "")
    run.out += [separator.join(batches), "\n"]


def _range(words: list[str]) -> tuple[Decimal, Decimal, Decimal]:
    for word in words:
        if not _NUMBER.fullmatch(word):
            raise Failed(f"seq: invalid floating point argument: '{word}'\n{_HELP}")
    try:
        values = [Decimal(word) for word in words]
    except InvalidOperation:
        raise Failed(f"seq: invalid floating point argument: '{words[0]}'\n{_HELP}") from None
    return (values[0] if len(values) > 1 else Decimal(1)), (values[1] if len(values) > 2 else Decimal(1)), values[-1]


def _format(words: list[str], ends: tuple[_Number, _Number], options: Mapping[str, str]) -> Callable[[_Number], str]:
    """Return what shows a number of a sequence with these ends."""
    pattern = options.get("f")
    if pattern is not None:
        match = _FORMAT.fullmatch(pattern)
        if match is None:
            raise Failed(f"seq: format '{pattern}' has no % directive\n")
        return lambda value: pattern % float(value)
    places = max(len(word.partition(".")[2]) for word in words[:-1] or ["1"])
    show: Callable[[_Number], str] = str if isinstance(ends[0], int) else lambda value: f"{value:.{places}f}"
    if "w" not in options:
        return show
    width = max(len(show(value)) for value in ends)
    return lambda value: show(value).zfill(width)


def yes(run: Invocation) -> None:
    line = f"{' '.join(run.arguments) or 'y'}\n"
    run.out += repeat(line, _MOST_CHARACTERS // len(line))


BODIES: Mapping[str, Body] = {"seq": seq, "yes": yes, "shuf": shuf, "mktemp": mktemp, "uuidgen": uuidgen}
