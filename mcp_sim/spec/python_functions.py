"""Locate the Python functions that tool specs name, without running their modules."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path


def locate_function(reference: str, folder: Path) -> str:
    """Return `FILE.py:function` if the module of `module:function` is in the folder, else the reference as it is."""
    module, colon, name = reference.rpartition(":")
    file = folder.joinpath(*module.split(".")).with_suffix(".py")
    return f"{file.resolve()}{colon}{name}" if module and file.is_file() else reference


def find_problem(reference: str) -> str | None:
    """Return why a located function cannot be used, None if nothing is wrong. The module is parsed, not run.

    A module without source, with a star import or with `__getattr__` may have any name; it passes.
    """
    module, _, name = reference.rpartition(":")
    try:
        file = Path(module) if module.endswith(".py") else _source_file(module)
        names = [("*", True)] if file is None else list(_names(ast.parse(file.read_bytes(), file.name)))
    except (OSError, ImportError, SyntaxError, ValueError) as error:
        return f"cannot be loaded: {type(error).__name__}: {error}"
    if {"*", "__getattr__"} & {bound for bound, _ in names} or (name, True) in names:
        return None
    if (name, False) in names:
        return "is not a function"
    shown = Path(module).stem if module.endswith(".py") else module
    return f"cannot be loaded: AttributeError: module {shown!r} has no attribute {name!r}"


def _source_file(module: str) -> Path | None:
    """Return the source of an installed module, None if it has none. Raises ModuleNotFoundError."""
    parts = module.split(".")
    folders = None
    found = None
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        found = _module_spec(name, folders) if end == 1 or folders is not None else None
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}")
        folders = found.submodule_search_locations
    origin = "" if found is None else found.origin or ""
    return Path(origin) if origin.endswith(".py") else None


def _module_spec(name: str, folders: list[str] | None) -> ModuleSpec | None:
    """Find a module as an import does, but without importing its parent packages."""
    finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path)
    found = (find(name, folders) for find in finders if find is not None)
    return next((spec for spec in found if spec is not None), None)


def _names(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the names that a module binds, each with whether its value may be a function."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, True
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0], True
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_literal(value):
                yield name, False
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if _is_literal(value):
                yield name, False
            case ast.Name(id=name, ctx=ast.Store()):
                yield name, True
            case _:
                yield from _names(child)


def _is_literal(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.JoinedStr)
