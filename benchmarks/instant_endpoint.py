"""An endpoint like that of a language model, which answers at once: a process of its own, with prepared replies.

    python benchmarks/instant_endpoint.py REPLIES      a JSON file with the reply to each turn, in order

It prints its URL. The reply to a request is that to the last turn in it.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

MODEL = "instant"
TURN = re.compile(rb"### Turn (\d+)")
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
LONGEST = 2**24
"""Maximum size of a request, in bytes."""


@contextmanager
def start_endpoint(replies: Sequence[str]) -> Generator[str]:
    """Yield the URL of an endpoint that gives these replies to the turns."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "replies.json"
        path.write_text(json.dumps(replies), encoding="utf-8")
        with subprocess.Popen([sys.executable, __file__, path], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip()
            finally:
                process.kill()


async def serve(replies: Sequence[str]) -> None:
    """Answer requests until the process is killed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                length = LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
            except asyncio.IncompleteReadError:
                writer.close()
                return
            sent = json.dumps(completion(body, replies) if body else listed()).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
            writer.write(b"content-length: %d\r\n\r\n%s" % (len(sent), sent))

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=LONGEST)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def listed() -> dict[str, Any]:
    """Return the list of models."""
    return {"object": "list", "data": [{"id": MODEL, "object": "model"}]}


def completion(body: bytes, replies: Sequence[str]) -> dict[str, Any]:
    """Return the completion for a request."""
    reply = replies[int(TURN.findall(body)[-1]) - 1]
    message = {"role": "assistant", "content": reply}
    usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(reply) // 4}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}


if __name__ == "__main__":
    asyncio.run(serve(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
