"""Edit the text of a program: take out the functions of some tools, and leave everything else as it is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping

from mcp_sim.recordings.compiling.static_checks import is_importable
from mcp_sim.types.programs import ProgramFunction

_WAITING = re.compile(rb"(?:async|await)\b\s*")


def without_tools(text: str, functions: Mapping[str, ProgramFunction], dropped: Collection[str]) -> str:
    """Return a program without the functions of some tools. `functions` are those that it has, by tool.

    A function that also answers another tool loses a decorator only. Comments right above a function go with it.
    """
    kept = {function.name for tool, function in functions.items() if tool not in dropped}
    names = {functions[tool].name for tool in dropped if tool in functions}
    lines = text.split("\n")
    cuts = [cut for node in ast.parse(text).body for cut in _cuts(node, names, kept, dropped, lines)]
    for first, last in sorted(cuts, reverse=True):
        del lines[first - 1 : last]
    return "\n".join(lines)


def functions_in(text: str) -> dict[str, ProgramFunction]:
    """Return the functions with `@tool` at the top of a file, by the tools that they answer."""
    return {
        _tool_of(decorator, node.name): ProgramFunction(node.name, node.lineno)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2] == "tool"
    }


def definition_at(text: str, line: int) -> str:
    """Return the name of the function or class at the top of a file that a line belongs to, or ''.

    Any other statement at the top runs whenever the program is read.
    """
    for node in ast.parse(text).body:
        is_definition = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if is_definition and _first_line(node) <= line <= (node.end_lineno or node.lineno):
            return node.name
    return ""


def dependents(text: str, name: str) -> set[str]:
    """Return the names at the top of a file whose definitions use a name, directly or not, and the name itself.

    '': a statement that defines nothing uses one of them.
    """
    statements = [(_defined(node) or {""}, _used(node)) for node in ast.parse(text).body]
    names, size = {name}, 0
    while len(names) > size:
        size = len(names)
        names |= {user for users, used in statements if not used.isdisjoint(names) for user in users}
    return names


def is_decorated(text: str, name: str) -> bool:
    """Whether a name is that of a function with a decorator at the top of a file."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return any(node.name == name and node.decorator_list for node in functions)


def without_definitions(text: str, names: Collection[str]) -> str:
    """Return a program without the statements at its top that define some names."""
    lines = text.split("\n")
    for node in reversed(ast.parse(text).body):
        if any(name in names for name in _defined(node)):
            del lines[_first_line(node) - 1 : node.end_lineno or node.lineno]
    return "\n".join(lines)


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement at the top of a file defines. Imports are not removed with their users."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [inner for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _used(node: ast.stmt) -> set[str]:
    """Return the names that a statement reads and does not give to a parameter or a variable of its own."""
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    own = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    own |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names if isinstance(name.ctx, ast.Load)} - own


def import_lines(text: str) -> dict[int, ast.Import | ast.ImportFrom]:
    """Return the import statements at the top of a file, by each of their lines."""
    lines = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {line: node for node in lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def without_imports(text: str, lines: Collection[int]) -> tuple[str, list[tuple[int, str]]]:
    """Return a program without the imports at some lines that are not allowed, and who uses their names.

    A statement whose modules are all allowed is taken out as a whole: something else is wrong with it. Its lines are
    left empty.
    """
    imports = import_lines(text)
    kept, gone = [line.encode() for line in text.split("\n")], list[ast.alias]()
    for node in dict.fromkeys(imports[line] for line in lines if line in imports):
        left = [alias for alias in node.names if is_importable(alias.name)] if isinstance(node, ast.Import) else []
        left = left if len(left) < len(node.names) else []
        gone += (alias for alias in node.names if alias not in left)
        _replace(kept, node, f"import {', '.join(map(ast.unparse, left))}" if left else "")
    names = {alias.asname or alias.name.partition(".")[0] for alias in gone}
    used = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and node.id in names)
    return b"\n".join(kept).decode(), [(node.lineno, node.id) for node in used]


def _replace(lines: list[bytes], node: ast.stmt | ast.expr, text: str) -> None:
    """Replace a part of a statement, or a whole one, in the lines of a program, and keep what else is in its lines."""
    last = node.end_lineno or node.lineno
    head, tail = lines[node.lineno - 1][: node.col_offset], lines[last - 1][node.end_col_offset :]
    instead = text or ("pass" if head.strip() or tail.strip() else "")
    lines[node.lineno - 1 : last] = [head + instead.encode() + tail, *[b""] * (last - node.lineno)]


def without_waiting(text: str) -> str:
    """Return a program whose coroutines are functions, as those of servers often are: it waits for nothing."""
    waiting = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.AsyncFunctionDef | ast.Await)]
    lines = [line.encode() for line in text.split("\n")]
    for node in sorted(waiting, key=lambda node: node.col_offset, reverse=True):
        line, at = lines[node.lineno - 1], node.col_offset
        lines[node.lineno - 1] = line[:at] + _WAITING.sub(b"", line[at:], count=1)
    return b"\n".join(lines).decode()


def with_tables_by_name(text: str) -> str:
    """Return a program with `world[name]` instead of `getattr(world, name)`, which could reach anything."""
    lines = [line.encode() for line in text.split("\n")]
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset), reverse=True):
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="world"), ast.Name(id=name)], keywords=[]):
                _replace(lines, call, f"world[{name}]")
            case _:
                pass
    return b"\n".join(lines).decode()


def _cuts(
    node: ast.stmt, names: Collection[str], kept: Collection[str], dropped: Collection[str], lines: list[str]
) -> Iterator[tuple[int, int]]:
    """Yield the first and the last lines to take out, from 1, both inclusive."""
    if not isinstance(node, ast.FunctionDef) or node.name not in names or not node.decorator_list:
        return
    if node.name not in kept:
        first, last = _first_line(node), node.end_lineno or node.lineno
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
        while last < len(lines) and not lines[last].strip():
            last += 1
        yield first, last
        return
    for decorator in node.decorator_list:
        if _tool_of(decorator, node.name) in dropped:
            yield decorator.lineno, decorator.end_lineno or decorator.lineno


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _tool_of(decorator: ast.expr, function: str) -> str:
    """Return the tool that a decorator names; the name of the function if it names none."""
    if isinstance(decorator, ast.Call) and decorator.args and isinstance(decorator.args[0], ast.Constant):
        return str(decorator.args[0].value)
    return function
