"""A scenario full of words that no agent may read, and the search for them."""

from __future__ import annotations

import json
from pathlib import Path

TOKEN = "telltale-token-9871"
SECRETS = (
    "telltale", "odd.yaml", "918273645", "nobody should read", "vault", "lost_ack", "uvicorn", "traceback", "python",
    "mcp-sim",
)  # fmt: skip


def telltale_scenario(folder: Path) -> str:
    """Write the scenario: one fault of each sort, a broken kind, a task, an expectation, a seed."""
    document = {
        "mcp_sim": 1,
        "name": "telltale-scenario",
        "tools": "crm",
        "seed": 918273645,
        "task": "The task that nobody should read",
        "perturbations": [
            {"lost_ack": None, "id": "telltale-perturbation", "tools": "create_deal", "when": {"nth": 1}},
            {"bug": None, "id": "telltale-bug", "tools": "list_companies"},
            {"undelivered": "http", "id": "telltale-http", "tools": "get_company"},
        ],
        "expect": [{"called": {"tool": "create_deal"}, "id": "telltale-expectation"}],
    }
    path = folder / "odd.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def telltale_tokens(folder: Path) -> str:
    """Write a file with TOKEN, whose world has a secret name too, and another token."""
    path = folder / "tokens"
    path.write_text(f"telltale-bearer {TOKEN}\ntelltale-other\n", encoding="utf-8")
    path.chmod(0o600)
    return str(path)


def assert_nothing_leaks(output: bytes, folder: Path, crashes: int) -> None:
    """Assert that the output has no secret, and the product's name only in the lines of `crashes` crashes."""
    text = output.lower()
    assert b"deal_00" in text
    for word in (*SECRETS, str(folder)):
        assert word.lower().encode() not in text, word
    assert text.count(b"mcp_sim") == text.count(b'"mcp_sim":"crash"') == crashes
