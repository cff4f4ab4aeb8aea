"""A simulated Redis database: strings, hashes, lists, sets, sorted sets, streams, JSON, vectors and channels.

The server reports nearly all failures as plain results.
"""

import json
import re

import documents
import keys
import streams
import vectors

from mcp_sim.programs import Refused, initial, invalid_arguments, tool
from mcp_sim.programs.helpers import indented, pydantic_line, pydantic_refusal, pydantic_refused

tables = {
    "entry": {"key": "key", "natural": True,
              "fields": {"key": "", "type": "string", "value": {"type": ["string", "array", "object"]},
                         "expires": None}},
    "index": {"key": "name", "natural": True,
              "fields": {"name": "", "prefix": "", "vector_field": "vector", "dim": 1536, "distance_metric": "COSINE"}},
    "subscription": {"fields": {"id": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
                                "mode": "channel", "targets": [], "messages": []}},
}  # fmt: skip

LARGEST = 1.7e308
SCALARS = {"str": ("a valid string", "string_type"), "int": ("a valid integer", "int_type"),
           "float": ("a valid number", "float_type")}  # fmt: skip
FIELDS = {
    "bytes": ("a valid bytes", "bytes_type"),
    "is-instance[bytearray]": ("an instance of bytearray", "is_instance_of"),
    "is-instance[memoryview]": ("an instance of memoryview", "is_instance_of"),
    **SCALARS,
}
"""What pydantic calls the members of a union of types -> its message, and the name of that."""


def opened(world, key, kind, doing, empty=None):
    """Return the row of a key, or None. With `empty`, a missing key gets that value. A text is the failure."""
    row = keys.live(world, key)
    if row is not None and row["type"] != kind:
        return f"Error {doing}: {keys.WRONG_TYPE}"
    if row is None and empty is not None:
        return keys.write(world, key, kind, empty)
    return row


def expire_after(world, row, seconds):
    if seconds is not None and seconds <= 0:
        world.entry.delete(row)
    elif seconds is not None:
        row["expires"] = keys.later(world, seconds)


def drop_if_empty(world, row):
    if not row["value"]:
        world.entry.delete(row)


