"""Tools that work on a repository with a working tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from behaviours.claimed import TEXT, Json, behaviours, refused, said, simulator, tool

TEXTS: Json = {"type": "array", "items": TEXT}
NUMBER: Json = {"type": "integer"}
FLAG: Json = {"type": "boolean"}
REPO: Json = {"repo_path": TEXT}
GIT = [
    tool("git_status", "Shows the working tree status", **REPO),
    tool("git_diff_unstaged", "Shows changes that are not staged", **REPO),
    tool("git_diff_staged", "Shows changes that are staged", **REPO),
    tool("git_diff", "Shows differences between branches or commits", **REPO, target=TEXT),
    tool("git_add", "Adds file contents to the staging area", **REPO, files=TEXTS),
    tool("git_reset", "Unstages all staged changes", **REPO),
    tool("git_commit", "Records changes to the repository", **REPO, message=TEXT),
    tool("git_log", "Shows the commit logs", needed="repo_path", **REPO, max_count=NUMBER, oneline=FLAG),
    tool("git_show", "Shows the contents of a commit", **REPO, revision=TEXT),
    tool("git_create_branch", "Creates a branch", needed="branch_name", **REPO, branch_name=TEXT, base_branch=TEXT),
    tool("git_checkout", "Switches branches", **REPO, branch_name=TEXT),
    tool("git_branch", "List branches", **REPO, branch_type=TEXT),
    tool("git_merge", "Merges a branch", **REPO, branch=TEXT),
    tool("git_delete_branch", "Deletes a branch", needed="repo_path branch", **REPO, branch=TEXT, force=FLAG),
    tool("git_init", "Makes a repository", **REPO),
]  # fmt: skip
FILES = [
    tool("read_file", "Reads a file", path=TEXT),
    tool("write_file", "Writes a file", path=TEXT, content=TEXT),
    tool("list_directory", "Lists a directory", path=TEXT),
]
FIRST, SECOND = "1" * 40, "2" * 40
ANN = {"author": "Ann Vos <ann@example.com>"}
STATE: Json = {
    "files": {"/repo/a.txt": "one\ntwo\n", "/repo/src/b.py": "b = 1\n"},
    "branches": {"main": SECOND, "old": FIRST},
    "commits": [
        {"sha": SECOND, "message": "Second", **ANN, "date": "2029-05-02T10:00:00Z"},
        {"sha": FIRST, "message": "Initial commit", **ANN, "date": "2029-05-01T10:00:00Z"},
    ],
}  # fmt: skip
HERE: Json = {"repo_path": "/repo"}


def hash_of(text: str) -> str:
    found = re.search(r"\b[0-9a-f]{40}\b", text)
    assert found is not None, text
    return found[0]


async def test_what_is_written_is_staged_and_committed(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], STATE)
    async with sim, sim.open() as world:
        assert "nothing to commit, working tree clean" in await said(world, "git_status", **HERE)
        assert "nothing to commit" in await refused(world, "git_commit", message="None", **HERE)
        await said(world, "write_file", path="/repo/a.txt", content="one\n2\n")
        await said(world, "write_file", path="/repo/c.txt", content="new\n")
        status = await said(world, "git_status", **HERE)
        assert "On branch main" in status
        assert "modified:   a.txt" in status
        assert "to include in what will be committed)\n\tc.txt" in status
        assert "-two\n+2" in await said(world, "git_diff_unstaged", **HERE)
        assert "no changes added" in await refused(world, "git_commit", message="None", **HERE)
        await said(world, "git_add", files=["a.txt", "c.txt"], **HERE)
        staged = await said(world, "git_diff_staged", **HERE)
        assert "+++ b/c.txt" in staged
        assert "No changes" in await said(world, "git_diff_unstaged", **HERE)
        text = await said(world, "git_commit", message="Third", **HERE)
        assert text.startswith("Changes committed successfully with hash ")
        assert "working tree clean" in await said(world, "git_status", **HERE)
        log = await said(world, "git_log", max_count=1, **HERE)
        assert f"Commit: {hash_of(text)}\nAuthor: Ann Vos <ann@example.com>\nDate: 2030-" in log
        assert "Second" not in log
        short = await said(world, "git_log", oneline=True, **HERE)
        assert short.splitlines()[1:] == [f"{hash_of(text)[:7]} Third", "2222222 Second", "1111111 Initial commit"]
        assert "-two\n+2" in await said(world, "git_show", revision="HEAD", **HERE)
        assert "a.txt" in await said(world, "git_diff", target="main~1", **HERE)


async def test_what_was_staged_is_unstaged_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], STATE)
    async with sim, sim.open() as world:
        await said(world, "write_file", path="/repo/src/b.py", content="b = 2\n")
        await said(world, "git_add", files=["."], **HERE)
        assert "Changes to be committed" in await said(world, "git_status", **HERE)
        assert await said(world, "git_reset", **HERE) == "All staged changes reset"
        assert "Changes not staged" in await said(world, "git_status", **HERE)
        assert await said(world, "read_file", path="/repo/src/b.py") == "b = 2\n"
        assert "'nope.txt' did not match" in await refused(world, "git_add", files=["nope.txt"], **HERE)


async def test_files_are_those_of_the_branch_that_is_checked_out(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], STATE)
    async with sim, sim.open() as world:
        assert await said(world, "git_create_branch", branch_name="work", **HERE) == "Created branch 'work' from 'main'"
        assert "already exists" in await refused(world, "git_create_branch", branch_name="work", **HERE)
        assert "gone" in await refused(world, "git_create_branch", branch_name="more", base_branch="gone", **HERE)
        assert "gone" in await refused(world, "git_checkout", branch_name="gone", **HERE)
        await said(world, "git_checkout", branch_name="work", **HERE)
        assert (await said(world, "git_branch", branch_type="local", **HERE)).splitlines() == [
            "  main",
            "  old",
            "* work",
        ]
        await said(world, "write_file", path="/repo/a.txt", content="mine\n")
        await said(world, "git_add", files=["a.txt"], **HERE)
        made = hash_of(await said(world, "git_commit", message="Mine", **HERE))
        await said(world, "git_checkout", branch_name="main", **HERE)
        assert await said(world, "read_file", path="/repo/a.txt") == "one\ntwo\n"
        await said(world, "write_file", path="/repo/a.txt", content="other\n")
        assert "overwritten by checkout: a.txt" in await refused(world, "git_checkout", branch_name="work", **HERE)
        await said(world, "write_file", path="/repo/a.txt", content="one\ntwo\n")
        assert "not fully merged" in await refused(world, "git_delete_branch", branch="work", **HERE)
        assert "Fast-forward" in await said(world, "git_merge", branch="work", **HERE)
        assert await said(world, "read_file", path="/repo/a.txt") == "mine\n"
        assert made in await said(world, "git_log", max_count=1, **HERE)
        assert await said(world, "git_merge", branch="work", **HERE) == "Already up to date."
        await said(world, "git_delete_branch", branch="work", **HERE)
        assert "checked out" in await refused(world, "git_delete_branch", branch="main", **HERE)


async def test_branches_that_went_apart_are_joined_unless_a_file_changed_in_both(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], STATE)

    async def commit(branch: str, path: str, content: str) -> None:
        await said(world, "git_checkout", branch_name=branch, **HERE)
        await said(world, "write_file", path=path, content=content)
        await said(world, "git_add", files=["."], **HERE)
        await said(world, "git_commit", message=f"{branch}: {content}", **HERE)

    async with sim, sim.open() as world:
        await said(world, "git_create_branch", branch_name="work", **HERE)
        await commit("work", "/repo/src/b.py", "theirs")
        await commit("main", "/repo/a.txt", "ours")
        merged = await said(world, "git_merge", branch="work", **HERE)
        assert await said(world, "read_file", path="/repo/src/b.py") == "theirs"
        assert "Merge branch 'work'" in await said(world, "git_show", revision=hash_of(merged), **HERE)
        await commit("work", "/repo/a.txt", "torn")
        await said(world, "git_checkout", branch_name="main", **HERE)
        assert "conflict in a.txt" in await refused(world, "git_merge", branch="work", **HERE)
        assert await said(world, "read_file", path="/repo/a.txt") == "ours"


async def test_what_is_no_repository_and_no_revision_is_refused_by_name(tmp_path: Path) -> None:
    sim = simulator(tmp_path, GIT, STATE)
    async with sim, sim.open() as world:
        assert "Not a git repository: /else" in await refused(world, "git_status", repo_path="/else")
        assert "abcdef1" in await refused(world, "git_show", revision="abcdef1", **HERE)
        assert "main~9" in await refused(world, "git_diff", target="main~9", **HERE)
        assert FIRST in await said(world, "git_show", revision="1111111", **HERE)
        assert "Access denied: /else" in await refused(world, "git_init", repo_path="/else")
        assert "Invalid max_count: -1" in await refused(world, "git_log", max_count=-1, **HERE)


async def test_marks_of_a_state_say_what_is_not_committed(tmp_path: Path) -> None:
    marks = {"untracked": ["c.txt"], "modified": {"a.txt": "one\n"}, "current_branch": "old"}
    files = {**STATE["files"], "/repo/c.txt": "new\n"}
    sim = simulator(tmp_path, GIT, {"repository": {**STATE, **marks, "files": files}})
    async with sim, sim.open() as world:
        status = await said(world, "git_status", **HERE)
        assert "On branch old" in status
        assert "modified:   a.txt" in status
        assert "to include in what will be committed)\n\tc.txt" in status
        assert "+two" in await said(world, "git_diff_unstaged", **HERE)


async def test_a_state_may_tell_some_of_its_history(tmp_path: Path) -> None:
    commits = [{"hash": FIRST, "parents": ["f" * 40]}, {"hash": SECOND, "message": "B", "files": ["b.txt"]}]
    state = {"commits": commits, "branches": ["main", "dev"], "files": {"b.txt": "b\n", "c.txt": "c\n"}, "author": "Bo"}
    sim = simulator(tmp_path, GIT, state)
    async with sim, sim.open() as world:
        log = await said(world, "git_log", repo_path="/anywhere")
        assert re.findall(r"Commit: (\S+)\nAuthor: (\S+)", log) == [(SECOND, "Bo"), (FIRST, "Bo")]
        assert "+b" in await said(world, "git_show", revision="dev", repo_path=".")
        assert "\tc.txt" in await said(world, "git_status", repo_path=".")


async def test_an_empty_world_has_a_repository_without_commits(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], {})
    async with sim, sim.open() as world:
        assert "Initialized empty Git repository in /new/.git/" in await said(world, "git_init", repo_path="/new")
        assert "No commits yet" in await said(world, "git_status", repo_path="/new")
        assert "does not have any commits" in await refused(world, "git_log", repo_path="/new")
        await said(world, "write_file", path="/new/a.txt", content="a")
        await said(world, "git_add", files=["a.txt"], repo_path="/new")
        await said(world, "git_commit", message="First", repo_path="/new")
        assert "First" in await said(world, "git_log", repo_path="/new")
        assert "* main" in await said(world, "git_branch", branch_type="local", repo_path="/new")


async def test_a_history_is_made_up_where_nothing_is_given(tmp_path: Path) -> None:
    sim = simulator(tmp_path, GIT)
    async with sim, sim.open() as world:
        log = await said(world, "git_log", repo_path="/home/me/project")
        dates = re.findall(r"Date: (\S+)", log)
        assert len(dates) > 3
        assert dates == sorted(dates, reverse=True)
        assert all(re.fullmatch(r"Author: \S.* <\S+@\S+>", line) for line in log.splitlines() if "Author" in line)
        status = await said(world, "git_status", repo_path="/home/me/project")
        assert "Changes not staged" in status
        assert "Untracked files" in status
        await said(world, "git_add", files=["."], repo_path="/home/me/project")
        await said(world, "git_commit", message="All", repo_path="/home/me/project")
        assert "working tree clean" in await said(world, "git_status", repo_path="/home/me/project")


def shown(**parts: Json) -> Json:
    return {"type": "object", "properties": parts, "required": list(parts)}


CAMEL = [
    tool("getStatus", "The state of the git repository", needed="",
         output=shown(currentBranch=TEXT, staged=TEXTS, modified=TEXTS, clean=FLAG)),
    tool("stageFiles", "Stages files", paths=TEXTS),
    tool("unstageFiles", "Unstages files", paths=TEXTS),
    tool("commitChanges", "Commits what is staged", message=TEXT,
         output=shown(commitHash=TEXT, branch=TEXT)),
    tool("getCommitHistory", "The commits of the git repository", needed="", limit=NUMBER,
         output=shown(commits={"type": "array", "items": shown(sha=TEXT, message=TEXT, author=TEXT)})),
    tool("listBranches", "The branches", needed="",
         output=shown(branches=TEXTS, current=TEXT)),
    tool("switchBranch", "Another branch", needed="branchName", branchName=TEXT, create=FLAG),
    tool("stash", "Puts changes of the working tree aside", needed="action", action={"enum": ["push", "pop", "list"]}),
    tool("gitTag", "Tags of the repository", needed="mode", mode={"enum": ["create", "list", "delete"]}, tagName=TEXT),
    tool("checkout", "Another branch", needed="branchOrPath", branchOrPath=TEXT, newBranch=TEXT),
    tool("gitReset", "Resets the current branch", needed="mode", mode={"enum": ["soft", "mixed", "hard"]}, commit=TEXT),
]  # fmt: skip


async def test_results_are_as_their_schemas_have_them_under_any_naming(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*CAMEL, *FILES], {**STATE, "modified": {"a.txt": "one\n"}})
    assert {one.partition(" ")[0] for one in behaviours(sim).values()} == {"version_control", "file_tree"}
    async with sim, sim.open() as world:
        status = await said(world, "getStatus")
        assert status == {"currentBranch": "main", "staged": [], "modified": ["a.txt"], "clean": False}
        await said(world, "stageFiles", paths=["/repo/a.txt"])
        assert (await said(world, "getStatus"))["staged"] == ["a.txt"]
        done = await said(world, "commitChanges", message="Two")
        assert re.fullmatch("[0-9a-f]{40}", done["commitHash"])
        history = (await said(world, "getCommitHistory", limit=2))["commits"]
        assert history[0] == {"sha": done["commitHash"], "message": "Two", "author": "Ann Vos"}
        await said(world, "switchBranch", branchName="next", create=True)
        assert await said(world, "listBranches") == {"branches": ["main", "next", "old"], "current": "next"}


async def test_changes_are_put_aside_and_the_head_is_set_back(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*CAMEL, *FILES], STATE)
    async with sim, sim.open() as world:
        assert "No local changes" in await refused(world, "stash", action="push")
        await said(world, "write_file", path="/repo/a.txt", content="later")
        await said(world, "stash", action="push")
        assert await said(world, "read_file", path="/repo/a.txt") == "one\ntwo\n"
        assert "stash@{0}: WIP on main: 2222222 Second" in str(await said(world, "stash", action="list"))
        await said(world, "stash", action="pop")
        assert await said(world, "read_file", path="/repo/a.txt") == "later"
        assert "stash@{0} not found" in await refused(world, "stash", action="pop")
        await said(world, "gitTag", mode="create", tagName="v1")
        told = await said(world, "checkout", branchOrPath="v1", newBranch="later")
        assert told == "Switched to a new branch 'later'"
        assert "HEAD is now at 1111111" in await said(world, "checkout", branchOrPath="1111111")
        await said(world, "checkout", branchOrPath="main")
        assert "'v1' already exists" in await refused(world, "gitTag", mode="create", tagName="v1")
        await said(world, "stageFiles", paths=["a.txt"])
        await said(world, "commitChanges", message="Three")
        await said(world, "gitReset", mode="soft", commit="v1")
        assert (await said(world, "getStatus"))["staged"] == ["a.txt"]
        await said(world, "gitReset", mode="hard", commit="HEAD")
        assert (await said(world, "getStatus"))["clean"] is True
        assert await said(world, "read_file", path="/repo/a.txt") == "one\ntwo\n"


WHOSE: Json = {"owner": TEXT, "repo": TEXT}
HOSTED = [
    tool("create_branch", "Create a branch in a repository", **WHOSE, branch=TEXT, from_branch=TEXT),
    tool("list_branches", "List the branches of a repository", **WHOSE),
    tool("list_commits", "List the commits of a branch", **WHOSE, sha=TEXT),
    tool("get_commit", "Get a commit", **WHOSE, sha=TEXT),
    tool("merge_branch", "Merge a branch", **WHOSE, branch=TEXT),
]
TRANSACTIONS = [
    tool("commit", "Commits the transaction"),
    tool("status", "The state of the connection"),
    tool("reset", "Resets the connection"),
    tool("add", "Adds two numbers", a=NUMBER, b=NUMBER),
]
UNHOSTED = [
    tool("create_branch", "Create a branch", repository=TEXT, branch=TEXT),
    tool("list_branches", "List branches", repository=TEXT),
    tool("list_commits", "List commits", repository=TEXT),
    tool("create_pull_request", "Create a pull request", repository=TEXT, title=TEXT, branch=TEXT),
]


@pytest.mark.parametrize("tools", [HOSTED, TRANSACTIONS, UNHOSTED])
def test_services_that_host_repositories_and_other_commits_are_left_alone(
    tmp_path: Path, tools: Sequence[Json]
) -> None:
    assert "version_control" not in " ".join(behaviours(simulator(tmp_path, [*tools])).values())


async def test_a_sentence_of_an_example_words_the_others(tmp_path: Path) -> None:
    example = {"tool": "git_checkout", "arguments": {"repo_path": "/x", "branch_name": "dev"}, "result": "On it: dev"}
    sim = simulator(tmp_path, GIT, STATE, {"examples": [example]})
    async with sim, sim.open() as world:
        assert await said(world, "git_checkout", branch_name="old", **HERE) == "On it: old"


async def test_the_same_calls_make_the_same_commits(tmp_path: Path) -> None:
    sim = simulator(tmp_path, [*GIT, *FILES], STATE)
    made: list[str] = []
    async with sim:
        for name in ("one", "two"):
            async with sim.open(name) as world:
                await said(world, "write_file", path="/repo/a.txt", content="x")
                await said(world, "git_add", files=["a.txt"], **HERE)
                made.append(hash_of(await said(world, "git_commit", message="X", **HERE)))
    assert made[0] == made[1]


REMOTE = [
    *CAMEL, *FILES,
    tool("gitPush", "Pushes commits to a remote", needed="", remote=TEXT, branch=TEXT),
    tool("gitPull", "Pulls from a remote", needed="", remote=TEXT),
    tool("gitFetch", "Fetches from a remote", needed="", remote=TEXT),
    tool("gitRemote", "Remotes of the repository", needed="mode", mode={"enum": ["list", "add", "remove"]},
         name=TEXT, url=TEXT),
]  # fmt: skip


async def test_commits_are_pushed_to_remotes_once(tmp_path: Path) -> None:
    async with simulator(tmp_path, REMOTE, STATE) as sim, sim.open() as world:
        assert "'origin' is no remote" in await refused(world, "gitPush")
        added = {"mode": "add", "name": "origin", "url": "https://git.example/a.git"}
        await said(world, "gitRemote", **added)
        assert "already exists" in await refused(world, "gitRemote", **added)
        assert "https://git.example/a.git" in str(await said(world, "gitRemote", mode="list"))
        assert "main -> main" in await said(world, "gitPush")
        assert await said(world, "gitPush") == "Everything up-to-date"
        await said(world, "write_file", path="/repo/a.txt", content="later")
        await said(world, "stageFiles", paths=["a.txt"])
        await said(world, "commitChanges", message="Later")
        assert "2222222.." in await said(world, "gitPush", remote="origin", branch="main")
        assert "up to date" in await said(world, "gitPull")
        assert "origin" in await said(world, "gitFetch")
        await said(world, "gitRemote", mode="remove", name="origin")
        assert "none" in await refused(world, "gitPull")


async def test_remotes_may_be_given_and_one_is_made_up_where_nothing_is(tmp_path: Path) -> None:
    given = {**STATE, "remotes": {"backup": "https://git.example/b.git"}}
    async with simulator(tmp_path, REMOTE, given) as sim, sim.open() as world:
        assert "backup" in str(await said(world, "gitRemote", mode="list"))
        assert "backup" in await refused(world, "gitPush")
    async with simulator(tmp_path, REMOTE) as sim, sim.open() as world:
        assert "origin" in str(await said(world, "gitRemote", mode="list"))


async def test_a_repository_that_is_begun_where_the_caller_says_holds_the_files_that_are_given(tmp_path: Path) -> None:
    state = {"files": {"a.txt": "one", "src/b.txt": "two"}}
    async with simulator(tmp_path, GIT, state) as sim, sim.open() as world:
        await said(world, "git_init", repo_path="/srv/box")
        assert "\ta.txt" in await said(world, "git_status", repo_path="/srv/box")
        await said(world, "git_add", repo_path="/srv/box", files=["a.txt"])
        await said(world, "git_commit", repo_path="/srv/box", message="First")
        assert "a.txt" in await said(world, "git_show", repo_path="/srv/box", revision="HEAD")


async def test_branches_are_of_a_kind_that_there_is_and_times_are_seconds_where_a_number_is_asked_for(
    tmp_path: Path,
) -> None:
    entry = shown(sha=TEXT, timestamp={"type": "integer"})
    log = tool("gitLog", "The log of the repository", needed="",
               output=shown(commits={"type": "array", "items": entry}))  # fmt: skip
    async with simulator(tmp_path, [*GIT, log], STATE) as sim, sim.open() as world:
        assert "odd" in await refused(world, "git_branch", repo_path="/repo", branch_type="odd")
        newest = (await said(world, "gitLog"))["commits"][0]
        assert newest["timestamp"] > 1_600_000_000


async def test_files_without_a_place_are_below_the_repository_that_a_state_names_and_there_is_no_other(
    tmp_path: Path,
) -> None:
    state = {"repo_path": "/srv/box", "commits": [{"hash": FIRST, "message": "One", "files": {"a.txt": "one"}}],
             "branch": "main", "files": {"a.txt": "one", "b.txt": "two"}}  # fmt: skip
    async with simulator(tmp_path, GIT, state) as sim, sim.open() as world:
        status = await said(world, "git_status", repo_path="/srv/box")
        assert status.endswith(
            '\n\tb.txt\n\nnothing added to commit but untracked files present (use "git add" to track)'
        )
        assert "Not a git repository" in await refused(world, "git_status", repo_path="/srv/other")


FURTHER = [
    *GIT,
    tool("git_blame", "Who wrote each line", needed="repo_path file_path", **REPO, file_path=TEXT, start_line=NUMBER),
    tool("git_reflog", "Shows where the head has been", needed="repo_path", **REPO, max_count=NUMBER),
    tool("git_cherry_pick", "Applies commits", **REPO, commits=TEXTS),
    tool("git_revert", "Undoes a commit", **REPO, commit=TEXT),
    tool("git_clean", "Removes untracked files", needed="repo_path", **REPO, dry_run=FLAG, force=FLAG),
    tool("git_worktree", "Working trees", needed="repo_path mode", **REPO, worktree_path=TEXT, branch=TEXT,
         mode={"enum": ["list", "add", "remove"]}),
    tool("git_stash", "Puts changes aside", **REPO),
    tool("git_stash_pop", "Takes them back", **REPO),
]  # fmt: skip


async def test_commits_are_blamed_taken_over_and_undone_and_the_lost_ones_are_told(tmp_path: Path) -> None:
    async with simulator(tmp_path, [*FURTHER, *FILES], STATE) as sim, sim.open() as world:
        await said(world, "git_create_branch", branch_name="side", **HERE)
        await said(world, "git_checkout", branch_name="side", **HERE)
        await said(world, "write_file", path="/repo/a.txt", content="one\ntwo\nthree\n")
        await said(world, "git_add", files=["a.txt"], **HERE)
        made = hash_of(await said(world, "git_commit", message="Third", **HERE))
        blamed = (await said(world, "git_blame", file_path="a.txt", **HERE)).splitlines()
        assert [line.startswith(made[:7]) for line in blamed] == [False, False, True]
        await said(world, "git_checkout", branch_name="main", **HERE)
        await said(world, "git_cherry_pick", commits=[made], **HERE)
        assert "three" in await said(world, "read_file", path="/repo/a.txt")
        picked = hash_of(await said(world, "git_log", max_count=1, **HERE))
        assert picked != made
        await said(world, "git_revert", commit=picked, **HERE)
        assert "three" not in await said(world, "read_file", path="/repo/a.txt")
        assert made[:7] in await said(world, "git_reflog", **HERE)
        await refused(world, "git_cherry_pick", commits=["abc1234"], **HERE)
        await refused(world, "git_blame", file_path="none.txt", **HERE)


async def test_untracked_files_are_cleaned_and_working_trees_come_and_go(tmp_path: Path) -> None:
    async with simulator(tmp_path, [*FURTHER, *FILES], STATE) as sim, sim.open() as world:
        await said(world, "git_add", files=["."], **HERE)
        await said(world, "write_file", path="/repo/new.txt", content="n")
        assert "new.txt" in await said(world, "git_clean", dry_run=True, **HERE)
        await said(world, "git_clean", force=True, **HERE)
        await refused(world, "read_file", path="/repo/new.txt")
        await said(world, "git_worktree", mode="add", worktree_path="/hot", branch="hot", **HERE)
        assert "/hot" in await said(world, "git_worktree", mode="list", **HERE)
        assert "hot" in await said(world, "git_branch", branch_type="local", **HERE)
        await said(world, "git_worktree", mode="remove", worktree_path="/hot", **HERE)
        await refused(world, "git_worktree", mode="remove", worktree_path="/hot", **HERE)


async def test_a_new_file_that_was_put_aside_comes_back_staged(tmp_path: Path) -> None:
    async with simulator(tmp_path, [*FURTHER, *FILES], STATE) as sim, sim.open() as world:
        await said(world, "write_file", path="/repo/new.txt", content="n")
        await said(world, "git_add", files=["new.txt"], **HERE)
        await said(world, "git_stash", **HERE)
        await said(world, "git_stash_pop", **HERE)
        assert "new file:   new.txt" in await said(world, "git_status", **HERE)
