"""Read the Python files of a program: the one that a document names, and the modules beside it that it imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from mcp_sim.spec.places import Place
from mcp_sim.spec.sources import Sources, display
from mcp_sim.spec.trust import Trust
from mcp_sim.types.errors import Problem, did_you_mean
from mcp_sim.types.programs import module_name

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where nodes have statements."""
_LARGEST = 1 << 20
"""The largest program, in bytes. It is parsed at each check, and a syntax tree takes a hundred times as much memory."""


def read_module(place: Place, value: str, document: Path, sources: Sources) -> tuple[Path, bytes, ast.Module] | None:
    """Return the Python file that a document names, its content and syntax tree, or None, which is noted."""
    file = sources.named_file(value, document)
    if isinstance(file, str):
        place.error(file)
        return None
    data = sources.bytes_of(file)
    if data is None:
        return None
    if file.suffix != ".py" or len(data) > _LARGEST:
        place.error(f"{value!r} is no Python file of at most {_LARGEST >> 20} MiB")
        return None
    try:
        return file, data, ast.parse(data, file.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        sources.problems.append(not_python(file, error))
        return None


def not_python(file: Path, error: Exception) -> Problem:
    """Return the problem that a file cannot be parsed."""
    line = getattr(error, "lineno", None) or 0
    return Problem(display(file), line, "", f"is not valid Python: {getattr(error, 'msg', error)}")


def local_modules(
    file: Path, data: bytes, module: ast.Module, sources: Sources
) -> tuple[dict[Path, bytes], dict[str, ast.Module]]:
    """Return the files of a program: itself, the modules beside it that it imports, and those that they import.

    Of a package that is imported, all modules count: importing one runs others. The second result has the syntax trees
    of the modules beside it, by the names under which it imports them.
    """
    code, trees = {file: data}, dict[str, ast.Module]()

    def visit(tree: ast.Module) -> None:
        for name in dict.fromkeys(imported.partition(".")[0] for imported in _imported(tree)):
            package = file.parent / name
            inside = sorted(package.rglob("*.py")) if name and package.is_dir() else ()
            for candidate in (file.parent / f"{name}.py", *inside):
                if not candidate.is_file() or candidate in code:
                    continue
                code[candidate] = sources.bytes_of(candidate) or b""
                with suppress(SyntaxError, ValueError, RecursionError, MemoryError):  # it fails when it is imported
                    inner = trees[module_name(candidate, file.parent)] = ast.parse(code[candidate], candidate.name)
                    visit(inner)

    visit(module)
    return code, trees


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports, also within its functions."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names):
                yield from ((module,) if module else ())
                yield from (f"{module}.{alias.name}" if module else alias.name for alias in names)
            case _:
                waiting += [child for name in _BLOCKS for child in getattr(node, name, ())]


def modules_beside(file: Path) -> dict[str, str]:
    """Return the modules beside a program that it imports, by their paths there; empty if it is not Python."""
    sources = Sources(Trust([file]))
    data = sources.bytes_of(file) or b""
    try:
        code, _ = local_modules(file, data, ast.parse(data, file.name), sources)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    paths = (path for path in code if path != file)
    return {path.relative_to(file.parent).as_posix(): code[path].decode("utf-8", "replace") for path in paths}


def read_check(place: Place, value: str, document: Path, sources: Sources) -> Mapping[Path, bytes] | None:
    """Return the files of a function that judges worlds, given as `FILE:FUNCTION`. Nothing of them is run.

    Problems are noted, also that the document needs the user's trust. None if there is no such function.
    """
    name, _, function = value.rpartition(":")
    read = read_module(place, name, document, sources)
    if read is None:
        return None
    file, data, module = read
    code, _ = local_modules(file, data, module, sources)
    action = f"runs the Python function {function} of {name} to judge worlds"
    sources.require_trust(place, document, action, [*code])
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    if function not in functions:
        place.error(f"{name} has no function {function!r}{did_you_mean(function, functions)}")
        return None
    arguments = functions[function].args
    count = len(arguments.posonlyargs) + len(arguments.args)
    if not count - len(arguments.defaults) <= 3 <= count and arguments.vararg is None:
        place.error(f"{function} takes {count} arguments, expected 3: the state, the steps, and the final answer")
    return code
