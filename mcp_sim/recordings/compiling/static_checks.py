"""What a program that a language model wrote may not do, as far as its text shows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dis import get_instructions
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Annotated, TypeAlias
from warnings import catch_warnings, simplefilter

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict

from mcp_sim.spec.program_state import module_state

Words: TypeAlias = Annotated[frozenset[str], BeforeValidator(str.split)]


class _Rules(BaseModel):
    """The contents of `program_rules.yaml`."""

    model_config = ConfigDict(extra="forbid")

    modules: Words
    allowed: dict[str, Words]
    refused: dict[str, Words]
    builtins: Words
    reached: Words
    open_names: Words
    clocks: Words
    clock_owners: Words


RULES = _Rules.model_validate(yaml.safe_load(Path(__file__).with_name("program_rules.yaml").read_bytes()))
_PURE_PATHS = frozenset({"PurePath", "PurePosixPath", "PureWindowsPath"})  # of `pathlib`: paths that are only names

_INTERPRETER = re.compile(
    r"(?:gi|cr|ag)_(?:frame|code|await|yieldfrom|origin)|f_(?:back|builtins|code|globals|locals)|tb_frame|mro|get_field"
)
"""Attributes that lead from generators, coroutines, frames and types to Python's own."""
_BY_NAME = {"getattr": slice(1, 2), "attrgetter": slice(None), "methodcaller": slice(1), "wraps": slice(1, None)}
"""Functions that read attributes by their names, and where they get these."""
_PRIVATE_FIELD = re.compile(r"\{\w*(?:\.\w+|\[\w+\])*\.(?:_|$)")
"""What makes `str.format` read an attribute that is private."""
_WAITS = "uses `async for` or `async with`: programs wait for nothing"


