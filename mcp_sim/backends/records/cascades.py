"""Which records go with one that is deleted, where its tool says that it takes what belongs to it along?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from mcp_sim.backends.records.referring import Referrer, let_go, referring
from mcp_sim.types import Change, Key, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.lexicon.words import singular, vocabulary, words

Gone: TypeAlias = Callable[[View, Key, Change], "tuple[Change, ...] | str"]

_ALONG = re.compile(
    r"\b(?:delet|remov|eras|destroy)\w*\b[^.;]*?\b(?:and|with|including|plus|as well as) "
    r"((?:all|any|every|everything|its|their)\b[^.;]*)",
    re.IGNORECASE,
)
_ANYTHING = vocabulary("data content record item information everything resource object thing")


def takes_along(description: str, domain: Domain, entity: str) -> list[Referrer]:
    """The links of the records that go too: of those that a description names, else of all it might mean."""
    said = _ALONG.search(description)
    if said is None:
        return []
    spoken = {singular(word) for word in words(said[1].lower())}
    links = [one for one in referring(domain, entity) if not one.is_list]
    named = [one for one in links if spoken & {*words(one.entity)[-1:]}]
    return named or (links if spoken & _ANYTHING else [])


def cascade(domain: Domain, entity: str, along: list[Referrer]) -> Gone:
    """What is written where records go with one of an entity, and with each of them those that must link to it."""
    others = {name: referring(domain, name) for name in domain.entities}

    def links_to(name: str) -> Iterator[Referrer]:
        yield from along if name == entity else (one for one in others[name] if one.holds)

    def gone(view: View, key: Key, removed: Change) -> tuple[Change, ...] | str:
        waiting, found = [removed], {(removed.entity, key): removed}
        while waiting:
            one = waiting.pop()
            for link in links_to(one.entity):
                for other, _ in link.rows(view, one.key):
                    if (link.entity, other) not in found:
                        version = view.version(link.entity, other)
                        also = Change("remove", link.entity, other, expected=version)
                        found[link.entity, other] = also
                        waiting.append(also)
        return _without_links(view, [*found.values()])

    def _without_links(view: View, removals: list[Change]) -> tuple[Change, ...] | str:
        changes: list[Change] = []
        left = view.after(removals)
        for one in reversed(removals):
            freed = let_go(left, others[one.entity], one.key, one)
            if isinstance(freed, str):
                return freed
            changes += freed
            left = left.after(freed[1:])
        return tuple(changes)

    return gone
