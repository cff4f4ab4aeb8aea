"""URLs of strangers: split them, whatever they are."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split_url(text: str) -> SplitResult:
    """Return the parts of a URL. A text that is not a URL, such as `http://[`, is a path as a whole."""
    try:
        return urlsplit(text)
    except ValueError:
        return SplitResult("", "", text, "", "")
