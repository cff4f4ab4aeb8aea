"""Fictional worlds: rows, pages, questions, and what only pages show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from anyio.to_thread import run_sync
from support.endpoint import Asked, completion, serving
from support.library_stores import new_store

from mcp_sim.cli import main
from mcp_sim.generate.fiction.theme import Theme, known_words, read_theme, shipped_themes
from mcp_sim.generate.fiction.world import Fiction, invent, questions, tables
from mcp_sim.libraries.search import Search, snippet
from mcp_sim.libraries.search.pages import read_given_pages, shown_values
from mcp_sim.simulator.compile import load
from mcp_sim.spec import yaml12
from mcp_sim.types.errors import DocumentError, UsageError

themes = pytest.mark.parametrize("theme", shipped_themes())


def fiction(theme: str, seed: int = 1, rows: int = 150, **options: Any) -> Fiction:
    return invent(read_theme(theme), rows=rows, seed=seed, **options)


def names(world: Fiction) -> set[str]:
    return {row["name"] for rows in world.rows.values() for row in rows if "name" in row}


@themes
def test_a_seed_makes_one_world_and_another_seed_shares_no_name(theme: str) -> None:
    world = fiction(theme)
    assert world.rows == fiction(theme).rows
    assert not names(world) & names(fiction(theme, seed=2))
    assert not {word.casefold() for name in names(world) for word in name.split()} & _invented(known_words())
    assert abs(sum(map(len, world.rows.values())) - 150) <= len(world.rows)


def _invented(known: frozenset[str]) -> set[str]:
    """Return the well-known words that no theme adds to a name on purpose, such as Harbour or Park."""
    return {*known} - {"island", "harbour", "center", "park", "street", "city", "master", "masters"}


@themes
def test_every_link_leads_to_a_row_and_every_question_has_an_answer(theme: str) -> None:
    world = fiction(theme)
    for path, table in world.links.items():
        owner, _, name = path.partition(".")
        assert {row[name] for row in world.rows[owner]} <= world.by_id[table].keys()
    asked = [*questions(world)]
    assert {question.pages for question in asked} == {1, 2, 3}
    assert all(question.answer is not None and "{" not in question.ask for question in asked)
    assert all(len(table.rows) >= 2 and None not in table.rows[0].values() for table in tables(world))


@themes
def test_withheld_facts_are_in_no_address_title_date_or_snippet(theme: str) -> None:
    world = fiction(theme, seed=3)
    search = Search(new_store())
    search.load(world.state())
    secrets = {
        row["name"]: [row[path.partition(".")[2]] for path in world.theme.withhold if path.startswith(f"{table}.")]
        for table, rows in world.rows.items()
        for row in rows
        if "name" in row
    }
    leaks = list[tuple[str, str]]()
    for query in ["how tall", "built in", "number of", "year", *list(secrets)[:40]]:
        for page in search.find(query):
            shown = "\n".join([page["url"], page["title"], page["date"], snippet(page, query)])
            about = [values for name, values in secrets.items() if name in page["title"]]
            leaks += [(page["url"], value) for values in about for value in shown_values(shown, values)]
    assert not leaks


def test_years_and_days_move_and_names_stay() -> None:
    now, later = fiction("coast"), fiction("coast", shift_years=70)
    assert names(now) == names(later)
    for here, there in zip(now.rows["lighthouse"], later.rows["lighthouse"], strict=True):
        assert (there["built"] - here["built"], there["height"] - here["height"]) == (70, 0)
        assert int(there["listed"][:4]) >= 2019 + 70


def test_the_command_writes_a_scenario_that_is_served_and_its_questions(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    assert main(["generate", "--fiction", "league", "--rows", "60", "--seed", "5", "-o", str(path)]) == 0
    scenario = load(path)
    assert scenario.seed == 5
    assert [entry.kind for entry in scenario.expectations] == ["table"]
    lines = [json.loads(line) for line in (tmp_path / "w.yaml.questions.jsonl").read_text().splitlines()]
    assert {line["pages"] for line in lines} >= {1, 2, 3}


@pytest.mark.parametrize("years", [-101, 99_999])
def test_years_beyond_the_calendar_are_refused(years: int) -> None:
    with pytest.raises(UsageError, match=f"--shift-years: expected -100 to 900, got {years}"):
        fiction("coast", shift_years=years)


def test_odd_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no theme 'moon'; give a YAML file, or one of coast, league, museums"):
        read_theme("moon")
    with pytest.raises(UsageError, match="--rows: expected 40 to 20000, got 3"):
        fiction("coast", rows=3)
    odd = tmp_path / "odd.yaml"
    text = (Path(read_theme.__code__.co_filename).parent / "themes" / "coast.yaml").read_text(encoding="utf-8")
    odd.write_text(text.replace("capital: {best: town", "capital: {best: village"), encoding="utf-8")
    with pytest.raises(DocumentError, match="unknown table 'village'"):
        read_theme(str(odd))


HOSTILE: dict[str, tuple[list[str], Any]] = {
    "too few words": (["sounds"], {"onset": ["x"], "vowel": ["a"], "coda": ["n"]}),
    "at least 3 items": (["sounds"], {"onset": ["x"], "vowel": ["a"]}),
    "at least 1 item": (["sounds", "vowel"], []),
    "greater than or equal to 1": (["share", "person"], -1_000),
    "lower bound first": (["tables", "town", "population"], {"number": [5, 1]}),
    "less than or equal to 1000000000000": (["tables", "town", "population"], {"number": [1, 10**400]}),
    "less than or equal to 9000": (["tables", "town", "founded"], {"year": [1, 99_999]}),
    r"a field \(number or year\), got 'name'": (["tables", "province", "capital", "of"], "name"),
    r"a field \(pick\), got 'nothing'": (["tables", "province", "capital", "by"], "nothing"),
    "withhold: unknown field 'ship.lenght'; did you mean 'ship.length'": (["withhold"], ["ship.lenght"]),
    "got 'nothing.at'": (["questions", "0", "answer"], "nothing.at"),
    "got 'nothing'": (["lists", "0", "by"], "nothing"),
    "lists.0.by: .*got 'town.population'": (["lists", "0", "by"], "town.population"),
    "capital: .*got 'province.population'": (["tables", "province", "capital", "of"], "province.population"),
    "lists: .*at least 1 item": (["lists"], []),
    "templates.0: .*got 'nothing'": (["templates", "0", "text"], ["{name} is {nothing:,}."]),
    "templates.1: .*got 'province.nothing'": (["templates", "1", "title"], "{province.nothing}"),
    r"\(name or choice or number or year\), got 'twice'": (["tables", "line", "twice"], {"text": "{twice}{twice}"}),
}


@pytest.mark.parametrize("problem", HOSTILE)
def test_hostile_themes_are_refused(tmp_path: Path, problem: str) -> None:
    text = (Path(read_theme.__code__.co_filename).parent / "themes" / "coast.yaml").read_text(encoding="utf-8")
    theme = yaml12.load(text.encode(), "coast").value
    (*steps, last), value = HOSTILE[problem]
    place = theme
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    place[last] = value
    path = tmp_path / "theme.json"
    path.write_text(json.dumps(theme), encoding="utf-8")
    with pytest.raises((UsageError, DocumentError), match=problem):
        invent(read_theme(str(path)), rows=150, seed=1)


def test_the_links_of_a_theme_are_listed_once_for_all_its_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = list[None]()
    links = Theme.links

    def counted(theme: Theme) -> dict[str, str]:
        listed.append(None)
        return links(theme)

    monkeypatch.setattr(Theme, "links", counted)
    read_theme("coast")
    assert len(listed) == 1


def test_texts_of_a_theme_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_sim.generate.fiction.world._MOST_TEXT", 1_000)
    with pytest.raises(UsageError, match="use fewer rows"):
        fiction("league")


def test_options_of_the_other_kind_are_refused_and_no_questions_are_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["-o", str(tmp_path / "world.yaml")]
    theme = shipped_themes()[0]
    assert main(["generate", "crm", "--rows", "9", *output]) == 2
    assert "--rows is only for --fiction" in capsys.readouterr().err
    assert main(["generate", "--fiction", theme, "--count", "9", *output]) == 2
    assert "--count is only for a scenario" in capsys.readouterr().err
    for seed in "12":
        assert main(["generate", "--fiction", theme, "--seed", seed, "--rows", "150", *output]) == 0
    assert (tmp_path / "world.yaml.questions.jsonl.bak").is_file()


async def test_texts_of_a_model_are_taken_if_they_change_no_fact_and_snippets_still_withhold(
    tmp_path: Path,
) -> None:
    async def wording(asked: Asked) -> Any:
        facts = asked.question.partition("Facts:\n")[2]
        if "metres tall" in facts and asked.body["seed"] % 2:
            facts = facts.replace("metres tall", "metres and 7 more tall")
        return completion(f"<think>Hm, 5.</think>As they say: {facts}")

    async with serving(wording) as engine:
        path = tmp_path / "world.yaml"
        options = ["--rows", "40", "--by", f"openai:tiny@{engine.url}", "-o", str(path)]
        assert await run_sync(main, ["generate", "--fiction", "coast", *options]) == 0
    state = yaml12.load(path.read_bytes(), str(path)).value["world"]["state"]
    assert state["texts"]
    assert not any("7 more" in text for text in state["texts"].values())
    pages = {page["url"]: page for page in read_given_pages(state)}
    assert any("As they say" in page["text"] for page in pages.values())
    lights = {row["name"]: row["height"] for row in state["rows"]["lighthouse"]}
    for page in pages.values():
        if page["url"].startswith("https://coastallights"):
            height = lights[page["title"].removesuffix(" lighthouse")]
            assert shown_values(page["text"], [height])
            assert not shown_values(page["preview"], [height])
