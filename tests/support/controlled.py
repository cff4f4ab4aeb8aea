"""A control plane of `mcp-sim serve` in a subprocess, and a client of it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from support.over_http import PATIENCE, Served, listening

LINE = re.compile(r"  control  (http://\S+), token: (\S+)")
TOKEN = "a-token-that-only-operators-have"
LOCAL = ("--control", "127.0.0.1:0")


@dataclass(frozen=True, slots=True)
class Operator:
    """A client of a control plane. Its methods return the decoded answer, and check the status."""

    url: str
    token: str

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """Return the response to a request; `body` is JSON, or bytes as they are."""
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        named = {"authorization": f"Bearer {self.token}", **dashed(headers)}
        with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
            return client.request(method, f"{self.url}{path}", content=content, headers=named)

    def get(self, path: str) -> Any:
        return self._answer("GET", path, None, 200)

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return self._answer("POST", path, body, status)

    def patch(self, path: str, body: Any) -> Any:
        return self._answer("PATCH", path, body, 200)

    def delete(self, path: str) -> None:
        assert self.send("DELETE", path).status_code == 204

    def problems(self, method: str, path: str, body: Any = None) -> list[tuple[str, str]]:
        """Return the places and messages of a request that is refused with 422."""
        response = self.send(method, path, body)
        assert response.status_code == 422, response.text
        return [(problem["path"], problem["message"]) for problem in response.json()["error"]["problems"]]

    def _answer(self, method: str, path: str, body: Any, status: int) -> Any:
        response = self.send(method, path, body)
        assert response.status_code == status, response.text
        return response.json()


def dashed(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers whose names were written as those of arguments."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


def announced(log: list[str]) -> tuple[str, str]:
    """Return the URL of the control plane and where its token is, once a server has announced them."""
    for _ in range(600):
        for line in log:
            match = LINE.search(line)
            if match:
                return match[1], match[2]
        time.sleep(0.1)
    raise AssertionError("\n".join(log))


@contextmanager
def controlled(*arguments: str) -> Generator[tuple[Served, Operator]]:
    """Yield a server over HTTP with a control plane, and a client of that."""
    with listening(*arguments, *LOCAL) as served:
        url, file = announced(served.log)
        yield served, Operator(url, Path(file).read_text(encoding="utf-8").strip())
