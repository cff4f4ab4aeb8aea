"""Load the Python files of programs that the user trusts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from mcp_sim.programs.siblings import Siblings
from mcp_sim.types.errors import DocumentError, Problem


def load_functions(code: Mapping[Path, bytes]) -> dict[str, Callable[..., Any]]:
    """Run the first file of a program, and return its functions by name.

    The other files are the modules beside it that it may import, as if Python had been started with it. Raises
    `DocumentError` with the line where the file fails.
    """
    path = next(iter(code))
    siblings = Siblings(code)
    with siblings.importing():
        module = ModuleType(f"mcp_sim_program_{path.stem}")
        module.__file__ = str(path)
        sys.modules[module.__name__] = module  # where dataclasses look for it
        try:
            siblings.run(module, path)
        except (Exception, SystemExit) as error:
            raise DocumentError(
                [Problem(str(path), _line(error, path), "", f"cannot be loaded: {reason(error)}")]
            ) from error
    return {name: value for name, value in vars(module).items() if callable(value)}


def failed_at(error: BaseException, path: Path) -> str:
    """Return where an exception was raised: the innermost line of a program and the modules beside it."""
    frames = extract_tb(error.__traceback__)
    folder = path.parent.resolve()
    lines = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(folder)]
    return f"{Path(lines[-1].filename).name}:{lines[-1].lineno} in {lines[-1].name}" if lines else path.name


def reason(error: BaseException) -> str:
    """Return the type and the text of an exception."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _line(error: BaseException, path: Path) -> int:
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return error.lineno
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(path)]
    return (lines[-1] if lines else 0) or 0
