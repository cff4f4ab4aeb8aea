"""Sites: functions that return the pages of addresses and act on forms that are sent there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from inspect import signature
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urljoin, urlsplit

from mcp_sim.libraries.store import LibraryError

Handler = TypeVar("Handler", bound=Callable[..., str])
_PARAMETER = re.compile(r"<(\w+)>")
_REASONS = {200: "OK", 302: "Found", 303: "See Other", 404: "Not Found"}


_KEPT = "%/:?#[]@!$&'()*+,;=~"
"""Characters of an address that browsers send as they are."""
_LONGEST_ADDRESS = 8_192
"""Characters that usual servers take."""


class ScreenError(LibraryError):
    """An action that the page does not allow."""


class NotReady(ScreenError):
    """An action that the page does not allow as it is now: real browsers wait for it to change."""


class Redirect(LibraryError):
    """The answer of a page that sends the browser to another address."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class NotFound(LibraryError):
    """The answer of a page that does not exist."""


def reason(status: int) -> str:
    """Return the words of an HTTP status."""
    return _REASONS.get(status, "")


@dataclass(slots=True)
class Answer:
    """The answer of a site: a page, or where to go instead."""

    html: str = ""
    status: int = 200
    location: str = ""


@dataclass(slots=True)
class Site:
    """The pages at one origin, such as `https://shop.example`.

    `@site.page("/parts/<id>")` and `@site.post("/cart")` add functions of the world and of the parameters: those of the
    path, the query and the form. Unknown parameters are left out; one whose default is a tuple gets all values of that
    name. They return HTML, or raise `Redirect` or `NotFound`.
    """

    origin: str
    _pages: list[tuple[str, re.Pattern[str], Callable[..., str]]] = field(
        default_factory=list[tuple[str, "re.Pattern[str]", "Callable[..., str]"]]
    )

    def page(self, path: str) -> Callable[[Handler], Handler]:
        """Return a decorator that adds the page of an address."""
        return self._adding("GET", path)

    def post(self, path: str) -> Callable[[Handler], Handler]:
        """Return a decorator that adds what happens when a form is sent to an address."""
        return self._adding("POST", path)

    def _adding(self, method: str, path: str) -> Callable[[Handler], Handler]:
        pattern = re.compile(_PARAMETER.sub(r"(?P<\1>[^/]+)", path))

        def add(handler: Handler) -> Handler:
            self._pages.append((method, pattern, handler))
            return handler

        return add

    def answer(self, world: Any, method: str, path: str, query: str, form: Sequence[tuple[str, str]]) -> Answer:
        """Return the answer to a request. `form`: names and values, as they were sent."""
        for known, pattern, handler in self._pages:
            match = pattern.fullmatch(path)
            if known == method and match is not None:
                sent = [*parse_qsl(query, keep_blank_values=True), *form, *match.groupdict().items()]
                try:
                    return Answer(handler(world, **_taken(handler, sent)))
                except Redirect as redirect:
                    return Answer(status=303 if method == "POST" else 302, location=redirect.path)
                except NotFound as error:
                    return _missing(str(error))
        return _missing(path)


def _taken(handler: Callable[..., str], sent: Sequence[tuple[str, str]]) -> dict[str, str | tuple[str, ...]]:
    """Return the parameters that a function takes."""
    taken = dict[str, str | tuple[str, ...]]()
    for name, parameter in [*signature(handler).parameters.items()][1:]:
        values = tuple(value for key, value in sent if key == name)
        if isinstance(parameter.default, tuple):
            taken[name] = values
        elif values:
            taken[name] = values[-1]
    return taken


def _missing(what: str) -> Answer:
    return Answer(f"<title>Not found</title><body><h1>Not found</h1><p>{escape(what)}</p></body>", 404)


def resolved(base: str, address: str = "") -> str:
    """Return an address of a page as browsers send it. Raises `ScreenError` if it is invalid or too long."""
    try:
        url = quote(urljoin(base, address), safe=_KEPT)
        urlsplit(url)
    except ValueError:
        url = ""
    if not url or len(url) > _LONGEST_ADDRESS:
        raise ScreenError("Protocol error (Page.navigate): Cannot navigate to invalid URL")
    return url
