"""Tools that work on files, with the names of vendors, and the files of their world."""

from __future__ import annotations

from typing import Any

from support.matched_tools import TEXT, tool

Json = Any

FLAG = {"type": "boolean"}
TOOLS = [
    tool("read_file", "Read a file. `head` or `tail`: only so many lines.", needed="path", path=TEXT,
         head={"type": "integer"}, tail={"type": "integer"}),
    tool("read_multiple_files", paths={"type": "array", "items": TEXT}),
    tool("write_file", "Create a file or overwrite it.", path=TEXT, content=TEXT),
    tool("edit_file", needed="path edits", path=TEXT, dryRun=FLAG, edits={
        "type": "array", "items": {"type": "object", "properties": {"oldText": TEXT, "newText": TEXT}}}),
    tool("create_directory", "Create a directory. Succeeds silently if it already exists.", path=TEXT),
    tool("list_directory", path=TEXT),
    tool("directory_tree", path=TEXT),
    tool("move_file", source=TEXT, destination=TEXT),
    tool("delete_file", path=TEXT),
    tool("delete_directory", "Delete an empty directory.", path=TEXT),
    tool("search_files", needed="path pattern", path=TEXT, pattern=TEXT,
         excludePatterns={"type": "array", "items": TEXT}),
    tool("get_file_info", path=TEXT),
    tool("list_allowed_directories"),
]  # fmt: skip
STATE = {
    "files": {
        "/srv/app/main.py": "import os\nprint(os.name)\n",
        "/srv/app/lib/math.py": "x = 1",
        "/srv/README.md": "# Hi",
    },
    "allowed_directories": ["/srv"],
}
SHELL = [
    tool("ls", needed="", a=FLAG, output={"type": "object", "properties": {"names": {"type": "array", "items": TEXT}}}),
    tool("cd", folder=TEXT, output={"type": "object", "properties": {"current_working_directory": TEXT}}),
    tool("pwd", output={"type": "object", "properties": {"current_working_directory": TEXT}}),
    tool("cat", file_name=TEXT, output={"type": "object", "properties": {"file_content": TEXT}}),
    tool("mkdir", dir_name=TEXT),
    tool("rmdir", dir_name=TEXT),
    tool("mv", source=TEXT, destination=TEXT),
    tool("cp", source=TEXT, destination=TEXT),
    tool("rm", "Remove a file or directory.", file_name=TEXT),
    tool("wc", needed="file_name", file_name=TEXT, mode=TEXT, output={
        "type": "object", "properties": {"count": {"type": "integer"}, "type": TEXT}}),
    tool("sort", file_name=TEXT),
    tool("diff", file_name1=TEXT, file_name2=TEXT),
    tool("tail", needed="file_name", file_name=TEXT, lines={"type": "integer"}),
    tool("grep", file_name=TEXT, pattern=TEXT, output={
        "type": "object", "properties": {"matching_lines": {"type": "array", "items": TEXT}}}),
    tool("find", needed="", path=TEXT, name=TEXT, output={
        "type": "object", "properties": {"matches": {"type": "array", "items": TEXT}}}),
    tool("echo", needed="content", content=TEXT, file_name=TEXT),
    tool("touch", file_name=TEXT),
    tool("du", needed="", human_readable=FLAG),
]  # fmt: skip
