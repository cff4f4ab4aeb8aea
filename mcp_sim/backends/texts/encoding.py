"""Operations that encode, decode and hash texts."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import html
import zlib
from collections.abc import Callable
from urllib.parse import quote, unquote

from mcp_sim.backends.operation import TEXT, Circumstances, Given, Operation, role
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.texts.editing import SUBJECT, changed, text_operation, worked_out
from mcp_sim.types import Json

_ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
_ALGORITHM = role("algorithm", TEXT, "algo, hash_type, type, method, hash_algorithm", optional=True)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError) as wrong:
        raise Refused("invalid", f"Invalid base64 input: {wrong}") from None


def _algorithm(given: Given) -> str:
    name = str(given.get("algorithm", "sha256")).lower().replace("-", "").replace("_", "")
    if name not in _ALGORITHMS:
        known = ", ".join((*_ALGORITHMS, "crc32"))
        raise Refused("invalid", f"Unsupported hash algorithm {given['algorithm']!r}. Supported: {known}")
    return name


def _hashed(given: Given) -> str:
    text = str(given["text"]).encode("utf-8", "surrogatepass")
    if str(given.get("algorithm", "")).lower() == "crc32":
        return f"{zlib.crc32(text):08x}"
    return hashlib.new(_algorithm(given), text, usedforsecurity=False).hexdigest()


def _hmac(given: Given) -> str:
    """Return the keyed hash (HMAC) of a text."""
    name = _algorithm(given)
    return hmac.new(str(given["key"]).encode(), str(given["text"]).encode("utf-8", "surrogatepass"), name).hexdigest()


def _hash_with(algorithm: str) -> Callable[[Given, Circumstances], Json]:
    return lambda given, _around: _hashed({**given, "algorithm": algorithm})


OPERATIONS: tuple[Operation, ...] = (
    text_operation(
        "base64_encode",
        "base64_encode, encode_base64, to_base64, b64_encode",
        (SUBJECT,),
        changed(lambda t: base64.b64encode(t.encode()).decode()),
        "encoded",
    ),
    text_operation(
        "base64_decode",
        "base64_decode, decode_base64, from_base64, b64_decode",
        (role("text", TEXT, "input, encoded, data, string, base64, value, encoded_text, base64_string"),),
        changed(_decoded),
        "decoded",
    ),
    text_operation(
        "url_encode",
        "url_encode, encode_url, urlencode, percent_encode",
        (role("text", TEXT, "url, input, string, data, value"),),
        changed(lambda t: quote(t, safe="")),
        "encoded",
    ),
    text_operation(
        "url_decode",
        "url_decode, decode_url, urldecode, percent_decode",
        (role("text", TEXT, "url, input, string, data, value"),),
        changed(unquote),
        "decoded",
    ),
    text_operation(
        "html_encode",
        "html_encode, encode_html, html_escape, escape_html, htmlencode",
        (role("text", TEXT, "html, input, string, data, value"),),
        changed(html.escape),
        "encoded",
        "escaped",
    ),
    text_operation(
        "html_decode",
        "html_decode, decode_html, html_unescape, unescape_html, htmldecode",
        (role("text", TEXT, "html, input, string, data, value"),),
        changed(html.unescape),
        "decoded",
        "unescaped",
    ),
    text_operation(
        "hash",
        ("hash, hash_text, generate_hash, compute_hash, calculate_hash, hash_string, create_hash"),
        (SUBJECT, _ALGORITHM),
        worked_out(_hashed),
        "hash",
        "digest",
    ),
    text_operation(
        "hmac",
        "hmac, compute_hmac, generate_hmac, hmac_hash, hmac_sign",
        (SUBJECT, role("key", TEXT, "secret, secret_key, password", positional=False), _ALGORITHM),
        worked_out(_hmac),
        "hmac",
        "hash",
        "digest",
    ),
    text_operation(
        "crc32", "crc32, crc32_hash, hash_crc32, compute_crc32", (SUBJECT,), _hash_with("crc32"), "crc32", "hash"
    ),
    *(
        text_operation(
            name, f"{name}, {name}_hash, hash_{name}, generate_{name}", (SUBJECT,), _hash_with(name), "hash", "digest"
        )
        for name in _ALGORITHMS
    ),
)
