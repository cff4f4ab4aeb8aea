"""Programs know who calls: the principal of the token, in the ledger too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.libraries import ACT, library, small
from support.over_http import ERAS, caller, listening


@pytest.mark.parametrize("era", ERAS)
async def test_a_program_gets_the_principal_of_the_token(tmp_path: Path, era: str) -> None:
    tokens, trace = tmp_path / "tokens", tmp_path / "trace.jsonl"
    tokens.write_text("anne tiptop\nbo secret\n", encoding="utf-8")
    tokens.chmod(0o600)
    scenario = library(tmp_path, small("return world.caller"), ACT)
    options = ("--token-file", str(tokens), "--trust", str(tmp_path), "--trace", str(trace))
    with listening(str(scenario), *options) as served:
        for name, token in (("anne", "tiptop"), ("bo", "secret")):
            async with caller(f"{served.url}/w/x/mcp", era, headers={"authorization": f"Bearer {token}"}) as one:
                answer = await one.post("tools/call", {"name": "act", "arguments": {}})
                assert name in answer.text
    steps = [json.loads(line)["step"] for line in trace.read_text(encoding="utf-8").splitlines() if '"step"' in line]
    assert [step["caller"] for step in steps if step["entry"] == "call"] == ["anne", "bo"]
