"""Check mcp-sim-core where only it is installed: an episode in process, and what the console script refuses.

python .ci/core.py
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from mcp_sim.training import Answer, Environment, ToolCall

COMMAND = Path(sys.executable).parent / "mcp-sim"


def judged() -> str:
    """Return the outcome of a short episode, whose first call waits for nothing and whose second has a fault."""
    environment = Environment("flaky_crm")
    environment.reset()
    assert not environment.step(ToolCall("list_deals")).messages[0].is_error
    create = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
    assert environment.step(ToolCall("create_deal", create)).messages[0].is_error
    environment.step(Answer("Done."))
    return environment.grade().outcome


def main() -> int:
    left_out = [name for name in ("mcp", "openai", "uvicorn", "starlette") if find_spec(name) is not None]
    if left_out:
        print(f"installed although mcp-sim-core does without: {', '.join(left_out)}")
        return 1
    print(f"mcp-sim-core: an episode of flaky_crm {judged()}")
    for words in (["serve", "calm_crm"], ["serve", "calm_crm", "--http", "127.0.0.1:0"], ["demo"]):
        refused = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=60)
        if refused.returncode != 2 or "pip install mcp-sim" not in refused.stderr:
            print(f"mcp-sim {' '.join(words)}: exit code {refused.returncode}, {refused.stderr[-500:]}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
