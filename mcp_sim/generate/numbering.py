"""How does a text that is taken become another one by a number: before an @, a file's ending, a folder's slash?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_SPLIT = re.compile(r"(.*?)(@.*|\.[A-Za-z]\w{0,4}|/)?", re.DOTALL)


def numbered(text: str, number: int, allows: Callable[[str], bool]) -> str | None:
    """The text with this number, in a form that is allowed; None where none is."""
    return next(filter(allows, _forms(text, number)), None)


def _forms(text: str, number: int) -> Iterator[str]:
    found = _SPLIT.fullmatch(text)
    stem, ending = (found[1], found[2] or "") if found is not None else (text, "")
    usual = " " if " " in stem else "" if ending.startswith("@") else "_" if "_" in stem else "-"
    return (f"{stem}{joint}{number}{ending}" for joint in dict.fromkeys((usual, "-", "", "_")))
