"""Vectors in hashes, and indexes that find the nearest ones."""

import math
import struct

import keys

from mcp_sim.programs import Refused

LARGEST = 3.4e38
"""The largest number of 32 bits, about."""


def vector_of(numbers):
    return {"float32": [float(max(min(number, LARGEST), -LARGEST)) for number in numbers]}


def decoded(tool, value):
    """Return a field as text. A vector seldom is: the server then reports the byte that it cannot convert."""
    if not isinstance(value, dict):
        return value
    numbers = value["float32"]
    try:
        return struct.pack(f"<{len(numbers)}f", *numbers).decode()
    except UnicodeDecodeError as error:
        raise Refused(f"Error executing tool {tool}: {error}") from None


def indexed(world, index):
    """Return the hashes that an index covers, with their vectors."""
    rows = [row for row in world.entry if row["type"] == "hash" and row["key"].startswith(index["prefix"])]
    vectors = {row["key"]: row["value"].get(index["vector_field"]) for row in rows if not keys.is_over(world, row)}
    return {
        key: vector["float32"]
        for key, vector in vectors.items()
        if isinstance(vector, dict) and len(vector["float32"]) == index["dim"]
    }


def distance(metric, one, other):
    product = sum(left * right for left, right in zip(one, other, strict=True))
    if metric == "L2":
        return sum((left - right) ** 2 for left, right in zip(one, other, strict=True))
    return 1 - (product if metric == "IP" else product / (math.hypot(*one) * math.hypot(*other) or 1))


def nearest(world, index, vector, count, fields):
    distances = {key: distance(index["distance_metric"], vector, own) for key, own in indexed(world, index).items()}
    results = []
    for key in sorted(distances, key=lambda key: (distances[key], key))[:count]:
        values = world.entry.get(key)["value"]
        shown = {name: values[name] for name in fields if isinstance(values.get(name), str)}
        results.append({"id": key, "payload": None, "score": f"{distances[key]:.12g}", **shown})
    return results


def described(world, index):
    attribute = ["identifier", index["vector_field"], "attribute", index["vector_field"], "type", "VECTOR"]
    algorithm = ["algorithm", "HNSW", "data_type", "FLOAT32", "dim", index["dim"]]
    return {
        "index_name": index["name"],
        "index_options": [],
        "index_definition": ["key_type", "HASH", "prefixes", [index["prefix"]], "default_score", "1"],
        "attributes": [[*attribute, *algorithm, "distance_metric", index["distance_metric"]]],
        "num_docs": len(indexed(world, index)),
        "indexing": "0",
        "percent_indexed": "1",
    }
