"""Streams: entries in the order of their ids, and groups of consumers that read them."""

import re

from keys import plain

EMPTY = {"entries": [], "groups": {}, "last": "0-0"}
INVALID_ID = "Invalid stream ID specified as stream command argument"
NO_KEY = (
    "The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to "
    "create an empty stream automatically."
)


def parsed(text):
    """Return an id as numbers, or None if it is none."""
    match = re.fullmatch(r"(\d{1,19})(?:-(\d{1,19}))?", text)
    return match and (int(match[1]), int(match[2] or 0))


def add(stream, now, fields):
    """Add an entry, and return its id."""
    milliseconds, number = parsed(stream["last"])
    current = int(now.timestamp() * 1000)
    new = f"{current}-0" if current > milliseconds else f"{milliseconds}-{number + 1}"
    stream["entries"].append([new, {name: plain(value) for name, value in fields.items()}])
    stream["last"] = new
    return new


def read(stream, group_name, consumer, count, start):
    """Return the entries that a consumer gets: new ones, or from an id on those that it has not confirmed."""
    group = stream["groups"][group_name]
    if start != ">":
        first = parsed(start)
        mine = [key for key, owner in group["pending"].items() if owner == consumer and parsed(key) > first]
        return [entry for entry in stream["entries"] if entry[0] in mine][:count]
    last = parsed(group["last"])
    entries = [entry for entry in stream["entries"] if parsed(entry[0]) > last][:count]
    for entry in entries:
        group["last"] = entry[0]
        group["pending"][entry[0]] = consumer
    return entries


def shown(entries):
    return [(key, fields) for key, fields in entries]
