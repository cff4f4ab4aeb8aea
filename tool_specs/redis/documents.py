"""JSON documents, and the paths in them: `$.a.b[0]`, `$.a[*]`, and the older `.a.b`."""

import re

TYPE = "ReJSON-RL"
STEP = re.compile(r"""\.?(?:\[(?:(-?\d{1,9})|'([^']*)'|"([^"]*)"|(\*))\]|(\*)|([^.\[\]]+))""")


def is_root(path):
    return path in {"$", ".", ""}


def steps(path):
    for number, single, double, all_items, star, name in STEP.findall(path.removeprefix("$")):
        yield int(number) if number else None if all_items or star else single or double or name


def places(document, path):
    """Return what a path leads to: pairs of a container and a key or index."""
    found = [(document, "root")]
    for step in steps(path):
        inner = [container[key] for container, key in found if has(container, key)]
        found = [(value, key) for value in inner for key in keys_of(value, step)]
    return found


def keys_of(value, step):
    if step is not None:
        return [step]
    return [*value] if isinstance(value, dict) else [*range(len(value))] if isinstance(value, list) else []


def has(container, key):
    if isinstance(container, list):
        return isinstance(key, int) and -len(container) <= key < len(container)
    return isinstance(container, dict) and key in container


def get(document, path):
    """Return the values at a path as a list; for an older path the first one, or None."""
    values = [container[key] for container, key in places(document, path) if has(container, key)]
    return values if path.startswith("$") else next(iter(values), None)


def put(document, path, value):
    for container, key in places(document, path):
        if has(container, key) or (isinstance(container, dict) and isinstance(key, str)):
            container[key] = value


def drop(document, path):
    found = [(container, key) for container, key in places(document, path) if has(container, key)]
    for container, key in reversed(found):
        del container[key]
    return len(found)
