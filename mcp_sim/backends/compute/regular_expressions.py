"""Functions that search and replace with regular expressions. They raise `Refused` for invalid expressions."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from mcp_sim.backends.compute.text_editing import check_length
from mcp_sim.backends.patterns import compile_expression
from mcp_sim.types import Json

_MOST_MATCHES = 1_000


def regex_match(text: str, pattern: str, flags: str | None = None) -> Json:
    """Return the matches with their positions and groups, up to 1000. The flag `i` ignores the case."""
    hits = islice(_compiled(pattern, flags).finditer(_valid(text)), _MOST_MATCHES)
    matches = [{"match": hit[0], "index": hit.start(), "groups": [*hit.groups()]} for hit in hits]
    return {"matches": matches, "count": len(matches)}


def regex_test(text: str, pattern: str, flags: str | None = None) -> bool:
    """Return whether a part of a text matches."""
    return _compiled(pattern, flags).search(_valid(text)) is not None


def regex_replace(text: str, pattern: str, replacement: str, flags: str | None = None) -> str:
    """Replace all matches. The replacement may refer to groups as `$1` or `\\1`; missing groups are empty.

    Raises `Refused` if the result is too long.
    """
    instead = re.sub(r"\$(\d)", r"\\\1", replacement)
    pieces, length = list[str](), 0
    text, end = _valid(text), 0
    for hit in _compiled(pattern, flags).finditer(text):
        pieces += [text[end : hit.start()], _filled(instead, hit)]
        end, length = hit.end(), length + len(pieces[-1])
        check_length(length)
    return "".join([*pieces, text[end:]])


def _filled(instead: str, hit: Any) -> str:
    groups = [hit[0], *hit.groups()]
    return re.sub(r"\\(\d)", lambda one: (groups[int(one[1])] or "") if int(one[1]) < len(groups) else "", instead)


def _compiled(pattern: str, flags: str | None) -> Any:
    return compile_expression(pattern, ignores_case="i" in (flags or ""))


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
