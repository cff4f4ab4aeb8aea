"""A vault of notes: paging, etags, links that follow a moved note, tags in the front matter and in the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(f"obsidian_{tool}", {"vault": "garden", **arguments}))["data"]


async def refusal(world: World, tool: str, **arguments: Json) -> str:
    error: Json = message(await world.call(f"obsidian_{tool}", {"vault": "garden", **arguments}))
    return f"{error['error']['code']}: {error['error']['message']}"


def simulated(folder: Path, notes: dict[str, str]) -> Simulator:
    document = {"mcp_sim": 1, "name": "v", "tools": "vault", "world": {"state": {"vault": "garden", "notes": notes}}}
    (folder / "v.yaml").write_text(json.dumps(document), encoding="utf-8")
    return Simulator.load(folder / "v.yaml")


async def test_a_note_is_read_in_pages_until_it_changes() -> None:
    async with Simulator(compiled("vault")).open() as world:
        first = await ask(world, "read_note", path="Shopping", max_chars=8)
        rest = await ask(world, "read_note", path="Shopping.md", cursor=first["next_cursor"])
        assert first["content"] + rest["content"] == "- Twine\n- Compost\n- Seed trays\n"
        guarded = {"path": "Shopping.md", "operation": "append", "content": "- Pegs\n", "if_match": first["etag"]}
        await ask(world, "edit_note", **guarded)
        assert (await refusal(world, "edit_note", **guarded)).startswith("REVISION_CONFLICT: ")
        assert (await refusal(world, "read_note", path="Shopping.md", cursor=first["next_cursor"])).startswith(
            "INVALID_CURSOR: "
        )


@pytest.mark.parametrize(
    ("link", "moved"),
    [
        ("[[Old]]", "[[New]]"),
        ("[[Plants/Old#Care|the old one]]", "[[Beds/New#Care|the old one]]"),
        ("![[old.md]]", "![[New.md]]"),
        ("[care](Plants/Old.md#care)", "[care](Beds/New.md#care)"),
        ("[care](../Plants/Old.md)", "[care](../Beds/New.md)"),
        ("[[Old|the old [1]]]", "[[New|the old [1]]]"),
        ("[care [1]](Old.md)", "[care [1]](New.md)"),
        ("[a](Old.md#care-[1])", "[a](New.md#care-[1])"),
        ("[![photo](p.png)](Old.md)", "[![photo](p.png)](New.md)"),
        ("[![photo](Old.md)](p.png)", "[![photo](New.md)](p.png)"),
        ("[note: [care](Old.md)", "[note: [care](New.md)"),
        ("`[[Old]]` <!-- [[Old]] -->", "`[[Old]]` <!-- [[Old]] -->"),
        ("this:\n```\n[[Old]]\n```\n[[Old]]", "this:\n```\n[[Old]]\n```\n[[New]]"),
        ("[[Older]] [site](https://a.example/Old)", "[[Older]] [site](https://a.example/Old)"),
    ],
)
async def test_links_follow_a_note_that_moves(link: str, moved: str, tmp_path: Path) -> None:
    async with simulated(tmp_path, {"Plants/Old.md": "x\n", "Diary/Day.md": f"See {link}.\n"}).open() as world:
        changes = await ask(world, "move_note", source="Plants/Old.md", destination="Beds/New.md")
        assert (await ask(world, "read_note", path="Diary/Day.md"))["content"] == f"See {moved}.\n"
        assert changes["updated_backlinks"] == (["Diary/Day.md"] if link != moved else [])
        assert await refusal(world, "read_note", path="Plants/Old.md") == (
            "NOTE_NOT_FOUND: The requested path does not exist."
        )


@pytest.mark.parametrize(
    ("before", "tool", "arguments", "after"),
    [
        ("Text\n", "add_tags", {"tags": ["#a", "b/c"]}, "---\ntags:\n  - a\n  - b/c\n---\nText\n"),
        ("---\nx: 1\ntags: [a]\n---\nText\n", "add_tags", {"tags": ["A", "b"]},
         "---\nx: 1\ntags:\n  - a\n  - b\n---\nText\n"),
        ("Text", "add_tags", {"tags": ["a"], "location": "content"}, "Text\n#a\n"),
        ("#a and `#a` #a/b #ab\n", "remove_tags", {"tags": ["a"], "include_children": True}, " and `#a`  #ab\n"),
        ("#soil/clay #sun\n", "remove_tags", {"patterns": ["soil/*"]}, " #sun\n"),
        ("---\ntags:\n  - a\nx: 1\n---\n#a #b\n", "rename_tag", {"old_tag": "a", "new_tag": "z"},
         "---\ntags:\n  - z\nx: 1\n---\n#z #b\n"),
    ],
)  # fmt: skip
async def test_tags_change_in_the_front_matter_and_in_the_text(
    before: str, tool: str, arguments: dict[str, Json], after: str, tmp_path: Path
) -> None:
    async with simulated(tmp_path, {"Day.md": before}).open() as world:
        paths = {} if tool == "rename_tag" else {"paths": ["Day.md"]}
        await ask(world, tool, **paths, **arguments)
        assert (await ask(world, "read_note", path="Day.md"))["content"] == after


async def test_tags_of_several_notes_change_together_or_not_at_all() -> None:
    async with Simulator(compiled("vault")).open() as world:
        shopping = (await ask(world, "read_note", path="Shopping.md"))["content"]
        refused = await refusal(world, "add_tags", paths=["Shopping.md", "Gone.md"], tags=["x"])
        assert refused.startswith("NOTE_NOT_FOUND: ")
        assert "Invalid tag 'a b'" in await refusal(world, "add_tags", paths=["Shopping.md"], tags=["a b"])
        assert (await ask(world, "read_note", path="Shopping.md"))["content"] == shopping


@pytest.mark.parametrize("path", ["/etc/passwd", "a/../b.md", "a\\b.md", ".obsidian/app.json", "C:/x.md", "a//b"])
async def test_paths_outside_a_vault_are_rejected(path: str) -> None:
    async with Simulator(compiled("vault")).open() as world:
        assert (await refusal(world, "read_note", path=path)).startswith("PATH_REJECTED: ")


@pytest.mark.time_limit(60)
async def test_notes_with_many_beginnings_of_links_are_read_once(tmp_path: Path) -> None:
    beginnings = ("[[", "[](", "[a](x", "[a](x#", "[a](x(", "[a[b]", "[[a|[b]", "[[a|b")
    text = "\n".join([*(beginning * 100_000 for beginning in beginnings), f"[a]({'a' * 400_000}", "[[Old]]"])
    async with simulated(tmp_path, {"Old.md": "", "Day.md": text}).open() as world:
        changes = await ask(world, "move_note", source="Old.md", destination="New.md")
        assert changes["updated_backlinks"] == ["Day.md"]
