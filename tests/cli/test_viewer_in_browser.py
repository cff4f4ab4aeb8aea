"""What the viewer shows and does in a real browser, from a file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from support.chromium import Tab, open_browser
from support.places import ROOT
from support.viewer_traces import busy_trace, hostile_trace, repeated_trace, screens_trace, steered_trace
from support.warm import PYTHON

from mcp_sim.cli import main

RUNS = """\
mcp_sim: 1
name: lost-deal
task: Create the deal "Spring order" for Ada Vos, and move it to the stage proposal.
tools: crm
world: {records: {company: 1, deal: 2, contact: {count: 1, rows: [{id: con_00001, name: Ada Vos}]}}}
perturbations: [{lost_ack: {}, id: lost-deal, tools: create_deal, when: {nth: 1}}]
expect:
  - {python: "checks.py:fine"}
  - {state: {entity: deal, where: {title: Spring order}, count: 1}, id: one-deal, message: It is billed twice.}
  - {state: "deal.exists(d, d.title == 'Spring order' && d.amount == 4400.0)", id: right-amount}
"""

Open = Callable[..., Page]
VIEWS = ("Step", "State", "Faults", "Verdicts", "Worlds")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, runs: dict[str, Path]) -> dict[str, Path]:
    """The pages by name. They are written before the browser starts, whose event loop allows no other."""
    folder = tmp_path_factory.mktemp("pages")
    busy = asyncio.run(busy_trace(folder))
    steered = asyncio.run(steered_trace(folder))
    long = repeated_trace(busy, folder, 10_000)
    screens = asyncio.run(screens_trace(folder))
    traces = {"busy": busy, "screens": screens, "steered": steered, "hostile": hostile_trace(folder), "long": long}
    for name, trace in traces.items():
        assert main(["view", str(trace), "-o", str(folder / f"{name}.html")]) == 0
    return {**runs, **{name: folder / f"{name}.html" for name in traces}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages of `mcp-sim run`: of one run that fails, and of three."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "scenario.yaml").write_text(RUNS, encoding="utf-8")
    (folder / "checks.py").write_text("def fine(state, steps, answer):\n    return True\n", encoding="utf-8")
    script = ROOT / "mcp_sim" / "runs" / "agents" / "scripts" / "crm.yaml"
    agent = f"echo '<b>starting</b>' >&2; exec {PYTHON} -m mcp_sim.runs.agents naive_retry --script {script}"
    for name, seeds in (("single", "7"), ("several", "0..2")):
        command = ["run", str(folder / "scenario.yaml"), "--seeds", seeds, "--clock", "virtual", "--trust", str(folder)]
        assert main([*command, "--html", str(folder / f"{name}.html"), "--", "sh", "-c", agent]) == 1
    return {name: folder / f"{name}.html" for name in ("single", "several")}


@pytest.fixture(scope="module")
def browser(pages: dict[str, Path]) -> Generator[Browser]:
    with open_browser() as found:
        yield found


@pytest.fixture
def shown(browser: Browser, pages: dict[str, Path]) -> Generator[Open]:
    """Open pages in tabs. At the end none may have made a request, shown a dialog or had an error."""
    tabs = list[Tab]()

    def opened(name: str, width: int = 1440, height: int = 900, *, scheme: str = "light", fragment: str = "") -> Page:
        tabs.append(Tab(browser, width, height, scheme=scheme))
        return tabs[-1].open(pages[name], fragment)

    yield opened
    for tab in tabs:
        tab.close()
    assert [trouble for tab in tabs for trouble in tab.troubles] == []


def panel_of(page: Page) -> str:
    return page.locator("#panel").inner_text()


def step_of(page: Page, n: int) -> str:
    """Choose a step, and return what is shown of it."""
    page.locator("#filter").fill(f"step:{n}")
    page.locator("#rows [role=option]").click()
    page.locator("#filter").fill("")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    return panel_of(page)


def test_a_step_shows_what_the_agent_saw_what_was_true_and_what_was_written(shown: Open) -> None:
    page = shown("busy")
    text = step_of(page, 3)
    assert "lost-deal (lost ack, nth 1) was applied" in text
    titles = [title.split("\n")[0].split("  ")[0] for title in page.locator(".column > h3").all_inner_texts()]
    assert [title.removesuffix(" error") for title in titles] == ["The agent saw", "True", "Written"]
    saw, true, written = page.locator(".column").all_inner_texts()
    assert "504 Gateway Timeout" in saw
    assert '"id": "deal_0041"' in true
    assert "created" in written
    assert "deal deal_0041" in written
    assert "one-deal 2 deal records fit" in text
    assert "step 3 ·" in text
    step_of(page, 8)
    assert page.locator(".column").nth(0).locator(".marked").all_inner_texts()[0] == '"stage": "qualified",'
    assert page.locator(".column").nth(1).locator(".marked").all_inner_texts()[0] == '"stage": "proposal",'
    text = step_of(page, 6)
    assert re.search(r"stage\s+qualified → proposal", page.locator(".column").last.inner_text())
    assert "The agent saw what was true" in text
    assert "The unmodified call would have written" in step_of(page, 10)


def test_a_step_shows_the_screen_and_nothing_in_it_runs_or_leads_anywhere(shown: Open) -> None:
    page = shown("screens")
    step_of(page, 4)
    screen = page.frame_locator("iframe.screen")
    expect(screen.locator("#email")).to_have_value("ada@mail.example")
    expect(screen.locator("#password")).to_have_value("•" * 6)
    screen.get_by_text("Parts", exact=True).click()
    screen.get_by_role("button", name="Log in").click()
    expect(screen.locator("h1")).to_have_text("Log in")
    step_of(page, 5)
    expect(screen.locator("h1")).to_contain_text("<script>alert(2)</script>")
    assert screen.locator("script, img, [onerror]").count() == 0


def test_a_failed_run_opens_at_the_step_that_decided_with_what_was_expected(shown: Open) -> None:
    page = shown("single")
    assert page.locator("[role=option][aria-selected=true] .n").inner_text() == "5"
    failures = page.locator(".failures")
    assert "2 of 3 expectations failed" in failures.inner_text()
    assert [row.split("\n")[0] for row in failures.locator("li").all_inner_texts()] == [
        "one-deal It is billed twice. (2 deal records fit, expected 1)",
        "right-amount deal.exists(d, d.title == 'Spring order' && d.amount == 4400.0) is false; "
        "amount of deal deal_0004 is 4000, expected 4400",
    ]
    assert "--trust" in page.locator(".command pre").first.inner_text()
    page.keyboard.press("4")
    assert page.locator(".verdict .pill").all_inner_texts() == ["failed", "failed", "passed"]
    table = page.locator(".verdict", has_text="right-amount").locator(".differences tbody").inner_text()
    assert table.split("\t") == ["amount of deal deal_0004", "4000", "4400"]
    page.get_by_text("stderr of the agent").click()
    assert page.get_by_label("stderr of the agent").inner_text() == "<b>starting</b>"


def test_several_runs_open_with_all_of_them_and_lead_to_each(shown: Open) -> None:
    page = shown("several")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Runs"
    assert not page.locator("#list").is_visible()
    text = panel_of(page)
    assert "Failed: 0 of 3 judged runs passed, 100 % required." in text
    assert page.locator(".numbers").first.locator("tbody").inner_text().split("\t") == ["faults", "3", "0", "3", "0 %"]
    assert page.locator(".runs tbody tr").count() == 3
    page.get_by_role("button", name="faults-seed1").click()
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Step"
    assert page.locator("#list").is_visible()
    assert "faults-seed1" in page.title()
    assert page.locator("[role=option][aria-selected=true] .n").inner_text() == "5"
    page.keyboard.press("0")
    assert page.locator(".runs").is_visible()


@pytest.mark.parametrize("name", ["busy", "steered", "hostile", "single", "several"])
def test_no_page_shows_a_value_that_is_missing(name: str, shown: Open) -> None:
    page = shown(name, fragment="#world=0&step=1")
    for _ in range(20):
        for key in "012345":
            page.keyboard.press(key)
            assert not re.search(r"undefined|NaN|\[object", page.locator("body").inner_text()), page.url
        page.keyboard.press("j")


def test_equal_lines_between_differences_unfold(shown: Open) -> None:
    page = shown("busy")
    step_of(page, 5)
    folds = page.locator(".fold")
    before = page.locator(".line").count()
    folds.first.click()
    assert folds.count() == 0
    assert page.locator(".line").count() > before + 100


def test_a_step_shows_why_faults_did_not_fire_and_how_to_repeat_it(shown: Open) -> None:
    page = shown("busy")
    text = step_of(page, 4)
    assert re.search(r"not met lost-deal lost ack ✗ nth 1 \(number 2\)", text)
    command = page.locator(".command pre").first.inner_text()
    assert command.startswith("mcp-sim play ")
    assert "--seed 7 <<'CALLS'" in command
    assert command.count('{"tool":') == 3
    page.get_by_role("button", name="Copy").first.click()
    expect(page.locator("#status")).to_have_text("Copied")


def test_the_state_follows_the_slider_and_marks_what_changed(shown: Open) -> None:
    page = shown("busy")
    page.keyboard.press("2")
    slider = page.locator("#slider")
    slider.fill("2")
    assert page.locator(".record").all_inner_texts()[0].startswith("deal_0041 created")
    assert "41 records" in panel_of(page)
    slider.fill("5")
    changed = page.locator(".record", has_text="deal_0042")
    assert changed.get_attribute("class") == "record created here"
    slider.fill("11")
    edited = page.locator(".record", has_text="deal_0003")
    assert "changed" in edited.inner_text()
    assert edited.locator("td.changed").first.inner_text() == "lost"
    edited.get_by_role("button").click()
    assert re.search(r"stage\s+\w+ → lost", panel_of(page))
    assert "step 12 written by colleague" in panel_of(page)
    slider.fill("16")
    assert "deleted" in page.locator(".record", has_text="con_00002").inner_text()
    page.get_by_label("Only what was written").uncheck()
    assert page.locator(".record").count() > 80
    page.get_by_label("Find records").fill("deal_0042")
    assert page.locator(".record").count() == 1


def test_faults_are_listed_with_what_became_of_them(shown: Open) -> None:
    page = shown("busy")
    page.keyboard.press("3")
    assert "Fired at 1 of 2 calls in its reach." in page.locator("#fault-lost-deal").inner_text()
    assert re.search(r"not met \d calls?: probability 0.4 did not hold", page.locator("#fault-stale-deal").inner_text())
    assert re.search(r"capped \d calls?: .*fired as often as it may|not met", page.locator("#fault-busy").inner_text())
    assert "Is disabled." in page.locator("#fault-switched-off").inner_text()
    page.locator("#fault-lost-deal").get_by_role("button", name="step 4").click()
    assert page.locator("[role=option][aria-selected=true] .n").inner_text() == "4"


def test_a_verdict_leads_to_the_steps_that_decided_it(shown: Open) -> None:
    page = shown("busy")
    page.locator("#outcome").click()
    text = panel_of(page)
    assert "Reward 0: the gate promoted failed" in text
    assert "head of purchasing" in text
    page.locator(".verdict", has_text="one-deal").get_by_role("button", name="step 6 update_deal").click()
    assert page.locator("h2").first.inner_text() == "update_deal"
    assert "step 6" in panel_of(page)


def test_forks_are_a_tree_with_their_outcomes(shown: Open) -> None:
    page = shown("busy")
    page.keyboard.press("5")
    roots = page.locator("[role=tree] > [role=treeitem]")
    assert roots.count() == 1
    assert [name.inner_text() for name in page.locator(".node .name").all()] == [
        "main",
        "careful",
        "careful-later",
        "hasty",
    ]
    assert page.locator("[role=group] [role=group] .name").all_inner_texts() == ["careful-later"]
    assert page.locator(".node", has_text="hasty").locator(".pill").inner_text() == "crashed"
    page.get_by_role("button", name="careful-later").click()
    assert page.locator("#world").input_value() == "3"
    assert page.locator(".row.is-inherited").count() > 5
    assert "12" in page.locator(".row.is-own .n").all_inner_texts()


def test_what_somebody_did_to_a_world_and_undid_is_shown(shown: Open) -> None:
    page = shown("steered", fragment="#world=1&step=5")
    assert page.locator("#rows .saw").all_inner_texts()[2] == "added the fault down"
    assert "down (error, always) was applied" in panel_of(page)
    assert "mcp-sim play" not in panel_of(page)
    page.keyboard.press("3")
    assert "Fired at 2 of 2 calls in its reach." in page.locator("#fault-down").inner_text()
    page.keyboard.press("5")
    undone = page.locator(".node", has_text="main (undone)")
    assert undone.locator(".pill").inner_text() == "undone"
    assert page.locator("[role=group] [role=group] .name").all_inner_texts() == ["twin"]


def test_the_keyboard_reaches_everything(shown: Open) -> None:
    page = shown("busy", fragment="#step=2")
    chosen = page.locator("[role=option][aria-selected=true] .n")
    expected = [("j", "3"), ("ArrowDown", "4"), ("k", "3"), ("ArrowUp", "2"), ("End", "19"), ("Home", "1"), ("n", "2")]
    for key, n in [*expected, ("n", "3"), ("p", "2"), ("PageDown", "12"), ("PageUp", "2")]:
        page.keyboard.press(key)
        assert chosen.inner_text() == n, key
    for key, view in zip("12345", VIEWS, strict=True):
        page.keyboard.press(key)
        assert page.locator("[role=tab][aria-selected=true]").inner_text() == view
    page.locator("[role=tab][aria-selected=true]").focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.textContent") == "Verdicts"
    page.keyboard.press("]")
    assert page.locator("#world").input_value() == "1"
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("jj")
    assert page.locator("#filter").input_value() == "jj"
    page.keyboard.press("Escape")
    assert page.locator("#filter").input_value() == ""


def test_the_filter_finds_by_tool_text_fault_and_fact(shown: Open) -> None:
    page = shown("busy")

    def found(query: str) -> list[str]:
        page.locator("#filter").fill(query)
        return page.locator("#rows .n").all_inner_texts()

    assert found("tool:create_deal") == ["3", "4"]
    assert found("tool:create_deal -fault") == ["4"]
    assert found("fault:busy") == ["7", "9"]
    assert found("fault:stale_read tool:get_deal") == ["8"]
    assert found("failed -fault") == ["18", "19"]
    assert found("entity:contact written") == ["17"]
    assert found("record:deal_0003") == ["12"]
    assert found("event") == ["12"]
    assert found('"asked about"') == ["14"]
    assert found("verdict:one-deal") == ["3", "6"]
    assert found("no such text") == []
    assert page.locator("#empty").is_visible()
    page.get_by_role("button", name=re.compile("^failed")).click()
    assert page.locator("#filter").input_value() == "failed"
    page.get_by_role("button", name=re.compile("^all")).click()
    assert len(page.locator("#rows .n").all_inner_texts()) == 19


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1000])
def test_every_view_fits_and_has_contrast_at_every_width(shown: Open, width: int, scheme: str) -> None:
    for name in ("busy", "hostile", "several"):
        page = shown(name, width, 844, scheme=scheme)
        for tab in page.locator("[role=tab]:visible").all():
            tab.click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, tab.inner_text()
            assert page.evaluate(FAINT_TEXTS) == [], tab.inner_text()


FAINT_TEXTS = """() => {
  const luminance = ([r, g, b]) => [r, g, b].map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = numbers(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.offsetParent || element.disabled || element.closest("[hidden], .filler, script")) continue;
    const [one, other] = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) faint.push(`${ratio.toFixed(2)} ${element.className} ${element.textContent.slice(0, 40)}`);
  }
  return faint;
}"""


def test_light_and_dark_follow_the_system_until_they_are_chosen(shown: Open) -> None:
    page = shown("busy", scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("t")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    assert shown("busy", scheme="light").evaluate("getComputedStyle(document.body).backgroundColor") == light


def test_on_a_phone_the_list_is_a_view_of_its_own(shown: Open) -> None:
    page = shown("busy", 390, 844)
    assert not page.locator("#list").is_visible()
    page.get_by_role("tab", name="Steps").click()
    assert page.locator("#list").is_visible()
    page.locator("#rows [role=option]").nth(2).click()
    assert page.locator("#panel h2").inner_text() == "create_deal"
    assert not page.locator("#list").is_visible()


def test_a_link_remembers_the_world_the_step_and_the_view(shown: Open) -> None:
    page = shown("busy", fragment="#world=2&step=9&tab=state")
    assert page.locator("#world").input_value() == "2"
    assert page.locator("h2").first.inner_text() == "State after step 9"
    page.keyboard.press("k")
    assert page.url.endswith("#world=2&step=8&tab=state")


def test_every_control_has_a_name_and_lists_are_announced(shown: Open) -> None:
    page = shown("busy")
    for key in "12345":
        page.keyboard.press(key)
        nameless = page.evaluate(
            "[...document.querySelectorAll('button, input, select, [tabindex]')].filter((one) => one.offsetParent)"
            ".filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length))"
            ".filter((one) => !one.ariaLabelledByElements)"
            ".map((one) => one.outerHTML)"
        )
        assert nameless == []
    assert page.locator("#list").get_attribute("role") == "listbox"
    chosen = page.locator("[role=option][aria-selected=true]")
    assert page.locator("#list").get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    assert chosen.get_attribute("aria-setsize") == "19"
    page.locator("#filter").fill("failed")
    expect(page.locator("#status")).to_have_text("6 steps found")


def test_hostile_text_is_shown_and_never_run(shown: Open) -> None:
    page = shown("hostile", fragment="#step=2")
    texts = ""
    for _ in range(15):
        for key in "12345":
            page.keyboard.press(key)
            texts += page.locator("body").inner_text()
        page.keyboard.press("j")
    assert all(text in texts for text in ("</script><script>alert(1)</script>", "{{script}}", "__proto__", "\\u202e"))
    page.locator("#filter").fill("<img src=x onerror=alert(2)>")
    assert page.locator("#rows [role=option]").count() > 5
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    for at in range(page.locator(".record button").count()):
        page.locator(".record button").nth(at).click()
    page.keyboard.press("]")
    assert page.locator("body img, body svg, body script:not(#data)").count() == 1


def test_ten_thousand_steps_are_few_elements(shown: Open) -> None:
    page = shown("long")
    for key in ("End", "2", "3", "4", "5", "1", "]", "Home", "n"):
        page.keyboard.press(key)
        assert page.locator("body *").count() < 3_000, key
    page.keyboard.press("2")
    page.locator("#slider").fill("9000")
    assert page.locator(".record").count() < 200
    page.keyboard.press("[")
    assert page.locator("#list").evaluate("(list) => list.scrollHeight") > 400_000
    page.locator("#filter").fill("step:9876")
    assert page.locator("#rows .n").all_inner_texts() == ["9876"]
