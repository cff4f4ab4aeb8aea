"""The reference over HTTP: the MCP SDK's own server under uvicorn, which answers with one constant result per tool.

python benchmarks/bare_http.py TOOLS.json RESULTS.json

It is as fast as users get it without code of their own: JSON instead of event streams, uvloop, httptools. What the SDK
and uvicorn do by default stays: the middleware for telemetry, and a line of log per request.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import uvicorn
from bare_server import bare_server

if __name__ == "__main__":
    tools_file, results_file = (json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:3])
    app = bare_server(tools_file["tools"], results_file).streamable_http_app(json_response=True)
    config = uvicorn.Config(app, port=0, loop="uvloop", http="httptools", timeout_keep_alive=75)
    uvicorn.Server(config).run()
