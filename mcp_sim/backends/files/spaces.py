"""Which argument names the project, vault or bucket that a file is in, beside the one that names the file?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mcp_sim.backends.files.paths import ROOT
from mcp_sim.backends.matching.purposes import Purpose
from mcp_sim.types import Json
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import singular, snake, vocabulary

if TYPE_CHECKING:  # what lists files is known before any tree is looked at
    from mcp_sim.backends.files.tree import Tree

_SPACES = vocabulary("project vault workspace bucket notebook collection library repository repo space bank drive")
_FOLDERS = vocabulary("folder directory dir subfolder subdirectory folder_path")
NAMES = vocabulary("file_name filename")
"""What a file is called in its folder, which is no path to it."""

_PLACES = ("path", "source", "destination")


def spaces_of(purpose: Purpose, found: Mapping[str, str]) -> dict[str, str]:
    """The arguments that say where the files are which the others name: a space, and a folder in it."""
    space = space_argument(purpose)
    if space is None or space in found.values():
        return {}
    is_bare = snake(found.get("path", "")) in NAMES
    folder = next((name for name in purpose.arguments if snake(name) in _FOLDERS), None) if is_bare else None
    return {"space": space} | ({"folder": folder} if folder is not None and folder not in found.values() else {})


def space_argument(purpose: Purpose) -> str | None:
    texts = (name for name, part in purpose.arguments.items() if main_type(part) == "string")
    return next((name for name in texts if _space_named(name)), None)


def space_nouns(listed: Iterable[Purpose]) -> frozenset[str]:
    """What these tools call that which files are in."""
    return frozenset(_space_named(name) for purpose in listed for name in purpose.arguments) - {""}


def lists_spaces(purpose: Purpose, nouns: frozenset[str]) -> bool:
    """`list_projects`, where files are in projects."""
    many = purpose.words[-1:] and singular(purpose.words[-1]) in nouns and purpose.words[-1] not in nouns
    return bool(many) and purpose.has("list", "get", "show") and not purpose.arguments


def located(
    given: Mapping[str, Json], roles: Mapping[str, str], tree: Tree
) -> tuple[Mapping[str, Json], Mapping[str, str]]:
    """The arguments of a call and their roles, each path with the space and the folder that it is in."""
    if "space" in roles and _is_one_space(tree, str(given.get(roles["space"]))):
        given = {name: value for name, value in given.items() if name != roles["space"]}
    above = [str(given[roles[role]]) for role in ("space", "folder") if given.get(roles.get(role, ""))]
    if not above:
        return given, roles
    places = {role: roles[role] for role in _PLACES if role in roles} or {"path": roles["space"]}
    own = {name: given.get(name) for name in places.values() if name != roles["space"]}
    told = {name: "/".join([*above, *([str(path)] if path not in (None, "") else [])]) for name, path in own.items()}
    return {**given, **told}, {**roles, **places}


def _is_one_space(tree: Tree, name: str) -> bool:
    """Are the given files those of one space, whose name no state says?"""
    has_files = any(entry.is_file for entry in tree.inside(ROOT))
    return "above" in tree.shell and has_files and tree.find(ROOT + name) is None


def _space_named(argument: str) -> str:
    bare = snake(argument).removesuffix("_name")
    return bare if bare in _SPACES else ""
