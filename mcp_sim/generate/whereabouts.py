"""What does the path of a file say of its other fields: its folder, its name, its ending?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from posixpath import basename, dirname, splitext

from mcp_sim.generate.searching import judge
from mcp_sim.types import Record
from mcp_sim.types.domain import Field
from mcp_sim.types.json_schema.shapes import main_type

_PATHS = ("path", "file_path", "filepath", "full_path")
_TOLD: Mapping[str, Callable[[str], str]] = {
    **dict.fromkeys(("folder", "directory", "dir", "folder_path", "parent_path", "parent_folder"), dirname),
    **dict.fromkeys(("filename", "file_name", "basename"), basename),
    **dict.fromkeys(("extension", "file_extension"), lambda path: splitext(path)[1].removeprefix(".")),
}


def path_mends(fields: Mapping[str, Field]) -> list[tuple[str, Callable[[Record], None]]]:
    """What is brought into line with a record's path. `fields` by snake name."""
    path = next((fields[name] for name in _PATHS if name in fields), None)
    if path is None:
        return []
    texts = [name for name in _TOLD if name in fields and main_type(fields[name].schema) == "string"]
    return [(fields[name].name, _told(path.name, fields[name], _TOLD[name])) for name in texts]


def _told(path: str, field: Field, part: Callable[[str], str]) -> Callable[[Record], None]:
    allows = judge(field.schema)

    def mend(record: Record) -> None:
        whole = record.get(path)
        told = part(whole) if isinstance(whole, str) and "/" in whole else ""
        if told and record.get(field.name) is not None and allows(told):
            record[field.name] = told

    return mend
