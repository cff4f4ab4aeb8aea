"""Tools that name a file within a space: a page of a project, a note of a vault."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, refused, simulator, tool

NOTEBOOKS = [
    tool("list_projects", "List all projects."),
    tool("list_project_pages", "List the pages of a project.", projectName=TEXT),
    tool("page_read", "Read a page.", projectName=TEXT, fileName=TEXT),
    tool("page_write", "Write a page.", projectName=TEXT, fileName=TEXT, content=TEXT),
    tool("page_update", "Update an existing page.", projectName=TEXT, fileName=TEXT, content=TEXT),
    tool("page_delete", "Delete a page.", projectName=TEXT, fileName=TEXT),
]


async def test_a_file_is_named_by_its_project_and_its_name(tmp_path: Path) -> None:
    state = {"root": {"alpha": {"plan.md": "# Alpha"}}}
    async with simulator(tmp_path, NOTEBOOKS, state).open() as world:
        assert await answered(world, "page_read", projectName="alpha", fileName="plan.md") == "# Alpha"
        assert "beta" in await refused(world, "page_update", projectName="beta", fileName="plan.md", content="x")
        await answered(world, "page_write", projectName="beta", fileName="plan.md", content="# Beta")
        await answered(world, "page_update", projectName="beta", fileName="plan.md", content="# New")
        assert await answered(world, "page_read", projectName="beta", fileName="plan.md") == "# New"
        assert "beta" in await answered(world, "list_projects")
        assert "plan.md" in await answered(world, "list_project_pages", projectName="beta")
        await answered(world, "page_delete", projectName="beta", fileName="plan.md")
        assert "plan.md" in await refused(world, "page_read", projectName="beta", fileName="plan.md")
        assert "gamma" in await refused(world, "list_project_pages", projectName="gamma")


async def test_a_note_may_be_named_by_vault_folder_and_name(tmp_path: Path) -> None:
    tools = [
        tool("list_vaults", "List the vaults."),
        tool("read_note", "Read a note.", needed="vault filename", vault=TEXT, filename=TEXT, folder=TEXT),
        tool("create_note", "Create a new note.", needed="vault filename content", vault=TEXT, filename=TEXT,
             folder=TEXT, content=TEXT),
        tool("move_note", "Move a note.", vault=TEXT, source=TEXT, destination=TEXT),
        tool("search_vault", "Searches through note contents.", vault=TEXT, query=TEXT),
    ]  # fmt: skip
    async with simulator(tmp_path, tools, {"vaults": {"home": {"diary": {"monday.md": "Rain."}}}}).open() as world:
        assert await answered(world, "read_note", vault="home", filename="monday.md", folder="diary") == "Rain."
        await answered(world, "create_note", vault="home", filename="list.md", content="Milk")
        assert "list.md" in await refused(world, "create_note", vault="home", filename="list.md", content="Tea")
        await answered(world, "move_note", vault="home", source="list.md", destination="diary/list.md")
        assert await answered(world, "read_note", vault="home", filename="list.md", folder="diary") == "Milk"
        assert "list.md" in await answered(world, "search_vault", vault="home", query="Milk")
        assert "work" in await refused(world, "read_note", vault="work", filename="list.md")


async def test_given_files_without_a_vault_belong_to_the_vault_that_calls_name(tmp_path: Path) -> None:
    tools = [
        tool("read_note", needed="vault filename", vault=TEXT, filename=TEXT, folder=TEXT),
        tool("create_note", vault=TEXT, filename=TEXT, content=TEXT),
        tool("delete_note", vault=TEXT, filename=TEXT),
    ]
    state = {"files": {"welcome.md": "Hello", "plans/shed.md": "Build it"}}
    async with simulator(tmp_path, tools, state) as sim, sim.open("desk") as world:
        assert await answered(world, "read_note", vault="home", filename="welcome.md") == "Hello"
        assert await answered(world, "read_note", vault="home", filename="shed.md", folder="plans") == "Build it"
        await answered(world, "create_note", vault="home", filename="new.md", content="fresh")
        assert await answered(world, "read_note", vault="home", filename="new.md") == "fresh"
