"""Find where a program keeps state in its module: all worlds would share it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

_CHANGES = frozenset(
    """
    add append appendleft clear discard extend extendleft insert pop popitem popleft remove reverse setdefault sort
    update
    """.split()  # noqa: SIM905 (a list of words reads better in lines)
)
"""Methods that change the list, map or set that they belong to."""

_ADVICE = "which all worlds share: keep it in a table, for instance a singleton"


def module_state(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the lines where functions of a program change what belongs to its module, and what they change.

    Changes under another name are not seen.
    """
    variables = {name for node in module.body for name in _assigned(node)}
    names = variables | {name for node in module.body for name in _defined(node)}
    waiting: list[tuple[ast.AST, frozenset[str] | None]] = [(module, None)]
    while waiting:  # generated programs nest statements too deeply for functions that call themselves
        node, local = waiting.pop()
        if local is not None:
            yield from _change(node, variables - local, names - local)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            local = (local or frozenset()) | {*_local(node)}
        waiting += [(child, local) for child in reversed([*ast.iter_child_nodes(node)])]


def _change(node: ast.AST, variables: Collection[str], names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield what a node in a function changes, given the names in sight of its module: the variables, and all."""
    match node:
        case ast.Global(names=[name, *_]):
            yield node.lineno, f"changes the global variable {name}, {_ADVICE}"
        case (
            ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner)
            | ast.Attribute(ctx=ast.Store() | ast.Del(), value=owner)
        ) if _root(owner) in names:
            yield node.lineno, f"changes {ast.unparse(node)} of its module, {_ADVICE}"
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _CHANGES and _root(owner) in variables:
            yield node.lineno, f"changes {ast.unparse(owner)} of its module, {_ADVICE}"
        case ast.Call(func=ast.Name(id="next"), args=[ast.Name(id=name), *_]) if name in variables:
            yield node.lineno, f"takes the next of {name} of its module, {_ADVICE}"
        case _:
            pass


def _assigned(node: ast.stmt) -> Iterator[str]:
    """Yield the variables that a statement of a module sets."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the functions, classes and modules that a statement of a module names."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case _:
            pass


def _local(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[str]:
    """Yield the names that are a function's own: its parameters, and what it sets without `global`."""
    nodes = [node for node in ast.walk(function) if node is not function]
    shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    for node in nodes:
        match node:
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)) | ast.FunctionDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) if name not in shared:
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case _:
                pass


def _root(node: ast.expr) -> str:
    """Return the variable that an expression like `a.b[c]` begins with; '' for other expressions."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
