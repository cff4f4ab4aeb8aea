"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from support.notes import guessing_tools
from support.places import ROOT
from support.warm import COLD, PYTHON

USES = """
import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

DEAL = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}


@pytest.mark.mcp_sim("flaky_crm")
def test_sync(mcp_sim):
    before = mcp_sim.state.count("deal")
    assert not mcp_sim.call("create_deal", DEAL).ok
    assert mcp_sim.state.count("deal") == before + 1
    (step,) = [step for step in mcp_sim.ledger if step["entry"] == "call"]
    assert step["perturbations"][0]["id"] == "lost-deal"


@pytest.mark.mcp_sim("flaky_crm")
@pytest.mark.parametrize("how", ["memory", "http", "stdio"])
async def test_asyncio(mcp_sim, how):
    targets = {
        "memory": lambda: mcp_sim.server(),
        "http": lambda: mcp_sim.url,
        "stdio": lambda: stdio_client(StdioServerParameters(**mcp_sim.stdio)),
    }
    async with Client(targets[how]()) as client:
        result = await client.call_tool("create_deal", DEAL)
        assert result.is_error
        found = await client.call_tool("list_deals", {"contact_id": "con_00001", "limit": 100})
        (deal,) = [deal for deal in found.structured_content["deals"] if deal["title"] == "Spring order"]
        await client.call_tool("update_deal", {"deal_id": deal["id"], "stage": "proposal"})
    assert (await mcp_sim.acall("get_deal", {"deal_id": deal["id"]})).body.value["stage"] == "proposal"
    mcp_sim.check("The deal is in the stage proposal.")


@pytest.mark.mcp_sim("calm_crm")
def test_injected_faults_and_forks(mcp_sim):
    assert mcp_sim.call("create_deal", DEAL).ok
    twin = mcp_sim.fork()
    mcp_sim.inject("error", status=503, id="down", tools="list_*", when={"nth": 2})
    assert [mcp_sim.call("list_deals").ok for _ in range(3)] == [True, False, True]
    assert [twin.call("list_deals").ok for _ in range(3)] == [True, True, True]
    mcp_sim.inject("error", status=500, tools="get_deal")
    assert not mcp_sim.call("get_deal", {"deal_id": "deal_0081"}).ok
    with pytest.raises(Exception, match="did you mean 'error'"):
        mcp_sim.inject("errror")


@pytest.mark.mcp_sim("calm_crm")
def test_an_agent_that_leaves_deep_folders(mcp_sim):
    leaves = "for _ in range(3000): os.mkdir('d'); os.chdir('d')"
    agent = f"import os\\nos.chdir(os.environ['MCP_SIM_DIR'])\\n{leaves}\\nprint('Done.')"
    assert mcp_sim.run([sys.executable, "-c", agent]) == "Done."


@pytest.mark.mcp_sim("mine.yaml", seeds=2, pass_k=2)
def test_seeds(mcp_sim):
    assert mcp_sim.world.scenario.name == "mine"


@pytest.mark.mcp_sim("below/other.yaml", seeds=[7])
def test_rootdir(mcp_sim):
    assert mcp_sim.world.scenario.name == "other"
    mcp_sim.check()  # nothing was called: skipped
"""

FAILS = """
import pytest

DEAL = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}


@pytest.mark.mcp_sim("flaky_crm", seeds=[3])
def test_careless(mcp_sim):
    mcp_sim.call("create_deal", DEAL)
    mcp_sim.call("create_deal", DEAL)
    mcp_sim.check("Done.")
"""


def ran(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, "-m", "pytest", "--assert=plain", "-p", "no:cacheprovider", "--rootdir", str(folder), *options]
    plugin = [] if "mcp_sim" in PLUGINS else ["-p", "mcp_sim.runs.pytest_plugin"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*command, *plugin], cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False
    )


def installed_plugins() -> set[str]:
    from importlib.metadata import entry_points

    return {point.name for point in entry_points(group="pytest11")}


PLUGINS = installed_plugins()


def project(folder: Path, text: str) -> None:
    """Write a project with a test in a folder of it."""
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n", encoding="utf-8")
    (folder / "suite").mkdir()
    (folder / "below").mkdir()
    (folder / "suite" / "mine.yaml").write_text("mcp_sim: 1\nname: mine\ntools: crm\n", encoding="utf-8")
    (folder / "below" / "other.yaml").write_text(
        "mcp_sim: 1\nname: other\ntools: crm\nexpect:\n  - not_called: delete_contact\n", encoding="utf-8"
    )
    (folder / "suite" / "test_it.py").write_text(text, encoding="utf-8")


