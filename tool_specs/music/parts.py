"""Ids, times and lines of the music service."""

import json
from datetime import datetime
from hashlib import sha256

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def id_of(kind, name):
    """Return the id of a part of the catalogue: the same in all worlds."""
    return base62(int.from_bytes(sha256(f"{kind} {name}".encode()).digest()[:16]))


def base62(number):
    digits = ""
    while len(digits) < 22:
        number, digit = divmod(number, 62)
        digits += DIGITS[digit]
    return digits


def count_of(value):
    """Return how many tracks a state says. Raises `ValueError`."""
    if not str(value).isdecimal():
        raise ValueError(f"world.state.liked: expected a number of tracks, got {value!r}")
    return int(value)


def duration(ms):
    return f"{int(ms) // 60_000}:{int(ms) // 1000 % 60:02d}"


def day(text):
    at = datetime.fromisoformat(text)
    return f"{at.month}/{at.day}/{at.year}"


def moment(text):
    at = datetime.fromisoformat(text)
    return f"{day(text)}, {at.hour % 12 or 12}:{at:%M:%S} {'AM' if at.hour < 12 else 'PM'}"


def failure(status, phrase, message, reason=None):
    """Return the message of the service's client library for an error of the service."""
    error = {"status": status, "message": message} | ({"reason": reason} if reason else {})
    return f"Unrecognised response code: {status} - {phrase}. Body: {json.dumps({'error': error})}"


def not_found():
    return failure(404, "Not Found", "Resource not found")


def name_of(world, kind, row):
    """Return the name of the artist or the album of a row, by default an empty text."""
    other = world[kind].get(row.get(kind))
    return "" if other is None else other["name"]


def line(world, track):
    return f'"{track["name"]}" by {name_of(world, "artist", track)} ({duration(track["duration_ms"])})'


def numbered(lines, first=1):
    return "\n".join(f"{number}. {text}" for number, text in enumerate(lines, first))


def part(rows, limit, offset):
    rows = rows[int(offset) : int(offset) + int(limit)]
    return rows, f"{int(offset) + 1}-{int(offset) + len(rows)}"
