"""A tee between clients and a server over HTTP, which keeps every byte of both sides, and reads them as exchanges."""

from __future__ import annotations

import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import Any, TypeAlias

import httptools

Headers: TypeAlias = frozenset[tuple[bytes, bytes]]
Exchange: TypeAlias = tuple[str, bytes, Headers, bytes, int, Headers, bytes]
"""Method, path, headers and body of a request; status, headers and body of its response."""

HOP_BY_HOP = frozenset({b"connection", b"host", b"keep-alive", b"transfer-encoding"})


class HttpTee:
    """Listens at `port`, and passes everything on to a server on another port of this machine."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._logs = list[tuple[bytearray, bytearray]]()
        self._open = list[tuple[socket.socket | None, Thread]]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(None, self._accept)

    def close(self) -> None:
        """End all connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection, _ in self._open:
            if connection is not None:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for connection, thread in self._open:
            thread.join()
            if connection is not None:
                connection.close()

    def exchanges(self) -> list[Exchange]:
        """Return all exchanges, sorted: over several connections they have no order."""
        exchanges = list[Exchange]()
        for sent, received in self._logs:
            requests, responses = _Reader(), _Reader()
            httptools.HttpRequestParser(requests).feed_data(bytes(sent))
            parser = httptools.HttpResponseParser(responses)
            responses.status = parser.get_status_code
            with suppress(httptools.HttpParserError):  # a stream that was cut off
                parser.feed_data(bytes(received))
            for request, response in zip(requests.whole, responses.all(), strict=False):
                exchanges.append((request[0], request[1], *request[2:4], response[4], *response[2:4]))
        return sorted(exchanges, key=repr)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                log = bytearray(), bytearray()
                self._logs.append(log)
                self._start(client, partial(_copy, client, server, log[0]))
                self._start(server, partial(_copy, server, client, log[1]))

    def _start(self, connection: socket.socket | None, run: Callable[[], None]) -> None:
        thread = Thread(target=run, daemon=True)
        self._open.append((connection, thread))
        thread.start()


class _Reader:
    """Collects what a parser of HTTP finds: method, path, headers, body and status of each message."""

    def __init__(self) -> None:
        self.whole = list[tuple[str, bytes, Headers, bytes, int]]()
        self.status: Any = int
        self._begun: list[Any] | None = None

    def all(self) -> list[tuple[str, bytes, Headers, bytes, int]]:
        """Return the messages, with one that was cut off."""
        return self.whole if self._begun is None else [*self.whole, self._message()]

    def on_message_begin(self) -> None:
        self._begun = [b"", [], b"", 0]

    def on_url(self, url: bytes) -> None:
        assert self._begun is not None
        self._begun[0] += url

    def on_header(self, name: bytes, value: bytes) -> None:
        assert self._begun is not None
        if name.lower() not in HOP_BY_HOP:
            self._begun[1].append((name.lower(), value))

    def on_headers_complete(self) -> None:
        assert self._begun is not None
        self._begun[3] = self.status()

    def on_body(self, body: bytes) -> None:
        assert self._begun is not None
        self._begun[2] += body

    def on_message_complete(self) -> None:
        self.whole.append(self._message())
        self._begun = None

    def _message(self) -> tuple[str, bytes, Headers, bytes, int]:
        assert self._begun is not None
        path, headers, body, status = self._begun
        return "", path, frozenset(headers), body, status


def _copy(source: socket.socket, target: socket.socket, log: bytearray) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            log += data
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def teed(port: int) -> Generator[HttpTee]:
    """Yield a tee in front of a port."""
    tee = HttpTee(port)
    try:
        yield tee
    finally:
        tee.close()
