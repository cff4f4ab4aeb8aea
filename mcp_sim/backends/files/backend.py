"""Backend for tools that work on files and directories."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.backends.files.entities import DIRECTORY, FILE, SHELL, entities
from mcp_sim.backends.files.given import Given, read_given_files
from mcp_sim.backends.files.matching import plans_of
from mcp_sim.backends.files.paths import ROOT, directories_above, normalize, parent, split_path
from mcp_sim.backends.git.backend import Git
from mcp_sim.backends.matching.tool_profiles import profiles_by_server
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("files")
class Files(Backend):
    """Files and directories by path: entities `file` (path, folder, content) and `directory`.

    A singleton `shell` holds the working directory and the allowed directories. If no state locates the files on the
    clients' disk, it also holds the prefix that clients use (`above`). Parent directories are created for every path.
    """

    order = 40

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for listed in evidence.once(profiles_by_server) for plan in plans_of(listed)]
        if not plans:
            return None
        given, rest = read_given_files(evidence.state)
        records = _records(given, plans)
        git = Git()
        servers = evidence.once(profiles_by_server)
        if given.is_open and not any(git.accepts(git.candidates(listed), listed) for listed in servers):
            records[SHELL][0]["above"] = None
        return Match(plans, entities(), records, rest)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        made = dict(tables)
        for prefix in {(plan.entity or FILE).removesuffix(FILE) for plan in plans}:
            made |= _complete_tree(tables, prefix)
        return made

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.files.answer import answer

        return answer(tool, plan, domain)


def _records(given: Given, plans: Sequence[Plan]) -> dict[str, list[Record]]:
    """Return the records of a state. Without given files, files are generated, and directories follow from them."""
    shell: Record = {"working_directory": given.working or _home(given, plans), "allowed": _allowed(given, plans)}
    made: dict[str, list[Record]] = {DIRECTORY: [*given.directories.values()], SHELL: [shell]}
    return made if given.is_empty else {FILE: [*given.files.values()], **made}


def _allowed(given: Given, plans: Sequence[Plan]) -> list[str]:
    """Return the allowed directories.

    If a tool lists them and the state does not give them, the common parent of all given files is allowed.
    """
    places = [*map(parent, given.files), *given.directories]
    if given.is_open or given.allowed or not places or not any(plan.operation == "allowed" for plan in plans):
        return given.allowed or [ROOT]
    return [posixpath.commonpath(places)]


def _home(given: Given, plans: Sequence[Plan]) -> str:
    """Return the initial working directory: the only top-level directory if it contains everything."""
    tops = {split_path(path)[0] for path in (*given.files, *given.directories)}
    has_shell = any(plan.operation in {"cd", "pwd"} for plan in plans)
    home = ROOT + next(iter(tops), "")
    return home if has_shell and given.is_nested and len(tops) == 1 and home in given.directories else ROOT


def _complete_tree(tables: Tables, prefix: str) -> dict[str, Mapping[Key, Record]]:
    """Return the tables with normalized paths, the folder of each path, and all parent directories."""
    files: dict[Key, Record] = {path: row for path, row in _by_path(tables.get(prefix + FILE, {})) if path != ROOT}
    given = dict(_by_path(tables.get(prefix + DIRECTORY, {})))
    directories: dict[Key, Record] = {}
    for path, row in (*given.items(), *_by_path(files)):
        for one in (*directories_above(path), *([path] if path in given else [])):
            if one not in directories and one not in files and one != ROOT:
                directories[one] = given.get(one) or {**_times(row), "path": one, "folder": parent(one)}
    return {prefix + FILE: files, prefix + DIRECTORY: directories}


def _by_path(table: Mapping[Key, Record]) -> Iterator[tuple[str, Record]]:
    for key, row in table.items():
        path = normalize(str(key))
        yield path, {**row, "path": path, "folder": parent(path)}


def _times(row: Record) -> Record:
    return {name: row[name] for name in ("created_at", "modified_at") if name in row}