def scalar(tool_name, argument, value, kinds):
    """Return a value as text. A text that is a JSON object or list was parsed before it was checked, and is refused."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except ValueError:
            return value
        if parsed is None or isinstance(parsed, dict | list):
            problems = [
                pydantic_line(f"{argument}.{name}", f"Input should be {words}", kind, parsed)
                for name, (words, kind) in kinds.items()
            ]
            raise pydantic_refused(tool_name, problems)
    return keys.plain(value)


def part(values, start, stop):
    """Return the values between two positions, both included; negative ones count from the end."""
    first = max(start + len(values) if start < 0 else start, 0)
    return values[first : (stop + len(values) if stop < 0 else stop) + 1]


def after(seconds, words):
    return words.format(seconds) if seconds else ""


# strings --------------------------------------------------------------------------------------------------------------


@tool(verb="update", entity="entry", key="key")
def set(world, key, value, expiration=None):  # noqa: A001 (the name of the tool)
    if expiration and expiration < 0:
        return f"Error setting key {key}: invalid expire time in 'setex' command"
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        value = parsed if isinstance(parsed, dict) else value
    keys.write(world, key, "string", keys.plain(value), expiration)
    return f"Successfully set {key}{after(expiration, ' with expiration {} seconds')}"


@tool(verb="get", entity="entry", key="key")
def get(world, key):
    row = opened(world, key, "string", f"retrieving key {key}")
    if isinstance(row, str):
        return row
    return f"Key {key} does not exist" if row is None else row["value"]


# hashes ---------------------------------------------------------------------------------------------------------------


@tool(verb="update", entity="entry", key="name")
def hset(world, name, key, value, expire_seconds=None):
    text = scalar("hset", "value", value, SCALARS)
    row = opened(world, name, "hash", f"setting field '{key}' in hash '{name}'", {})
    if isinstance(row, str):
        return row
    row["value"][key] = text
    expire_after(world, row, expire_seconds)
    return f"Field '{key}' set successfully in hash '{name}'.{after(expire_seconds, ' Expires in {} seconds.')}"


@tool(verb="get", entity="entry", key="name")
def hget(world, name, key):
    row = opened(world, name, "hash", f"getting field '{key}' from hash '{name}'")
    if isinstance(row, str):
        return row
    value = row and vectors.decoded("hget", row["value"].get(key))
    return value or f"Field '{key}' not found in hash '{name}'."


@tool(verb="update", entity="entry", key="name")
def hdel(world, name, key):
    row = opened(world, name, "hash", f"deleting field '{key}' from hash '{name}'")
    if isinstance(row, str):
        return row
    if row is None or key not in row["value"]:
        return f"Field '{key}' not found in hash '{name}'."
    del row["value"][key]
    drop_if_empty(world, row)
    return f"Field '{key}' deleted from hash '{name}'."


@tool(verb="get", entity="entry", key="name")
def hgetall(world, name):
    row = opened(world, name, "hash", f"getting all fields from hash '{name}'")
    if isinstance(row, str):
        return row
    if row is None:
        return f"Hash '{name}' is empty or does not exist."
    return {field: vectors.decoded("hgetall", value) for field, value in row["value"].items()}


@tool(verb="get", entity="entry", key="name", conforms=False)
def hexists(world, name, key):
    row = opened(world, name, "hash", f"checking existence of field '{key}' in hash '{name}'")
    if isinstance(row, str):
        return invalid_output("hexists", row, ("a valid boolean, unable to interpret input", "bool_parsing"))
    return row is not None and key in row["value"]


def invalid_output(tool_name, value, problem):
    """Refuse a result that is not of the declared type: the server validates its own results."""
    line = pydantic_line("result", f"Input should be {problem[0]}", problem[1], value)
    raise Refused(f"Error executing tool {tool_name}: 1 validation error for {tool_name}Output\n{line}")


# lists ----------------------------------------------------------------------------------------------------------------


def pushed(world, tool_name, name, value, expire, side):
    text = scalar(tool_name, "value", value, FIELDS)
    row = opened(world, name, "list", f"pushing value to list '{name}'", [])
    if isinstance(row, str):
        return row
    row["value"].insert(0 if side == "left" else len(row["value"]), text)
    if expire:
        expire_after(world, row, expire)
    return f"Value '{value}' pushed to the {side} of list '{name}'."


def popped(world, name, at):
    row = opened(world, name, "list", f"popping value from list '{name}'")
    if isinstance(row, str):
        return row
    value = row and row["value"].pop(at)
    if row is not None:
        drop_if_empty(world, row)
    return value or f"List '{name}' is empty or does not exist."


@tool(verb="update", entity="entry", key="name")
def lpush(world, name, value, expire=None):
    return pushed(world, "lpush", name, value, expire, "left")


@tool(verb="update", entity="entry", key="name")
def rpush(world, name, value, expire=None):
    return pushed(world, "rpush", name, value, expire, "right")


@tool(verb="update", entity="entry", key="name")
def lpop(world, name):
    return popped(world, name, 0)


@tool(verb="update", entity="entry", key="name")
def rpop(world, name):
    return popped(world, name, -1)


@tool(verb="get", entity="entry", key="name")
def lrange(world, name, start, stop):
    row = opened(world, name, "list", f"retrieving values from list '{name}'")
    if isinstance(row, str):
        return row
    values = part(row["value"], start, stop) if row is not None else []
    return json.dumps(values) if values else f"List '{name}' is empty or does not exist."


@tool(verb="get", entity="entry", key="name", conforms=False)
def llen(world, name):
    row = opened(world, name, "list", f"retrieving length of list '{name}'")
    if isinstance(row, str):
        problem = "a valid integer, unable to parse string as an integer", "int_parsing"
        return invalid_output("llen", row, problem)
    return 0 if row is None else len(row["value"])


@tool(verb="update", entity="entry", key="name")
def lrem(world, name, count, element):
    text = scalar("lrem", "element", element, FIELDS)
    row = opened(world, name, "list", f"removing element from list '{name}'")
    if isinstance(row, str):
        return row
    values = [] if row is None else row["value"]
    places = [at for at, value in enumerate(values) if value == text]
    places = places[:count] if count > 0 else places[count:]
    if not places:
        return f"Element '{element}' not found in list '{name}' or list does not exist."
    row["value"] = [value for at, value in enumerate(values) if at not in places]
    drop_if_empty(world, row)
    return f"Removed {len(places)} occurrence(s) of '{element}' from list '{name}'."


# sets -----------------------------------------------------------------------------------------------------------------


@tool(verb="update", entity="entry", key="name")
def sadd(world, name, value, expire_seconds=None):
    row = opened(world, name, "set", f"adding value '{value}' to set '{name}'", [])
    if isinstance(row, str):
        return row
    row["value"] = [*dict.fromkeys([*row["value"], value])]
    expire_after(world, row, expire_seconds)
    return f"Value '{value}' added successfully to set '{name}'.{after(expire_seconds, ' Expires in {} seconds.')}"


@tool(verb="update", entity="entry", key="name")
def srem(world, name, value):
    row = opened(world, name, "set", f"removing value '{value}' from set '{name}'")
    if isinstance(row, str):
        return row
    if row is None or value not in row["value"]:
        return f"Value '{value}' not found in set '{name}'."
    row["value"].remove(value)
    drop_if_empty(world, row)
    return f"Value '{value}' removed from set '{name}'."


@tool(verb="get", entity="entry", key="name")
def smembers(world, name):
    row = opened(world, name, "set", f"retrieving members of set '{name}'")
    if isinstance(row, str):
        return row
    return f"Set '{name}' is empty or does not exist." if row is None else row["value"]


@tool(verb="update", entity="entry", key="key")
def zadd(world, key, score, member, expiration=None):
    row = opened(world, key, "zset", f"adding to sorted set {key}", {})
    if isinstance(row, str):
        return row
    row["value"][member] = number = float(max(min(score, LARGEST), -LARGEST))
    if expiration:
        expire_after(world, row, expiration)
    ends = after(expiration, " and expiration {} seconds")
    return f"Successfully added {member} to {key} with score {number}{ends}"


@tool(verb="get", entity="entry", key="key")
def zrange(world, key, start, end, with_scores=False):
    row = opened(world, key, "zset", f"retrieving sorted set {key}")
    if isinstance(row, str):
        return row
    scores = {} if row is None else row["value"]
    members = part(sorted(scores, key=lambda member: (scores[member], member)), start, end)
    shown = [(member, scores[member]) for member in members] if with_scores else members
    return str(shown) if shown else f"Sorted set {key} is empty or does not exist"


@tool(verb="update", entity="entry", key="key")
def zrem(world, key, member):
    row = opened(world, key, "zset", f"removing from sorted set {key}")
    if isinstance(row, str):
        return row
    if row is None or member not in row["value"]:
        return f"Member {member} not found in {key}"
    del row["value"][member]
    drop_if_empty(world, row)
    return f"Successfully removed {member} from {key}"


# streams --------------------------------------------------------------------------------------------------------------


@tool(verb="update", entity="entry", key="key")
def xadd(world, key, fields, expiration=None):
    if not fields:
        raise Refused("Error executing tool xadd: XADD fields must be a non-empty dict")
    row = opened(world, key, "stream", f"adding to stream {key}", streams.EMPTY)
    if isinstance(row, str):
        return row
    new = streams.add(row["value"], world.now, fields)
    if expiration:
        expire_after(world, row, expiration)
    return f"Successfully added entry {new} to {key}{after(expiration, ' with expiration {} seconds')}"


@tool(verb="get", entity="entry", key="key")
def xrange(world, key, count=1):
    row = opened(world, key, "stream", f"reading from stream {key}")
    if isinstance(row, str):
        return row
    entries = streams.shown(row["value"]["entries"][:count]) if row is not None else []
    return str(entries) if entries else f"Stream {key} is empty or does not exist"


@tool(verb="update", entity="entry", key="key")
def xdel(world, key, entry_id):
    row = opened(world, key, "stream", f"deleting from stream {key}")
    if isinstance(row, str):
        return row
    wanted = streams.parsed(entry_id)
    if row is not None and wanted is None:
        return f"Error deleting from stream {key}: {streams.INVALID_ID}"
    left = [] if row is None else [entry for entry in row["value"]["entries"] if streams.parsed(entry[0]) != wanted]
    if row is None or len(left) == len(row["value"]["entries"]):
        return f"Entry {entry_id} not found in {key}"
    row["value"]["entries"] = left
    return f"Successfully deleted entry {entry_id} from {key}"


@tool(verb="update", entity="entry", key="key")
def xgroup_create(world, key, group_name, start_id="$", mkstream=True):
    doing = f"creating consumer group '{group_name}' on stream '{key}'"
    row = opened(world, key, "stream", doing, streams.EMPTY if mkstream else None)
    if isinstance(row, str):
        return row
    if row is None:
        return f"Error {doing}: {streams.NO_KEY}"
    stream = row["value"]
    if group_name in stream["groups"]:
        return f"Error {doing}: BUSYGROUP Consumer Group name already exists"
    last = stream["last"] if start_id == "$" else start_id
    if streams.parsed(last) is None:
        return f"Error {doing}: {streams.INVALID_ID}"
    stream["groups"][group_name] = {"last": last, "pending": {}}
    return f"Successfully created consumer group '{group_name}' on stream '{key}'"


@tool(verb="update", entity="entry", key="key")
def xgroup_destroy(world, key, group_name):
    doing = f"destroying consumer group '{group_name}' on stream '{key}'"
    row = opened(world, key, "stream", doing)
    if isinstance(row, str):
        return row
    if row is None:
        return f"Error {doing}: {streams.NO_KEY}"
    if row["value"]["groups"].pop(group_name, None) is None:
        return f"Consumer group '{group_name}' not found on stream '{key}'"
    return f"Successfully destroyed consumer group '{group_name}' on stream '{key}'"


@tool(verb="update", entity="entry", key="key")
def xreadgroup(world, key, group_name, consumer_name, count=1, block_ms=None, stream_id=">"):
    if count < 1:
        return "count must be greater than 0"
    if block_ms == 0:
        return "block_ms=0 is not allowed; use None for a non-blocking read or a positive timeout in milliseconds"
    if block_ms is not None and block_ms < 0:
        return "block_ms must be greater than 0 milliseconds when provided"
    if block_ms is not None and block_ms > 5000:
        return "block_ms must be less than or equal to 5000 milliseconds"
    doing = f"reading from stream {key} with consumer group '{group_name}'"
    row = opened(world, key, "stream", doing)
    if isinstance(row, str):
        return row
    if row is None or group_name not in row["value"]["groups"]:
        missing = f"NOGROUP No such key '{key}' or consumer group '{group_name}' in XREADGROUP with GROUP option"
        return f"Error {doing}: {missing}"
    if stream_id != ">" and streams.parsed(stream_id) is None:
        return f"Error {doing}: {streams.INVALID_ID}"
    entries = streams.read(row["value"], group_name, consumer_name, count, stream_id)
    if not entries and stream_id == ">":
        return f"No entries available for consumer '{consumer_name}' in group '{group_name}' on stream '{key}'"
    return str([[key, streams.shown(entries)]])


@tool(verb="update", entity="entry", key="key")
def xack(world, key, group_name, entry_ids):
    if not entry_ids:
        return "At least one entry ID is required to acknowledge stream entries"
    doing = f"acknowledging entries for consumer group '{group_name}' on stream '{key}'"
    row = opened(world, key, "stream", doing)
    if isinstance(row, str):
        return row
    count = 0
    if row is not None and group_name in row["value"]["groups"]:
        if any(streams.parsed(entry_id) is None for entry_id in entry_ids):
            return f"Error {doing}: {streams.INVALID_ID}"
        pending = row["value"]["groups"][group_name]["pending"]
        count = sum(pending.pop(entry_id, None) is not None for entry_id in entry_ids)
    entries = "entry" if count == 1 else "entries"
    return f"Successfully acknowledged {count} {entries} in group '{group_name}' on stream '{key}'"


# JSON -----------------------------------------------------------------------------------------------------------------


@tool(verb="update", entity="entry", key="name")
def json_set(world, name, path, value, expire_seconds=None):
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = value
    doing = f"setting JSON value at path '{path}' in '{name}'"
    row = opened(world, name, documents.TYPE, doing)
    if isinstance(row, str):
        return row
    if documents.is_root(path):
        row = keys.write(world, name, documents.TYPE, {"root": parsed})
    elif row is None:
        return f"Error {doing}: new objects must be created at the root"
    else:
        documents.put(row["value"], path, parsed)
    expire_after(world, row, expire_seconds)
    return f"JSON value set at path '{path}' in '{name}'.{after(expire_seconds, ' Expires in {} seconds.')}"


@tool(verb="get", entity="entry", key="name")
def json_get(world, name, path="$"):
    row = opened(world, name, documents.TYPE, f"retrieving JSON value at path '{path}' in '{name}'")
    if isinstance(row, str):
        return row
    values = None if row is None else documents.get(row["value"], path)
    return f"No data found at path '{path}' in '{name}'." if values is None else indented(values)


@tool(verb="update", entity="entry", key="name")
def json_del(world, name, path="$"):
    row = opened(world, name, documents.TYPE, f"deleting JSON value at path '{path}' in '{name}'")
    if isinstance(row, str):
        return row
    count = 0
    if row is not None and documents.is_root(path):
        count = world.entry.delete(row)
    elif row is not None:
        count = documents.drop(row["value"], path)
    return (
        f"Deleted JSON value at path '{path}' in '{name}'."
        if count
        else f"No JSON value found at path '{path}' in '{name}'."
    )


# keys -----------------------------------------------------------------------------------------------------------------


@tool(verb="delete", entity="entry", key="key")
def delete(world, key):
    is_there = keys.live(world, key) is not None
    world.entry.delete(key)
    return f"Successfully deleted {key}" if is_there else f"Key {key} not found"


@tool(verb="get", entity="entry", key="key")
def type(world, key):  # noqa: A001 (the name of the tool)
    row = keys.live(world, key)
    return {"key": key, "type": "none" if row is None else row["type"], "ttl": keys.seconds_left(world, row)}


@tool(verb="update", entity="entry", key="name")
def expire(world, name, expire_seconds):
    row = keys.live(world, name)
    if row is None:
        return f"Key '{name}' does not exist."
    expire_after(world, row, expire_seconds)
    return f"Expiration set to {expire_seconds} seconds for '{name}'."


@tool(verb="update", entity="entry", key="old_key")
def rename(world, old_key, new_key):
    row = keys.live(world, old_key)
    if row is None:
        return {"error": f"Key '{old_key}' does not exist."}
    if new_key != old_key:
        world.entry.delete(new_key)
        row["key"] = new_key
    return {"status": "success", "message": f"Renamed key '{old_key}' to '{new_key}'"}


@tool(verb="list", entity="entry")
def scan_keys(world, pattern="*", count=100, cursor=0):
    scanned, matching = keys.matching(world, "*"), keys.matching(world, pattern)
    page = [key for key in scanned[cursor : cursor + count] if key in matching]
    following = cursor + count if cursor + count < len(scanned) else 0
    return {"cursor": following, "keys": page, "total_scanned": len(page), "scan_complete": following == 0}


@tool(verb="list", entity="entry")
def scan_all_keys(world, pattern="*"):
    return keys.matching(world, pattern)


@tool(verb="list", entity="entry")
def dbsize(world):
    return len(keys.matching(world, "*"))


@tool(reads=True, verb="get")
def info(world, section="default"):
    sections = keys.sections(world)
    chosen = sections.values() if section in {"default", "all", "everything"} else [sections.get(section.lower(), {})]
    return {name: value for figures in chosen for name, value in figures.items()}


@tool(reads=True, verb="list")
def client_list(_world):
    return [{"id": "7", "addr": "172.18.0.5:53122", "laddr": "172.18.0.2:6379", "name": "redis-mcp-server", "db": "0",
             "age": "42", "idle": "0", "flags": "N", "cmd": "client|list", "user": "default", "resp": "2"}]  # fmt: skip


# vectors --------------------------------------------------------------------------------------------------------------


@tool(verb="update", entity="entry", key="name")
def set_vector_in_hash(world, name, vector, vector_field="vector"):
    row = opened(world, name, "hash", f"storing vector in hash '{name}' with field '{vector_field}'", {})
    if isinstance(row, str):
        return row
    row["value"][vector_field] = vectors.vector_of(vector)
    return True


@tool(verb="get", entity="entry", key="name")
def get_vector_from_hash(world, name, vector_field="vector"):
    me = "get_vector_from_hash"
    row = opened(world, name, "hash", f"retrieving vector field '{vector_field}' from hash '{name}'")
    if isinstance(row, str):
        return row
    if row is None or vector_field not in row["value"]:
        return f"Field '{vector_field}' not found in hash '{name}'."
    vectors.decoded(me, row["value"][vector_field])  # the server's connection converts everything to text first
    raise Refused(f"Error executing tool {me}: a bytes-like object is required, not 'str'")


@tool(verb="list", entity="index")
def get_indexes(world):
    return json.dumps([row["name"] for row in world.index])


@tool(verb="create", entity="index", key="index_name")
def create_vector_index_hash(
    world, index_name="vector_index", prefix="doc:", vector_field="vector", dim=1536, distance_metric="COSINE"
):
    if index_name in world.index:
        return f"Error creating index '{index_name}': Index already exists"
    values = {"name": index_name, "prefix": prefix, "vector_field": vector_field}
    world.index.add(values, dim=dim, distance_metric=distance_metric)
    return f"Index '{index_name}' created successfully."


@tool(verb="get", entity="index", key="index_name")
def get_index_info(world, index_name):
    index = world.index.get(index_name)
    if index is None:
        return f"Error retrieving index info: {index_name}: no such index"
    return indented(vectors.described(world, index))


@tool(verb="get", entity="index", key="index_name")
def get_indexed_keys_number(world, index_name):
    index = world.index.get(index_name)
    if index is None:
        return f"Error retrieving number of keys: {index_name}: no such index"
    return str(len(vectors.indexed(world, index)))


def nearest(world, doing, vector, index_name, vector_field, k, return_fields):
    index = world.index.get(index_name)
    if index is None:
        return f"Error {doing}: {index_name}: no such index"
    if vector_field != index["vector_field"]:
        return f"Error {doing}: Unknown field at offset 0 near {vector_field}"
    if len(vector) != index["dim"]:
        sizes = f"query vector blob size ({4 * len(vector)}) does not match index's expected size ({4 * index['dim']})"
        return f"Error {doing}: Error parsing vector similarity query: {sizes}."
    return vectors.nearest(world, index, vector, k, return_fields or [])


@tool(verb="search", entity="entry")
def vector_search_hash(world, query_vector, index_name="vector_index", vector_field="vector", k=5, return_fields=None):
    doing = f"performing vector search on index '{index_name}'"
    return nearest(world, doing, query_vector, index_name, vector_field, k, return_fields)


@tool(verb="search", entity="entry")
def hybrid_search(
    world,
    query_vector,
    filter_expression="*",
    index_name="vector_index",
    vector_field="vector",
    k=5,
    return_fields=None,
):
    doing = f"performing hybrid search on index '{index_name}'"
    field = re.search(r"@(\w+)", filter_expression)
    if field and index_name in world.index:  # the indexes of create_vector_index_hash have no field but the vector
        return f"Error {doing}: Unknown field at offset 1 near {field[1]}"
    return nearest(world, doing, query_vector, index_name, vector_field, k, return_fields)


@tool(reads=True, verb="search")
def search_redis_documents(_world, question):  # noqa: ARG001 (there is no documentation to search)
    return {"error": "MCP_DOCS_SEARCH_URL environment variable is not configured"}


# channels -------------------------------------------------------------------------------------------------------------


@tool(verb="update", entity="subscription")
def publish(world, channel, message):
    for row in world.subscription:
        for target in row["targets"]:
            if row["mode"] == "channel" and target == channel:
                row["messages"].append({"type": "message", "pattern": None, "channel": channel, "data": message})
            elif row["mode"] == "pattern" and keys.test_of(target)(channel):
                row["messages"].append({"type": "pmessage", "pattern": target, "channel": channel, "data": message})
    return f"Message published to channel '{channel}'."


def subscribed(world, mode, target):
    row = world.subscription.add(mode=mode, targets=[target])
    return {"status": "success", "subscription_id": row["id"], "mode": mode, "targets": [target]}


@tool(verb="create", entity="subscription")
def subscribe(world, channel):
    return subscribed(world, "channel", channel)


@tool(verb="create", entity="subscription")
def psubscribe(world, pattern):
    return subscribed(world, "pattern", pattern)


@tool(verb="update", entity="subscription", key="subscription_id")
def read_messages(world, subscription_id, timeout_ms=1000, max_messages=10):
    for name, value, least, most in (("timeout_ms", timeout_ms, 0, 5000), ("max_messages", max_messages, 1, 100)):
        if value < least:
            least_words = f"greater than or equal to {least}" if least == 0 else "greater than 0"
            return {"error": f"{name} must be {least_words}"}
        if value > most:
            return {"error": f"{name} must be less than or equal to {most}"}
    row = world.subscription.get(subscription_id)
    if row is None:
        return {"error": f"Subscription '{subscription_id}' was not found"}
    messages, row["messages"] = row["messages"][:max_messages], row["messages"][max_messages:]
    return {"subscription_id": subscription_id, "message_count": len(messages), "messages": messages}


@tool(verb="delete", entity="subscription", key="subscription_id")
def unsubscribe(world, subscription_id):
    row = world.subscription.get(subscription_id)
    if row is None:
        return {"error": f"Subscription '{subscription_id}' was not found"}
    ended = {"status": "success", "subscription_id": subscription_id, "mode": row["mode"], "targets": row["targets"]}
    world.subscription.delete(row)
    return ended


@invalid_arguments
def refuse(world, tool, arguments, problems):
    return pydantic_refusal(world, tool, arguments, problems)


@initial
def begin(given, world):
    """Fill the database with the keys of `world.state`; with a part of a shop's if there is none."""
    keys.fill(world, keys.SHOP if given is None else given.get("keys", given))
