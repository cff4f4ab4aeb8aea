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

from mcp_sim.backends.compute.operation import TEXT, Arguments, ComputeContext, Operation, role
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.texts.editing import SUBJECT, from_arguments, on_text, text_operation
from mcp_sim.types import Json

_ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
_ALGORITHM = role("algorithm", TEXT, "algo, hash_type, type, method, hash_algorithm", optional=True)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError) as wrong:
        raise Refused("invalid", f"Invalid base64 input: {wrong}") from None


def _algorithm(arguments: Arguments) -> str:
    name = str(arguments.get("algorithm", "sha256")).lower().replace("-", "").replace("_", "")
    if name not in _ALGORITHMS:
        known = ", ".join((*_ALGORITHMS, "crc32"))
        raise Refused("invalid", f"Unsupported hash algorithm {arguments['algorithm']!r}. Supported: {known}")
    return name


def _hashed(arguments: Arguments) -> str:
    text = str(arguments["text"]).encode("utf-8", "surrogatepass")
    if str(arguments.get("algorithm", "")).lower() == "crc32":
        return f"{zlib.crc32(text):08x}"
    return hashlib.new(_algorithm(arguments), text, usedforsecurity=False).hexdigest()


def _hmac(arguments: Arguments) -> str:
    """Return the keyed hash (HMAC) of a text."""
    name = _algorithm(arguments)
    return hmac.new(
        str(arguments["key"]).encode(), str(arguments["text"]).encode("utf-8", "surrogatepass"), name
    ).hexdigest()


def _hash_with(algorithm: str) -> Callable[[Arguments, ComputeContext], Json]:
    return lambda arguments, _context: _hashed({**arguments, "algorithm": algorithm})


OPERATIONS: tuple[Operation, ...] = (
    text_operation(
        "base64_encode",
        "base64_encode, encode_base64, to_base64, b64_encode",
        (SUBJECT,),
        on_text(lambda t: base64.b64encode(t.encode()).decode()),
        "encoded",
    ),
    text_operation(
        "base64_decode",
        "base64_decode, decode_base64, from_base64, b64_decode",
        (role("text", TEXT, "input, encoded, data, string, base64, value, encoded_text, base64_string"),),
        on_text(_decoded),
        "decoded",
    ),
    text_operation(
        "url_encode",
        "url_encode, encode_url, urlencode, percent_encode",
        (role("text", TEXT, "url, input, string, data, value"),),
        on_text(lambda t: quote(t, safe="")),
        "encoded",
    ),
    text_operation(
        "url_decode",
        "url_decode, decode_url, urldecode, percent_decode",
        (role("text", TEXT, "url, input, string, data, value"),),
        on_text(unquote),
        "decoded",
    ),
    text_operation(
        "html_encode",
        "html_encode, encode_html, html_escape, escape_html, htmlencode",
        (role("text", TEXT, "html, input, string, data, value"),),
        on_text(html.escape),
        "encoded",
        "escaped",
    ),
    text_operation(
        "html_decode",
        "html_decode, decode_html, html_unescape, unescape_html, htmldecode",
        (role("text", TEXT, "html, input, string, data, value"),),
        on_text(html.unescape),
        "decoded",
        "unescaped",
    ),
    text_operation(
        "hash",
        ("hash, hash_text, generate_hash, compute_hash, calculate_hash, hash_string, create_hash"),
        (SUBJECT, _ALGORITHM),
        from_arguments(_hashed),
        "hash",
        "digest",
    ),
    text_operation(
        "hmac",
        "hmac, compute_hmac, generate_hmac, hmac_hash, hmac_sign",
        (SUBJECT, role("key", TEXT, "secret, secret_key, password", positional=False), _ALGORITHM),
        from_arguments(_hmac),
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
