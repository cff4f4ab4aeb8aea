"""The catalogue: each service has a page that is generated from its specs."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.catalogue_pages import FOLDER, page

SERVICES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
LONGEST = 300
"""The most words of a page, without the names of tools."""
EACH = 130
"""The most words of a page with many specs, for each of them."""


@pytest.mark.parametrize("service", SERVICES)
def test_the_page_of_a_service_is_up_to_date_and_short(service: str) -> None:
    folder: Path = FOLDER / service
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert page(folder) == text, "run: python tests/support/catalogue_pages.py"
    assert len([word for word in text.split() if not word.startswith("`")]) <= max(LONGEST, EACH * text.count("\n# "))
