"""Induce what a server requires of arguments beyond its inputSchema, from calls that it refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.recordings.align import is_id
from mcp_sim.recordings.learning.failures import own_template
from mcp_sim.recordings.learning.samples import Sample
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import canonical

_QUOTED = re.compile(r"""(?<!\w)(['"`])([\w][\w .-]{0,30})\1(?!\w)""")
_LISTED = re.compile(r"(?:\bof|\bare|\bis|:)\s*[\[(]?((?:[\w-]+,\s*(?:or |and )?){1,20}(?:or |and )?[\w-]+)")
_LEAST = re.compile(r"(?:at least|minimum(?: of)?|>=|no less than)\s*(\d+)", re.IGNORECASE)
_MOST = re.compile(r"(?:at most|maximum(?: of)?|<=|no more than|up to)\s*(\d+)", re.IGNORECASE)
_POSITIVE = re.compile(r"\bpositive\b|greater than (?:0|zero)\b", re.IGNORECASE)
_FEWEST = 2
"""The number of words from which on a failure lists the values that are valid."""


def induce_checks(samples: Sequence[Sample], tools: Mapping[str, Record]) -> dict[str, Record]:
    """Return the checks of arguments by tool, as specs declare them."""
    found: dict[str, Record] = {}
    for tool, definition in tools.items():
        own = [sample for sample in samples if sample.tool == tool]
        failed = [sample for sample in own if sample.recorded.failed]
        accepted = [sample for sample in own if not sample.recorded.failed]
        schemas = properties(expanded(as_object(definition.get("inputSchema"))))
        for sample in failed:
            for name, value in sample.arguments.items():
                if name in schemas and name not in found.get(tool, {}) and Validator(schemas[name]).is_valid(value):
                    taken = [one.arguments[name] for one in accepted if name in one.arguments]
                    described = f"{schemas[name].get('description', '')} {definition.get('description', '')}"
                    schema = _required(name, value, taken, canonical(sample.recorded.value), described)
                    if schema is not None:
                        check: Record = {"schema": schema, "error": own_template(sample)}
                        found.setdefault(tool, {})[name] = check
    return found


def _required(name: str, value: Json, taken: Sequence[Json], text: str, described: str) -> Record | None:
    """Return the schema that a refused value violates, and the values of other calls do not; None if none is known."""
    for schema in _schemas(name, value, text, described):
        validator = Validator(schema)
        if not validator.is_valid(value) and all(validator.is_valid(other) for other in taken):
            return schema
    return None


def _schemas(name: str, value: Json, text: str, described: str) -> Iterator[Record]:
    """Yield what a server may require that refused a value with some text."""
    if isinstance(value, str):
        yield from _of_text(name, value, text, described)
    elif isinstance(value, list) and not value:
        yield {"minItems": 1}
    elif isinstance(value, int | float) and not isinstance(value, bool) and _mentions(text, name, str(value)):
        yield from ({"minimum": int(least)} for least in _LEAST.findall(text))
        yield from ({"maximum": int(most)} for most in _MOST.findall(text))
        yield from [{"exclusiveMinimum": 0}] if _POSITIVE.search(text) else []


def _of_text(name: str, value: str, text: str, described: str) -> Iterator[Record]:
    if not value.strip():
        yield {"pattern": r"\S"}
    elif not is_id(name, value) and _mentions(text, name, value):
        yield from ({"minLength": int(least)} for least in _LEAST.findall(text))
        for words in (_listed(text, value), _listed(described, value) if value in text else []):
            if len(words) >= _FEWEST:
                yield {"enum": words}


def _listed(text: str, value: str) -> list[str]:
    """Return the words that a text lists, other than a value: in quotes, else separated by commas."""
    quoted = [word for _, word in _QUOTED.findall(text.replace('\\"', '"'))]
    if len({*quoted} - {value}) >= _FEWEST:
        return [word for word in dict.fromkeys(quoted) if word != value]
    lists = [re.split(r",\s*(?:or |and )?|\s+(?:or|and)\s+", found) for found in _LISTED.findall(text)]
    longest = max(lists, key=len, default=list[str]())
    return [word for word in dict.fromkeys(longest) if word and word != value]


def _mentions(text: str, name: str, value: str) -> bool:
    """Whether a failure is about an argument: it shows its value or its name."""
    words = re.escape(name).replace("_", "[_ ]")
    return any(re.search(rf"(?i)(?<!\w){one}(?!\w)", text) for one in (re.escape(value), words))
