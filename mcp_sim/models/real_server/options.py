"""The options of world models that ask a real server."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Literal, Self

import anyio
from pydantic import Field, PrivateAttr, field_validator, model_validator

from mcp_sim.models.real_server.connection import RealServer
from mcp_sim.spec.foreign.secrets import MissingValue, fill_placeholders, find_secrets, without_own_secrets
from mcp_sim.spec.live_server import AtCommand, AtUrl
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import Imported, Unreached, WorldModel, importers
from mcp_sim.types.options import PositiveDuration
from mcp_sim.types.urls import split_url

_FOLDER = re.compile(r"(?<!\$)\{folder\}")


class RealServerOptions(WorldModel):
    """How a real server is reached. Texts may hold `${NAME}`, filled in from the environment.

    `{folder}` in `command`, `env` and `cwd` is a new folder for each process.
    """

    written: ClassVar[str] = "URL or COMMAND"
    makes_records: ClassVar[bool] = True
    is_local: ClassVar[bool] = False
    answers_requests: ClassVar[bool] = True

    command: tuple[str, ...] = Field(
        default=(), description="A command that starts a server on stdio.", examples=[["npx", "-y", "some-server"]]
    )
    url: str | None = Field(default=None, description="The URL of a server.", examples=["https://mcp.example.com/mcp"])
    env: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="Environment variables for the command, added to those of this process but its tokens and keys.",
        repr=False,
    )
    cwd: str | None = Field(default=None, description="The working directory of the command, from the document's.")
    headers: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="HTTP headers for the URL.",
        repr=False,
        examples=[{"Authorization": "Bearer ${NOTES_TOKEN}"}],
    )
    transport: Literal["http", "sse"] = Field(
        default="http",
        description="Transport for a URL: streamable HTTP, or HTTP+SSE if the server refuses it; or that at once.",
    )
    timeout: PositiveDuration = Field(default=timedelta(minutes=1), description="Maximum real time of one call.")

    _folder: Path = PrivateAttr(default_factory=Path)

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return shlex.split(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if bool(self.command) == (self.url is not None):
            raise ValueError("needs either `command` or `url`")
        if self.url is not None and split_url(self.url).scheme not in ("http", "https"):
            raise ValueError(f"url: {self.url!r} is not a URL; expected a form like https://mcp.example.com/mcp")
        for name in ("env", "cwd") if self.url is not None else ("headers",):
            if getattr(self, name):
                raise ValueError(f"{name}: is for {'a command' if self.url is not None else 'a URL'}")
        return self

    @classmethod
    def options_in(cls, text: str) -> Record | None:
        return {"url" if text.lower().startswith(("http://", "https://")) else "command": text} if text else None

    @property
    def judges_arguments(self) -> bool:
        return True

    def beside(self, document: Path) -> Self:
        model = self.model_copy()
        model._folder = document.parent  # noqa: SLF001 (its own attribute, on a copy)
        return model

    def needs_trust(self, environment: Mapping[str, str]) -> Iterator[str]:
        if self.url is None:
            yield f"runs the command {json.dumps(self.command)}"
        else:
            yield f"sends calls to {split_url(self.url).netloc}"

    def listed(self) -> Imported | Unreached:
        with self._placed() as placed, ThreadPoolExecutor(1) as pool:  # the caller may have an event loop
            asked: Record = {
                "sources": placed.command if placed.url is None else (placed.url,),
                "headers": placed.headers,
                "env": placed.env,
                "folder": placed.cwd,
                "transport": self.transport,
                "timeout": self._seconds,
                "tools_only": True,
            }
            [imported] = pool.submit(anyio.run, importers["mcp"].model_validate(asked).imported).result()
        return imported

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[RealServer]:
        """Yield the server, started at its first call, and end it. Raises `UsageError` if a variable has no value."""
        with self._placed() as placed:
            server = _server(placed, self._seconds)
            try:
                yield server
            finally:
                await server.aclose()

    @contextmanager
    def _placed(self) -> Generator[Self]:
        """Yield the options with values for `${NAME}`, a new `{folder}` if they name it, and the path of `cwd`."""
        fill = partial(fill_placeholders, environment=os.environ)
        try:
            values: Record = {
                "command": tuple(map(fill, self.command)),
                "url": None if self.url is None else fill(self.url),
                "env": {name: fill(value) for name, value in self.env.items()},
                "headers": {name: fill(value) for name, value in self.headers.items()},
            }
        except MissingValue as error:
            raise UsageError(str(error)) from None
        filled = self.model_copy(update=values)
        texts = (*self.command, *self.env.values(), self.cwd or "")
        with ExitStack() as stack:
            folder = ""
            if any(map(_FOLDER.search, texts)):
                temporary = TemporaryDirectory(prefix="mcp-sim-server-", ignore_cleanup_errors=True)
                folder = str(Path(stack.enter_context(temporary)).resolve())
            place = partial(_FOLDER.sub, lambda _: folder)
            update: Record = {
                "command": tuple(map(place, filled.command)),
                "env": {name: place(value) for name, value in filled.env.items()},
                "cwd": None if self.cwd is None else str(self._folder / place(self.cwd)),
            }
            yield filled.model_copy(update=update)

    @property
    def _seconds(self) -> float:
        return self.timeout.total_seconds()


def _server(placed: RealServerOptions, seconds: float) -> RealServer:
    """Return the server of options that are filled in, not yet started."""
    command, url, env, headers = placed.command, placed.url, placed.env, placed.headers
    secrets = find_secrets(command if url is None else [url], env.values(), headers)
    if url is not None:
        return RealServer(split_url(url).netloc, AtUrl(url, headers, placed.transport == "sse"), secrets, seconds)
    folder = None if placed.cwd is None else Path(placed.cwd)
    at_command = AtCommand(command, {**without_own_secrets(os.environ), **env}, folder)
    return RealServer(Path(command[0]).name, at_command, secrets, seconds)
