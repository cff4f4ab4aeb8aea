"""Tools that add to a list of another record or remove from it: `add_label(task_id)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.argument_names import OPTIONS
from mcp_sim.infer.envelopes import find_envelope
from mcp_sim.infer.features import ListChange, ToolFeatures
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.names import Words, last_nouns
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required, required_among
from mcp_sim.types.lexicon.english import plural, singular_phrase, snake, vocabulary
from mcp_sim.types.plans import How

_ADD_VERBS = vocabulary(
    "add append assign attach push insert put include invite join tag enroll enrol link share grant label register "
    "subscribe"
)
_JOIN_VERBS = vocabulary("join enroll enrol subscribe register")
_REMOVE_VERBS = vocabulary(
    "remove delete unassign detach pop exclude untag drop unlink unshare revoke unlabel leave quit unregister "
    "unsubscribe kick unenroll"
)


def find_list_changes(
    feature_list: Sequence[ToolFeatures],
    shown: Mapping[str, Mapping[str, Field]],
    declared: Mapping[str, Entity],
) -> list[ToolFeatures]:
    """Return the features. Tools that change a list work on the record that has it."""
    every = {holder: [field for field in fields.values() if _is_list(field)] for holder, fields in shown.items()}
    lists = {holder: fields for holder, fields in every.items() if fields}
    return [_as_list_change(features, lists, declared) for features in feature_list]


def _as_list_change(
    features: ToolFeatures, lists: Mapping[str, Sequence[Field]], declared: Mapping[str, Entity]
) -> ToolFeatures:
    word = features.parsed.word or next(iter(features.parsed.noun), "")
    how: How | None = (
        "join"
        if word in _JOIN_VERBS
        else "append"
        if word in _ADD_VERBS
        else "remove"
        if word in _REMOVE_VERBS
        else None
    )
    if how is None or features.singleton is not None or features.item_arguments.each is not None:
        return features
    names, whole = [*_element_names(features)], singular_phrase(features.parsed.after[1:])
    for holder in sorted(lists, key=lambda one: not whole.endswith(one) or not one):
        known = declared.get(holder)
        fields = [field for field in lists[holder] if known is None or not known.fields or field.name in known.fields]
        if not fields or (holder in names and whole and holder != whole) or _creates_record(features, holder, declared):
            continue
        key, score = key_argument("update", holder, known.key if known is not None else "id", features.input)
        if key is None or score < 2 or (known is not None and (known.singleton or known.inside)):
            continue
        found = next((field for name in names for field in fields if _is_list_of(field, name, how)), None)
        argument = None if found is None else _element_argument(features, key, names, found.name)
        if found is not None and argument is not None and _can_be_listed(argument, found, declared):
            element = ListChange(key, argument, found.name, how)
            return replace(
                features,
                verb="update",
                entity=holder,
                list_change=element,
                envelope=find_envelope("update", holder, features.output, text=features.envelope.text),
            )
    return features


def _can_be_listed(argument: str, field: Field, declared: Mapping[str, Entity]) -> bool:
    """Whether the list can hold an argument. The name of a new record is not in it yet."""
    target = declared.get(field.link or "")
    return target is None or snake(argument) == snake(target.key) or snake(argument) not in map(snake, target.fields)


def _creates_record(features: ToolFeatures, holder: str, declared: Mapping[str, Entity]) -> bool:
    """Whether a tool takes fields of the new record, so that it creates a record."""
    own = declared.get(features.entity)
    if own is None or own.singleton or own.inside or features.verb != "create" or holder == features.entity:
        return False
    taken = {snake(name) for name in required(features.input)} - {
        snake(own.key),
        f"{own.name}_id",
        f"{holder}_id",
        holder,
    }
    return len(taken & {snake(name) for name in own.fields}) > 0


def _element_names(features: ToolFeatures) -> Iterator[str]:
    """Yield the names of the list: `task_label`, then `label`; `tag` for `tag_task`."""
    parsed = features.parsed
    noun = parsed.noun if parsed.word else parsed.noun[1:]
    phrases: list[Words] = [noun, parsed.after[1:]]
    for phrase in phrases:
        yield from map(singular_phrase, last_nouns(phrase))
    yield parsed.word.removeprefix("un")


def _is_list(field: Field) -> bool:
    return main_type(field.schema) == "array" and field.derived is None


def _is_list_of(field: Field, name: str, how: How) -> bool:
    kind = main_type(items(field.schema))
    plain = kind in {"string", "integer", "number"} or (not kind and not items(field.schema))
    short = snake(field.name).removesuffix("_list").removesuffix("_ids")
    return (plain or how == "remove") and short in {name, plural(name)}


def _element_argument(features: ToolFeatures, key: str, names: Sequence[str], field: str) -> str | None:
    """Return the argument that is added or removed: by its name, or the only required one."""
    others = [name for name in properties(features.input) if name != key and snake(name) not in OPTIONS]
    wanted = {field, *names, *(f"{name}_{ending}" for name in names for ending in ("id", "name", "ids", "key"))}
    named = [name for name in others if snake(name) in wanted | {plural(name) for name in names}]
    needed = required_among(others, features.input)
    return named[0] if named else needed[0] if len(needed) == 1 and len(others) == 1 else None
