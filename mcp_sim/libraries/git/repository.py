"""One repository with its working tree: index, commits, merges, branches, tags, stashes and remotes.

The working tree is the tree of files below its root. Paths of files are relative to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mcp_sim.libraries.files import Files, below, is_within, join, normalize, parent
from mcp_sim.libraries.git.changes import (
    Snapshot,
    commit_hash,
    difference,
    hash_of,
    kind_of,
    merge_texts,
)
from mcp_sim.libraries.git.errors import (
    BadName,
    CheckedOut,
    Conflict,
    NameTaken,
    NothingToDo,
    NotMerged,
    Overwritten,
    UnknownName,
    UnknownPath,
    Unmerged,
)
from mcp_sim.libraries.git.history import BLOB, BRANCH, COMMIT, REPOSITORY, TAG, Commit, History
from mcp_sim.libraries.store import Store
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list

_BAD_NAME = re.compile(r"^[-/.]|\.\.|[\s~^:?*\[\\]|[/.]$|\.lock$|@\{|^@$|^$")
_MOST_MOVES = 200
"""How many moves of the head are kept."""


@dataclass(slots=True)
class Status:
    """The uncommitted changes: path -> `added`, `modified` or `deleted`; and the untracked files."""

    staged: Mapping[str, str]
    unstaged: Mapping[str, str]
    untracked: Sequence[str]
    conflicts: Sequence[str] = ()
    """The files of a merge in progress that are still in conflict; they are in none of the others."""

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to commit."""
        return not (self.staged or self.unstaged or self.untracked or self.conflicts)


