"""Functions that draw random numbers, ids, passwords and dice from the draws of a call."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.draws import Draws

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DICE = re.compile(r"(\d{0,9})d(\d{1,9})([+-]\d{1,9})?")


def uuid(count: float | None = None, version: Json = None, *, draws: Draws) -> Json:  # noqa: ARG001 (always version 4)
    """Return a random UUID, or a list of several. Raises `Refused` for more than 1000."""
    digits: list[str] = []
    for place in range(_bounded("count", count or 1, 1000)):
        text = "".join(f"{int(draws.unit(f'uuid/{place}/{index}') * 2**32):08x}" for index in range(4))
        variant = "89ab"[int(text[16], 16) % 4]
        digits.append(f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}")
    return digits if len(digits) > 1 else digits[0]


def random_number(
    low: float | None = None, high: float | None = None, count: float | None = None, *, draws: Draws
) -> Json:
    """Return a whole number between two bounds, 0 and 100 by default, or a list of `count` such numbers."""
    least, most = int(low or 0), int(100 if high is None else high)
    if least > most:
        raise Refused("invalid", f"The minimum {least} must not be above the maximum {most}")
    drawn = [draws.unit(f"number/{at}") for at in range(_bounded("count", count or 1, 1000))]
    numbers = [least + (int(number * 2**53) * (most - least + 1) >> 53) for number in drawn]
    return numbers if count is not None else numbers[0]


def random_fraction(low: float | None = None, high: float | None = None, *, draws: Draws) -> float:
    """Return a number between two bounds, 0 and 1 by default."""
    least, most = float(low or 0), float(1 if high is None else high)
    return least + draws.unit("number") * (most - least)


def random_choice(options: Sequence[Json], *, draws: Draws) -> Json:
    """Return one of several options. Raises `Refused` if the list is empty."""
    if not options:
        raise Refused("invalid", "Cannot choose from an empty list")
    return draws.choice("choice", options)


def shuffle(options: Sequence[Json], *, draws: Draws) -> list[Json]:
    """Return options in a random order."""
    places = {at: draws.unit(f"place/{at}") for at in range(len(options))}
    return [options[at] for at in sorted(places, key=lambda at: places[at])]


def random_string(length: float | None = None, symbols: bool | None = None, *, draws: Draws) -> str:
    """Return random letters and digits, 16 by default, and symbols if wanted. Raises `Refused` for more than 4096."""
    signs = _LETTERS + "0123456789" + ("!@#$%^&*" if symbols else "")
    return "".join(draws.choice(f"sign/{at}", signs) for at in range(_bounded("length", length or 16, 4096)))


def flip_coin(*, draws: Draws) -> str:
    """Return heads or tails."""
    return draws.choice("coin", ("heads", "tails"))


def roll_dice(
    notation: str | None = None, sides: float | None = None, count: float | None = None, *, draws: Draws
) -> Json:
    """Roll dice by a notation such as `2d6+1`, or by sides and a number. Raises `Refused` if one of them is invalid."""
    written = _DICE.fullmatch((notation or "").replace(" ", "").lower())
    if notation is not None and written is None:
        raise Refused("invalid", f"Invalid dice notation {notation!r}: expected a form such as 2d6+1")
    number, faces = (written[1] or 1, written[2]) if written else (count or 1, sides or 6)
    most = _bounded("sides", int(faces), 10_000)
    rolls = [1 + int(draws.unit(f"die/{at}") * most) for at in range(_bounded("count", int(number), 1000))]
    return {"rolls": rolls, "total": sum(rolls) + (int(written[3] or 0) if written else 0)}


def _bounded(name: str, value: float, most: int) -> int:
    number = int(value)
    if not 1 <= number <= most:
        raise Refused("invalid", f"{name} must be between 1 and {most}, got {number}")
    return number
