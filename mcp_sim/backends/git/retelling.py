"""What do the tools do that look along the commits: blame, reflog, cherry-pick, revert?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from mcp_sim.backends.git.asking import Asked
from mcp_sim.backends.git.commits import told
from mcp_sim.backends.git.differences import rendered
from mcp_sim.backends.git.entities import COMMIT
from mcp_sim.backends.git.repository import Repository, difference, unknown
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_USUAL = 30
"""So many moves are told where nobody says how many."""


def blame(asked: Asked) -> Outcome:
    """Who wrote each line of a file, and with which commit."""
    one = asked.repository
    path = one.at(asked.needed("file"))
    start = asked.text("revision")
    lines = _blamed(one, path, one.head if start is None else one.resolve(start))
    if lines is None:
        raise Refused("not_found", f"no such path '{asked.text('file')}' in {start or 'HEAD'}", path=path, key=path)
    first, last = asked.number("first") or 1, asked.number("last") or len(lines)
    rows = [
        {**told(one, commit), "line": at, "content": text, "message": commit.get("message")}
        for at, (commit, text) in enumerate(lines, 1)
        if first <= at <= last
    ]
    texts = [
        f"{row['short_hash']} ({row['author']} {str(row['date'])[:10]} {row['line']}) {row['content']}" for row in rows
    ]
    facts: Record = {"lines": rows, "path": one.shown(path), "count": len(rows)}
    return Outcome("\n".join(texts), facts, "lines")


def _blamed(one: Repository, path: str, commit: str | None) -> list[tuple[Record, str]] | None:
    """The lines of a file, each with the commit that it is from; None where no commit has the file."""
    found: list[tuple[Record, str]] | None = None
    for row in reversed(list(one.line(commit))):
        files = as_object(row.get("files"))
        if path in files:
            content: Json = files[path]
            found = None if content is None else _kept(found or [], row, str(content).splitlines())
    return found


def _kept(before: list[tuple[Record, str]], row: Record, lines: list[str]) -> list[tuple[Record, str]]:
    """The lines after a commit: those that were there keep who wrote them."""
    matcher = SequenceMatcher(None, [text for _, text in before], lines, autojunk=False)
    after = [(row, text) for text in lines]
    for block in matcher.get_matching_blocks():
        after[block.b : block.b + block.size] = before[block.a : block.a + block.size]
    return after


def reflog(asked: Asked) -> Outcome:
    """Every commit that the head led to, the newest first: also those that no branch leads to any more."""
    one, most = asked.repository, asked.number("count") or _USUAL
    moves = [*reversed(one.moves), *_first_moves(one)][:most]
    entries = [
        {**told(one, one.commit(move["hash"])), **move, "ref": f"HEAD@{{{at}}}"} for at, move in enumerate(moves)
    ]
    lines = [f"{row['short_hash']} {row['ref']}: {row['message']}" for row in entries]
    facts: Record = {"entries": entries, "count": len(entries), "ref": asked.text("revision") or "HEAD"}
    return Outcome("\n".join(lines) or "No entries", facts, "entries")


def _first_moves(one: Repository) -> Iterator[Record]:
    """Where the head was before any call, the newest first: at each commit that was there."""
    later = {move["hash"] for move in one.moves if move["is_made"]}
    for row in reversed(one.rows(COMMIT)):
        action = "commit" if row.get("parents") else "commit (initial)"
        if row["hash"] not in later:
            yield {"hash": row["hash"], "action": action, "message": f"{action}: {row.get('message')}"}


# again, or undone -----------------------------------------------------------------------------------------------------


def cherry_pick(asked: Asked) -> Outcome:
    """What other commits changed, changed here too, with a commit for each."""
    made = [_repeated(asked, row, str(row.get("message"))) for row in _commits(asked)]
    return _told(asked, "Cherry-picked", made)


def revert(asked: Asked) -> Outcome:
    """What commits changed, changed back, with a commit for each."""
    made = [_repeated(asked, row, f'Revert "{row.get("message")}"', is_back=True) for row in _commits(asked)]
    return _told(asked, "Reverted", made)


def _commits(asked: Asked) -> Iterator[Record]:
    one, value = asked.repository, asked.get("commits")
    for name in as_list(value) if isinstance(value, list) else [value]:
        if not name:
            raise unknown(str(name))
        yield one.commit(one.resolve(str(name)))


def _repeated(asked: Asked, row: Record, message: str, *, is_back: bool = False) -> Record:
    one = asked.repository
    if one.staged():
        raise Refused("conflict", "your local changes would be overwritten: commit or stash them first")
    before, after = one.snapshot(next(iter(row.get("parents") or []), None)), one.snapshot(row["hash"])
    changes = difference(after, before) if is_back else difference(before, after)
    here = one.snapshot(one.head)
    torn = [one.shown(path) for path, (old, _) in changes.items() if here.get(path) != old]
    if torn or not changes:
        told_of = f"merge conflict in {', '.join(torn)}" if torn else "the commit is empty"
        raise Refused("conflict", f"could not apply {row['short_hash']}... {row.get('message')}: {told_of}")
    files: Mapping[str, Json] = {path: new for path, (_, new) in changes.items()}
    for path, content in files.items():
        one.write(path, None if content is None else str(content))
    author = {"author": row.get("author"), "email": row.get("email")} if not is_back else asked.author()
    return one.add(message, [] if one.head is None else [one.head], files, author)


def _told(asked: Asked, verb: str, made: list[Record]) -> Outcome:
    one = asked.repository
    last = made[-1]
    before = one.snapshot(next(iter(last["parents"]), None))
    patch = rendered(one, difference(before, one.snapshot(last["hash"])))
    hashes: list[Json] = [row["hash"] for row in made]
    text = "\n".join(f"[{one.branch} {row['short_hash']}] {row['message']}" for row in made)
    facts: Record = {**told(one, last), "commits": hashes, "branch": one.branch, "diff": patch, "conflicts": False}
    return done(f"{verb} {len(made)} commits\n{text}", *one.changes, **facts)