class Repository(History):
    """A repository with a working tree."""

    def __init__(self, store: Store, root: str) -> None:
        super().__init__(store, root)
        self._files = Files(store)

    # the index and the working tree

    @property
    def index(self) -> dict[str, str]:
        """The files that the next commit has."""
        return self._texts(self._record.get("index") or {})

    @property
    def working(self) -> dict[str, str]:
        """The files of the working tree."""
        if self._files.find(self.root) is None:
            return {}
        return {below(entry.path, self.root): entry.text for entry in self._files.walk(self.root) if entry.is_file}

    def status(self) -> Status:
        """Return the uncommitted changes."""
        index, working = self.index, self.working
        tracked = {path: text for path, text in working.items() if path in index}
        staged, unstaged, conflicts = difference(self.tree(), index), difference(index, tracked), self.conflicts
        return Status(
            {path: kind_of(*change) for path, change in staged.items() if path not in conflicts},
            {path: kind_of(*change) for path, change in unstaged.items() if path not in conflicts},
            sorted(path for path in working if path not in index and path not in conflicts),
            conflicts,
        )

    def add(self, paths: Iterable[str] = (".",)) -> list[str]:
        """Stage files, named by paths, directories or patterns. Returns their paths. Raises `UnknownPath`."""
        index, working = self.index, self.working
        chosen = self.match(paths, {**index, **working})
        self.set_index({**index, **{path: working.get(path) for path in chosen}})
        if self.conflicts:
            self.update(conflicts=[path for path in self.conflicts if path not in chosen])
        return chosen

    def unstage(self, paths: Iterable[str] = (".",)) -> list[str]:
        """Let the index have files as the last commit does. Returns those that changed. Raises `UnknownPath`."""
        index, head = self.index, self.tree()
        chosen = [path for path in self.match(paths, {**index, **head}) if index.get(path) != head.get(path)]
        self.set_index({**index, **{path: head.get(path) for path in chosen}})
        return chosen

    def restore(self, paths: Iterable[str], revision: str = "") -> list[str]:
        """Let the working tree have files as the index or a commit does. Raises `UnknownPath` or `UnknownRevision`."""
        source = self.tree(revision) if revision else self.index
        chosen = self.match(paths, source)
        self._write({path: source[path] for path in chosen})
        if revision:
            self.set_index({**self.index, **{path: source[path] for path in chosen}})
        return chosen

    def match(self, paths: Iterable[str], known: Iterable[str]) -> list[str]:
        """Return the known files that paths, directories or patterns name. Raises `UnknownPath`."""
        listed, chosen = [*known], dict[str, None]()
        for spec in paths:
            plain = below(normalize(spec, self.root), self.root)
            inside = listed if not plain else [path for path in listed if is_within(f"/{path}", [f"/{plain}"])]
            inside = inside or [path for path in listed if fnmatchcase(path, spec)]
            if not inside and plain:
                raise UnknownPath(spec)
            chosen |= dict.fromkeys(inside)
        return [*chosen]

    def commit(
        self, message: str, *, author: str = "", email: str = "", amend: bool = False, allow_empty: bool = False
    ) -> Commit:
        """Commit the index, and end a merge in progress. Raises `NothingToDo` without changes, or `Unmerged`."""
        self._check_merged()
        head, merging = self.head, self.merging or {}
        parents: list[str] = [] if head is None else self._commit(head).parents if amend else [head]
        parents = [*parents, *as_list(merging.get("parents"))]
        allow_empty = allow_empty or bool(merging)
        if merging:
            self.update(merging=None)
        if amend and head is None:
            raise NothingToDo("amend")
        if not (amend or allow_empty) and self._stored_index() == dict(self.get().tree if head else {}):
            raise NothingToDo("commit")
        action = "commit (amend)" if amend else "commit" if parents else "commit (initial)"
        return self.add_commit(message, parents, self._stored_index(), author, email, action=action)

    def reset(self, revision: str = "HEAD", mode: str = "mixed") -> Commit:
        """Move the branch to a commit: `soft` keeps the index, `hard` changes the files too. Raises `UnknownRevision`.

        `keep` and `merge` change the files unless that overwrites local changes (`Overwritten`). A merge in progress is
        given up, but for `soft` (`Unmerged`).
        """
        if mode == "soft":
            self._check_merged()
        elif self.merging:
            self.update(merging=None, conflicts=[])
        target, tracked = self.get(revision), {**self.tree(), **self.index}
        if mode in {"keep", "merge"}:
            self._switch_files(target.hash, "reset")
        self._point(target.hash)
        self._note_move("reset", f"moving to {revision}")
        if mode != "soft":
            self.update(index=dict(target.tree))
        if mode == "hard":
            texts = self._texts(target.tree)
            self._write({path: texts.get(path) for path in {**tracked, **texts}})
        return target

    def clean(self, *, dry_run: bool = False) -> list[str]:
        """Remove untracked files, and return their paths."""
        paths = [*self.status().untracked]
        if not dry_run:
            self._write(dict.fromkeys(paths))
        return paths

    # branches and tags

    def create_branch(self, name: str, base: str = "HEAD", *, force: bool = False) -> str:
        """Create a branch at a revision, and return its commit. Raises `BadName`, `NameTaken` or `UnknownRevision`."""
        if _BAD_NAME.search(name):
            raise BadName(name)
        if name in self.branches and not force:
            raise NameTaken("branch", name)
        commit = self.resolve(base)
        self.put_branch(name, commit)
        return commit

    def delete_branch(self, name: str, *, force: bool = False) -> str:
        """Delete a branch, and return its commit. Raises `UnknownName`, `CheckedOut` or `NotMerged`."""
        commit = self.branches.get(name)
        if commit is None:
            raise UnknownName("branch", name)
        if name == self.branch:
            raise CheckedOut(name)
        if not force and not self.is_ancestor(commit, "HEAD"):
            raise NotMerged(name)
        self._store.remove(BRANCH, f"{self.root}:{name}")
        return commit

    def rename_branch(self, old: str, new: str, *, force: bool = False) -> None:
        """Rename a branch. Raises `UnknownName`, `BadName` or `NameTaken`."""
        if old not in self.branches:
            raise UnknownName("branch", old)
        self.create_branch(new, old, force=force)
        self._store.remove(BRANCH, f"{self.root}:{old}")
        if self.branch == old:
            self.update(branch=new)

    def checkout(self, revision: str, *, force: bool = False) -> Commit:
        """Check out a branch or a commit. Raises `UnknownRevision`, `Overwritten` or `Unmerged`."""
        self._check_merged()
        target, before = self.get(revision), self.branch or self.head
        if force:
            self.reset("HEAD", "hard")
        self._switch_files(target.hash, "checkout")
        is_branch = revision in self.branches
        self.update(branch=revision if is_branch else None, commit=None if is_branch else target.hash)
        self._note_move("checkout", f"moving from {before} to {revision}")
        return target

    def create_tag(self, name: str, revision: str = "HEAD", message: str = "", *, force: bool = False) -> str:
        """Tag a revision, and return its commit. Raises `BadName`, `NameTaken` or `UnknownRevision`."""
        if _BAD_NAME.search(name):
            raise BadName(name)
        if name in self.tags and not force:
            raise NameTaken("tag", name)
        commit = self.resolve(revision)
        row: Record = {"ref": f"{self.root}:{name}", "repository": self.root, "name": name, "commit": commit}
        self._store.put(TAG, row["ref"], {**row, "message": message})
        return commit

    def delete_tag(self, name: str) -> str:
        """Delete a tag, and return its commit. Raises `UnknownName`."""
        if name not in self.tags:
            raise UnknownName("tag", name)
        commit, _ = self.tags[name]
        self._store.remove(TAG, f"{self.root}:{name}")
        return commit

    # merging

    def merge(self, revision: str, message: str = "", *, fast_forward: bool = True) -> tuple[Commit, bool]:
        """Merge a revision into what is checked out. Returns the head, and whether it was only moved forward.

        Nothing happens if the revision is merged already. Raises `UnknownRevision`, `Overwritten` or `Conflict`; files
        that both sides have changed are in conflict.
        """
        target, head = self.get(revision), self.get()
        if self.is_ancestor(target.hash, head.hash):
            return head, True
        if fast_forward and self.is_ancestor(head.hash, target.hash):
            self._switch_files(target.hash, "merge")
            self._point(target.hash)
            self._note_move(f"merge {revision}", "Fast-forward")
            return target, True
        self._check_merged()
        base = next(commit for commit in self.log(target.hash) if self.is_ancestor(commit.hash, head.hash))
        text = message or f"Merge branch '{revision}'"
        self._take(base.tree, target.tree, revision, {"parents": [target.hash], "message": text})
        action = f"merge {revision}: Merge made by the 'ort' strategy."
        merged = self.add_commit(text, [head.hash, target.hash], self._stored_index(), action=action)
        return merged, False

    def cherry_pick(self, revision: str, *, commit: bool = True) -> Commit | None:
        """Apply the changes of a commit to what is checked out, and commit them. Raises as `merge`, and `NothingToDo`.

        Without `commit` they are only staged.
        """
        self._check_merged()
        source, head = self.get(revision), self.get()
        before: Snapshot = self.get(source.parents[0]).tree if source.parents else {}
        self._take(before, source.tree, revision, {"parents": [], "message": source.message})
        if self._stored_index() == dict(head.tree):
            raise NothingToDo("commit")
        if not commit:
            return None
        return self.add_commit(source.message, [head.hash], self._stored_index(), source.author, source.email,
                                action="cherry-pick")  # fmt: skip

    @property
    def conflicts(self) -> list[str]:
        """The files of a merge in progress that are still in conflict."""
        return self._record.get("conflicts") or []

    @property
    def merging(self) -> Record | None:
        """The merge in progress: `parents` that its commit will have besides the head, and its `message`."""
        return self._record.get("merging")

    def _check_merged(self) -> None:
        if self.conflicts:
            raise Unmerged(self.conflicts)

    def _take(self, base: Snapshot, theirs: Snapshot, name: str, merging: Record) -> None:
        """Write and stage what another side has changed since a base. Raises `Overwritten` or `Conflict`."""
        ours, head, index, working = self.get().tree, self.tree(), self.index, self.working
        changes = {path: change for path, change in difference(base, theirs).items() if ours.get(path) != change[1]}
        if lost := [path for path in changes if not {working.get(path), index.get(path)} <= {head.get(path)}]:
            raise Overwritten(lost, "merge")
        texts: dict[str, str | None] = {path: None for path, (_, blob) in changes.items() if blob is None}
        texts |= self._texts({path: blob for path, (_, blob) in changes.items() if blob is not None})
        conflicts: list[str] = []
        for path, (old, _) in changes.items():
            if ours.get(path) != old:
                before = self._texts({path: old})[path] if old is not None else ""
                texts[path], is_whole = merge_texts(before, head.get(path, ""), texts[path] or "", name)
                conflicts += [] if is_whole else [path]
        self._write(texts)
        self.set_index({**index, **{path: text for path, text in texts.items() if path not in conflicts}})
        if conflicts:
            self.update(conflicts=conflicts, merging=merging)
            raise Conflict(conflicts)

    # stashes, remotes, and the moves of the head

    @property
    def stashes(self) -> list[Record]:
        """The stashes, the newest first: message, branch, date, commit, and `files` (path -> text, or None)."""
        return self._record.get("stashes") or []

    def stash(self, message: str = "", *, untracked: bool = False) -> Record:
        """Stash the uncommitted changes, and return to the last commit. Raises `NothingToDo`, `Unmerged`."""
        self._check_merged()
        head, working, last = self.tree(), self.working, self.get()
        tracked = {**head, **self.index}
        changes = difference(head, {p: text for p, text in working.items() if untracked or p in tracked})
        if not changes:
            raise NothingToDo("stash")
        files: dict[str, Json] = {path: text for path, (_, text) in changes.items()}
        where = self.branch or "(no branch)"
        title = f"On {where}: {message}" if message else f"WIP on {where}: {last.short} {last.title}"
        stashed: Record = {"message": title, "branch": where, "date": self._store.time, "files": files}
        # Each stash is a commit, too, so that its id differs from all others.
        stashed["commit"] = hash_of("commit", f"{title}\0{last.hash}\0{self._store.time}\0{len(self.stashes)}")
        self._write({path: head.get(path) for path in changes})
        self.update(index=dict(last.tree), stashes=[stashed, *self.stashes])
        self._note_move("reset", "moving to HEAD")  # git stashes by a reset, which its reflog shows
        return stashed

    def apply_stash(self, at: int = 0, *, drop: bool = False) -> Record:
        """Bring back the changes of a stash. Raises `UnknownName` or `Overwritten`."""
        stashed, index, working = self._stash(at), self.index, self.working
        files: Mapping[str, str | None] = stashed["files"]
        if lost := [path for path in files if working.get(path) != index.get(path)]:
            raise Overwritten(lost, "stash apply")
        self._write(files)
        if drop:
            self.drop_stash(at)
        return stashed

    def drop_stash(self, at: int = 0) -> Record:
        """Drop a stash. Raises `UnknownName`."""
        stashed = self._stash(at)
        self.update(stashes=[other for place, other in enumerate(self.stashes) if place != at])
        return stashed

    def _stash(self, at: int) -> Record:
        if not 0 <= at < len(self.stashes):
            raise UnknownName("stash", f"stash@{{{at}}}")
        return self.stashes[at]

    @property
    def remotes(self) -> dict[str, Record]:
        """The remotes by name: `url`, and `branches`, the commits of what was pushed to it."""
        return self._record.get("remotes") or {}

    def add_remote(self, name: str, url: str) -> None:
        """Add a remote. Raises `NameTaken`."""
        if name in self.remotes:
            raise NameTaken("remote", name)
        self.update(remotes={**self.remotes, name: {"url": url, "branches": {}}})

    def change_remote(self, name: str, *, url: str = "", new_name: str = "") -> None:
        """Change the URL or the name of a remote. Raises `UnknownName` or `NameTaken`."""
        if name not in self.remotes:
            raise UnknownName("remote", name)
        if new_name in self.remotes:
            raise NameTaken("remote", new_name)
        changed = {**self.remotes[name], **({"url": url} if url else {})}
        self.update(remotes={new_name or name if known == name else known: changed if known == name else row
                              for known, row in self.remotes.items()})  # fmt: skip

    def remove_remote(self, name: str) -> None:
        """Remove a remote. Raises `UnknownName`."""
        if name not in self.remotes:
            raise UnknownName("remote", name)
        self.update(remotes={known: row for known, row in self.remotes.items() if known != name})

    def push(self, remote: str, branch: str) -> list[Commit]:
        """Push a branch to a remote, and return the commits that were new there.

        Raises `UnknownName`, `UnknownRevision`, or `NotMerged` if the remote has other commits.
        """
        if remote not in self.remotes:
            raise UnknownName("remote", remote)
        tip, there = self.resolve(branch), self.remotes[remote]
        before = there["branches"].get(branch)
        if before is not None and not self.is_ancestor(before, tip):
            raise NotMerged(branch)
        known = {commit.hash for commit in self.log(before)} if before is not None else set[str]()
        changed = {**there, "branches": {**there["branches"], branch: tip}}
        self.update(remotes={**self.remotes, remote: changed})
        return [commit for commit in self.log(tip) if commit.hash not in known]

    # how it is stored

    def update(self, **fields: Json) -> None:
        self._store.put(REPOSITORY, self.root, {**self._record, **fields})

    def _stored_index(self) -> dict[str, str]:
        return dict(self._record.get("index") or {})

    def set_index(self, texts: Mapping[str, str | None]) -> None:
        self.update(index={path: self.store_text(text) for path, text in sorted(texts.items()) if text is not None})

    def store_text(self, text: str) -> str:
        identity = hash_of("blob", text)
        if self._store.get(BLOB, identity) is None:
            self._store.put(BLOB, identity, {"hash": identity, "content": text})
        return identity

    def _write(self, files: Mapping[str, str | None]) -> None:
        """Let files of the working tree have these texts; None removes one, and directories that it leaves empty."""
        for path, text in files.items():
            place = join(self.root, path)
            known = self._files.find(place)
            if text is not None and (known is None or known.content != text):
                self._files.write(place, text, parents=True)
            elif text is None and known is not None:
                self._files.remove(place)
                above = parent(place)
                while above != self.root and not self._files.list(above):
                    self._files.remove(above)
                    above = parent(above)

    def _switch_files(self, commit: str, by: str) -> None:
        """Change the files that differ in another commit. Raises `Overwritten` for local changes."""
        before, index, working = self.tree(), self.index, self.working
        changes = difference(before, self.tree(commit))
        if lost := [path for path, known in changes.items() if not {working.get(path), index.get(path)} <= {*known}]:
            raise Overwritten(lost, by)
        after = {path: new for path, (_, new) in changes.items()}
        self._write(after)
        self.set_index({**index, **after})

    def put_branch(self, name: str, commit: str) -> None:
        row: Record = {"ref": f"{self.root}:{name}", "repository": self.root, "name": name, "commit": commit}
        self._store.put(BRANCH, row["ref"], row)

    def _point(self, commit: str) -> None:
        if self.branch is not None:
            self.put_branch(self.branch, commit)
        else:
            self.update(commit=commit)

    def _note_move(self, action: str, message: str) -> None:
        move: Record = {"commit": self.head, "action": action, "message": f"{action}: {message}"}
        moves: list[Record] = [*(self._record.get("moves") or []), {**move, "date": self._store.time}]
        self.update(moves=moves[-_MOST_MOVES:])

    def add_commit(
        self, message: str, parents: Sequence[str], tree: Mapping[str, str], author: str = "", email: str = "",
        *, date: str = "", action: str = "commit", identity: str = "",
    ) -> Commit:  # fmt: skip
        """Add a commit, and point the head to it."""
        name, address = self.owner
        row: Record = {"message": message, "author": author or name, "email": email or ("" if author else address)}
        row |= {"date": date or self._store.time, "parents": [*parents], "tree": dict(sorted(tree.items()))}
        number = self._store.count(COMMIT)
        row["hash"] = identity or commit_hash(row)
        self._store.put(COMMIT, row["hash"], {"hash": row["hash"], "repository": self.root, "number": number, **row})
        self._point(row["hash"])
        move, _, note = action.partition(": ")
        self._note_move(move, note or message.partition("\n")[0])
        return self._commit(row["hash"])
