"""How is a list narrowed and paged, and where do things stand in a result?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mcp_sim.types import Json

Operator: TypeAlias = Literal["equals", "contains", "gt", "gte", "lt", "lte", "in", "not"]


@dataclass(frozen=True, slots=True)
class Filter:
    """An argument that narrows a list: which field it looks at, and how.

    `only` is what the field must hold where the argument says yes (`available_only`); no narrows nothing. `unless` is
    what it must not hold unless the argument says yes (`include_archived`); that narrows nothing.
    """

    field: str
    op: Operator = "equals"
    only: Json = None
    unless: Json = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """Where things stand in a result, as dotted paths ('' is the whole result, None is nowhere).

    `text` is the property that holds the whole as JSON text: the paths are then those of what stands in there.
    """

    record: str | None = None
    rows: str | None = None
    total: str | None = None
    cursor: str | None = None
    more: str | None = None
    key: str | None = None
    success: str | None = None
    text: str | None = None
    echoes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path in the result -> argument that is returned as given."""


@dataclass(frozen=True, slots=True)
class Paging:
    """Arguments that choose a page. `size` is the page where none is asked for, `most` the largest allowed.

    `first_page` is the number of the first page, where pages are numbered.
    """

    limit: str | None = None
    offset: str | None = None
    page: str | None = None
    cursor: str | None = None
    size: int = 20
    most: int | None = None
    first_page: int = 1

    @property
    def is_asked(self) -> bool:
        """True where the tool has any argument that chooses a page."""
        return any((self.limit, self.offset, self.page, self.cursor))
