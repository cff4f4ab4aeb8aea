"""Operations that draw random numbers, ids, passwords and dice."""

from __future__ import annotations

import re

from mcp_sim.backends.compute.expression import finite
from mcp_sim.backends.compute.operation import NUMBER, TEXT, Arguments, ComputeContext, Operation, role
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.texts.editing import COUNT, text_operation
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import vocabulary

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _uuid(context: ComputeContext, place: int = 0) -> str:
    text = "".join(f"{int(context.draws.unit(f'uuid/{place}/{part}') * 2**32):08x}" for part in range(4))
    variant = "89ab"[int(text[16], 16) % 4]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def _uuids(arguments: Arguments, context: ComputeContext) -> Json:
    count = arguments.get("count")
    if count is None or count == 1:
        return _uuid(context)
    return [_uuid(context, place) for place in range(_bounded("count", count, 1000))]


def _bounded(name: str, value: Json, most: int) -> int:
    number = int(value)
    if not 1 <= number <= most:
        raise Refused("invalid", f"{name} must be between 1 and {most}, got {number}")
    return number


def _whole_number(arguments: Arguments, context: ComputeContext) -> Json:
    low, high = int(arguments.get("low", 0)), int(arguments.get("high", 100))
    if low > high:
        raise Refused("invalid", f"The minimum {low} must not be above the maximum {high}")
    count = arguments.get("count")
    drawn = [
        low + (int(context.draws.unit(f"number/{at}") * 2**53) * (high - low + 1) >> 53)
        for at in range(_bounded("count", count or 1, 1000))
    ]
    return drawn if count is not None else drawn[0]


def _fraction(arguments: Arguments, context: ComputeContext) -> Json:
    try:
        low, high = float(arguments.get("low", 0)), float(arguments.get("high", 1))
        return finite(low + context.draws.unit("number") * (high - low))
    except OverflowError:
        raise Refused("invalid", "The bounds are too large") from None


def _chosen(arguments: Arguments, context: ComputeContext) -> Json:
    if not arguments["options"]:
        raise Refused("invalid", "Cannot choose from an empty list")
    return context.draws.choice("choice", arguments["options"])


def _shuffled(arguments: Arguments, context: ComputeContext) -> Json:
    places = {at: context.draws.unit(f"place/{at}") for at in range(len(arguments["options"]))}
    return [arguments["options"][at] for at in sorted(places, key=lambda at: places[at])]


def _characters(arguments: Arguments, context: ComputeContext) -> Json:
    signs = _LETTERS + "0123456789" + ("!@#$%^&*" if arguments.get("symbols") else "")
    length = _bounded("length", arguments.get("length") or 16, 4096)
    return "".join(context.draws.choice(f"sign/{at}", signs) for at in range(length))


def _dice(arguments: Arguments, context: ComputeContext) -> Json:
    notation = str(arguments.get("notation", "")).replace(" ", "").lower()
    written = re.fullmatch(r"(\d{0,9})d(\d{1,9})([+-]\d{1,9})?", notation)
    if "notation" in arguments and written is None:
        raise Refused("invalid", f"Invalid dice notation {arguments['notation']!r}: expected a form such as 2d6+1")
    count = int(written[1] or 1) if written else int(arguments.get("count") or 1)
    sides = int(written[2]) if written else int(arguments.get("sides") or 6)
    rolls = [
        1 + int(context.draws.unit(f"die/{at}") * _bounded("sides", sides, 10_000))
        for at in range(_bounded("count", count, 1000))
    ]
    return {"rolls": rolls, "total": sum(rolls) + (int(written[3] or 0) if written else 0)}


_LOW = role("low", NUMBER, "min, minimum, start, from, min_value, lower, lower_bound", optional=True)
_HIGH = role("high", NUMBER, "max, maximum, end, to, max_value, upper, upper_bound", optional=True)


OPERATIONS: tuple[Operation, ...] = (
    text_operation(
        "uuid",
        (
            "generate_uuid, uuid, create_uuid, new_uuid, get_uuid, uuid4, random_uuid, "
            "generate_uuids, generate_guid, generate_unique_id"
        ),
        (COUNT, role("version", frozenset({"string", "integer", "number"}), optional=True)),
        _uuids,
        "uuid",
        "uuids",
        "id",
    ),
    text_operation(
        "random_number",
        (
            "random_number, generate_random_number, random_int, random_integer, get_random_number, "
            "randint, random, generate_random, generate_random_integer, random_number_generator, "
            "generate_number"
        ),
        (_LOW, _HIGH, COUNT),
        _whole_number,
        "number",
        "random_number",
    ),
    text_operation(
        "random_fraction", "random_float, generate_random_float, random_decimal", (_LOW, _HIGH), _fraction, "number"
    ),
    text_operation(
        "random_choice",
        "random_choice, choose_random, pick_random, random_pick, choose, select_random",
        (role("options", frozenset({"array"}), "choices, items, list, values"),),
        _chosen,
        "choice",
    ),
    text_operation(
        "shuffle",
        "shuffle, shuffle_list, random_shuffle, shuffle_items, random_order",
        (role("options", frozenset({"array"}), "items, list, values, choices"),),
        _shuffled,
        "shuffled",
        "items",
    ),
    text_operation(
        "random_text",
        (
            "random_string, generate_random_string, generate_password, random_password, "
            "password_generator, create_password"
        ),
        (
            role("length", NUMBER, "size, len", optional=True),
            role(
                "symbols",
                frozenset({"boolean"}),
                "include_symbols, special_characters, use_symbols, include_special",
                optional=True,
            ),
        ),
        _characters,
        "password",
        "string",
    ),
    text_operation(
        "coin",
        "flip_coin, coin_flip, toss_coin",
        (),
        lambda _g, context: context.draws.choice("coin", ("heads", "tails")),
        "side",
    ),
    text_operation(
        "dice",
        "roll_dice, dice_roll, roll_die, roll, roll_a_dice",
        (
            role("notation", TEXT, "dice, dice_notation, expression", optional=True),
            role("sides", NUMBER, "num_sides, faces", optional=True),
            COUNT,
        ),
        _dice,
        "total",
        hints=vocabulary("dice die roll rolls"),
    ),
)