def test_the_fixture_is_a_world_that_tests_call_and_clients_connect_to(tmp_path: Path) -> None:
    project(tmp_path, USES)
    done = ran(tmp_path)
    assert "11 passed, 1 skipped" in done.stdout, done.stdout + done.stderr


ANYIO = """
import pytest
from mcp import Client


@pytest.mark.anyio
@pytest.mark.mcp_sim("flaky_crm", seeds=2)
async def test_anyio(mcp_sim):
    async with Client(mcp_sim.url) as client:
        assert (await client.call_tool("search_contacts", {"query": "Ada Vos"})).structured_content["total"] == 1
    async with Client(mcp_sim.server()) as client:
        assert (await client.call_tool("search_contacts", {"query": "Ada Vos"})).structured_content["total"] == 1
    assert (await mcp_sim.acall("get_contact", {"contact_id": "con_00001"})).ok


@pytest.fixture
def anyio_backend():
    return "asyncio"
"""


def test_the_fixture_works_in_tests_of_anyio(tmp_path: Path) -> None:
    project(tmp_path, ANYIO)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    done = ran(tmp_path, "-p", "no:asyncio")
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_the_runs_of_a_test_are_spread_by_xdist(tmp_path: Path) -> None:
    project(tmp_path, USES)
    done = ran(tmp_path, "-n", "2", "-k", "seeds or sync", "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"(\d+) passed", done.stdout) == ["9"], done.stdout
    assert {worker for worker, _ in re.findall(r"\[(gw\d)\] \[ *(\d+)%\] PASSED", done.stdout)} == {"gw0", "gw1"}
    assert sorted(set(re.findall(r"test_seeds\[(.*?)\]", done.stdout))) == [
        "seed0",
        "seed0-run2",
        "seed1",
        "seed1-run2",
    ]


GUESSES = """
import pytest

NOTE = {"title": "Spring order"}


@pytest.mark.mcp_sim("guessed.yaml")
def test_unsure(mcp_sim):
    mcp_sim.call("frobnicate", NOTE)
    mcp_sim.check()


@pytest.mark.mcp_sim("guessed.yaml", seeds=1, require=1)
def test_many(mcp_sim):
    mcp_sim.call("create_note", NOTE)
    mcp_sim.call("frobnicate", NOTE)
    assert mcp_sim.grade().outcome == "passed"


@pytest.mark.mcp_sim("guessed.yaml")
def test_sure(mcp_sim):
    mcp_sim.call("create_note", NOTE)
"""


def test_the_summary_lists_tests_that_rest_on_guesses(tmp_path: Path) -> None:
    project(tmp_path, GUESSES)
    expected = [{"called": "frobnicate", "id": "done"}]
    guessed = {"mcp_sim": 1, "name": "guessed", "tools": "./notes.json", "expect": expected}
    (tmp_path / "suite" / "guessed.yaml").write_text(json.dumps(guessed), encoding="utf-8")
    guessing_tools(tmp_path / "suite" / "notes.json")
    done = ran(tmp_path)
    assert "4 passed" in done.stdout, done.stdout + done.stderr  # with the report on the runs of test_many
    verdict = "passed: no expectation failed; done rests on a guess."
    lines = done.stdout.partition("mcp-sim: guesses")[2].splitlines()
    assert [line for line in lines if line.startswith("suite/")] == [
        f"suite/test_it.py::test_unsure: {verdict} 1 of 1 answers (100 %) is guessed.",
        f"suite/test_it.py::test_many[seed0]: {verdict} 1 of 2 answers (50 %) is guessed.",
    ]


MANY = """
import pytest

DEAL = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}


def work(mcp_sim, *, is_careless):
    for _ in range(2 if is_careless else 1):
        mcp_sim.call("create_deal", DEAL)
    (*_, deal) = [key for key, deal in mcp_sim.state.rows("deal") if deal["title"] == "Spring order"]
    while not mcp_sim.call("update_deal", {"deal_id": deal, "stage": "proposal"}).ok:
        pass
    mcp_sim.check("Done.")


@pytest.mark.mcp_sim("flaky_crm", seeds=10, require=0.9)
@pytest.mark.parametrize("failures", [1, 2])
def test_rate(mcp_sim, failures, request):
    work(mcp_sim, is_careless=any(f"seed{n}-" in request.node.nodeid for n in range(failures)))


@pytest.mark.mcp_sim("flaky_crm", seeds=5, require=0.8, pass_k=3)
@pytest.mark.parametrize("failures", [1, 2])
def test_pass_k(mcp_sim, failures, request):
    work(mcp_sim, is_careless=any(f"seed{n}-run2" in request.node.nodeid for n in range(failures)))


@pytest.mark.mcp_sim("calm_crm", seeds=2, require=0.5)
def test_idle(mcp_sim):
    pytest.skip("nothing happened")
"""


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_all_runs_together_decide_where_a_pass_rate_is_required(options: tuple[str, ...], tmp_path: Path) -> None:
    project(tmp_path, MANY)
    done = ran(tmp_path, "-v", "--junitxml", str(tmp_path / "junit.xml"), *options)
    # 52 runs, of which 6 fail and 2 are skipped, and the results of the five tests: 2 pass, 2 fail, 1 is skipped
    assert "2 failed, 46 passed, 3 skipped, 6 xfailed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1
    assert "the pass rate is 80 % (8 of 10 seeds passed; 95 % interval 49 to 94 %), 90 % required" in done.stdout
    assert "pass^3 is 60 % (in 3 of 5 seeds all 3 runs passed; 95 % interval 23 to 88 %), 80 % required" in done.stdout
    assert "failed one-deal: 2 deal records fit, expected 1" in done.stdout
    assert "repeat: pytest 'suite/test_it.py::test_pass_k[seed1-run2-2]'" in done.stdout
    suite = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert 'failures="2" skipped="9" tests="57"' in suite


def test_a_failure_shows_verdicts_and_last_steps_and_how_to_repeat_it(tmp_path: Path) -> None:
    project(tmp_path, FAILS)
    done = ran(tmp_path)
    assert done.returncode == 1
    assert "failed one-deal: 2 deal records fit, expected 1" in done.stdout
    assert "FAULT lost-deal (lost_ack, nth 1); the truth: wrote deal deal_0081" in done.stdout
    assert "repeat: pytest 'suite/test_it.py::test_careless[seed3]'" in done.stdout


HOSTILE = """
import sys
import pytest

@pytest.mark.mcp_sim("hostile.json")
def test_agent(mcp_sim):
    mcp_sim.run([sys.executable, "-c", r"import sys; sys.stderr.write('a\\x1b[2J\\r\\x9b2J\\u202eb'); sys.exit(3)"])

@pytest.mark.mcp_sim("hostile.json")
def test_verdict(mcp_sim):
    mcp_sim.call("list_deals")
    mcp_sim.check()
"""


def test_what_agents_and_documents_wrote_is_inert_in_the_report_of_pytest(tmp_path: Path) -> None:
    project(tmp_path, HOSTILE)
    body = {"mcp_sim": 1, "tools": "crm", "expect": [{"called": {"tool": "get_deal"}, "id": "a\x1b[2J\r\x9b2J\u202eb"}]}
    (tmp_path / "suite" / "hostile.json").write_text(json.dumps(body))
    shown = ran(tmp_path, "--color=no").stdout
    assert shown.count("a\\x1b[2J\\x0d\\u009b2J\\u202eb") >= 2, shown
    assert not set("\x1b\r\x9b\u202e") & set(shown)


@pytest.mark.parametrize(
    ("marker", "complaint"),
    [
        ("", "needs a scenario"),
        ('@pytest.mark.mcp_sim("flaky_crm", sedes=3)', "takes a scenario, and clock"),
        (
            '@pytest.mark.mcp_sim("flaky_crm", seeds=0)',
            "seeds: expected a number of at least 1, or a list of seeds, got 0",
        ),
        ('@pytest.mark.mcp_sim("flaky_crm", pass_k=0)', "pass_k: expected a number of at least 1, got 0"),
        ('@pytest.mark.mcp_sim("flaky_crm", require=90)', "require: expected a number from 0 to 1, got 90"),
        ('@pytest.mark.mcp_sim("flaky_crm", intensity=3)', "intensity: expected a number from 0 to 1, got 3"),
    ],
)
def test_a_marker_that_is_wrong_or_missing_is_an_error(marker: str, complaint: str, tmp_path: Path) -> None:
    project(tmp_path, f"import pytest\n\n{marker}\ndef test_it(mcp_sim):\n    pass\n")
    done = ran(tmp_path)
    assert done.returncode in (1, 2)
    assert complaint in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "pytest_plugin.py" not in done.stdout + done.stderr


def test_the_plugin_costs_nothing_where_it_is_not_used() -> None:
    code = "import mcp_sim.runs.pytest_plugin, sys; print(' '.join(sys.modules))"
    done = subprocess.run([COLD, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True)
    assert {"mcp", "pydantic", "anyio", "yaml", "rpds"}.isdisjoint(done.stdout.split())
