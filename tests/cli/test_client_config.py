"""`mcp-sim client-config`: entries for each client, for one server or several, printed or merged into its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_sim.cli import main

TWO = "mcp_sim: 1\nname: two\ntools: {crm: crm, sales: crm}\nworld: {namespaces: true}\n"


def printed(capsys: Any, *arguments: str) -> Any:
    assert main(["client-config", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("client", "key", "kind"),
    [
        ("claude-desktop", "mcpServers", None),
        ("claude-code", "mcpServers", "stdio"),
        ("cursor", "mcpServers", None),
        ("vscode", "servers", "stdio"),
        ("mcp-json", "mcpServers", None),
    ],
)
def test_each_client_gets_its_own_form(capsys: Any, client: str, key: str, kind: str | None) -> None:
    ((found, servers),) = printed(capsys, "calm_crm", "--client", client).items()
    entry = servers["crm"]
    assert (found, entry.get("type"), entry["args"][-2:]) == (key, kind, ["serve", "calm_crm"])
    assert Path(entry["command"]).is_absolute()


def test_several_servers_are_an_entry_each_and_the_user_is_reported_of_the_worlds(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(TWO.replace("sales: crm", f"sales: {tmp_path / 'sales.yaml'}"))
    (tmp_path / "sales.yaml").write_text(
        "mcp_sim: 1\nname: sales\ntools: [{name: ping, inputSchema: {type: object}}]\n"
    )
    assert main(["client-config", str(path), "--client", "cursor"]) == 0
    captured = capsys.readouterr()
    entries = json.loads(captured.out)["mcpServers"]
    assert {name: entry["args"][-2:] for name, entry in entries.items()} == {
        "crm": ["--server", "crm"],
        "sales": ["--server", "sales"],
    }
    assert "Each entry starts a separate world" in captured.err
    entries = printed(capsys, str(path), "--client", "cursor", "--url", "http://127.0.0.1:8930/w/one")["mcpServers"]
    assert entries["sales"] == {"type": "http", "url": "http://127.0.0.1:8930/w/one/sales/mcp"}


def test_a_running_server_is_named_by_url_or_through_connect(capsys: Any) -> None:
    url = ["--url", "http://127.0.0.1:8930"]
    entry = printed(capsys, "calm_crm", "--client", "vscode", *url)["servers"]["crm"]
    assert entry == {"type": "http", "url": "http://127.0.0.1:8930/w/default/mcp"}
    entry = printed(capsys, "calm_crm", "--client", "claude-desktop", *url)["mcpServers"]["crm"]
    assert entry["args"][-2:] == ["connect", "http://127.0.0.1:8930/w/default/mcp"]
    assert main(["client-config", "calm_crm", "--client", "cursor", "--url", "no url"]) == 2


def test_write_merges_keeps_the_rest_and_the_file_as_it_was(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "deep" / "mcp.json"
    write = ["client-config", "calm_crm", "--client", "cursor", "--write", str(path)]
    assert main(write) == 0
    assert "before" not in capsys.readouterr().err
    old = {"theme": "dark", "mcpServers": {"other": {"command": "x"}, "crm": {"command": "stale"}}}
    path.write_text(json.dumps(old))
    assert main(write) == 0
    assert "mcp.json.bak" in capsys.readouterr().err
    merged = json.loads(path.read_text())
    assert (merged["theme"], merged["mcpServers"]["other"]) == ("dark", {"command": "x"})
    assert merged["mcpServers"]["crm"]["args"][-2:] == ["serve", "calm_crm"]
    assert json.loads((path.parent / "mcp.json.bak").read_text()) == old
    assert main(write) == 0
    assert {file.name for file in path.parent.iterdir()} == {"mcp.json", "mcp.json.bak", "mcp.json.bak2"}


@pytest.mark.parametrize("content", ["// a comment\n{}", "[]", '{"mcpServers": []}', "[" * 100_000])
def test_a_file_that_cannot_be_merged_into_is_left_alone(tmp_path: Path, capsys: Any, content: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(content)
    assert main(["client-config", "calm_crm", "--client", "cursor", "--write", str(path)]) == 2
    assert "nothing was written" in capsys.readouterr().err
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("mcp.json", content)]
