"""The repository of code: an editor, tests that cannot be edited away, and a merge in conflict."""

from __future__ import annotations

from support.services import message, value

from mcp_sim import Simulator

LOADS = "/srv/depot/depot/loads.py"
EDIT = "str_replace_based_edit_tool"


async def test_edited_tests_do_not_count() -> None:
    async with Simulator.load("code").open(seed=1) as world:
        await world.call("bash", {"command": "sed -i 's/== 7/== 9/' tests/test_loads.py; rm tests/test_report.py"})
        result = value(await world.call("run_tests", {}))
        assert (result["passed"], result["failed"], result["exit_code"]) == (17, 1, 1)
        assert ">       assert room(Round([Stop('Zeist', 1, 3)]), 10) == 7\nE       assert 9 == 7" in result["output"]
        assert "FAILED tests/test_loads.py::test_parcels_take_room - assert 9 == 7" in result["output"]


async def test_a_repair_lets_the_test_pass_also_for_pytest_in_the_shell() -> None:
    async with Simulator.load("code").open(seed=1) as world:
        old, new = "len(round_.stops)", "sum(stop.parcels for stop in round_.stops)"
        arguments = {"command": "str_replace", "path": LOADS, "old_str": old, "new_str": new}
        assert "has been edited" in value(await world.call(EDIT, arguments))
        assert "did not appear verbatim" in message(await world.call(EDIT, arguments))
        shown = value(await world.call("bash", {"command": "git diff --stat; python -m pytest -q -k 'room or full'"}))
        assert shown.startswith(" depot/loads.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n...")
        assert "3 passed" in shown
        assert value(await world.call("run_tests", {}))["passed"] == 18


async def test_texts_in_conflict_are_no_python() -> None:
    async with Simulator.load("code").open(seed=1) as world:
        assert "CONFLICT (content)" in value(await world.call("bash", {"command": "git merge hours"}))
        assert value(await world.call("run_tests", {"path": "tests/test_report.py"}))["failed"] == 5
        assert "UU depot/report.py" in value(await world.call("bash", {"command": "git status -s"}))


async def test_the_editor_views_creates_and_inserts() -> None:
    async with Simulator.load("code").open(seed=1) as world:
        create = {"command": "create", "path": "/srv/depot/new/a.txt", "file_text": "one\nthree\n"}
        assert value(await world.call(EDIT, create)) == "File created successfully at: /srv/depot/new/a.txt"
        insert = {"command": "insert", "path": "/srv/depot/new/a.txt", "insert_line": 1, "insert_text": "two\n"}
        assert "     2\ttwo" in value(await world.call(EDIT, insert))
        view = {"command": "view", "path": "/srv/depot/new/a.txt", "view_range": [2, 3]}
        assert value(await world.call(EDIT, view)).endswith("a.txt:\n     2\ttwo\n     3\tthree\n")
        assert "/srv/depot/depot/rounds.py" in value(await world.call(EDIT, {"command": "view", "path": "/srv/depot"}))
        assert (
            value(await world.call("bash", {"command": "git status -s; cat new/a.txt"})) == "?? new/\none\ntwo\nthree"
        )


async def test_the_editor_follows_links_and_edits_texts_only() -> None:
    async with Simulator.load("code").open(seed=1) as world:
        await world.call(
            "bash", {"command": "ln -s /srv/depot /srv/here; ln -s README.md l; printf '\\377' > data.bin"}
        )
        view = {"command": "view", "path": "/srv/here/l"}
        assert "# Depot" in value(await world.call(EDIT, view))
        replace = {"command": "str_replace", "path": "/srv/here/l", "old_str": "# Depot", "new_str": "# Rounds"}
        assert "has been edited" in value(await world.call(EDIT, replace))
        shown = value(await world.call("bash", {"command": "readlink l; head -1 README.md"}))
        assert shown == "README.md\n# Rounds"
        for more, problem in (
            ({"command": "create", "path": "a.txt", "file_text": ""}, "is not an absolute path"),
            ({**replace, "path": "/srv/depot"}, "is a directory"),
            ({"command": "view", "path": "/srv/depot/data.bin"}, "is not a text"),
        ):
            assert problem in message(await world.call(EDIT, more))


async def test_the_editor_follows_a_link_to_the_root_and_refuses_a_loop() -> None:
    async with Simulator.load("code").open(seed=1) as world:
        links = "mkdir /data; ln -s / /l; ln -s /data /m; ln -s /lp2 /lp; ln -s /lp /lp2"
        await world.call("bash", {"command": links})
        create = {"command": "create", "file_text": "a\n"}
        await world.call(EDIT, {**create, "path": "/l/m/y"})
        assert value(await world.call("bash", {"command": "cat /data/y; ls -d /datam"})).startswith("a\nls: ")
        assert "Too many levels of symbolic links: /lp" in message(await world.call(EDIT, {**create, "path": "/lp"}))


async def test_a_path_of_tests_is_taken_as_it_is() -> None:
    async with Simulator.load("code").open(seed=1) as world:
        output = value(await world.call("run_tests", {"path": "no such; ls"}))["output"]
        assert "not found: no such; ls" in output
