"""Functions that encode, decode and hash texts."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import html
import zlib
from collections.abc import Callable
from urllib.parse import quote, unquote

from mcp_sim.backends.compute.operations import ALGORITHMS
from mcp_sim.backends.refusal import Refused


def base64_encode(text: str) -> str:
    """Encode a text in base64."""
    return base64.b64encode(_bytes(text)).decode()


def base64_decode(text: str) -> str:
    """Decode a text from base64. Raises `Refused` if it is invalid."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError) as wrong:
        raise Refused("invalid", f"Invalid base64 input: {wrong}") from None


def url_encode(text: str) -> str:
    """Encode a text for use in an address."""
    return quote(text, safe="", errors="surrogatepass")


def url_decode(text: str) -> str:
    """Decode a text from an address."""
    return unquote(text)


def html_encode(text: str) -> str:
    """Escape the characters that have a meaning in HTML."""
    return html.escape(text)


def html_decode(text: str) -> str:
    """Replace the character references of HTML."""
    return html.unescape(text)


def hash_text(text: str, algorithm: str | None = None) -> str:
    """Return the hash of a text in hexadecimal digits, by SHA-256 by default.

    Raises `Refused` if the algorithm is unknown.
    """
    name = _algorithm(algorithm)
    if name == "crc32":
        return f"{zlib.crc32(_bytes(text)):08x}"
    return hashlib.new(name, _bytes(text), usedforsecurity=False).hexdigest()


def keyed_hash(text: str, key: str, algorithm: str | None = None) -> str:
    """Return the keyed hash (HMAC) of a text. Raises `Refused` if the algorithm is unknown or has no keyed hash."""
    name = _algorithm(algorithm)
    if name == "crc32":
        raise _unsupported(algorithm)
    return hmac.new(_bytes(key), _bytes(text), name).hexdigest()


def _hash_by(name: str) -> Callable[[str], str]:
    def hashed(text: str) -> str:
        return hash_text(text, name)

    hashed.__doc__ = f"Return the {name} hash of a text in hexadecimal digits."
    return hashed


md5, sha1, sha224, sha256, sha384, sha512, crc32 = map(_hash_by, ALGORITHMS)


def _algorithm(given: str | None) -> str:
    name = (given or "sha256").lower().replace("-", "").replace("_", "")
    if name not in ALGORITHMS:
        raise _unsupported(given)
    return name


def _unsupported(given: str | None) -> Refused:
    return Refused("invalid", f"Unsupported hash algorithm {given!r}. Supported: {', '.join(ALGORITHMS)}")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
