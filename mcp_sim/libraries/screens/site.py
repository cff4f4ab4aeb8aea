"""Sites: functions that return the pages of addresses and act on forms that are sent there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urljoin, urlsplit

from mcp_sim.libraries.store import LibraryError

Handler = TypeVar("Handler", bound=Callable[..., str])
_PARAMETER = re.compile(r"<(\w+)>")
_REASONS = {200: "OK", 404: "Not Found"}


_KEPT = "%/:?#[]@!$&'()*+,;=~"
"""Characters of an address that browsers send as they are."""
_LONGEST_ADDRESS = 8_192
"""Characters that usual servers take."""


class ScreenError(LibraryError):
    """An action that the page does not allow."""


class Redirect(LibraryError):
    """The answer of a page that sends the browser to another address."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class NotFound(LibraryError):
    """The answer of a page that does not exist."""


@dataclass(slots=True)
class Answer:
    """The answer of a site: a page, or where to go instead."""

    html: str = ""
    status: int = 200
    location: str = ""

    @property
    def reason(self) -> str:
        """The status with its words."""
        return f"{self.status} {_REASONS.get(self.status, '')}".strip()


@dataclass(slots=True)
class Site:
    """The pages at one origin, such as `https://shop.example`.

    `@site.page("/parts/<id>")` and `@site.post("/cart")` add functions of the world and of the parameters: those of the
    path, the query and the form. Unknown parameters are left out. They return HTML, or raise `Redirect` or `NotFound`.
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

    def answer(self, world: Any, method: str, path: str, query: str, form: Mapping[str, str]) -> Answer:
        """Return the answer to a request."""
        for known, pattern, handler in self._pages:
            match = pattern.fullmatch(path)
            if known == method and match is not None:
                parameters = {**dict(parse_qsl(query, keep_blank_values=True)), **form, **match.groupdict()}
                try:
                    return Answer(handler(world, **_taken(handler, parameters)))
                except Redirect as redirect:
                    return Answer(location=redirect.path)
                except NotFound as error:
                    return _missing(str(error))
        return _missing(path)


def _taken(handler: Callable[..., str], parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters that a function takes."""
    code = handler.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return {name: value for name, value in parameters.items() if name in names}


def _missing(what: str) -> Answer:
    return Answer(f"<title>Not found</title><body><h1>Not found</h1><p>{escape(what)}</p></body>", 404)


def path_and_query(url: str) -> tuple[str, str]:
    """Return the path and the query of an address."""
    parts = urlsplit(url)
    return parts.path or "/", parts.query


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