def static_problems(text: str, beside: Collection[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield the lines and problems of a program, or of a module beside it. `beside`: the names of these modules.

    Raises `SyntaxError` or `ValueError` if it is not Python.
    """
    module = ast.parse(text)
    aliases = [alias for node in ast.walk(module) if isinstance(node, ast.Import) for alias in node.names]
    roots = {name: name for alias in aliases if not alias.asname for name in [alias.name.partition(".")[0]]}
    imported = roots | {alias.asname: alias.name for alias in aliases if alias.asname}
    used = {id(child) for node in ast.walk(module) for child in _used_in_place(node)}
    yield from module_state(module)
    yield from _names(module)
    for node in ast.walk(module):
        match node:
            case ast.AsyncFor() | ast.AsyncWith():
                yield node.lineno, _WAITS
            case ast.comprehension(target=target, is_async=1):
                yield target.lineno, _WAITS
            case _:
                pass
        yield from _imports(node, beside)
        yield from _reaches(node, imported)
        if id(node) not in used:
            yield from _passes_on(node, imported)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _reads_clock(node, node.func):
            why = "which differs from run to run: use world.now or world.random"
            yield node.lineno, f"uses {ast.unparse(node.func)}, {why}"


def _names(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield where a program uses a name of Python that it may not, unless a function around it has that name.

    Which names are those of functions, Python decides when it compiles. What it cannot compile may have none of them.
    """
    try:
        with catch_warnings():
            simplefilter("ignore")
            names = [*_loaded(compile(module, "<program>", "exec", dont_inherit=True))]
    except SyntaxError:
        names = [(node.lineno, node.id) for node in ast.walk(module) if isinstance(node, ast.Name)]
    for line, name in names:
        if name in RULES.builtins or _is_reserved(name):
            yield line, f"uses {name}, which programs may not: they do no input or output"


def _loaded(code: CodeType) -> Iterator[tuple[int, str]]:
    """Yield the lines and names of what code reads from its module, or from Python."""
    for step in get_instructions(code):
        if step.opname.startswith("LOAD_") and ("NAME" in step.opname or "GLOBAL" in step.opname):
            yield (step.positions and step.positions.lineno) or 1, step.argval
    yield from (name for inner in code.co_consts if isinstance(inner, CodeType) for name in _loaded(inner))


def _is_reserved(name: str) -> bool:
    return name.startswith("__") and name not in {*RULES.open_names, "__annotations__", "__build_class__", "__debug__"}


def _used_in_place(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of an expression that are used where they are: modules with an attribute, functions called."""
    match node:
        case ast.Attribute(value=ast.Name() as owner):
            yield owner
        case ast.Call(func=function):
            yield function
        case _:
            pass


def _passes_on(node: ast.AST, imported: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield what a program keeps under another name, where its use cannot be seen."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name in imported:
            yield node.lineno, f"uses the module {name} as a value: write {name}.NAME"
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) if name in _BY_NAME:
            yield node.lineno, f"uses {name}: write the attribute (row.title) or world[name]"
        case _:
            pass


def _bound(module: ast.Module) -> Iterator[str]:
    """Yield the names that a program gives to parameters, variables and functions of its own."""
    for node in ast.walk(module):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name):
                yield name
            case _:
                pass


def is_importable(module: str) -> bool:
    """Whether programs may import a module, by its whole name."""
    return module in RULES.modules


def _imports(node: ast.AST, beside: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield what a statement imports and may not."""
    match node:
        case ast.Import(names=names):
            refused = [alias.name for alias in names if not is_importable(alias.name)]
            yield from (
                (node.lineno, _not_importable(name)) for name in refused if name.partition(".")[0] not in beside
            )
        case ast.ImportFrom(module=str(source), level=0) if source.partition(".")[0] in beside:
            pass
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            yield node.lineno, "imports *: name what the program uses"
        case ast.ImportFrom(module="pathlib", level=0, names=names) if {alias.name for alias in names} <= _PURE_PATHS:
            pass
        case ast.ImportFrom(module=source, level=level, names=names):
            module = "." * level + (source or "")
            refused = [
                alias.name
                for alias in names
                if not _is_kept(module, alias.name) or (alias.asname and alias.name in _BY_NAME)
            ]
            if refused:
                name = f"{module}.{refused[0]}" if is_importable(module) else module
                yield node.lineno, _not_importable(name)
        case _:
            pass


def _is_kept(module: str, name: str) -> bool:
    """Whether programs may use a name of a module: it is an allowed module itself, or neither a module nor a file.

    What this version of Python does not have there may be a module in another one.
    """
    if is_importable(f"{module}.{name}"):
        return True
    if not is_importable(module) or name.startswith("_") or name in RULES.refused.get(module, ()):
        return False
    held = import_module(module)
    return name in RULES.allowed.get(module, {name}) and not isinstance(getattr(held, name, held), ModuleType)


def _reaches(node: ast.AST, imported: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield where an expression leads out of what a program may use: to other modules, files, or Python's own."""
    match node:
        case ast.Attribute(value=owner, attr=name) if _is_hidden(name, ast.unparse(owner)):
            yield node.lineno, f"uses {name}, which programs may not"
        case ast.MatchClass(kwd_attrs=names):
            yield from ((node.lineno, f"uses {name}, which programs may not") for name in names if _is_hidden(name))
        case ast.Attribute(value=owner, attr=name):
            root, _, rest = ast.unparse(owner).partition(".")
            module = f"{imported[root]}.{rest}".rstrip(".") if root in imported else ""
            is_package = any(known.startswith(f"{module}.") for known in RULES.modules) and not is_importable(module)
            if module and (is_package or is_importable(module)) and not _is_kept(module, name):
                yield node.lineno, f"uses {ast.unparse(node)}, which programs may not"
        case ast.Call(func=function) if (place := _BY_NAME.get(ast.unparse(function).rpartition(".")[2])) is not None:
            unclear = [argument for argument in node.args if isinstance(argument, ast.Starred)]
            if not all(map(_is_plain_name, [*node.args[place], *unclear, *node.keywords])):
                yield node.lineno, f"uses {ast.unparse(function)}: write the attribute (row.title) or world[name]"
        case ast.Name(id="__annotations__"):  # dataclasses run their names as code
            yield node.lineno, "uses __annotations__, which programs may not"
        case ast.Constant(value=str(text)) if _PRIVATE_FIELD.search(text):
            yield node.lineno, f"has {text!r}, which reads what is private of a value: write an f-string"
        case _:
            pass


def _is_plain_name(argument: ast.AST) -> bool:
    """Whether an argument is a text that names attributes which programs may use."""
    text = argument.value if isinstance(argument, ast.Constant) else None
    return isinstance(text, str) and not any(map(_is_hidden, text.split(".")))


def _is_hidden(name: str, owner: str = "") -> bool:
    """Whether an attribute leads to Python's own, to a module, or into what is private."""
    if name in RULES.open_names:
        return False
    is_private = name.startswith("__") or (name.startswith("_") and owner not in {"self", "cls"})
    return is_private or name in RULES.reached or _INTERPRETER.fullmatch(name) is not None


def _not_importable(module: str) -> str:
    allowed = ", ".join(sorted(RULES.modules))
    return f"imports {module or 'a module beside it'}, which programs may not; they may import {allowed}"


def _reads_clock(call: ast.Call, function: ast.Attribute) -> bool:
    """Whether a call depends on where and when the program runs."""
    owner = ast.unparse(function.value).rpartition(".")[2]
    has_zone = function.attr == "fromtimestamp" and len(call.args) + len(call.keywords) > 1
    return owner in RULES.clock_owners and function.attr in RULES.clocks and not has_zone


# calls of its own functions -------------------------------------------------------------------------------------------


def misfitting_calls(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of calls that can only fail: their arguments do not fit the function of the program."""
    module = ast.parse(text)
    functions = {node.name: node.args for node in module.body if isinstance(node, ast.FunctionDef)}
    others = [name for name in _bound(module) if name in functions]
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in functions and others.count(name) == 1:
                yield from ((node.lineno, f"calls {name}() {why}") for why in _misfits(node, functions[name]))
            case _:
                pass


def _misfits(call: ast.Call, parameters: ast.arguments) -> Iterator[str]:
    """Yield why the arguments of a call do not fit parameters. Unpacked arguments may be any."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(keyword.arg is None for keyword in call.keywords):
        return
    places = [arg.arg for arg in (*parameters.posonlyargs, *parameters.args)]
    taken, keywords = places[: len(call.args)], [keyword.arg or "" for keyword in call.keywords]
    only = {arg.arg for arg in parameters.posonlyargs}
    known = ({*places} - only) | {arg.arg for arg in parameters.kwonlyargs}
    if len(call.args) > len(places) and parameters.vararg is None:
        yield f"with {len(call.args)} arguments; it takes {len(places)}"
    yield from (f"with two values for {name!r}" for name in keywords if name in taken and name not in only)
    if parameters.kwarg is None:
        yield from (f"with {name!r}, which it does not take" for name in keywords if name not in known)
    optional = places[len(places) - len(parameters.defaults) :]
    needed = [name for name in places if name not in optional]
    pairs = zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
    needed += [parameter.arg for parameter, default in pairs if default is None]
    yield from (f"without {name!r}" for name in needed if name not in taken and name not in keywords)
