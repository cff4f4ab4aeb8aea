"""Which tools put something into a list that a record of another entity has, or take it out: `add_label(task_id)`?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.customary import OPTIONS
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Element, Look
from mcp_sim.infer.names import Words
from mcp_sim.infer.outputs import envelope_meant
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.lexicon.words import plural, singular_phrase, snake, vocabulary
from mcp_sim.types.plans import How

_IN = vocabulary(
    "add append assign attach push insert put include invite join tag enroll enrol link share grant label register "
    "subscribe"
)
_JOINS = vocabulary("join enroll enrol subscribe register")
_OUT = vocabulary(
    "remove delete unassign detach pop exclude untag drop unlink unshare revoke unlabel leave quit unregister "
    "unsubscribe kick unenroll"
)


def with_elements(
    looks: Sequence[Look],
    told: Mapping[str, Mapping[str, Field]],
    declared: Mapping[str, Entity],
) -> list[Look]:
    """The looks; those that change a list are about the record that has it."""
    lists = {holder: [field for field in fields.values() if _is_list(field)] for holder, fields in told.items()}
    return [_changed(look, lists, declared) for look in looks]


def _changed(look: Look, lists: Mapping[str, Sequence[Field]], declared: Mapping[str, Entity]) -> Look:
    word = look.reading.word or next(iter(look.reading.noun), "")
    how: How | None = "join" if word in _JOINS else "append" if word in _IN else "remove" if word in _OUT else None
    if how is None or look.single is not None or look.unfolded.each is not None:
        return look
    names, whole = [*_names(look)], singular_phrase(look.reading.after[1:])
    for holder in sorted(lists, key=lambda one: not whole.endswith(one) or not one):
        known = declared.get(holder)
        fields = [field for field in lists[holder] if known is None or not known.fields or field.name in known.fields]
        if not fields or (holder in names and whole and holder != whole) or _makes(look, holder, declared):
            continue
        key, score = key_argument("update", holder, known.key if known is not None else "id", look.input)
        if key is None or score < 2 or (known is not None and (known.singleton or known.inside)):
            continue
        found = next((field for name in names for field in fields if _is_list_of(field, name, how)), None)
        argument = None if found is None else _argument(look, key, names, found.name)
        if found is not None and argument is not None and _may_name(argument, found, declared):
            element = Element(key, argument, found.name, how)
            return replace(
                look,
                verb="update",
                entity=holder,
                element=element,
                envelope=envelope_meant("update", holder, look.output, text=look.envelope.text),
            )
    return look


def _may_name(argument: str, field: Field, declared: Mapping[str, Entity]) -> bool:
    """Can an argument be what a list holds? What names a record that there is not yet is not."""
    target = declared.get(field.link or "")
    return target is None or snake(argument) == snake(target.key) or snake(argument) not in map(snake, target.fields)


def _makes(look: Look, holder: str, declared: Mapping[str, Entity]) -> bool:
    """Does a tool tell more of what it adds than who has it: its name, its kind? Then it makes it."""
    own = declared.get(look.entity)
    if own is None or own.singleton or own.inside or look.verb != "create" or holder == look.entity:
        return False
    told = {snake(name) for name in required(look.input)} - {snake(own.key), f"{own.name}_id", f"{holder}_id", holder}
    return len(told & {snake(name) for name in own.fields}) > 0


def _names(look: Look) -> Iterator[str]:
    """What may be in the list, as the name says: `task_label`, then `label`; of `tag_task` a tag."""
    reading = look.reading
    noun = reading.noun if reading.word else reading.noun[1:]
    phrases: list[Words] = [noun, reading.after[1:]]
    for phrase in phrases:
        yield from (singular_phrase(phrase[at:]) for at in range(len(phrase)))
    yield reading.word.removeprefix("un")


def _is_list(field: Field) -> bool:
    return main_type(field.schema) == "array" and field.derived is None


def _is_list_of(field: Field, name: str, how: How) -> bool:
    kind = main_type(items(field.schema))
    plain = kind in {"string", "integer", "number"} or (not kind and not items(field.schema))
    short = snake(field.name).removesuffix("_list").removesuffix("_ids")
    return (plain or how == "remove") and short in {name, plural(name)}


def _argument(look: Look, key: str, names: Sequence[str], field: str) -> str | None:
    """The argument that is put in or taken out: the one named so, or the only one that must be given."""
    others = [name for name in properties(look.input) if name != key and snake(name) not in OPTIONS]
    wanted = {field, *names, *(f"{name}_{ending}" for name in names for ending in ("id", "name", "ids", "key"))}
    named = [name for name in others if snake(name) in wanted | {plural(name) for name in names}]
    needed = [name for name in others if name in required(look.input)]
    return named[0] if named else needed[0] if len(needed) == 1 and len(others) == 1 else None
