"""Which Python function does a tool spec name?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

Function = Callable[..., Any]


def located(reference: str, folder: Path) -> str:
    """`module:function` with the module's file where it lies in the folder; else as it is, to be imported by name."""
    module, colon, name = reference.rpartition(":")
    file = folder.joinpath(*module.split(".")).with_suffix(".py")
    return f"{file.resolve()}{colon}{name}" if module and file.is_file() else reference


def problem(reference: str) -> str | None:
    """Why there is no such function; None where there is. The module is run for it."""
    try:
        found = function(reference)
    except Exception as error:  # noqa: BLE001 (code of others may fail in any way, and an author is to hear of it)
        return f"cannot be loaded: {type(error).__name__}: {error}"
    return None if callable(found) else "is no function"


def function(reference: str) -> Function:
    """The function that `located` found. Raises whatever its module raises, ImportError or AttributeError among it."""
    module, _, name = reference.rpartition(":")
    return getattr(_module(module), name)


def _module(place: str) -> ModuleType:
    if not place.endswith(".py"):
        return import_module(place)
    spec = spec_from_file_location(Path(place).stem, place)
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} is no Python module")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
