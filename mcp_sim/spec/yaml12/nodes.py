"""Compose the nodes of a YAML text with PyYAML, and convert them to JSON values."""

from __future__ import annotations

import gc
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import isinf
from typing import Any, NoReturn, TypeAlias

import yaml

from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.json_schema.shapes import as_list, as_object

Path: TypeAlias = tuple[str | int, ...]
"""A place in a value: keys and indexes from the root."""

DEEPEST = 128
"""The deepest nesting of a value. Deeper ones would exceed Python's recursion limit where they are read."""

MOST_ALIASED = 100_000
"""The most values that the aliases of a document may expand to in total. Ten aliases of ten aliases each grow to 10^n
values ("billion laughs")."""

_TOO_DEEP = f"is nested deeper than {DEEPEST} levels"
_NESTING = "exceeded maximum nesting depth"  # as PyYAML 6.0.4 says, which has a limit as well

LONGEST_PATH = 12
"""The most parts of a path that a problem shows."""

WORDS: dict[str, Json] = {"true": True, "false": False, "null": None, "~": None, "": None}
_CORE_WORDS = {form: value for word, value in WORDS.items() for form in (word, word.title(), word.upper())}
"""The literals of the core schema of YAML 1.2, section 10.3.2: other programs write `True` as well."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_ALIAS = re.compile(r"""\*[^\s,\[\]{}:'"]*""")

_MERGE = "<<"
"""The key of YAML 1.1 under which a mapping takes the keys of others, which many OpenAPI documents use."""


def dotted(path: Sequence[str | int]) -> str:
    """Return a path as text, such as `perturbations[0].when.nth`."""
    return "".join(f"[{segment}]" if isinstance(segment, int) else f".{segment}" for segment in path).removeprefix(".")


def entries_of(node: Any) -> dict[Any, tuple[Any, Any]]:
    """Return the nodes of each key and value of a mapping by key. An item of a list is its own key, by its index."""
    if node.id == "mapping":
        return {key.value: (key, value) for key, value in node.value}
    return {index: (item, item) for index, item in enumerate(node.value)} if node.id == "sequence" else {}


_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(_Base):
    """Composes nodes, which only have a tag if it is explicit."""

    def __init__(self, text: str) -> None:
        _Base.__init__(self, text)
        self.indexes: list[Any] = []  # of the open nodes: their index or the node of their key; None for keys

    def descend_resolver(self, parent: Any, index: Any) -> None:
        """Refuse nesting that would overflow the stack of C. One more level is a scalar in the deepest list."""
        self.indexes.append(index)
        if len(self.indexes) > DEEPEST + 1:
            raise yaml.MarkedYAMLError(problem=_NESTING, problem_mark=parent.start_mark)

    def ascend_resolver(self) -> None:
        self.indexes.pop()

    def resolve(self, *_: Any) -> None:
        return None


@contextmanager
def _paused_collection() -> Generator[None]:
    """Pause garbage collection, which takes three quarters of the time where there are 100,000 nodes and no garbage."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            gc.enable()


def compose(text: str, file: str) -> Any:
    """Return the root node of a YAML text. An alias is the node of its anchor. Raises `DocumentError`."""
    loader = Loader(text)
    try:
        with _paused_collection():
            return loader.get_single_node() or compose("null", file)
    except yaml.MarkedYAMLError as error:
        path = [getattr(index, "value", index) for index in loader.indexes]
        raise DocumentError([_problem(file, error.problem_mark, path, _explain(error, text))]) from None
    finally:
        loader.dispose()


def _problem(file: str, mark: Any, path: Sequence[Any], message: str) -> Problem:
    segments = [segment for segment in path if isinstance(segment, str | int)]
    return Problem(file, mark.line + 1, dotted(segments[:LONGEST_PATH]), message)


def _explain(error: Any, text: str) -> str:
    """Return what the YAML parser found, with a hint for common mistakes."""
    reason = f"{error.context or ''}, {error.problem}".removeprefix(", ")
    if error.problem == _NESTING:
        return _TOO_DEEP
    if "duplicate anchor" in reason:
        return f"defines an anchor again that line {error.context_mark.line + 1} defines; give it another name"
    if "alias" in reason and (alias := _ALIAS.match(text, (error.context_mark or error.problem_mark).index)):
        return f'`{alias[0]}` is an alias without an anchor; quote it if it is a glob: "{alias[0]}"'
    hint = "; if it is text, quote it; if it is a tab, write spaces" if "cannot start any token" in reason else ""
    return f"invalid YAML: {reason} at column {error.problem_mark.column + 1}{hint}"


def value_of(text: str, file: str, *, is_foreign: bool = False) -> Json:
    """Return the value of a YAML text. Raises `DocumentError` with all problems. `is_foreign`: see `load`."""
    conversion = _Conversion(text, file, is_foreign=is_foreign)
    with _paused_collection():
        value = conversion.value(compose(text, file))
    if conversion.problems:
        raise DocumentError(conversion.problems)
    return value


class _Conversion:
    """Converts nodes to values, collects problems, and continues where it can."""

    def __init__(self, text: str, file: str, *, is_foreign: bool) -> None:
        self.problems: list[Problem] = []
        self._text, self._file, self._is_foreign = text, file, is_foreign
        self._words = _CORE_WORDS if is_foreign else WORDS
        self._open: list[tuple[str | int, Any]] = []  # each part of the path, and the node that has its line
        self._known: set[int] = set()  # the `id()` of each mapping and list
        self._aliased = 0

    def value(self, node: Any) -> Json:
        """Return the value of a node. That of an alias is built anew, but its problems are known."""
        self._check_tag(node)
        if node.id == "scalar":
            return self._scalar(node)
        if len(self._open) >= DEEPEST:
            self._stop(node, _TOO_DEEP)
        convert = self._mapping if node.id == "mapping" else self._list
        if id(node) not in self._known:
            self._known.add(id(node))
            return convert(node)
        self._aliased += len(node.value)
        if self._aliased > MOST_ALIASED:
            self._stop(node, f"its aliases expand to more than {MOST_ALIASED} values")
        reported = len(self.problems)
        value = convert(node)
        del self.problems[reported:]
        return value

    def _list(self, node: Any) -> list[Json]:
        items: list[Json] = []
        for index, item in enumerate(node.value):
            self._open.append((index, item))
            items.append(self.value(item))
            self._open.pop()
        return items

    def _mapping(self, node: Any) -> dict[str, Json]:
        mapping: dict[str, Json] = {}
        keys: dict[str, Any] = {}
        for key, item in node.value:
            if not self._is_key(key):
                continue
            name = key.value
            if name in keys:
                self._note(key, f"duplicate key {name!r}; it is already in line {keys[name].start_mark.line + 1}")
            keys[name] = key
            self._open.append((name, key))
            mapping[name] = self.value(item)
            self._open.pop()
        if self._is_foreign and _MERGE in mapping:
            # Add the keys of the mappings under the merge key that the mapping itself lacks; earlier mappings win.
            merged = mapping.pop(_MERGE)
            for source in as_list(merged) or [merged]:
                for name, value in as_object(source).items():
                    mapping.setdefault(name, value)
        return mapping

    def _is_key(self, node: Any) -> bool:
        """Whether a key is a string."""
        self._check_tag(node)
        if node.id != "scalar":
            self._note(node, "a key must be a string")
        elif not (node.style or self._is_foreign) and (node.value in WORDS or _NUMBER.fullmatch(node.value)):
            self._note(node, f'a key must be a string; quote it: "{node.value}"')
        return node.id == "scalar"

    def _scalar(self, node: Any) -> Json:
        """Return a JSON literal or number if the scalar is one and has no quotes, else its text."""
        text = node.value
        if node.style:
            return text
        if text in self._words:
            return self._words[text]
        match = _NUMBER.fullmatch(text)
        if match is None:
            if self._file.endswith(".json"):
                self._note(node, f"{text} is not allowed in JSON")
            return text
        try:
            value = float(text) if match.lastindex else int(text)
        except ValueError:  # more digits than Python converts
            value = float("inf")
        if isinstance(value, float) and isinf(value):
            self._note(node, f"the number {text[:20]}... is too large")
        return value

    def _check_tag(self, node: Any) -> None:
        if node.tag or self._text.startswith("!", node.start_mark.index):  # PyYAML drops a tag without a name
            self._note(node, f"the tag {node.tag or '!'!r} is not allowed; write plain JSON values")

    def _note(self, node: Any, message: str) -> None:
        """Add a problem. Within an alias, which follows its anchor, it gets the line of the alias's key."""
        mark = max((place.start_mark for _, place in [*self._open, ("", node)]), key=lambda mark: mark.line)
        self.problems.append(_problem(self._file, mark, [segment for segment, _ in self._open], message))

    def _stop(self, node: Any, message: str) -> NoReturn:
        self._note(node, message)
        raise DocumentError(self.problems)
