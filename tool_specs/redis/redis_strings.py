"""A simulated Redis database, of which the server shows the strings alone."""

import keys

from mcp_sim.programs import Rpc, initial, invalid_arguments, tool

tables = {"entry": {"key": "key", "natural": True,
                    "fields": {"key": "", "type": "string", "value": "", "expires": None}}}  # fmt: skip


@tool(verb="update", entity="entry", key="key")
def set(world, key, value, expireSeconds=None):  # noqa: A001 (the name of the tool)
    if expireSeconds and expireSeconds != int(expireSeconds):
        raise Rpc(-32603, "ERR value is not an integer or out of range")
    if expireSeconds and expireSeconds < 0:
        raise Rpc(-32603, "ERR invalid expire time in 'setex' command")
    keys.write(world, key, "string", value, expireSeconds)
    return f"Successfully set key: {key}"


@tool(verb="get", entity="entry", key="key")
def get(world, key):
    row = keys.live(world, key)
    if row is not None and row["type"] != "string":
        raise Rpc(-32603, keys.WRONG_TYPE)
    return f"Key not found: {key}" if row is None else row["value"]


@tool(verb="delete", entity="entry", key="key")
def delete(world, key):
    if not isinstance(key, str):
        if not key:
            raise Rpc(-32603, "ERR wrong number of arguments for 'del' command")
        for item in world.each(key):
            world.entry.delete(item)
        return f"Successfully deleted {len(key)} keys"
    world.entry.delete(key)
    return f"Successfully deleted key: {key}"


@tool(verb="list", entity="entry")
def list(world, pattern="*"):  # noqa: A001 (the name of the tool)
    matching = keys.matching(world, pattern)
    return "Found keys:\n" + "\n".join(matching) if matching else "No keys found matching pattern"


@invalid_arguments
def refuse(_world, _tool, _arguments, _problems):
    # The server fails while it words the problem, and sends what JavaScript says about that.
    raise Rpc(-32603, "Cannot read properties of undefined (reading 'map')")


@initial
def begin(given, world):
    """Fill the database with the keys of `world.state`; with a few of a shop's if there is none."""
    keys.fill(world, keys.STRINGS if given is None else given.get("keys", given))
