"""Several programs for one server: where their answers agree, and a program with the best functions of two."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from mcp_sim.recordings.compiling.gate import Judged, tables_of
from mcp_sim.recordings.compiling.removal import without_tools
from mcp_sim.recordings.observed import TIME
from mcp_sim.types import Record, frozen

_ID = re.compile(r"\b(?:[0-9a-f]{8,}|[0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z_-]*\d[\w-]*)\b")
"""Ids and numbers, in which programs may differ by chance."""


@frozen
class Vote:
    """What several programs answer to the calls of one tool that all of them got."""

    calls: int
    agreement: float
    """The share of calls to which all programs give the same answer, but for ids and times."""
    call: str = ""
    """The first call to which they give different answers."""
    answers: Mapping[str, int] = field(default_factory=dict[str, int])
    """Their answers to it, and how many programs give each."""

    def to_json(self) -> Record:
        differing = {"call": self.call, "answers": {**self.answers}} if self.call else {}
        return {"calls": self.calls, "agreement": round(self.agreement, 4), **differing}


def votes(programs: Sequence[Judged]) -> dict[str, Vote]:
    answers = [_by_call(judged) for judged in programs]
    common = [call for call in answers[0] if all(call in others for others in answers)] if answers else []
    by_tool = dict[str, list[tuple[str, str]]]()
    for call in common:
        by_tool.setdefault(call[0], []).append(call)
    return {tool: _vote(calls, answers) for tool, calls in by_tool.items()}


def majority(programs: Sequence[Judged]) -> list[float]:
    """Return for each program how often its answers are those that most programs give, from 0 to 1."""
    answers = [_by_call(judged) for judged in programs]
    counts = dict[tuple[str, str], Counter[str]]()
    for given in answers:
        for call, text in given.items():
            counts.setdefault(call, Counter())[_plain(text)] += 1
    shares = [
        [counts[call][_plain(text)] / counts[call].total() for call, text in given.items() if counts[call].total() > 1]
        for given in answers
    ]
    return [sum(share) / len(share) if share else 0.0 for share in shares]


def clusters(judged: Judged) -> list[frozenset[str]]:
    """Return the tools of a program in groups that share no table. Those that use a library are in one group."""
    tables = {tool: tables_of(function) for tool, function in judged.functions.items()}
    for tool, function in judged.functions.items():
        if function.effects.uses_libraries or function.effects.is_partial:
            tables[tool].add("(library)")
    groups = list[set[str]]()
    for tool, used in tables.items():
        linked = [group for group in groups if any(used & tables[other] for other in group)]
        groups = [group for group in groups if group not in linked] + [{tool}.union(*linked)]
    return [frozenset(group) for group in groups]


def _by_call(judged: Judged) -> dict[tuple[str, str], str]:
    """Return the answers of a program by tool and arguments: the first one to each call."""
    answers = dict[tuple[str, str], str]()
    for tool, arguments, _, text in judged.answers:
        answers.setdefault((tool, arguments), text)
    return answers


def _plain(text: str) -> str:
    """Return an answer without what differs by chance."""
    return _ID.sub("#", TIME.sub("#", text))


def _vote(calls: Sequence[tuple[str, str]], answers: Sequence[Mapping[tuple[str, str], str]]) -> Vote:
    agree = [all(_plain(left[call]) == _plain(right[call]) for left, right in pairwise(answers)) for call in calls]
    share = sum(agree) / len(agree)
    if all(agree):
        return Vote(len(calls), share)
    differing = calls[agree.index(False)]
    forms = Counter(_plain(given[differing]) for given in answers)
    shown = {_plain(given[differing]): given[differing] for given in reversed(answers)}
    counts = {shown[form]: count for form, count in forms.most_common()}
    return Vote(len(calls), share, f"{differing[0]}({differing[1]})", counts)


_BEGIN = "initial"


def combined(main: Judged, other: Judged, tools: Collection[str]) -> str | None:
    """Return a program with the functions of `tools` from `other`; None if the files are written otherwise than usual.

    The names of the other file get the ending `_2` where both have them, tables as well: no tool of one uses a table of
    the other. The gate decides whether the result is any good.
    """
    rest = [tool for tool in other.functions if tool not in tools]
    first = ast.parse(without_tools(main.text, main.answering, tools))
    second = ast.parse(without_tools(other.text, other.answering, [*rest, *other.hooks]))
    tables, further = _tables(first), _tables(second)
    if tables is None or further is None:
        return None
    names = {name: f"{name}_2" for name in {*_names(first)} & {*_names(second)} - {"tables"}}
    renamed_tables = {name: f"{name}_2" for name in {*_keys(tables)} & {*_keys(further)}}
    second = _Renaming(names, renamed_tables).visit(second)
    begin = [*_without_hook(first), *_without_hook(second)]
    tables.keys += further.keys
    tables.values += further.values
    futures, imports, others = list[ast.stmt](), list[ast.stmt](), list[ast.stmt]()
    for node in (*first.body, *second.body):
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (node in second.body and (_is_tables(node) or is_text)):
            (futures if is_future else imports if is_import else others).append(node)
    if begin:  # a hook that calls the functions which filled the tables of both programs
        calls = "".join(f"    {name}(given, world)\n" for name in begin)
        others += ast.parse(f"@{_BEGIN}\ndef begin_all(given, world):\n{calls}").body
    return ast.unparse(ast.fix_missing_locations(ast.Module([*futures[:1], *imports, *others], [])))


def _without_hook(module: ast.Module) -> Iterator[str]:
    """Yield the name of the function that fills the tables, which loses its decorator."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(line) == _BEGIN for line in node.decorator_list):
            node.decorator_list = []
            yield node.name


