"""Check that MCP clients in a page reach mcp-sim from another origin, in a headless Chromium.

    python .ci/browsers.py FOLDER CHROMIUM      FOLDER receives the packages and the pages

tests/clients/in_a_page.mjs connects both generations of the official client, lists the tools and calls one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from clients import CLIENTS, LIBRARY, LONGEST
from conformance import node, serving

PACKAGES = ("esbuild@0.28.1", "@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.3.1")
EXPECTED = {"tools": 14, "id": "deal_0001", "failed": False}


def main(folder: Path, chromium: str) -> int:
    folder.mkdir(exist_ok=True)
    node(LIBRARY / "npm-cli.js", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, *PACKAGES)
    source, script = folder / "page.mjs", folder / "page.js"
    source.write_bytes((CLIENTS / "in_a_page.mjs").read_bytes())
    bundle = [folder / "node_modules" / ".bin" / "esbuild", source, "--bundle", "--format=iife", f"--outfile={script}"]
    subprocess.run([*map(str, bundle), "--log-level=error"], check=True, timeout=LONGEST)
    with serving("calm_crm") as url:
        shown = run_page(script.read_bytes(), url, [chromium, f"--user-data-dir={folder / 'profile'}"])
    problems = [f"{name}: {result}" for name, result in shown.items() if result != EXPECTED]
    print(f"{len(shown)} clients in a page, {len(problems)} problems", *problems, sep="\n  ")
    return 0 if len(shown) == 2 and not problems else 1


def run_page(script: bytes, url: str, chromium: list[str]) -> dict[str, Any]:
    """Open a page with a script, and return what it reports."""
    reports = Queue[bytes]()
    with site({"/": b"<!doctype html><script src=page.js></script>", "/page.js": script}, reports) as address:
        command = [*chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"{address}/?{url}"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
            try:
                return json.loads(reports.get(timeout=LONGEST))
            finally:
                browser.terminate()


@contextmanager
def site(files: dict[str, bytes], reports: Queue[bytes]) -> Generator[str]:
    """Serve files, and queue what is posted. Yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = files.get(self.path.partition("?")[0])
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def do_POST(self) -> None:
            reports.put(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2]))
