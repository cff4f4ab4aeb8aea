"""The options of world models that ask a real server."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, Self
from urllib.parse import urlsplit

import anyio
from pydantic import Field, PrivateAttr, field_validator, model_validator

from mcp_sim.models.real_server.connection import RealServer
from mcp_sim.spec.foreign.secrets import MissingValue, fill_placeholders, find_secrets, without_own_secrets
from mcp_sim.spec.live_server import AtCommand, AtUrl
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import Imported, Unreached, WorldModel, importers
from mcp_sim.types.options import PositiveDuration


class RealServerOptions(WorldModel):
    """How a real server is reached. Texts may hold `${NAME}`, filled in from the environment."""

    written: ClassVar[str] = "URL or COMMAND"

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
        if self.url is not None and urlsplit(self.url).scheme not in ("http", "https"):
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

    @property
    def answers_requests(self) -> bool:
        return True

    @property
    def makes_records(self) -> bool:
        return True

    def beside(self, document: Path) -> Self:
        model = self.model_copy()
        model._folder = document.parent  # noqa: SLF001 (its own attribute, on a copy)
        return model

    def needs_trust(self, environment: Mapping[str, str]) -> Iterator[str]:
        if self.url is None:
            yield f"runs the command {json.dumps(self.command)}"
        else:
            yield f"sends calls to {urlsplit(self.url).netloc}"

    def listed(self) -> Imported | Unreached:
        filled = self._filled(os.environ)
        folder = self._folder / self.cwd if self.cwd is not None else None
        asked: Record = {
            "sources": filled.command if filled.url is None else (filled.url,),
            "headers": filled.headers,
            "env": filled.env,
            "folder": folder,
            "transport": self.transport,
            "timeout": self._seconds,
            "tools_only": True,
        }
        with ThreadPoolExecutor(1) as pool:  # the caller may have an event loop
            [imported] = pool.submit(anyio.run, importers["mcp"].model_validate(asked).imported).result()
        return imported

    def server(self, environment: Mapping[str, str]) -> RealServer:
        """Return the server, not yet started. Raises `UsageError` if a variable has no value."""
        filled = self._filled(environment)
        command, url, env, headers = filled.command, filled.url, filled.env, filled.headers
        secrets = find_secrets(command if url is None else [url], env.values(), headers)
        if url is not None:
            at_url = AtUrl(url, headers, self.transport == "sse")
            return RealServer(urlsplit(url).netloc, at_url, secrets, self._seconds)
        folder = self._folder / self.cwd if self.cwd is not None else None
        at_command = AtCommand(command, {**without_own_secrets(os.environ), **env}, folder)
        return RealServer(Path(command[0]).name, at_command, secrets, self._seconds)

    def _filled(self, environment: Mapping[str, str]) -> Self:
        """Return the options with values for `${NAME}`. Raises `UsageError` if a variable is not set."""
        fill = partial(fill_placeholders, environment=environment)
        try:
            filled: Record = {
                "command": tuple(map(fill, self.command)),
                "url": None if self.url is None else fill(self.url),
                "env": {name: fill(value) for name, value in self.env.items()},
                "headers": {name: fill(value) for name, value in self.headers.items()},
            }
        except MissingValue as error:
            raise UsageError(str(error)) from None
        return self.model_copy(update=filled)

    @property
    def is_local(self) -> bool:
        return False

    @property
    def _seconds(self) -> float:
        return self.timeout.total_seconds()
