"""Files and directories as programs call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.library_stores import new_store

from mcp_sim.libraries import Store
from mcp_sim.libraries.files import (
    AlreadyExists,
    FileError,
    Files,
    IntoItself,
    IsADirectory,
    NotADirectory,
    NotEmpty,
    NotFound,
    TooManyLinks,
    allowed_directories,
)

Json = Any


def shown(files: Files, path: str = "/") -> dict[str, str | None]:
    return {entry.path: entry.content for entry in files.walk(path)}


def test_what_is_written_can_be_read_listed_moved_and_removed() -> None:
    files = Files(new_store())
    files.write("/docs/a.md", "one", parents=True)
    files.write("docs/b.md", "two")
    files.write("/docs/a.md", "three")
    assert [(entry.name, entry.size, entry.is_file) for entry in files.list("/docs")] == [
        ("a.md", 5, True),
        ("b.md", 3, True),
    ]
    files.move("/docs", "/papers")
    files.copy("/papers", "/old")
    texts = {"a.md": "three", "b.md": "two"}
    assert {path: text for path, text in shown(files).items() if text is not None} == {
        f"/{folder}/{name}": text for folder in ("old", "papers") for name, text in texts.items()
    }
    files.remove("/old", recursive=True)
    assert [entry.path for entry in files.walk(depth=1)] == ["/papers"]


_REFUSED: list[tuple[Callable[[Files], object], type[FileError]]] = [
    (lambda files: files.read("/none"), NotFound),
    (lambda files: files.read("/a.txt/b"), NotADirectory),
    (lambda files: files.read("/docs"), IsADirectory),
    (lambda files: files.list("/a.txt"), NotADirectory),
    (lambda files: files.write("/none/a.txt", ""), NotFound),
    (lambda files: files.write("/docs", ""), IsADirectory),
    (lambda files: files.make("/a.txt/docs"), NotADirectory),
    (lambda files: files.make("/docs", parents=False), AlreadyExists),
    (lambda files: files.remove("/docs"), NotEmpty),
    (lambda files: files.copy("/docs", "/docs/deep/copy"), IntoItself),
    (lambda files: files.move("/docs", "/a.txt"), AlreadyExists),
]


@pytest.mark.parametrize(("call", "error"), _REFUSED)
def test_a_call_that_cannot_be_done_raises_its_own_error_with_the_path_and_writes_nothing(
    call: Any, error: Any
) -> None:
    files = Files(new_store())
    files.load({"files": {"/a.txt": "a", "/docs/deep/b.txt": "b"}})
    before = shown(files)
    with pytest.raises(error) as raised:
        call(files)
    assert raised.value.path.startswith("/")
    assert shown(files) == before


_DIRECTORY: Json = {"type": "directory"}
_STATES: list[Json] = [
    {"files": {"/srv/a.md": "A", "/srv/docs/b.md": "B", "/srv/empty/": None}},
    {
        "root": "/srv",
        "files": [
            {"path": "a.md", "content": "A"},
            {"path": "docs/b.md", "text": "B"},
            {"path": "empty", **_DIRECTORY},
        ],
    },
    {"fs": {"srv": {"a.md": "A", "docs": {"b.md": "B"}, "empty": {}}}},
    {
        "workspace": {
            "tree": {
                "srv": {
                    **_DIRECTORY,
                    "children": {
                        "a.md": {"type": "file", "content": "A"},
                        "docs": {**_DIRECTORY, "children": {"b.md": {"type": "file", "content": "B"}}},
                        "empty": {**_DIRECTORY, "children": {}},
                    },
                }
            }
        }
    },
    {"/srv/a.md": "A", "/srv/docs/b.md": {"content": "B", "created_at": "2029-01-01T00:00:00Z"}, "/srv/empty/": None},
]


@pytest.mark.parametrize("state", _STATES)
def test_files_of_a_given_state_are_read_in_all_shapes(state: Json) -> None:
    files = Files(new_store())
    assert files.load(state)
    assert shown(files, "/srv") == {
        "/srv/a.md": "A", "/srv/docs": None, "/srv/docs/b.md": "B", "/srv/empty": None,
    }  # fmt: skip
    assert not Files(new_store()).load({"users": [{"id": 1, "name": "Ada"}]})
    assert allowed_directories({"allowed_directories": ["/srv/"], **state}) == ["/srv"]


def link(store: Store, path: str, target: str) -> None:
    store.put("file", path, {"path": path, "folder": "/", "content": "", "target": target})


def test_links_are_followed_through_the_root_and_one_another() -> None:
    store = new_store()
    for path, target in (("/l", "/"), ("/m", "/data"), ("/up", "../m/../x")):
        link(store, path, target)
    files = Files(store)
    assert [files.real(path) for path in ("/l/m/y", "/l/l/m", "/up", "/l/z")] == ["/data/y", "/data", "/x", "/z"]


@pytest.mark.parametrize("target", ["/other", "/loop/" + "x/" * 95, "/loop/" + "x/" * 1000])
def test_links_without_an_end_are_refused(target: str) -> None:
    store = new_store()
    link(store, "/loop", target)
    link(store, "/other", "/loop")
    with pytest.raises(TooManyLinks, match="Too many levels of symbolic links: /loop/a"):
        Files(store).real("/loop/a")


def test_forty_links_are_followed() -> None:
    store = new_store()
    for number in range(41):
        link(store, f"/{number}", f"/{number + 1}")
    assert Files(store).real("/1") == "/41"
    with pytest.raises(TooManyLinks):
        Files(store).real("/0")
