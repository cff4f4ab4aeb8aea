"""Sources that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cached_property
from itertools import islice
from typing import Annotated, ClassVar

from pydantic import Field

from mcp_sim.generate.chance import Chance
from mcp_sim.types import Change, Key, Proceed, Record, Tool, Transition, Turn
from mcp_sim.types.call_matchers import unfit_fields
from mcp_sim.types.conditions import Matcher, where_test
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, Duration, MatcherSource
from mcp_sim.types.urls import split_url

PAGE = "page"
MOST_LOOKED_AT = 20_000  # the cost of a call must not grow with the pages
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_DAY = len("2029-03-01")


@perturbations.register("contradiction")
class Contradiction(Perturbation):
    """Publish an older page with other numbers: right before a call, some pages get a copy on another site.

    Every number in the text of a copy is off by at least 1, and it is dated `older` than the original, or than now if
    that has no date. From then on both are found; the newer one is right.

    Only for worlds with the table `page`, such as those of `search_world`.
    """

    stage = Stage.WORLD
    visibility = "implicit"
    severities: ClassVar[tuple[str, ...]] = ("count", "amount")

    where: dict[str, MatcherSource] = Field(
        default_factory=dict[str, MatcherSource],
        description="The pages to contradict: field -> matcher. Default: all.",
        examples=[{"url": {"contains": "/coastallights"}}],
    )
    count: Count = Field(default=1, description="Number of pages that get a copy.")
    amount: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.15, description="The maximum relative change of a number."
    )
    older: Duration = Field(default=timedelta(days=900), description="How much older a copy is.", examples=["900d"])
    site: str = Field(default="fieldnotes.example", min_length=1, description="The site of the copies.")

    def acts_on_records(self) -> bool:
        return True

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        entity = domain.entities.get(PAGE)
        if entity is None:
            return ["only worlds with the table 'page' have sources, such as those of search_world"]
        return unfit_fields(entity, self.where)

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            changes = self._copies(turn)
            if not changes:
                return turn.no_effect(await proceed(turn))
            transition = await proceed(turn.after(changes))
            return replace(transition, events=(turn.by(self.site, *changes), *transition.events))

        return apply

    @cached_property
    def _fits(self) -> Matcher:
        return where_test(self.where)

    def _copies(self, turn: Turn) -> list[Change]:
        draws = turn.draws.about(f"{turn.draws.scope}/{turn.draws.occurrence}/{turn.owner}")
        pages = [
            (key, page)
            for key, page in islice(turn.view.rows(PAGE), MOST_LOOKED_AT)
            if self._fits(page)
            and _NUMBER.search(str(page.get("text")))
            and not str(key).startswith(f"https://{self.site}/")
            and turn.view.get(PAGE, self._address(key)) is None
        ]
        pages.sort(key=lambda entry: draws.unit(str(entry[0])))
        chance = Chance(draws.key + b"contradict")
        return [Change("put", PAGE, *self._copy(key, page, turn, chance)) for key, page in pages[: self.count]]

    def _address(self, key: Key) -> str:
        return f"https://{self.site}{split_url(str(key)).path or '/'}"

    def _copy(self, key: Key, page: Record, turn: Turn, chance: Chance) -> tuple[str, Record]:
        address = self._address(key)
        try:
            day = date.fromisoformat(str(page.get("date"))[:_DAY])
        except ValueError:
            day = turn.now.date()
        changed = {
            name: _NUMBER.sub(lambda match: self._other(match[0], chance), str(page[name]))
            for name in ("text", "description")
            if page.get(name)
        }
        # A search may show of the copy what it may show of the original, but no number of it.
        shown = None if page.get("preview") is None else " ".join(_without_numbers(str(page["preview"])))
        return address, {**page, **changed, "url": address, "date": (day - self.older).isoformat(), "preview": shown}

    def _other(self, number: str, chance: Chance) -> str:
        """Return another number, written as the first one is."""
        places = len(number.partition(".")[2])
        value = float(number.replace(",", ""))
        change = max(1.0, value * self.amount * (0.5 + chance.unit() / 2))
        moved = round(value + (change if chance.unit() < 0.5 or value < change else -change), places)
        return f"{moved:{',' if ',' in number else ''}.{places}f}"


def _without_numbers(text: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if not _NUMBER.search(sentence)]
