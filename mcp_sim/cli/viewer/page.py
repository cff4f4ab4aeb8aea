"""Put a document into the HTML page of the viewer.

The page is one file that loads nothing. Its Content-Security-Policy allows its own script and style, by their hashes,
and no other. All text of traces is data, which the script shows as text.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from mcp_sim.types import Record
from mcp_sim.types.json_values import encode

PARTS = Path(__file__).parent / "page"
SCRIPTS = ("elements", "model", "search", "steps", "values", "step", "state", "faults", "worlds", "runs", "app")
"""The parts of the script, in their order. They share one scope."""

FROM_DATA, LIVE = ("start",), ("steer", "live")
"""The last parts: they begin with the data of the page, or with those of a server."""

_EXACT = 2**53  # larger integers lose digits in JavaScript
_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*+"|(?<![\w.])-?\d{16,}(?![\d.eE])')


def page(document: Record, *, is_live: bool = False) -> str:
    """Return the HTML of a document. A live page may make requests of the server that it comes from."""
    style = _part("viewer.css")
    names = (*SCRIPTS, *(LIVE if is_live else FROM_DATA))
    script = f'"use strict";\n(() => {{\n{"".join(_part(f"{name}.js") for name in names)}}})();\n'
    connect = "connect-src 'self'; " if is_live else ""
    values = {
        "policy": f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        f"{connect}base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "data": _data(document),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _part("viewer.html"))


def _part(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _data(document: Record) -> str:
    """Return the document as JSON that cannot end its element. It says if it has numbers that JavaScript rounds."""
    text = encode(document)
    numbers = (match[0] for match in _NUMBER.finditer(text) if not match[0].startswith(b'"'))
    if any(abs(int(number)) > _EXACT for number in numbers):
        text = encode({**document, "exact": True})
    return text.decode().replace("<", "\\u003c")
