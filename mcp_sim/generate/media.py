"""Placeholder media: small valid images, sounds and documents that show the arguments of a call."""

from __future__ import annotations

import json
import math
import struct
import textwrap
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping

from mcp_sim.types import Record
from mcp_sim.types.surface import Media

MOST_SHOWN = 1_500  # characters of the arguments that are shown: what fits on an image that a model reads at once

# images ---------------------------------------------------------------------------------------------------------------

_FONT = (
    "A25755 B65656 C34443 D65556 E74647 F74644 G34553 H55755 I72227 J11152 K55655 L44447 M57755 N65555 O25552 P65644 "
    "Q25573 R65655 S34216 T72222 U55557 V55552 W55775 X55255 Y55222 Z71247 075557 126227 261247 361216 455711 574616 "
    "634757 771122 875757 975716 .00002 ,00024 :02020 ;02024 -00700 _00007 /11244 (12221 )42224 [64446 ]31113 {32423 "
    "}62126 \"55000 '22000 =07070 +02720 !22202 ?61202 @25743 #57575 %51245 &25253 *05250 <12421 >42124 |22222 $36263"
)
"""A glyph: its sign, then its five rows of three dots, each row a number whose bits are the dots."""
_GLYPHS = {word[0]: [int(row) for row in word[1:]] for word in _FONT.split()}
_UNKNOWN = _GLYPHS["?"]
_COLUMNS, _SCALE, _MARGIN = 60, 2, 8
_CELL = (4 * _SCALE, 7 * _SCALE)  # a glyph and the space after it
_INK, _PAPER = 0x20, 0xF4


def png(text: str) -> bytes:
    """Return an image with a text on it, which its metadata have as well."""
    lines = _lines(text, _COLUMNS)
    width, height = _COLUMNS * _CELL[0] + 2 * _MARGIN, len(lines) * _CELL[1] + 2 * _MARGIN
    rows = [bytearray([_PAPER] * width) for _ in range(height)]
    for number, line in enumerate(lines):
        for column, sign in enumerate(line):
            _draw(rows, sign, _MARGIN + column * _CELL[0], _MARGIN + number * _CELL[1])
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # grey, eight bits a pixel
    comment = b"Comment\0" + text.encode("latin-1", "replace")
    chunks = [(b"IHDR", head), (b"tEXt", comment), (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _draw(rows: list[bytearray], sign: str, left: int, top: int) -> None:
    if sign == " ":
        return
    for y, dots in enumerate(_GLYPHS.get(sign.upper(), _UNKNOWN)):
        for x in range(3):
            if dots & (4 >> x):
                for row in rows[top + y * _SCALE : top + (y + 1) * _SCALE]:
                    row[left + x * _SCALE : left + (x + 1) * _SCALE] = bytes([_INK] * _SCALE)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# sounds ---------------------------------------------------------------------------------------------------------------

_RATE, _SECONDS = 8_000, 0.4  # telephone quality, and long enough to be heard
_LOWEST, _TONES = 220, 24  # two octaves from the A below middle C


def wav(text: str) -> bytes:
    """Return a tone whose pitch depends on a text, with the text as its comment."""
    pitch = _LOWEST * 2 ** (zlib.crc32(text.encode()) % _TONES / 12)
    samples = bytes(
        round(128 + 100 * math.sin(2 * math.pi * pitch * at / _RATE)) for at in range(int(_RATE * _SECONDS))
    )
    form = struct.pack("<HHIIHH", 1, 1, _RATE, _RATE, 1, 8)
    comment = b"INFO" + _part(b"ICMT", text.encode("ascii", "replace") + b"\0")
    body = b"WAVE" + _part(b"fmt ", form) + _part(b"LIST", comment) + _part(b"data", samples)
    return _part(b"RIFF", body)


def _part(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


# documents ------------------------------------------------------------------------------------------------------------

_WIDTH, _LINES = 90, 50  # what fits on a page of A4 at ten points


def pdf(text: str) -> bytes:
    """Return a document of one page with a text."""
    shown = "".join(f"({_escaped(line)}) Tj T*\n" for line in _lines(text, _WIDTH)[:_LINES])
    content = f"BT /F1 10 Tf 14 TL 50 790 Td\n{shown}ET".encode("latin-1", "replace")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    ]
    data, places = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + end


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


# blocks ---------------------------------------------------------------------------------------------------------------

_MAKERS: Mapping[Media, tuple[Callable[[str], bytes], str]] = {
    "image": (png, "image/png"),
    "audio": (wav, "audio/wav"),
    "pdf": (pdf, "application/pdf"),
}


def media_block(kind: Media, tool: str, arguments: Record) -> Record:
    """Return a content block with a placeholder for what a call would have made."""
    make, mime_type = _MAKERS[kind]
    text = f"{tool}\n{json.dumps(arguments, indent=1, ensure_ascii=False, default=str)}"
    data = b64encode(make(text[:MOST_SHOWN])).decode()
    if kind == "pdf":
        uri = f"file:///{tool.replace('/', '-')}.pdf"
        return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "blob": data}}
    return {"type": kind, "data": data, "mimeType": mime_type}


def _lines(text: str, width: int) -> list[str]:
    return [
        wrapped for line in text.splitlines() for wrapped in textwrap.wrap(line, width, drop_whitespace=False) or [""]
    ]
