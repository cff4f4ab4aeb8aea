"""Entities of a repository, and the forms of ids and authors."""

from __future__ import annotations

from mcp_sim.plans.files.paths import entities as entities_of_files
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import as_object

COMMIT, BRANCH, TAG, STAGED, REPOSITORY = "commit", "branch", "tag", "staged_file", "repository"
MAIN = "main"
DEFAULT_REMOTE = "origin"

_TEXT: Record = {"type": "string"}
_TEXTS: Record = {"type": "array", "items": _TEXT}
_ANY: Record = {}


def _entity(name: str, key: str, texts: str, anything: str, *, singleton: bool = False) -> Entity:
    """Return an entity with fields for texts, and for values of any type."""
    fields = {piece: Field(piece, _TEXT) for piece in texts.split()} | {
        piece: Field(piece, _ANY) for piece in anything.split()
    }
    if name == COMMIT:
        fields["parents"] = Field("parents", _TEXTS)
    return Entity(name, key, None, fields, natural=not singleton, singleton=singleton)


ENTITIES = (
    *(entity for entity in entities_of_files() if not entity.singleton),
    _entity(COMMIT, "hash", "hash short_hash message author email", "date files"),
    _entity(BRANCH, "name", "name commit", ""),
    _entity(TAG, "name", "name commit", "message"),
    _entity(STAGED, "path", "path", "content"),
    _entity(REPOSITORY, REPOSITORY, "author email", "branch commit root stashes remotes worktrees", singleton=True),
)
"""Files, directories, and what a repository stores besides them."""


def identifier(draws: Draws, profile: str) -> str:
    """Return 40 hexadecimal digits."""
    return "".join(f"{int(draws.unit(f'{profile}/{index}') * 2**32):08x}" for index in range(5))


def parse_author(value: Json) -> Record:
    """Return name and e-mail of `Ann Vos <ann@example.com>`, either alone, or an object with both."""
    if isinstance(value, dict):
        body = as_object(value)
        return {"name": body.get("name", body.get("username")), "email": body.get("email")}
    name, mark, rest = str(value or "").partition("<")
    return {"name": name.strip() or None, "email": rest.rstrip("> ") if mark else None}
