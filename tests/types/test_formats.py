"""Formats of arguments, through calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import message, service, value


def spec(name: str) -> str:
    schema: dict[str, Any] = {"type": "object", "properties": {"given": {"type": "string", "format": name}}}
    return f"tools: {json.dumps([{'name': 'add_note', 'inputSchema': schema}])}"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("email", "ada"),
        ("date", "01/02/2030"),
        ("date-time", "tomorrow"),
        ("time", "noon"),
        ("uuid", "n-1"),
        ("uri", "example.com"),
        ("ipv4", "1.2.3"),
    ],
)
async def test_an_argument_without_its_format_is_refused(tmp_path: Path, name: str, text: str) -> None:
    async with service(tmp_path, spec(name), "records: {}") as sim, sim.open() as world:
        text = message(await world.call("add_note", {"given": text}))
        assert text.startswith("Invalid arguments: given: ")
        assert name in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("email", "ada@hill.example"),
        ("email", "ädä@localhost"),
        ("date", "2030-01-31"),
        ("date-time", "2030-01-31"),
        ("date-time", "2030-01-31 10:00"),
        ("date-time", "2030-01-31T10:00:00.123z"),
        ("time", "10:00"),
        ("uuid", "123e4567e89b12d3a456426614174000"),
        ("uri", "file:///tmp/notes"),
        ("hostname", "my_host"),
        ("int32", "x"),
    ],
)
async def test_usual_spellings_and_unchecked_formats_are_accepted(tmp_path: Path, name: str, text: str) -> None:
    async with service(tmp_path, spec(name), "records: {}") as sim, sim.open() as world:
        value(await world.call("add_note", {"given": text}))