def _tables(module: ast.Module) -> ast.Dict | None:
    return next(
        (node.value for node in module.body if isinstance(node, ast.Assign) and _is_tables(node)
         and isinstance(node.value, ast.Dict)), None,
    )  # fmt: skip


def _is_tables(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "tables"


def _keys(tables: ast.Dict) -> list[str]:
    return [str(key.value) for key in tables.keys if isinstance(key, ast.Constant)]


def _names(module: ast.Module) -> Iterator[str]:
    """Yield the names that a file gives to functions, classes and values; not those that it imports."""
    for node in module.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case _:
                pass


class _Renaming(ast.NodeTransformer):
    """Gives other names to what a file defines, and to its tables. Names of a function's own stay."""

    def __init__(self, names: Mapping[str, str], tables: Mapping[str, str]) -> None:
        self._names, self._tables = names, tables

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        own = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
        own |= {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
        inner = _Renaming({name: to for name, to in self._names.items() if name not in own}, self._tables)
        tool = next((line for line in node.decorator_list if ast.unparse(line) == "tool"), None)
        renamed = self._names.get(node.name)
        if tool is not None and renamed is not None:  # its name was that of its tool
            node.decorator_list = [ast.parse(f"tool({node.name!r})", mode="eval").body]
        node.name = renamed or node.name
        node.body = [inner.visit(line) for line in node.body]
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        is_table = isinstance(node.value, ast.Name) and node.value.id == "world"
        name = self._tables.get(node.attr, node.attr) if is_table else node.attr
        return ast.Attribute(self.visit(node.value), name, node.ctx)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if _is_tables(node):
            for child in ast.walk(node.value):
                if isinstance(child, ast.Dict):
                    self._rename_tables(child)
            return node
        self.generic_visit(node)
        return node

    def _rename_tables(self, node: ast.Dict) -> None:
        """Rename the tables that a mapping declares, or that its links name."""
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Dict) and key.value in self._tables:
                key.value = self._tables[str(key.value)]
            if isinstance(key, ast.Constant) and key.value == "links" and isinstance(value, ast.Dict):
                for link in value.values:
                    if isinstance(link, ast.Constant):
                        link.value = self._tables.get(str(link.value), link.value)
