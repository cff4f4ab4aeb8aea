"""Arguments that almost all tools of a server require and that only say who calls: credentials and tenants."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import properties, property_of, required
from mcp_sim.types.lexicon.english import noun_of_id, snake
from mcp_sim.types.lexicon.terms import terms

_SHARE, _FEWEST = 0.75, 4
"""Of a few tools, all may happen to be about the same record."""
_TENANTS = terms("nouns.tenants")
_CREDENTIAL = re.compile(
    r"(?<![a-z])(?:(?:api|access|auth[a-z]*|secret|bearer|session)[ _-]?(?:key|token)s?|credentials?)(?![a-z])",
    re.IGNORECASE,
)


def caller_arguments(
    inputs: Collection[Record], outputs: Collection[Record], nouns: Collection[str], fields: Collection[str]
) -> frozenset[str]:
    """Return the arguments that say who calls, so that they name, set and filter no records.

    `nouns` are those of tools and of known entities, whose ids name records; `fields` are known.
    """
    counts = Counter(name for schema in inputs for name in required(schema))
    shared = [name for name, count in counts.items() if len(inputs) >= _FEWEST and count >= _SHARE * len(inputs)]
    return frozenset(
        name
        for name in shared
        if (_is_credential(name, inputs) and not any(_CREDENTIAL.search(noun) for noun in nouns))
        or (_is_foreign(snake(name), nouns) and name not in fields and not any(_shows(name, each) for each in outputs))
    )


def without(names: Collection[str], schema: Record) -> Record:
    """Return a schema of arguments without some of them."""
    if not names:
        return schema
    kept = {name: inner for name, inner in properties(schema).items() if name not in names}
    return {**schema, "properties": kept, "required": sorted(required(schema) - set(names))}


def _is_credential(name: str, inputs: Collection[Record]) -> bool:
    """Whether all tools describe or name an argument as a key or token of the API."""
    holders = [property_of(schema, name) for schema in inputs if name in properties(schema)]
    texts = (f"{snake(name).replace('_', ' ')} {inner.get('description', '')}" for inner in holders)
    return all(_CREDENTIAL.search(text) for text in texts)


def _is_foreign(name: str, nouns: Collection[str]) -> bool:
    """Whether an argument is the id of a tenant that no tool is about: `xero_tenant_id`.

    Ids of users, sessions and accounts are kept: all tools of a cart or a memory ask whose it is.
    """
    parts = noun_of_id(name).split("_")
    return parts[-1] in _TENANTS and not any("_".join(parts[at:]) in nouns for at in range(len(parts)))


def _shows(name: str, schema: Record) -> bool:
    return f"'{name}'" in str(schema)
