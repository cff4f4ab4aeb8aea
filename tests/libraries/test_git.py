"""Repositories as programs call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.library_stores import new_store

from mcp_sim.libraries.files import Files
from mcp_sim.libraries.git import (
    BadName,
    CheckedOut,
    Conflict,
    Git,
    GitError,
    NameTaken,
    NotARepository,
    NothingToDo,
    NotMerged,
    Overwritten,
    Repository,
    UnknownPath,
    UnknownRevision,
    difference,
    render_patch,
)

Json = Any

STATE: Json = {
    "repo_path": "/srv/app",
    "author": {"name": "Runa Falk", "email": "runa@example.org"},
    "branches": ["main", "topic"],
    "commits": [
        {"message": "Begin", "date": "2029-03-02T09:00:00Z", "files": {"a.txt": "one\n", "docs/b.txt": "b\n"}},
        {"message": "Go on", "date": "2029-03-03T09:00:00Z", "files": {"a.txt": "one\ntwo\n"}},
    ],
    "files": {"a.txt": "one\ntwo\nthree\n", "docs/b.txt": "b\n", "new.txt": "n\n"},
    "untracked": ["new.txt"],
}


@pytest.fixture
def files() -> Files:
    store = new_store()
    Git(store).load(STATE)
    return Files(store)


@pytest.fixture
def repository(files: Files) -> Repository:
    return Git(files._store).at("/srv/app/docs")  # pyright: ignore[reportPrivateUsage] (another Git on the same files)


def test_a_given_repository_is_as_it_is_given(repository: Repository) -> None:
    assert [(commit.title, commit.author, commit.date) for commit in repository.log()] == [
        ("Go on", "Runa Falk", "2029-03-03T09:00:00Z"), ("Begin", "Runa Falk", "2029-03-02T09:00:00Z"),
    ]  # fmt: skip
    status = repository.status()
    assert (status.staged, status.unstaged, status.untracked) == ({}, {"a.txt": "modified"}, ["new.txt"])
    assert (repository.branch, sorted(repository.branches)) == ("main", ["main", "topic"])
    assert repository.get("HEAD~1").title == repository.get("main^").title == "Begin"
    assert render_patch(difference(repository.index, {**repository.index, "a.txt": "one\n"})).endswith(" one\n-two")


def test_a_commit_takes_what_is_staged_and_blame_knows_who_wrote_a_line(repository: Repository, files: Files) -> None:
    assert repository.add(["a.txt"]) == ["a.txt"]
    files.write("/srv/app/a.txt", "zero\n")
    commit = repository.commit("Count on", author="Ola", email="ola@example.org")
    assert repository.tree() == {"a.txt": "one\ntwo\nthree\n", "docs/b.txt": "b\n"}
    assert repository.status().unstaged == {"a.txt": "modified"}
    assert [(known.title, line) for known, line in repository.blame("a.txt")] == [
        ("Begin", "one"), ("Go on", "two"), ("Count on", "three"),
    ]  # fmt: skip
    assert (commit.author, commit.parents) == ("Ola", [repository.resolve("HEAD~1")])
    repository.reset("HEAD~1", "hard")
    assert repository.working["a.txt"] == "one\ntwo\n"
    assert [move["action"] for move in repository.reflog()][:2] == ["reset", "commit"]


def test_branches_merge_forward_by_a_commit_or_conflict(repository: Repository, files: Files) -> None:
    repository.stash()
    repository.checkout("topic")
    files.write("/srv/app/c.txt", "c\n")
    repository.add()
    repository.commit("Add c and the new file")
    repository.checkout("main")
    assert "c.txt" not in repository.working
    repository.create_branch("other")
    head, is_forward = repository.merge("topic")
    assert (head.title, is_forward) == ("Add c and the new file", True)
    repository.checkout("other")
    files.write("/srv/app/d.txt", "d\n")
    repository.add(["d.txt"])
    repository.commit("Add d")
    head, is_forward = repository.merge("topic")
    assert (head.title, len(head.parents), is_forward) == ("Merge branch 'topic'", 2, False)
    assert repository.working.keys() >= {"c.txt", "d.txt"}
    files.write("/srv/app/c.txt", "C\n")
    repository.add(["c.txt"])
    repository.commit("Change c here")
    repository.checkout("topic")
    files.write("/srv/app/c.txt", "see\n")
    repository.add(["c.txt"])
    repository.commit("Change c there")
    with pytest.raises(Conflict) as conflict:
        repository.merge("other")
    assert conflict.value.paths == ["c.txt"]
    assert repository.apply_stash(drop=True)["files"] == {"a.txt": "one\ntwo\nthree\n"}
    assert repository.stashes == []


_REFUSED: list[tuple[Callable[[Repository], object], type[GitError]]] = [
    (lambda repository: repository.get("nowhere"), UnknownRevision),
    (lambda repository: repository.get("HEAD~7"), UnknownRevision),
    (lambda repository: repository.add(["none.txt"]), UnknownPath),
    (lambda repository: repository.commit("Nothing"), NothingToDo),
    (lambda repository: repository.create_branch("bad name"), BadName),
    (lambda repository: repository.create_branch("topic"), NameTaken),
    (lambda repository: repository.delete_branch("main"), CheckedOut),
    (lambda repository: repository.checkout("HEAD~1"), Overwritten),
    (
        lambda repository: (repository.stash(), repository.checkout("HEAD~1"), repository.delete_branch("main")),
        NotMerged,
    ),
]


@pytest.mark.parametrize(("call", "error"), _REFUSED)
def test_what_git_refuses_is_an_error_of_its_own(
    repository: Repository, call: Callable[[Repository], object], error: type[GitError]
) -> None:
    with pytest.raises(error):
        call(repository)


def test_a_world_has_several_repositories_and_none_elsewhere(files: Files) -> None:
    git = Git(files._store)  # pyright: ignore[reportPrivateUsage] (another Git on the same files)
    other = git.init("/srv/other")
    files.write("/srv/other/x", "x")
    other.add()
    assert other.commit("Begin").parents == []
    assert [known.root for known in git.repositories] == ["/srv/app", "/srv/other"]
    assert len(git.at("/srv/app").log()) == 2
    with pytest.raises(NotARepository):
        git.at("/srv")
