"""Tools that work on files: told by their company, they share one tree of files and directories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from behaviours.claimed import TEXT, behaviours, refused, said, simulator, tool
from mcp_sim import Simulator

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


def held(name: str, contents: Json) -> Json:
    return {name: {"type": "directory", "contents": contents}}


FILES = {"a.txt": {"type": "file", "content": "pear\napple"}, **held("docs", {".secret": {"type": "file"}})}
NESTED = {"disk": {"root": held("home", FILES)}}


@pytest.fixture
def drive(tmp_path: Path) -> Simulator:
    return simulator(tmp_path, TOOLS, STATE)


@pytest.fixture
def shell(tmp_path: Path) -> Simulator:
    return simulator(tmp_path, SHELL, NESTED)


async def test_what_is_written_is_read_listed_found_and_gone_again(drive: Simulator) -> None:
    async with drive.open() as world:
        told = await said(world, "write_file", path="/srv/app/new.txt", content="one\ntwo\nthree")
        assert "/srv/app/new.txt" in told
        assert await said(world, "read_file", path="/srv/app/new.txt", tail=2) == "two\nthree"
        assert "[FILE] new.txt" in await said(world, "list_directory", path="/srv/app")
        assert await said(world, "search_files", path="/srv", pattern="*.txt") == "/srv/app/new.txt"
        assert "size: 13" in await said(world, "get_file_info", path="/srv/app/new.txt")
        await said(world, "delete_file", path="/srv/app/new.txt")
        assert "/srv/app/new.txt" in await refused(world, "read_file", path="/srv/app/new.txt")
        await said(world, "write_file", path="/srv/app/./new.txt", content="again")
        assert await said(world, "read_file", path="/srv/app/x/../new.txt") == "again"


async def test_directories_follow_from_paths_and_are_listed_as_a_tree(drive: Simulator) -> None:
    async with drive.open() as world:
        assert await said(world, "directory_tree", path="/srv") == [
            {"name": "README.md", "type": "file"},
            {"name": "app", "type": "directory", "children": [
                {"name": "lib", "type": "directory", "children": [{"name": "math.py", "type": "file"}]},
                {"name": "main.py", "type": "file"},
            ]},
        ]  # fmt: skip
        assert "not empty" in await refused(world, "delete_directory", path="/srv/app")
        await said(world, "create_directory", path="/srv/a/b/c")
        await said(world, "create_directory", path="/srv/a/b/c")
        assert await said(world, "list_directory", path="/srv/a") == "[DIR] b"
        assert world.view.count("directory") == 6


async def test_a_path_that_leads_out_is_refused_and_so_is_one_outside_of_what_is_allowed(drive: Simulator) -> None:
    async with drive.open() as world:
        for path in ("/srv/../../etc/passwd", "/etc/passwd", "../x", "/srvx/y"):
            assert path in await refused(world, "read_file", path=path)
        assert "/srv" in await said(world, "list_allowed_directories")


async def test_an_error_says_what_stands_at_the_path(drive: Simulator) -> None:
    async with drive.open() as world:
        assert "directory" in await refused(world, "read_file", path="/srv/app")
        assert "Not a directory" in await refused(world, "list_directory", path="/srv/README.md")
        assert "directory" in await refused(world, "write_file", path="/srv/app", content="x")
        assert "/srv/nowhere" in await refused(world, "write_file", path="/srv/nowhere/x", content="x")
        assert "exists" in await refused(world, "move_file", source="/srv/README.md", destination="/srv/app/main.py")
        assert "itself" in await refused(world, "move_file", source="/srv/app", destination="/srv/app/lib/app")
        assert "exists" in await refused(world, "create_directory", path="/srv/README.md")


async def test_a_directory_is_moved_with_all_it_holds(drive: Simulator) -> None:
    async with drive.open() as world:
        await said(world, "move_file", source="/srv/app", destination="/srv/core")
        assert await said(world, "read_file", path="/srv/core/lib/math.py") == "x = 1"
        assert "/srv/app" in await refused(world, "list_directory", path="/srv/app")
        assert world.view.count("file") == 3


async def test_edits_are_made_together_or_not_at_all(drive: Simulator) -> None:
    async with drive.open() as world:
        both = [{"oldText": "x = 1", "newText": "x = 2"}, {"oldText": "y", "newText": "z"}]
        assert "not found" in await refused(world, "edit_file", path="/srv/app/lib/math.py", edits=both)
        assert (
            await said(world, "edit_file", path="/srv/app/lib/math.py", edits=both[:1], dryRun=True)
            == "- x = 1\n+ x = 2"
        )
        assert await said(world, "read_file", path="/srv/app/lib/math.py") == "x = 1"
        await said(world, "edit_file", path="/srv/app/lib/math.py", edits=both[:1])
        assert await said(world, "read_file", path="/srv/app/lib/math.py") == "x = 2"


async def test_one_file_that_is_missing_does_not_keep_the_others_from_being_read(drive: Simulator) -> None:
    async with drive.open() as world:
        told = await said(world, "read_multiple_files", paths=["/srv/README.md", "/srv/none"])
        assert "# Hi" in told
        assert "No such file or directory: /srv/none" in told


async def test_a_shell_has_a_working_directory_that_paths_are_relative_to(shell: Simulator) -> None:
    async with shell.open() as world:
        assert await said(world, "pwd") == {"current_working_directory": "/home"}
        assert await said(world, "ls") == {"names": ["a.txt", "docs"]}
        await said(world, "cd", folder="docs")
        assert await said(world, "ls") == {"names": []}
        assert await said(world, "ls", a=True) == {"names": [".secret"]}
        await said(world, "cp", source="../a.txt", destination=".")
        assert await said(world, "cat", file_name="a.txt") == {"file_content": "pear\napple"}
        assert "nowhere" in await refused(world, "cd", folder="nowhere")
        assert "not empty" in await refused(world, "rmdir", dir_name="/home/docs")
        await said(world, "rm", file_name="../docs")
        assert await said(world, "pwd") == {"current_working_directory": "/home"}


async def test_shell_commands_look_at_the_same_files(shell: Simulator) -> None:
    async with shell.open() as world:
        assert await said(world, "sort", file_name="a.txt") == "apple\npear"
        assert await said(world, "wc", file_name="a.txt", mode="c") == {"count": 10, "type": "characters"}
        assert await said(world, "tail", file_name="a.txt", lines=1) == "apple"
        assert await said(world, "grep", file_name="a.txt", pattern="pe") == {"matching_lines": ["pear"]}
        await said(world, "echo", content="pear\nfig", file_name="b.txt")
        assert await said(world, "diff", file_name1="a.txt", file_name2="b.txt") == "- apple\n+ fig"
        await said(world, "mkdir", dir_name="new")
        assert "exists" in await refused(world, "mkdir", dir_name="new")
        await said(world, "mv", source="b.txt", destination="new")
        assert await said(world, "find", path=".", name="b") == {"matches": ["./new/b.txt"]}
        await said(world, "touch", file_name="c.txt")
        assert await said(world, "du") == "18 bytes"


async def test_where_nothing_is_given_there_are_files_and_the_directories_that_lead_to_them(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS).open() as world:
        places = [path for path, _ in world.view.rows("file")]
        assert len(places) == 20
        for path in places:
            assert await said(world, "read_file", path=path)
        for folder, _ in world.view.rows("directory"):
            assert "is empty" not in await said(world, "list_directory", path=folder)


NAMED = [
    tool("fs.readFile", filePath=TEXT), tool("fs.writeFile", filePath=TEXT, content=TEXT),
    tool("fs.renameFile", oldPath=TEXT, newPath=TEXT), tool("fs.listDir", dirPath=TEXT),
]  # fmt: skip
NOTES = [
    tool("note-read", path=TEXT), tool("note-write", path=TEXT, text=TEXT),
    tool("directory-list", path=TEXT), tool("directory-create", path=TEXT),
]  # fmt: skip
CHOSEN = [
    tool("manage_files", operation={"enum": ["read", "write", "delete", "list"]}, needed="operation path", path=TEXT,
         content=TEXT),
    tool("manage_directories", action={"enum": ["create", "remove"]}, path=TEXT),
]  # fmt: skip


@pytest.mark.parametrize(
    "tools", [TOOLS, SHELL, NAMED, NOTES, CHOSEN], ids=["plain", "shell", "camel", "kebab", "chosen"]
)
def test_files_are_told_in_every_style_of_names(tmp_path: Path, tools: list[Json]) -> None:
    sim = simulator(tmp_path, tools)
    assert {one.partition(" ")[0] for one in behaviours(sim).values()} == {"file_tree"}
    assert not sim.scenario.guesses


@pytest.mark.parametrize(
    "tools",
    [
        [tool("get_file", fileKey=TEXT), tool("get_file_nodes", fileKey=TEXT, ids=TEXT),
         tool("list_files", project_id=TEXT)],
        [tool("read_document", document_id=TEXT), tool("write_document", document_id=TEXT, content=TEXT)],
        [tool("get_file_contents", owner=TEXT, repo=TEXT, path=TEXT),
         tool("create_file", owner=TEXT, repo=TEXT, path=TEXT, content=TEXT),
         tool("delete_file", owner=TEXT, repo=TEXT, path=TEXT), tool("list_issues", owner=TEXT, repo=TEXT)],
        [tool("create_project", name=TEXT, path=TEXT), tool("install_packages", path=TEXT, packages=TEXT)],
    ],
    ids=["ids", "documents", "repositories", "projects"],
)  # fmt: skip
def test_tools_that_are_about_something_else_are_left_alone(tmp_path: Path, tools: list[Json]) -> None:
    assert not [one for one in behaviours(simulator(tmp_path, tools)).values() if one.startswith("file_tree")]


async def test_an_argument_selects_what_is_done(tmp_path: Path) -> None:
    async with simulator(tmp_path, CHOSEN, {"files": {"a/b.txt": "hello"}}).open() as world:
        assert await said(world, "manage_files", operation="read", path="/a/b.txt") == "hello"
        await said(world, "manage_directories", action="create", path="/c")
        await said(world, "manage_files", operation="write", path="c/d", content="new")
        assert await said(world, "manage_files", operation="list", path="c") == "[FILE] d"
        assert "not empty" in await refused(world, "manage_directories", action="remove", path="c")


async def test_a_spec_can_say_what_a_tool_does_to_files(tmp_path: Path) -> None:
    sim = {
        "fetch": {
            "verb": "get",
            "entity": "file",
            "behaviour": "file_tree",
            "operation": "read",
            "arguments": {"path": "where"},
        }
    }
    odd = [*TOOLS, tool("fetch", where=TEXT)]
    async with simulator(tmp_path, odd, STATE, {"sim": sim}).open() as world:
        assert await said(world, "fetch", where="/srv/README.md") == "# Hi"


async def test_a_lost_acknowledgement_leaves_the_file_and_a_fork_does_not_share_it(tmp_path: Path) -> None:
    faults = [{"lost_ack": {}, "id": "lost", "tools": "write_file", "when": {"nth": 1}}]
    async with simulator(tmp_path, TOOLS, STATE, perturbations=faults).open() as world:
        other = world.fork("other")
        assert "timed out" in await refused(world, "write_file", path="/srv/x", content="there")
        assert await said(world, "read_file", path="/srv/x") == "there"
        assert "/srv/x" in await refused(other, "read_file", path="/srv/x")


ONE_TEXT = {"type": "object", "properties": {"content": TEXT}, "required": ["content"]}


async def test_a_result_that_has_room_for_one_text_only_holds_all_that_is_told(tmp_path: Path) -> None:
    """Not a text that is made up, and not JSON."""
    tools = [{**one, "outputSchema": ONE_TEXT} for one in TOOLS]
    async with simulator(tmp_path, tools, STATE) as sim, sim.open("desk") as world:
        written = await said(world, "write_file", path="/srv/new.txt", content="abc")
        moved = await said(world, "move_file", source="/srv/new.txt", destination="/srv/old.txt")
        listed = await said(world, "list_directory", path="/srv")
        read = await said(world, "read_file", path="/srv/old.txt")

    assert "/srv/new.txt" in written["content"]
    assert moved == {"content": "Successfully moved /srv/new.txt to /srv/old.txt"}
    assert "[FILE] README.md" in listed["content"].splitlines()
    assert read == {"content": "abc"}


async def test_what_cannot_be_one_of_several_kinds_of_blocks_is_left_out(tmp_path: Path) -> None:
    """A text is no picture."""
    picture = {"type": "object", "properties": {"type": {"const": "image"}, "data": TEXT}, "required": ["type", "data"]}
    blocks = {"type": "object", "properties": {"content": {"type": "array", "items": {"anyOf": [picture]}}},
              "required": ["content"]}  # fmt: skip
    tools = [*TOOLS, tool("read_media_file", path=TEXT, output=blocks)]
    async with simulator(tmp_path, tools, STATE) as sim, sim.open("desk") as world:
        assert await said(world, "read_media_file", path="/srv/README.md") == {"content": []}


async def test_paths_of_a_state_are_below_the_root_that_it_names(tmp_path: Path) -> None:
    """Callers write whole paths; what lies elsewhere may not be seen."""
    state = {"root": "/box/desk", "files": {"a.txt": "one", "docs/b.md": "two", "empty/": ""}}
    async with simulator(tmp_path, TOOLS, state) as sim, sim.open("desk") as world:
        assert await said(world, "read_file", path="/box/desk/docs/b.md") == "two"
        assert await said(world, "list_directory", path="/box/desk") == "[FILE] a.txt\n[DIR] docs\n[DIR] empty"
        assert "/box/desk" in await said(world, "list_allowed_directories")
        assert "outside the allowed directories" in await refused(world, "read_file", path="/etc/passwd")


async def test_where_tools_speak_of_what_may_be_seen_it_is_the_directory_that_holds_all_that_is_given(
    tmp_path: Path,
) -> None:
    state = {"files": {"/box/desk/a.txt": "one", "/box/desk/docs/b.md": "two"}}
    async with simulator(tmp_path, TOOLS, state) as sim, sim.open("desk") as world:
        assert await said(world, "list_allowed_directories") == "Allowed directories:\n/box/desk"
        assert "outside" in await refused(world, "write_file", path="/box/other.txt", content="x")


async def test_a_list_has_as_many_levels_as_are_asked_for_and_tells_sizes_where_its_tool_does(tmp_path: Path) -> None:
    depth = {"type": "integer", "default": 2}
    tools = [*TOOLS, tool("list_directory_levels", needed="path", path=TEXT, depth=depth),
             tool("list_directory_with_sizes", needed="path", path=TEXT, sortBy=TEXT)]  # fmt: skip
    async with simulator(tmp_path, tools, STATE) as sim, sim.open("desk") as world:
        levels = await said(world, "list_directory_levels", path="/srv")
        flat = await said(world, "list_directory_levels", path="/srv", depth=1)
        sizes = await said(world, "list_directory_with_sizes", path="/srv/app", sortBy="size")

    assert levels.splitlines() == ["[FILE] README.md", "[DIR] app", "[DIR] app/lib", "[FILE] app/main.py"]
    assert flat.splitlines() == ["[FILE] README.md", "[DIR] app"]
    assert sizes.splitlines()[:2] == ["[FILE] main.py 25 B", "[DIR] lib"]
    assert "1 files, 1 directories, 25 B in all" in sizes


async def test_an_edit_that_promises_a_diff_tells_a_patch_and_one_that_counts_is_held_to_it(tmp_path: Path) -> None:
    count = {"type": "integer", "default": 1}
    block = tool("edit_block", "Replaces text. Returns a git-style diff.", needed="path old_string new_string",
                 path=TEXT, old_string=TEXT, new_string=TEXT, expected_replacements=count)  # fmt: skip
    async with simulator(tmp_path, [*TOOLS, block], STATE) as sim, sim.open("desk") as world:
        path = "/srv/app/main.py"
        asked = {"path": path, "old_string": "os", "new_string": "io"}
        assert "2 times" in await refused(world, "edit_block", **asked)
        told = await said(world, "edit_block", **asked, expected_replacements=2)
        assert await said(world, "read_file", path=path) == "import io\nprint(io.name)\n"

    assert "@@ -1,2 +1,2 @@\n-import os\n-print(os.name)\n+import io" in told


async def test_the_first_and_the_last_lines_are_not_asked_for_at_once(tmp_path: Path) -> None:
    async with simulator(tmp_path, TOOLS, STATE) as sim, sim.open("desk") as world:
        assert "head or tail" in await refused(world, "read_file", path="/srv/README.md", head=1, tail=1)


async def test_lines_are_replaced_and_deleted_by_their_numbers(tmp_path: Path) -> None:
    number = {"type": "integer"}
    tools = [*TOOLS,
             tool("replace_lines", needed="path start_line content", path=TEXT, start_line=number, end_line=number,
                  content=TEXT),
             tool("delete_lines", path=TEXT, start_line=number, end_line=number)]  # fmt: skip
    async with simulator(tmp_path, tools, {"files": {"/a.txt": "one\ntwo\nthree\n"}}) as sim, sim.open() as world:
        told = await said(world, "replace_lines", path="/a.txt", start_line=2, content="2\n2b\n")
        assert "lines 2 to 2 of /a.txt" in told
        assert await said(world, "read_file", path="/a.txt") == "one\n2\n2b\nthree\n"
        await said(world, "delete_lines", path="/a.txt", start_line=1, end_line=3)
        assert await said(world, "read_file", path="/a.txt") == "three\n"
        assert "has 1 lines" in await refused(world, "delete_lines", path="/a.txt", start_line=2, end_line=2)
        assert "has 1 lines" in await refused(world, "replace_lines", path="/a.txt", start_line=0, content="")


async def test_files_to_read_may_be_named_in_objects(tmp_path: Path) -> None:
    files = {"type": "array", "items": {"type": "object", "properties": {"file_path": TEXT}}}
    tools = [*TOOLS, tool("read_several_files", files=files)]
    async with simulator(tmp_path, tools, STATE) as sim, sim.open() as world:
        told = await said(world, "read_several_files", files=[{"file_path": "/srv/README.md"}, {"file_path": "/srv/x"}])
        assert told == "/srv/README.md:\n# Hi\n---\n/srv/x:\nNo such file or directory: /srv/x"


@pytest.mark.parametrize("state", [{"files": {"data/a.csv": "1"}}, {"root": {"data": {"type": "directory", "contents": {
    "a.csv": {"type": "file", "content": "1"}}}}}])  # fmt: skip
async def test_files_whose_root_no_state_names_are_where_callers_look_for_them(tmp_path: Path, state: Json) -> None:
    sim = simulator(tmp_path, TOOLS, state)
    async with sim, sim.open() as world:
        home = "/home/ada/farm"
        assert "data" in str(await said(world, "list_directory", path=home))
        assert "1" in str(await said(world, "read_file", path=f"{home}/data/a.csv"))
        await said(world, "create_directory", path=f"{home}/new/deep")
        await said(world, "write_file", path=f"{home}/new/deep/b.txt", content="bee")
        assert "bee" in str(await said(world, "read_file", path=f"{home}/new/deep/b.txt"))
        assert f"{home}/new/deep/b.txt" in str(await said(world, "search_files", path=home, pattern="b.txt"))
        await refused(world, "read_file", path=f"{home}/data/b.txt")
        await refused(world, "list_directory", path="/home/ada/elsewhere")
        await refused(world, "read_file", path="/etc/passwd")


NOTEBOOKS = [
    tool("list_projects", "List all projects."),
    tool("list_project_pages", "List the pages of a project.", projectName=TEXT),
    tool("page_read", "Read a page.", projectName=TEXT, fileName=TEXT),
    tool("page_write", "Write a page.", projectName=TEXT, fileName=TEXT, content=TEXT),
    tool("page_update", "Update an existing page.", projectName=TEXT, fileName=TEXT, content=TEXT),
    tool("page_delete", "Delete a page.", projectName=TEXT, fileName=TEXT),
]


async def test_files_are_named_within_a_project_by_two_arguments(tmp_path: Path) -> None:
    state = {"root": {"alpha": {"plan.md": "# Alpha"}}}
    async with simulator(tmp_path, NOTEBOOKS, state).open() as world:
        assert await said(world, "page_read", projectName="alpha", fileName="plan.md") == "# Alpha"
        assert "beta" in await refused(world, "page_update", projectName="beta", fileName="plan.md", content="x")
        await said(world, "page_write", projectName="beta", fileName="plan.md", content="# Beta")
        await said(world, "page_update", projectName="beta", fileName="plan.md", content="# New")
        assert await said(world, "page_read", projectName="beta", fileName="plan.md") == "# New"
        assert "beta" in await said(world, "list_projects")
        assert "plan.md" in await said(world, "list_project_pages", projectName="beta")
        await said(world, "page_delete", projectName="beta", fileName="plan.md")
        assert "plan.md" in await refused(world, "page_read", projectName="beta", fileName="plan.md")
        assert "gamma" in await refused(world, "list_project_pages", projectName="gamma")


async def test_notes_of_a_vault_may_be_in_a_folder_beside_their_name(tmp_path: Path) -> None:
    tools = [
        tool("list_vaults", "List the vaults."),
        tool("read_note", "Read a note.", needed="vault filename", vault=TEXT, filename=TEXT, folder=TEXT),
        tool("create_note", "Create a new note.", needed="vault filename content", vault=TEXT, filename=TEXT,
             folder=TEXT, content=TEXT),
        tool("move_note", "Move a note.", vault=TEXT, source=TEXT, destination=TEXT),
        tool("search_vault", "Searches through note contents.", vault=TEXT, query=TEXT),
    ]  # fmt: skip
    async with simulator(tmp_path, tools, {"vaults": {"home": {"diary": {"monday.md": "Rain."}}}}).open() as world:
        assert await said(world, "read_note", vault="home", filename="monday.md", folder="diary") == "Rain."
        await said(world, "create_note", vault="home", filename="list.md", content="Milk")
        assert "list.md" in await refused(world, "create_note", vault="home", filename="list.md", content="Tea")
        await said(world, "move_note", vault="home", source="list.md", destination="diary/list.md")
        assert await said(world, "read_note", vault="home", filename="list.md", folder="diary") == "Milk"
        assert "list.md" in await said(world, "search_vault", vault="home", query="Milk")
        assert "work" in await refused(world, "read_note", vault="work", filename="list.md")


def test_what_a_file_is_uploaded_for_is_no_place_of_it(tmp_path: Path) -> None:
    tools = [
        tool("upload_attachment", "Attach a file.", project=TEXT, filename=TEXT, content=TEXT),
        tool("create_project", "Create a project.", name=TEXT), tool("list_projects", "List all projects."),
    ]  # fmt: skip
    assert "file_tree" not in " ".join(behaviours(simulator(tmp_path, tools)).values())


async def test_a_batch_does_what_each_item_says(tmp_path: Path) -> None:
    item = {"type": "object", "required": ["operation", "source"], "properties": {
        "operation": {"enum": ["copy", "move", "delete"]}, "source": TEXT, "destination": TEXT}}  # fmt: skip
    batch = tool("batch_file_operations", needed="operations", operations={"type": "array", "items": item},
                 dry_run=FLAG, stop_on_error=FLAG)  # fmt: skip
    sim = simulator(tmp_path, [*TOOLS, batch], STATE)
    async with sim, sim.open() as world:
        work: Json = [
            {"operation": "copy", "source": "/srv/README.md", "destination": "/srv/app/README.md"},
            {"operation": "delete", "source": "/srv/none.md"},
            {"operation": "delete", "source": "/srv/app/lib/math.py"},
        ]
        await said(world, "batch_file_operations", operations=work, dry_run=True)
        await refused(world, "read_file", path="/srv/app/README.md")
        told = await said(world, "batch_file_operations", operations=work)
        assert [told["successful"], told["failed"]] == [2, 1]
        assert await said(world, "read_file", path="/srv/app/README.md") == "# Hi"
        await refused(world, "read_file", path="/srv/app/lib/math.py")
        await said(world, "batch_file_operations", operations=work[1:2] + work[:1], stop_on_error=True)


async def test_given_files_that_name_no_vault_are_those_of_the_one_that_calls_name(tmp_path: Path) -> None:
    tools = [
        tool("read_note", needed="vault filename", vault=TEXT, filename=TEXT, folder=TEXT),
        tool("create_note", vault=TEXT, filename=TEXT, content=TEXT),
        tool("delete_note", vault=TEXT, filename=TEXT),
    ]
    state = {"files": {"welcome.md": "Hello", "plans/shed.md": "Build it"}}
    async with simulator(tmp_path, tools, state) as sim, sim.open("desk") as world:
        assert await said(world, "read_note", vault="home", filename="welcome.md") == "Hello"
        assert await said(world, "read_note", vault="home", filename="shed.md", folder="plans") == "Build it"
        await said(world, "create_note", vault="home", filename="new.md", content="fresh")
        assert await said(world, "read_note", vault="home", filename="new.md") == "fresh"
