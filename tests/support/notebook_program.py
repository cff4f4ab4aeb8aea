"""A program for the notebook server, and one that forgets what it writes."""

from __future__ import annotations

from pathlib import Path

PROGRAM = """\
from mcp_sim.programs import Refused, tool

tables = {"note": {"ids": "note-41", "fields": {"title": "", "text": ""}}}


def known(world, note_id):
    note = world.note.get(note_id)
    if note is None:
        raise Refused(f"Note {note_id} not found")
    return note


@tool
def create_note(world, title, text=""):
    return world.note.public(world.note.add(title=title, text=text))


@tool
def get_note(world, note_id):
    note = known(world, note_id)
    return {"id": note_id, "title": note["title"], "text": note["text"]}


@tool
def list_notes(world):
    return {"notes": [world.note.public(note) for note in world.note.find()]}


@tool
def delete_note(world, note_id):
    note = known(world, note_id)
    title = note["title"]
    world.note.delete(note_id)
    return f"Deleted {title}"
"""
FORGETS = PROGRAM.replace(
    "world.note.public(world.note.add(title=title, text=text))", '{"id": "note-41", "title": title, "text": text}'
)


def write_specs(folder: Path, **programs: str) -> None:
    """Write a spec for each program beside the list of tools in a folder."""
    for name, text in programs.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        spec = f"mcp_sim: 1\nname: {name}\ntools: tools.json\nprogram: {name}.py\n"
        (folder / f"{name}.yaml").write_text(spec, encoding="utf-8")
