"""Addresses are written alike in all commands, and options may be anywhere before, between and after arguments."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, cast

import pytest

from mcp_sim.cli import COMMANDS, main, module_of
from mcp_sim.cli.parsing import CommandParser

LISTENING = {
    ("serve", "--http"): ["serve", "crm"],
    ("serve", "--control"): ["serve", "crm", "--http", "0"],
    ("serve", "--gym"): ["serve", "calm_crm"],
    ("record", "--http"): ["record", "-o", "somewhere", "--url", "8100/mcp"],
}
"""Options that listen at an address, with a command that is complete but for them."""

RUNNING = {
    ("client-config", "--url"): ["calm_crm", "--client", "cursor"],
    ("connect", "url"): [],
    ("record", "--url"): ["-o", "somewhere"],
    ("view", "--live"): [],
}
"""Options and arguments that name a running server of mcp-sim or another one, with what else the command needs."""


def parser(command: str) -> CommandParser:
    result = CommandParser(prog=f"mcp-sim {command}")
    module_of(command).arguments(result)
    return result


def actions(of: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the options and arguments of a command and of its commands."""
    for action in of._actions:
        commands: dict[str, Any] = cast("Any", action).choices if isinstance(action.choices, dict) else {}
        for inner in commands.values():
            yield from actions(inner)
        yield action


def named(action: argparse.Action) -> str:
    return next((option for option in action.option_strings if option.startswith("--")), action.dest)


def test_every_option_with_an_address_is_known_here() -> None:
    """A new option with an address must be put into the tables above, and be written like the others."""
    written = {
        (command, named(action)): str(action.metavar) for command in COMMANDS for action in actions(parser(command))
    }
    addresses = {key: metavar for key, metavar in written.items() if "PORT" in metavar}
    assert {metavar.partition("[/")[0] for metavar in addresses.values()} == {"[HOST:]PORT"}
    urls = {key for key, metavar in written.items() if metavar == "URL"}
    assert addresses.keys() | urls == LISTENING.keys() | RUNNING.keys()


@pytest.mark.parametrize("key", LISTENING)
@pytest.mark.parametrize("address", ["nonsense", "http://127.0.0.1:80", "127.0.0.1", "1:2:3", "127.0.0.1:99999"])
def test_what_is_no_address_is_refused_alike(
    key: tuple[str, str], address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*LISTENING[key], key[1], address]) == 2
    assert f"{key[1]} takes PORT, or HOST:PORT, as in 8000, 127.0.0.1:8000 or [::1]:8000" in capsys.readouterr().err


@pytest.mark.parametrize("key", RUNNING)
@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("8930", "http://127.0.0.1:8930"),
        ("8930/w/a/mcp", "http://127.0.0.1:8930/w/a/mcp"),
        ("localhost:8930/mcp", "http://localhost:8930/mcp"),
        ("[::1]:8930", "http://[::1]:8930"),
        ("https://mcp.example.com/mcp", "https://mcp.example.com/mcp"),
        ("nonsense", "nonsense"),
    ],
)
def test_a_running_server_is_named_by_its_address_or_its_url(key: tuple[str, str], address: str, url: str) -> None:
    command, name = key
    words = [name, address] if name.startswith("--") else [address]
    args: Any = parser(command).parse_args([*RUNNING[key], *words])
    assert getattr(args, name.strip("-").replace("-", "_")) == url


def orders() -> Iterator[Any]:
    """Yield each command with an argument that can be left out, its arguments, and an option with a value."""
    for command in COMMANDS:
        places = [*actions(parser(command))]
        given = [place for place in places if not place.option_strings and place.nargs in (None, "?")]
        taking = [place for place in places if place.option_strings and place.nargs is None and place.type is None]
        options = [place for place in taking if not place.choices]
        if len(given) > 1 and given[-1].nargs == "?" and options:
            yield pytest.param(command, given, named(options[0]), id=command)


@pytest.mark.parametrize(("command", "given", "option"), [*orders()])
def test_an_option_may_be_between_the_arguments(command: str, given: list[argparse.Action], option: str) -> None:
    words = [str(next(iter(place.choices))) if place.choices else f"word{number}" for number, place in enumerate(given)]
    pair = [option, "x"]
    for at in range(len(words) + 1):
        args = parser(command).parse_args([*words[:at], *pair, *words[at:]])
        assert [str(getattr(args, place.dest)) for place in given] == words
        assert getattr(args, option.strip("-").replace("-", "_")) in ("x", ["x"])
