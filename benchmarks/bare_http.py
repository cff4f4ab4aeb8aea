"""The reference over HTTP: the MCP SDK's own server under uvicorn, which answers every call with one constant result.

python benchmarks/bare_http.py TOOLS.json RESULT.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import uvicorn
from bare_server import bare_server

if __name__ == "__main__":
    tools_file, result_file = (json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:3])
    app = bare_server(tools_file["tools"], result_file).streamable_http_app(json_response=True)
    config = uvicorn.Config(
        app, port=0, loop="uvloop", http="httptools", access_log=False, ws="none", timeout_keep_alive=75
    )
    uvicorn.Server(config).run()
