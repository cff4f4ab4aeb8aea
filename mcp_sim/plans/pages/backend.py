"""Backend for tools that search pages and read them by address: the web, documentation, a knowledge base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from mcp_sim.plans.given import Given, Sought, innermost, take_given
from mcp_sim.plans.matching.matched_tools import MatchedTool, both, either, named, takes, unnamed
from mcp_sim.plans.matching.tool_profiles import ToolProfile
from mcp_sim.plans.operation import TEXT, TEXTS, Names, Operation, pick, read_names, role
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import backends

PAGE = "page"
_WORDS = read_names(__name__)
_ROLES, _NAMES = _WORDS.roles, _WORDS.facts
_SEARCHES = "search|query|find|lookup|google|browse|research|ask"
_WEB = _WORDS.terms("web")
_TEXTS = _WORDS.terms("text")
_MAKES = "create|add|insert|update|delete|remove|edit|save|write|upload|download|set"
_UNRELATED = unnamed("browser navigate tab click screenshot element selector")
_TABLES = _WORDS.terms("table")
_CONTENTS = ("text", "content", "body", "markdown", "abstract")


def _nouns(profile: ToolProfile) -> frozenset[str]:
    """Return what a tool searches, by its name."""
    return profile.nouns - frozenset(_SEARCHES.split("|"))


def _is_of_pages(profile: ToolProfile) -> bool:
    """Return whether a tool searches the web or texts, by its nouns or, without any, by its description."""
    if not profile.nouns.isdisjoint(_WEB | _TEXTS):
        return True
    described = (f"{word} " in f"{profile.description} " for word in ("web", "internet", "documentation", "articles"))
    return not _nouns(profile) and any(described)


_BY_URL = takes(role("url", "uri link urls page_url", TEXT | TEXTS))
_IS_ONE_WORD = both(lambda profile: len(profile.words) == 1)
_OF_TEXTS = either(named("|".join(_TEXTS | {"url", "web", "content", "text"})), _IS_ONE_WORD)
_GETS = named("fetch|scrape|crawl|read|extract|open|get|visit|load|retrieve|browse")
_READS = both(_GETS, unnamed(_MAKES.replace("|", " ")), _UNRELATED)


@backends.register("pages")
class Pages(OperationsBackend):
    """Pages found by a query and read by address or id, always the same: entity `page` (url, title, text).

    Pages of a state or of records are the only ones. Otherwise pages are generated from address and seed, and results
    are marked as guessed. If a server creates what its tools search, these are records.
    """

    order = 20
    confidence = 0.7
    operations = (
        Operation("search", "pages:search", "search", pick("query limit? offset?", _ROLES),
                  means=both(named(_SEARCHES), _UNRELATED, _is_of_pages)),
        Operation("read", "pages:read", "get", pick("place offset? length? limit?", _ROLES),
                  means=both(_READS, either(both(_BY_URL, _OF_TEXTS), both(named("fetch"), _IS_ONE_WORD)))),
    )  # fmt: skip
    entities = (
        Entity(
            PAGE, "url", None, natural=True,
            fields={
                **{name: Field(name, {"type": ["string", "null"]}) for name in ("id", "title", "text", "published_at")},
                "url": Field("url", {"type": ["string", "integer"]}, required=True),
            },
        ),
    )  # fmt: skip
    names: ClassVar[Names] = _NAMES

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept searches for what no tool creates. Without one, accept tools that read by URL."""
        is_made = named(_MAKES)
        accepts = {noun for profile in listed if is_made(profile) for noun in profile.nouns}
        searches = [tool for tool in tools if tool.name == "search" and accepts.isdisjoint(_nouns(tool.profile))]
        reads = [tool for tool in tools if tool.name == "read" and (searches or _BY_URL(tool.profile))]
        return [*searches, *reads]

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the pages of a state. A state of texts is pages only if all have addresses."""
        texts = [name for name, value in as_object(innermost(state)).items() if isinstance(value, str)]
        sought = Sought(PAGE, "url", _TABLES, plain="text", read=_page)
        return take_given(state, [sought], is_whole=is_whole and all("/" in name for name in texts))


def _page(row: Record) -> Record | None:
    """Return a row as a page; None if it has no text, or nothing that identifies it."""
    text = next((row[name] for name in _CONTENTS if isinstance(row.get(name), str)), None)
    key = row.get("url") or row.get("id") or row.get("title")
    return None if text is None or not isinstance(key, str | int) else {**row, "url": key, "text": text}
