"""Boolean fields that verbs like `pin` set."""

from __future__ import annotations

from mcp_sim.infer.verbs import TRANSITIONS, classify_verb
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import participle, snake
from mcp_sim.types.lexicon.terms import groups, table

_STATES_AFTER, _OPPOSITES = groups("states.after"), table("verbs.opposites")


def flag_name(word: str) -> str:
    """Return the name of the flag that a verb sets: `enabled` for `disable`. '' if it sets none."""
    verb, _ = _split_negation(word)
    return _STATES_AFTER.get(verb, ("",))[0]


def find_flag(word: str, entity: Entity) -> dict[str, Json]:
    """Return the flag of an entity that a verb sets, and its value: `pinned` and False for `unpin`."""
    verb, yes = _split_negation(word)
    flags = {
        snake(name).removeprefix("is_"): name
        for name, field in entity.fields.items()
        if main_type(field.schema) == "boolean" and field.derived is None
    }
    names = (*_STATES_AFTER.get(verb, ()), participle(verb), TRANSITIONS.get(verb, ""))
    found = next((flags[name] for name in names if name in flags), None)
    return {} if found is None else {found: yes}


def _split_negation(word: str) -> tuple[str, bool]:
    """Return the verb without its negation, and whether it is positive: `pin` and False for `unpin`."""
    bare = word.removeprefix("un")
    if word in _OPPOSITES or (bare != word and classify_verb(bare) is not None):
        return _OPPOSITES.get(word, bare), False
    return word, True
