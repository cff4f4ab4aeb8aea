"""A later import keeps what was written, and reports what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.petstore import PETSTORE, petstore
from support.specs_made import GET, LIST, saved

from mcp_sim.cli import main


def test_a_later_import_keeps_what_was_written_and_reports_what_is_new(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = petstore(here)
    main(["import", "openapi", source])
    spec = here / "Pet_Store.yaml"
    mine = spec.read_text(encoding="utf-8").replace("showPet: {verb: get", "showPet: {verb: search") + (
        "errors:\n  not_found: gone   # as they say\n"
        "examples:\n- {tool: removePet, arguments: {petId: x}, result: {}}\n"
    )
    spec.write_text(mine, encoding="utf-8")
    document = json.loads(json.dumps(PETSTORE))
    document["info"]["version"] = "2.0"
    document["paths"]["/owners"] = {"get": {"operationId": "listOwners", "responses": {"200": {"description": "ok"}}}}
    document["components"]["schemas"]["Owner"] = {"type": "object", "properties": {"id": {"type": "string"}}}
    capsys.readouterr()
    assert main(["import", "openapi", "--check", petstore(here, document)]) == 1
    assert "+ listOwners" in capsys.readouterr().out
    assert spec.read_text(encoding="utf-8") == mine
    assert main(["import", "openapi", source]) == 0
    after = spec.read_text(encoding="utf-8")
    lines = iter(after.splitlines())
    assert all(line in lines for line in mine.splitlines())
    assert "listOwners: {verb: list, entity: owner}" in after
    captured = capsys.readouterr()
    assert "since the last import: + listOwners" in captured.out
    assert "Merged into Pet_Store.yaml. Its previous content is in Pet_Store.yaml.bak." in captured.err
    assert (here / "Pet_Store.yaml.bak").read_text(encoding="utf-8") == mine
    assert main(["import", "openapi", source]) == 0
    assert "Merged" not in capsys.readouterr().err
    assert not (here / "Pet_Store.yaml.bak2").exists()
    assert 'version is now "2.0"; Pet_Store.yaml keeps its value' in captured.err
    assert "sim.showPet differs from Pet_Store.yaml, which keeps its value" in captured.err
    assert main(["import", "openapi", "--check", source]) == 0


def test_a_tool_that_is_gone_is_reported_where_the_spec_names_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["import", "tools", "--name", "pets", saved(here / "a.json", [GET, LIST])])
    with (here / "pets.yaml").open("a", encoding="utf-8") as spec:
        spec.write("sim: {list_pets: {verb: list, entity: pet}, get_pet: {verb: get, entity: pet, key: pet_id}}\n")
    assert main(["import", "tools", "--name", "pets", saved(here / "a.json", [GET])]) == 1
    assert "unknown tool 'list_pets'" in capsys.readouterr().err


def test_a_changed_tool_is_shown_line_by_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["import", "tools", "--name", "pets", saved(here / "a.json", [GET, LIST])])
    changed = {**LIST, "description": "Some pets."}
    capsys.readouterr()
    assert main(["import", "tools", "--name", "pets", "--check", saved(here / "a.json", [changed, GET])]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "pets: changed",
        "  ~ list_pets",
        "      @@ -2,3 +2,3 @@",
        '         "name": "list_pets",',
        '      -  "description": "All pets.",',
        '      +  "description": "Some pets.",',
        '         "inputSchema": {',
    ]
    assert main(["import", "tools", "--name", "dogs", "--check", "a.json"]) == 2
    assert "nothing was imported as 'dogs'" in capsys.readouterr().err


def test_nothing_is_laid_over_a_document_that_is_something_else(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pets.yaml").write_text("mcp_sim: 1\ntools: crm\nseed: 1\n", encoding="utf-8")
    assert main(["import", "tools", "--name", "pets", saved(here / "a.json", [GET])]) == 2
    assert "already exists and is not a tool spec for pets.tools.json" in capsys.readouterr().err
    assert sorted(path.name for path in here.iterdir()) == ["a.json", "pets.yaml"]
