"""Tools that return images, sounds and documents answer with small valid ones that show the arguments."""

from __future__ import annotations

import io
import json
import re
import struct
import wave
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from mcp_sim import Simulator
from mcp_sim.simulator.compile import check
from mcp_sim.types import ToolResult

ARGUMENTS = {"prompt": 'A "red" (fox) \\ in snow, café', "size": 512}
ANY = {"type": "object", "properties": {"prompt": {"type": "string"}, "size": {"type": "integer"}}}


def spec(folder: Path, tools: dict[str, Any], **more: Any) -> Path:
    listed = [{"name": name, "inputSchema": ANY, **about} for name, about in tools.items()]
    path = folder / "studio.json"
    path.write_text(json.dumps({"mcp_sim": 1, "name": "studio", "tools": listed, **more}), encoding="utf-8")
    return path


async def answer(path: Path, tool: str) -> Any:
    async with Simulator.load(path).open() as world:
        body = (await world.call(tool, ARGUMENTS)).body
        assert isinstance(body, ToolResult)
        return body.content[0]


async def test_an_image_shows_the_arguments(tmp_path: Path) -> None:
    block = await answer(spec(tmp_path, {"generate_image": {}}), "generate_image")
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    data = b64decode(block["data"], validate=True)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(data) < 20_000
    chunks, at = dict[bytes, bytes](), 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + chunks[kind])
        at += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    pixels = zlib.decompress(chunks[b"IDAT"])
    assert len(pixels) == (width + 1) * height
    assert 0x20 in pixels
    assert b"in snow" in chunks[b"tEXt"]


async def test_a_sound_can_be_played_and_a_document_read(tmp_path: Path) -> None:
    path = spec(tmp_path, {"text_to_speech": {}, "report": {}}, sim={"report": {"media": "pdf"}})
    sound = await answer(path, "text_to_speech")
    assert (sound["type"], sound["mimeType"]) == ("audio", "audio/wav")
    with wave.open(io.BytesIO(b64decode(sound["data"]))) as played:
        assert played.getnframes() == 3200
    document = (await answer(path, "report"))["resource"]
    data = b64decode(document["blob"])
    assert document["mimeType"] == "application/pdf"
    assert data.startswith(b"%PDF-1.4")
    assert rb"\(fox\) \\" in data
    start = int(re.findall(rb"startxref\n(\d+)\n", data)[0])
    assert data[start:].startswith(b"xref")
    for number, place in enumerate(map(int, re.findall(rb"(\d{10}) 00000 n", data)), 1):
        assert data[place:].startswith(b"%d 0 obj" % number)


@pytest.mark.parametrize(
    ("tool", "about", "sim"),
    [
        ("create_image_record", {}, {}),
        ("get_screenshot_settings", {}, {}),
        ("take_screenshot", {}, {"media": "none"}),
        ("take_screenshot", {}, {"result": "done"}),
        ("take_screenshot", {"outputSchema": {"type": "object"}}, {}),
    ],
)
async def test_other_tools_answer_as_before(tmp_path: Path, tool: str, about: Any, sim: Any) -> None:
    assert (await answer(spec(tmp_path, {tool: about}, sim={tool: sim}), tool))["type"] == "text"


def test_a_tool_with_an_output_schema_returns_no_media(tmp_path: Path) -> None:
    path = spec(tmp_path, {"draw": {"outputSchema": {"type": "object"}}}, sim={"draw": {"media": "image"}})
    assert any("has an outputSchema" in problem.message for problem in check([path]))
