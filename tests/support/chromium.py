"""A headless Chromium of the system, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def chromium() -> str | None:
    """Return the path of a Chromium: `$CHROMIUM`, or one in the path."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_browser() -> Generator[Browser]:
    """Start the browser; without one, the test is skipped."""
    path = chromium()
    if path is None:
        pytest.skip(
            f"there is no Chromium ({', '.join(NAMES)}, or $CHROMIUM), so the viewer was not tried in a browser"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """A tab that notes what a page must not do: errors, dialogs, requests of others than the address `own`."""

    def __init__(
        self, browser: Browser, width: int = 1440, height: int = 900, *, scheme: str = "light", own: str = ""
    ) -> None:
        self._own = own.partition("#")[0]
        dark = "dark" if scheme == "dark" else "light"
        self.page: Page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=dark)
        self.troubles: list[str] = []
        self.page.on("console", lambda message: self.troubles.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self._note(request.url))

    def _dismiss(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note(self, url: str) -> None:
        if not self._own or not url.startswith(self._own):
            self.troubles.append(f"request: {url}")

    def open(self, path: Path, fragment: str = "") -> Page:
        """Open a file."""
        self._own = path.absolute().as_uri()
        self.page.goto(self._own + fragment)
        return self.page

    def close(self) -> None:
        self.page.close()
