"""A simulated log of an agent's thoughts, with branches."""

from math import isfinite

from mcp_sim.programs import initial, records, tool
from mcp_sim.programs.helpers import javascript_type, shown, zod_refused

tables = {
    "thought": {
        "ids": 1,
        "fields": {"thought": "", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": True,
                   "isRevision": False, "revisesThought": None, "branchFromThought": None, "branchId": None,
                   "needsMoreThoughts": None},
    },
}  # fmt: skip

NUMBERS = ("thoughtNumber", "totalThoughts", "revisesThought", "branchFromThought")
FLAGS = ("nextThoughtNeeded", "isRevision", "needsMoreThoughts")
REQUIRED = ("thought", "nextThoughtNeeded", "thoughtNumber", "totalThoughts")
WRONG_NUMBER = "Invalid input: expected number, received NaN"


def number(value):
    """Convert a value as JavaScript does, and return it with what is wrong with it."""
    try:
        converted = float(value or 0) if isinstance(value, str | int | float) or value is None else None
    except (ValueError, OverflowError):
        converted = None
    if converted is None or not isfinite(converted):
        return value, WRONG_NUMBER
    if converted != int(converted):
        return value, "Invalid input: expected int, received number"
    return int(converted), "" if converted >= 1 else "Too small: expected number to be >=1"


def flag(value):
    if isinstance(value, bool):
        return value, ""
    if not isinstance(value, str):
        return value, "Invalid input"
    wrong = f'Expected boolean or "true"/"false" string, received "{value}"'
    return value.lower() == "true", "" if value.lower() in {"true", "false"} else wrong


def text(value):
    wrong = f"Invalid input: expected string, received {javascript_type(value)}"
    return value, "" if isinstance(value, str) else wrong


def checked(arguments):
    """Return the arguments as the server reads them. Raises `Refused` in the words of zod."""
    values, wrong = {}, []
    missing = {"thought": "Invalid input: expected string, received undefined", "nextThoughtNeeded": "Invalid input"}
    for name in ("thought", *FLAGS[:1], *NUMBERS[:2], "isRevision", *NUMBERS[2:], "branchId", "needsMoreThoughts"):
        if name not in arguments:
            problem = missing.get(name, WRONG_NUMBER) if name in REQUIRED else ""
        else:
            convert = number if name in NUMBERS else flag if name in FLAGS else text
            values[name], problem = convert(arguments[name])
        if problem:
            wrong.append(f"{problem} at {name}")
    if wrong:
        raise zod_refused("sequentialthinking", wrong)
    return values


@tool(verb="create", entity="thought", validate=False)
def sequentialthinking(world, **arguments):
    thought = checked(arguments)
    thought["totalThoughts"] = max(thought["totalThoughts"], thought["thoughtNumber"])
    world.thought.add(thought)
    branches = [row["branchId"] for row in world.thought if row["branchFromThought"] and row["branchId"]]
    return shown({
        **{name: thought[name] for name in ("thoughtNumber", "totalThoughts", "nextThoughtNeeded")},
        "branches": [*dict.fromkeys(branches)],
        "thoughtHistoryLength": len(world.thought),
    })  # fmt: skip


@initial
def begin(given, world):
    """Continue with the thoughts of `world.state`."""
    for row in records(given, "thoughts"):
        world.thought.add(row)
