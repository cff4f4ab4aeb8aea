"""Which tools show or switch one side of what there is one of: `check_wifi_status`, `toggle_roaming`, `connect_vpn`?"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.infer.flags import TOGGLES, participle_flag, switch_of
from mcp_sim.infer.names import Reading, Words
from mcp_sim.infer.single_deeds import Single
from mcp_sim.types.domain import Entity
from mcp_sim.types.lexicon.words import vocabulary, words

_LOOKS = vocabulary("check display show view get read status print")
_LOOSE = vocabulary("current my the active device phone system of and")
_FACETS = vocabulary("status state setting settings info information details mode")


def side_switched(reading: Reading, needed: Sequence[str], entity: Entity) -> Single | None:
    """`toggle_data()`, `enable_roaming()`, `disconnect_vpn()`: the flag called after the noun, and after the verb."""
    if needed:
        return None
    flips = reading.word in TOGGLES
    fixed = switch_of("enable" if flips else reading.word, reading.noun, entity.fields)
    fixed = fixed or (participle_flag(reading.noun, entity.fields) if reading.verb == "unknown" else {})
    if not fixed:
        return None
    name = next(iter(fixed))
    reason = f"{'toggles' if flips else 'sets'} {name} of {entity.name}"
    return Single("update", entity.name, {}, {name: "toggle"} if flips else {}, fixed, only=(name,), reason=reason)


def side_shown(reading: Reading, needed: Sequence[str], about: str, entity: Entity) -> Single | None:
    """The fields that are called after the noun, and those of which the description says all words."""
    looks = reading.word == "check" or (reading.verb in {"get", "unknown"} and {_first(reading)} & _LOOKS)
    if needed or not looks:
        return None
    subject, told = _subject(reading), {*words(about)}
    shown = [name for name in entity.fields if name != entity.key and _is_meant(words(name), subject, told)]
    if not shown:
        return None
    return Single("get", entity.name, only=tuple(shown), reason=f"shows {', '.join(shown)} of {entity.name}")


def _first(reading: Reading) -> str:
    return reading.word or next(iter(reading.noun), "")


def _subject(reading: Reading) -> Words:
    """`wifi` of `check_wifi_status`."""
    noun = reading.noun[1:] if {*reading.noun[:1]} & _LOOKS else reading.noun
    while len(noun) > 1 and noun[0] in _LOOSE:
        noun = noun[1:]
    while len(noun) > 1 and noun[-1] in _FACETS:
        noun = noun[:-1]
    return noun


def _is_meant(field: Words, subject: Words, told: set[str]) -> bool:
    starts = range(len(field) - len(subject) + 1) if subject else ()
    return any(field[at : at + len(subject)] == subject for at in starts) or (len(field) > 1 and {*field} <= told)
