"""Which function does what a tool is for?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mcp_sim.backends.git import branching, changing, commits, differences, looking, places, remotes, retelling
from mcp_sim.backends.git.asking import Asked
from mcp_sim.backends.rendering.outcomes import Outcome

OPERATIONS: Mapping[str, Callable[[Asked], Outcome]] = {
    "status": looking.status, "stage": changing.stage, "unstage": changing.unstage, "commit": changing.commit,
    "log": commits.log, "show": commits.show, "diff": differences.diff, "diff_staged": differences.diff_staged,
    "diff_unstaged": differences.diff_unstaged, "branches": looking.branches, "branch": branching.branch,
    "current_branch": looking.current_branch, "create_branch": branching.create_branch,
    "delete_branch": branching.delete_branch, "rename_branch": branching.rename_branch,
    "checkout": branching.checkout, "reset": branching.reset, "restore": changing.restore,
    "init": changing.init, "merge": branching.merge, "stash": changing.stash, "stash_pop": changing.stash_pop,
    "stash_apply": changing.stash_apply, "stash_drop": changing.stash_drop, "stash_list": changing.stash_list,
    "push": remotes.push, "pull": remotes.pull, "fetch": remotes.fetch, "remote": remotes.remote,
    "remotes": remotes.remotes, "add_remote": remotes.add_remote, "remove_remote": remotes.remove_remote,
    "rename_remote": remotes.rename_remote, "place_remote": remotes.place_remote, "show_remote": remotes.show_remote,
    "tags": looking.tags, "tag": branching.tag, "create_tag": branching.create_tag, "delete_tag": branching.delete_tag,
    "blame": retelling.blame, "reflog": retelling.reflog, "cherry_pick": retelling.cherry_pick,
    "revert": retelling.revert, "clean": places.clean, "enter": places.enter, "leave": places.leave,
    "worktrees": places.worktrees, "add_worktree": places.add_worktree, "remove_worktree": places.remove_worktree,
}  # fmt: skip
