"""The reference server for file systems: folders that are allowed, edits by their texts, errors as Node words them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.services import text, with_state

Json = Any

STATE: Json = {
    "allowed_directories": ["/srv/projects"],
    "files": {
        "/srv/projects/README.md": "# Harbour\n",
        "/srv/projects/docs/pricing.md": "low | 1.40\nhigh | 2.85\n",
        "/srv/projects/docs/changelog.md": "## 2.3.0\n",
    },
}
HOME = "/srv/projects"
CALLS: dict[str, tuple[str, Json, str]] = {
    "a folder": ("list_directory", {"path": HOME}, "[FILE] README.md\n[DIR] docs"),
    "sizes": (
        "list_directory_with_sizes",
        {"path": f"{HOME}/docs"},
        f"[FILE] {'changelog.md':30} {'9 B':>10}\n[FILE] {'pricing.md':30} {'23 B':>10}\n\n"
        "Total: 2 files, 0 directories\nCombined size: 32 B",
    ),
    "patterns": (
        "search_files",
        {"path": HOME, "pattern": "**/*g*.md"},
        f"{HOME}/docs/changelog.md\n{HOME}/docs/pricing.md",
    ),
    "several files": (
        "read_multiple_files",
        {"paths": [f"{HOME}/README.md", f"{HOME}/no.md"]},
        f"{HOME}/README.md:\n# Harbour\n\n\n---\n"
        f"{HOME}/no.md: Error - ENOENT: no such file or directory, open '{HOME}/no.md'",
    ),
}
FAILURES: dict[str, tuple[str, Json, str]] = {
    "no file": ("read_text_file", {"path": f"{HOME}/no.md"}, f"ENOENT: no such file or directory, open '{HOME}/no.md'"),
    "no folder": ("list_directory", {"path": f"{HOME}/no"}, f"ENOENT: no such file or directory, scandir '{HOME}/no'"),
    "a file as a folder": (
        "directory_tree",
        {"path": f"{HOME}/README.md"},
        f"ENOTDIR: not a directory, scandir '{HOME}/README.md'",
    ),
    "a folder where a file is": (
        "create_directory",
        {"path": f"{HOME}/README.md"},
        f"EEXIST: file already exists, mkdir '{HOME}/README.md'",
    ),
    "a missing text": (
        "edit_file",
        {"path": f"{HOME}/docs/pricing.md", "edits": [{"oldText": "winter", "newText": "w"}]},
        "Could not find exact match for edit:\nwinter",
    ),
    "a taken place": (
        "move_file",
        {"source": f"{HOME}/README.md", "destination": f"{HOME}/docs/pricing.md"},
        f"Destination already exists: {HOME}/docs/pricing.md",
    ),
}


@pytest.mark.parametrize("case", CALLS)
async def test_files_are_shown_as_the_server_shows_them(case: str, tmp_path: Path) -> None:
    tool, arguments, shown = CALLS[case]
    async with with_state(tmp_path, "filesystem", STATE).open() as world:
        assert text(await world.call(tool, arguments)) == shown


@pytest.mark.parametrize("case", FAILURES)
async def test_what_fails_is_worded_as_node_does_and_changes_nothing(case: str, tmp_path: Path) -> None:
    tool, arguments, shown = FAILURES[case]
    async with with_state(tmp_path, "filesystem", STATE).open() as world:
        refused = await world.call(tool, arguments)
        assert (refused.ok, text(refused)) == (False, shown)
        assert world.ledger.steps[-1]["committed"] == []


async def test_a_path_outside_the_allowed_folders_is_refused_also_through_dots(tmp_path: Path) -> None:
    async with with_state(tmp_path, "filesystem", STATE).open() as world:
        for path in ("/etc/passwd", f"{HOME}/../secret"):
            assert text(await world.call("read_text_file", {"path": path})).startswith("Access denied - path outside")


async def test_an_edit_that_is_only_tried_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    edit = {"path": f"{HOME}/docs/pricing.md", "edits": [{"oldText": "high | 2.85", "newText": "high | 3.10"}]}
    async with with_state(tmp_path, "filesystem", STATE).open() as world:
        tried = text(await world.call("edit_file", {**edit, "dryRun": True}))
        assert "-high | 2.85\n+high | 3.10" in tried
        assert "2.85" in text(await world.call("read_text_file", {"path": edit["path"]}))
        assert text(await world.call("edit_file", edit)) == tried
        assert "3.10" in text(await world.call("read_text_file", {"path": edit["path"]}))
