"""examples/clients/README.md says what the clients stage runs."""

from __future__ import annotations

import pytest
from support.client_page import LANGUAGES, PAGE, SCRIPTS, Client, clients, page, shown


def test_the_page_is_made_of_the_scripts_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tests/support/client_page.py"


@pytest.mark.parametrize("client", list(clients()), ids=lambda client: client.title)
def test_the_page_shows_both_ways_to_the_server_and_nothing_of_the_test(client: Client) -> None:
    headings = " ".join(heading for heading, _ in client.parts)
    assert "over stdio" in headings
    assert "over HTTP" in headings
    for leftover in ("page:", "url(", "$url", "$world", "yield"):
        assert leftover not in client.lines


def test_every_script_is_of_a_client_that_the_stage_tries() -> None:
    scripts = {path.stem for path in SCRIPTS.glob("with_*") if path.suffix in LANGUAGES}
    assert len(scripts) == len(list(clients())) == 9


def test_what_the_scripts_are_given_is_written_out() -> None:
    assert shown("    async with Client(url(world)) as crm:\n") == (
        'async with Client("http://127.0.0.1:8000/w/anne/mcp") as crm:\n    ...'
    )
