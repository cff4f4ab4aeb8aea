"""Pages, their accessibility tree, and the browser over sites."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from support.library_stores import new_store

from mcp_sim.libraries.screens import (
    Browser,
    HtmlError,
    NotFound,
    NotReady,
    Redirect,
    ScreenError,
    Site,
    parse,
    playwright,
)
from mcp_sim.libraries.screens.accessibility import Tree
from mcp_sim.libraries.screens.dom import Element
from mcp_sim.libraries.screens.forms import Form, is_well_formed
from mcp_sim.libraries.screens.front import shown_page
from mcp_sim.libraries.screens.layout import Layout, Metrics


def shown(html: str) -> str:
    return playwright.snapshot(Tree(Form(parse(html), {}), None, "", {}, 0).build())


CHROMIUM = {
    "<ul><li>One<li>Two <ul><li>Deep</ul></ul>": """\
- list [ref=e2]:
  - listitem [ref=e3]: One
  - listitem [ref=e4]:
    - text: Two
    - list [ref=e5]:
      - listitem [ref=e6]: Deep""",
    '<fieldset><legend>Plan</legend><label><input type="radio" name="p" checked> Free</label></fieldset>': """\
- group "Plan" [ref=e2]:
  - generic [ref=e4]:
    - radio "Free" [checked] [ref=e5]
    - text: Free""",
    '<p>a: b</p><p>12</p><p>yes</p><a href="/i"><img src="i.png" alt="Pic"></a><a href="/e"></a>': """\
- generic [active] [ref=e1]:
  - paragraph [ref=e2]: "a: b"
  - paragraph [ref=e3]: "12"
  - paragraph [ref=e4]: "yes"
  - link [ref=e5] [cursor=pointer]:
    - /url: /i
    - img "Pic" [ref=e6]
  - link:
    - /url: /e""",
    '<table><tr><th scope="row">Q</th><td><b>15</b> <span>up</span></td></tr></table>': """\
- table [ref=e2]:
  - rowgroup [ref=e3]:
    - row [ref=e4]:
      - rowheader "Q" [ref=e5]
      - cell "15 up" [ref=e6]""",
    (
        "<table><colgroup><col></colgroup><tr><td>1<td>2<tr><th>h<td>3</table><table role=grid><tr><td>a"
        "</td></tr></table>"
    ): """\
- generic [active] [ref=e1]:
  - table [ref=e2]:
    - rowgroup [ref=e5]:
      - row [ref=e6]:
        - cell "1" [ref=e7]
        - cell "2" [ref=e8]
      - row [ref=e9]:
        - rowheader "h" [ref=e10]
        - cell "3" [ref=e11]
  - grid [ref=e12]:
    - rowgroup [ref=e13]:
      - row [ref=e14]:
        - gridcell "a" [ref=e15]""",
    (
        "<ul role=none><li>a</li></ul><p aria-label=pn>z</p><div role=menu>"
        "<p role=menuitemradio aria-checked=true>r</p></div>"
    ): """\
- generic [active] [ref=e1]:
  - text: a
  - paragraph [ref=e2]: z
  - menu [ref=e3]:
    - menuitemradio "r" [checked] [ref=e4]""",
    "<div><span>a</span><span>b</span></div>": """\
- generic [active] [ref=e1]: ab""",
    "<img src=b><img src=c alt=''><a href=/><img src=c></a><button><img src=/x alt=''></button><p>&nbsp;</p>": """\
- generic [active] [ref=e1]:
  - link [ref=e3] [cursor=pointer]:
    - /url: /
  - button [ref=e5]
  - paragraph [ref=e6]""",
    (
        "<details><summary>S</summary>loose text<p>para</p></details><div aria-hidden=true><button>b"
        "</button></div><p>x<br>y</p>"
    ): """\
- generic [active] [ref=e1]:
  - group [ref=e2]:
    - generic "S" [ref=e3]
    - text: loose text
  - button [ref=e5]: b
  - paragraph [ref=e6]: xy""",
    (
        "<dialog open><h2>Hi</h2></dialog><label>Town <input list=t></label><datalist id=t><option>A"
        "</datalist><input type=color><input type=file>"
    ): """\
- generic [active] [ref=e1]:
  - dialog [ref=e2]:
    - heading "Hi" [level=2] [ref=e3]
  - generic [ref=e4]:
    - text: Town
    - combobox "Town" [ref=e5]
  - textbox [ref=e6]: "#000000"
  - button "Choose File" [ref=e7]""",
    "<select aria-label=G><optgroup label=X><option>a<optgroup label=Y><option>b</select>": """\
- combobox "G" [ref=e2]:
  - option "a" [selected]
  - option "b"
""",
}
"""HTML -> the snapshot of Playwright 0.0.83 with Chromium."""


@pytest.mark.parametrize("html", CHROMIUM)
def test_a_snapshot_is_the_one_of_chromium(html: str) -> None:
    assert shown(f"<body>{html}</body>") == CHROMIUM[html].strip()


ODD = {
    "<p>x</p>\n<canvas></canvas>": "line 2, column 1: <canvas> is not supported",
    '<a onclick="go()">x</a>': 'line 1, column 1: onclick="go()" is not supported',
    '<form onsubmit="steal()"></form>': 'onsubmit="steal()" is not supported; expected onchange="this.form.submit()"',
    "<p>a</p>\n <iframe src='/x'></iframe>": "line 2, column 2: <iframe> is not supported",
    "<style>p {}</style>": "<style> is not supported; its rules may hide elements or add texts. Expected style",
    "<svg></svg>": "<svg> is not supported; expected an <img> with an alt text",
    "<a href='/x'>x <a href='/y'>y</a></a>": "line 1, column 16: <a> within <a> is not supported",
    "<form><div><form></form></div></form>": "<form> within <form> is not supported",
    "<b>bold <i>both</b> italic</i>": "line 1, column 16: </b> before the end of <i>",
    "<p>a</p></p>": "line 1, column 9: </p> ends nothing",
    "<table>loose<tr><td>x</td></tr></table>": "text directly within <table> is not supported",
    "<table><tr><p>x</p></tr></table>": "<p> directly within <tr> is not supported",
    "<p style='visibility: hidden'>x</p>": 'style="visibility: hidden" is not supported',
    "<meta http-equiv='refresh' content='0'>": "the attribute http-equiv is not supported",
    "<p contenteditable>x</p>": "the attribute contenteditable is not supported",
    "<div>" * 300: "elements nest more than 200 levels deep",
    "<p>x" * 20_001: "more than 20,000 elements",
    "x" * 2_000_001: "a page of 2,000,001 characters",
}


@pytest.mark.parametrize("html", ODD, ids=range(len(ODD)))
def test_html_that_is_not_understood_is_refused_with_its_place(html: str) -> None:
    with pytest.raises(HtmlError) as refused:
        parse(html)
    assert ODD[html] in str(refused.value)


def site_of(world: Any) -> Browser:
    site = Site("https://s.example")

    @site.page("/")
    def home(_world: Any, said: str = "") -> str:
        return (
            f"<title>Home</title><body><p>{said}</p>"
            "<form action='/say' method='post' onsubmit=\"return confirm('Sure?')\">"
            "<label>Say <input name='said' required></label><label><input type='checkbox' name='loud'> Loud</label>"
            "<label>Key <input type='password' name='key'></label>"
            "<label>Age <input type='number' name='age' min='18' value='18'></label><button>Send</button></form>"
            "<a href='/loop'>Loop</a><a href='/gone'>Gone</a><a href='https://other.example/'>Other</a></body>"
        )

    @site.post("/say")
    def say(world: Any, said: str, loud: str = "") -> str:
        world.heard.append((said, loud))
        raise Redirect(f"/?said={said}")

    @site.page("/loop")
    def loop(_world: Any) -> str:
        raise Redirect("/loop")

    @site.page("/gone")
    def gone(_world: Any) -> str:
        raise NotFound("It is gone.")

    return Browser(new_store(), world, [site])


def act(browser: Browser, named: str, action: str, *arguments: Any, **options: Any) -> None:
    """Act on the element of this role and name, as the snapshot shows it."""
    tab = browser.tab
    line = next(line for line in playwright.snapshot(tab.tree()).splitlines() if line.strip().startswith(f"- {named}"))
    getattr(tab, action)(tab.element(line.partition("[ref=")[2].partition("]")[0]), *arguments, **options)
    tab.save()


def opened() -> tuple[Browser, Any]:
    world = SimpleNamespace(heard=[])
    browser = site_of(world)
    tab = browser.tab
    tab.navigate("https://s.example")
    tab.save()
    return browser, world


def test_a_form_is_sent_once_it_is_valid_and_confirmed() -> None:
    browser, world = opened()
    act(browser, 'button "Send"', "click")
    assert (browser.tab.dialog, world.heard) == (None, []), "a required field is empty"
    act(browser, 'textbox "Say"', "fill", "a b")
    act(browser, 'spinbutton "Age"', "fill", "17")
    act(browser, 'checkbox "Loud"', "click")
    act(browser, 'button "Send"', "click")
    assert (browser.tab.dialog, world.heard) == (None, []), "a number is below its least"
    act(browser, 'spinbutton "Age"', "fill", "18")
    act(browser, 'button "Send"', "click")
    assert (browser.tab.dialog, world.heard) == ("Sure?", [])
    tab = browser.tab
    tab.answer(accept=True)
    tab.save()
    assert world.heard == [("a b", "on")]
    assert browser.tab.url == "https://s.example/?said=a%20b"
    assert browser.tab.text() == "a b Say Loud Key Age Send Loop Gone Other"


def test_back_shows_what_was_entered_but_no_password_and_new_references() -> None:
    browser, _ = opened()
    act(browser, 'textbox "Say"', "fill", "hi")
    act(browser, 'textbox "Key"', "fill", "secret")
    act(browser, 'link "Gone"', "click")
    assert browser.tab.record["status"] == 404
    tab = browser.tab
    tab.go_back()
    text = playwright.snapshot(tab.tree())
    assert 'textbox "Say" [ref=f2e' in text
    assert "]: hi" in text
    assert "secret" not in text
    with pytest.raises(ScreenError, match="Ref e5 not found in the current page snapshot"):
        tab.element("e5")


def test_what_does_not_end_or_exist_is_an_error_and_the_page_stays() -> None:
    browser, _ = opened()
    with pytest.raises(ScreenError, match="net::ERR_TOO_MANY_REDIRECTS"):
        act(browser, 'link "Loop"', "click")
    with pytest.raises(ScreenError, match=r"net::ERR_NAME_NOT_RESOLVED at https://other\.example/"):
        act(browser, 'link "Other"', "click")
    with pytest.raises(ScreenError, match="not an <input>"):
        act(browser, 'link "Other"', "fill", "x")
    assert browser.tab.url == "https://s.example/"


NUMBERS = ("", "²", "٣", "1_0", " +3x", "-1", "9" * 5_000, "1e400", "1e308", "nan", "0.5.5", "\x00", "0x1")
"""Attributes that Python's own functions read in another way than browsers, or not at all."""


@pytest.mark.parametrize("text", NUMBERS, ids=range(len(NUMBERS)))
def test_no_attribute_with_an_odd_number_stops_a_page(text: str) -> None:
    names = ("maxlength", "minlength", "min", "max", "step", "size", "rows", "colspan", "aria-level", "width", "value")
    given = "".join(f' {name}="{text}"' for name in names)
    kinds = ("text", "number", "range", "date")
    html = (
        "".join(f"<input type={kind}{given}>" for kind in kinds)
        + f"<textarea{given}></textarea><select{given}></select>"
    )
    root = parse(f"<body><form>{html}<table><tr><td{given}>x</td></tr></table><img{given}></form></body>")
    form = Form(root, {})
    for element in root.walk():
        if element.tag in ("input", "textarea"):
            form.set(element, "7")
            form.stepped(element, 1)
    form.first_invalid(next(element for element in root.walk() if element.tag == "form"))
    assert Tree(form, None, "", {}, 0).build().children
    assert Layout(form, (0, 0, 1_000, 1_000), Metrics()).height > 0


@pytest.mark.parametrize(("most", "kept"), [(" +3x", "abc"), ("²", "abcde"), ("-1", "abcde"), ("0", "")])
def test_the_length_of_a_text_is_limited_by_what_browsers_read_as_a_number(most: str, kept: str) -> None:
    root = parse(f'<input maxlength="{most}">')
    form, field = Form(root, {}), next(root.elements)
    form.set(field, "abcde")
    assert form.value(field) == kept


@pytest.mark.parametrize(
    ("given", "steps", "value"),
    [
        ("value=5 min=2 step=2", 1, "6"), ("value=5 min=2 step=2", -1, "4"), ("value=1234567", 1, "1234568"),
        ("value=10 max=10 min=2 step=3", 1, "10"), ("value=0.1 step=0.1", -1, "0"), ("value=7 step=5", 1, "12"),
        ("value=1e308 min=0 step=0.01", -1, "1e308"),
        ("value=5 max=1e308 step=0.01", 1, "5"), ("value=1e308 step=1e308", 1, "1e308"),
    ],
)  # fmt: skip
def test_a_number_steps_to_values_that_its_field_takes(given: str, steps: int, value: str) -> None:
    root = parse(f"<input type=number {given}>")
    assert Form(root, {}).stepped(next(root.elements), steps) == value


def test_texts_that_nearly_match_are_read_in_linear_time() -> None:
    start = time.process_time()
    assert not is_well_formed(next(parse("<input type=number>").elements), "1" * 60_000 + "x")
    name = "a" + "\x1c" * 200_000 + "b"
    page = shown_page(f"<body><button>{name}</button><button>Add (2)</button>", "", {"names": {"add": "Put"}})
    assert page.text == f"{name}Put (2)"
    assert time.process_time() - start < 10


def test_a_slider_between_the_greatest_numbers_is_in_their_middle() -> None:
    root = parse("<input type=range min=1e308 max=1.5e308>")
    assert float(str(Form(root, {}).value(next(root.elements)))) == 1.25e308


@pytest.mark.parametrize(
    ("text", "is_number"),
    [
        ("-1", True), ("1.5", True), (".5", True), ("1e3", True), ("-.5E-3", True), ("1.", False), ("+1", False),
        ("1e", False), ("", True),
    ],
)  # fmt: skip
def test_a_number_is_one_of_html(text: str, is_number: bool) -> None:
    field = next(parse("<input type=number>").elements)
    assert is_well_formed(field, text) == is_number


def test_the_legend_of_a_disabled_fieldset_stays_enabled_and_the_options_of_a_disabled_group_do_not() -> None:
    text = shown(
        "<body><fieldset disabled><legend><input aria-label=A></legend><p><input aria-label=B></p></fieldset>"
        "<select aria-label=C><optgroup disabled><option>x</optgroup><option>y</select></body>"
    )
    assert ["[disabled]" in line for line in text.splitlines() if "textbox" in line] == [False, True]
    assert 'option "x" [disabled]' in text
    assert 'option "y" [selected]' in text


def test_a_disabled_option_is_chosen_only_within_a_label_and_none_of_a_disabled_list() -> None:
    site = Site("https://options.example")

    @site.page("/")
    def home(_world: Any) -> str:
        options = "<option>a</option><option disabled>b</option>"
        return (
            f"<select aria-label=A>{options}</select><label>B <select>{options}</select></label>"
            f"<select aria-label=C disabled>{options}</select>"
        )

    browser = Browser(new_store(), None, [site])
    tab = browser.tab
    tab.navigate("https://options.example")
    tab.save()
    with pytest.raises(NotReady, match="option being selected is not enabled"):
        act(browser, 'combobox "A"', "choose", ["b"])
    act(browser, 'combobox "B"', "choose", ["b"])
    with pytest.raises(NotReady, match="element is not enabled"):
        act(browser, 'combobox "C"', "choose", ["a"])


def test_a_cell_is_named_by_the_option_that_its_list_shows() -> None:
    text = shown(
        "<body><table><tr><td>Day</td><td><select aria-label=Day><option>Mon</select></td></tr></table></body>"
    )
    assert 'cell "Mon" [ref=' in text


HOSTILE = (
    '<body><form action="/sent"><label>Count <input type="number" name="n"></label><button>Go</button></form>'
    '<label>Total <output>3</output></label><a href="http://[">Broken</a><a href="/away">Away</a></body>'
)


def test_odd_numbers_addresses_and_labels_are_handled_as_by_a_browser() -> None:
    site = Site("https://odd.example")

    @site.page("/")
    def home(_world: Any) -> str:
        return HOSTILE

    @site.page("/away")
    def away(_world: Any) -> str:
        raise Redirect("//[")

    browser = Browser(new_store(), None, [site])
    for url in ("http://[", "https://odd.example/?q=" + "x" * 9_000):
        with pytest.raises(ScreenError, match="Cannot navigate to invalid URL"):
            browser.tab.navigate(url)
    tab = browser.tab
    tab.navigate("https://odd.example/")
    tab.save()
    for link in ('link "Broken"', 'link "Away"'):
        with pytest.raises(ScreenError, match="Cannot navigate to invalid URL"):
            act(browser, link, "click")
    act(browser, 'spinbutton "Count"', "click")
    tab = browser.tab
    tab.press("a")
    tab.save()
    act(browser, 'button "Go"', "click")
    assert browser.tab.url == "https://odd.example/", "a text that is no number is not sent"
    label = next(element for element in browser.tab.root.walk() if element.tag == "output").parent
    assert label is not None
    browser.tab.click(label)


def test_a_page_that_is_not_understood_is_named_with_its_address_and_place() -> None:
    site = Site("https://svg.example")

    @site.page("/")
    def home(_world: Any) -> str:
        return "<p>a</p>\n<svg></svg>"

    with pytest.raises(HtmlError, match=r"^https://svg\.example/: line 2, column 1: <svg> is not supported"):
        Browser(new_store(), None, [site]).tab.navigate("https://svg.example")


def test_tabs_are_records_of_the_world() -> None:
    browser, _ = opened()
    second = browser.open()
    second.navigate("https://s.example/gone")
    second.save()
    assert [(tab["current"], tab["status"]) for tab in browser.tabs] == [(False, 200), (True, 404)]
    assert browser.select(0).url == "https://s.example/"
    browser.close(1)
    assert len(browser.tabs) == 1
    for _ in range(19):
        browser.open()
    with pytest.raises(ScreenError, match="at most 20 tabs"):
        browser.open()


def test_a_page_of_many_elements_takes_time_in_proportion() -> None:
    rows = "".join(f"<tr><td>{n}</td><td><button>Go</button></td></tr>" for n in range(4_000))
    start = time.process_time()
    assert shown(f"<body><table>{rows}</table></body>").count("button") == 4_000
    assert time.process_time() - start < 30


FIELDS = (
    "<body><a href='#end'>End</a><form action='/echo' method='post'><label>Day <input type='date' name='day'></label>"
    "<label>Short <input name='short' maxlength='3' minlength='2'></label>"
    "<label>Many <select name='many' multiple><option>a</option><option>b</option><option disabled>c</option></select>"
    "</label>"
    "<label>Level <input type='range' name='level' min='0' max='4'></label>"
    "<label>File <input type='file' name='file' multiple></label>"
    "<label><input type='radio' name='size' value='s' checked> Small</label>"
    "<label><input type='radio' name='size' value='l'> Large</label><button>Send</button></form></body>"
)


def fields() -> tuple[Browser, list[Any]]:
    site, heard = Site("https://f.example"), list[Any]()

    @site.page("/")
    def home(_world: Any) -> str:
        return FIELDS

    @site.post("/echo")
    def echo(
        _world: Any, day: str, short: str, level: str, size: str, many: tuple[str, ...] = (), file: tuple[str, ...] = ()
    ) -> str:
        heard.append((day, short, many, level, file, size))
        return f"<body><p>Heard {len(heard)}</p><a href='/'>Again</a></body>"

    browser = Browser(new_store(), None, [site])
    tab = browser.tab
    tab.navigate("https://f.example/")
    tab.save()
    return browser, heard


def test_fields_take_and_send_what_those_of_a_browser_do() -> None:
    browser, heard = fields()
    for text in ("3 May", "2030-02-30"):
        with pytest.raises(ScreenError, match="Malformed value"):
            act(browser, 'textbox "Day"', "fill", text)
    act(browser, 'textbox "Day"', "fill", "2030-05-03")
    act(browser, 'textbox "Short"', "fill", "x")
    act(browser, 'button "Send"', "click")
    assert heard == [], "the text is shorter than minlength"
    act(browser, 'textbox "Short"', "fill", "wxyz")
    with pytest.raises(NotReady, match="did not find some options"):
        act(browser, 'listbox "Many"', "choose", ["b", "z"])
    act(browser, 'listbox "Many"', "choose", ["b", "c"])
    act(browser, 'slider "Level"', "click")
    act(browser, 'radio "Small"', "click")
    tab = browser.tab
    tab.press("ArrowDown")
    tab.save()
    act(browser, 'button "File"', "click")
    tab = browser.tab
    tab.choose_files(["/tmp/a.txt", "/tmp/b.txt"])
    tab.save()
    act(browser, 'button "Send"', "click")
    assert heard == [("2030-05-03", "wxy", ("b",), "2", ("a.txt", "b.txt"), "l")]


FOCUS = """
<title>F</title><body><a href="#main">Skip</a>
<details name=d><summary>One</summary><a href="/in">Inner</a></details>
<details name=d open><summary>Two</summary>text</details>
<main id=main tabindex=-1><p>Words</p><input type=radio name=r aria-label=r1>
<input type=radio name=r aria-label=r2 checked><button type=button>Go</button>
<a href="/" target=_blank>Beside</a></main></body>"""


def test_the_focus_and_tabs_are_where_those_of_a_browser_are() -> None:
    site = Site("https://s.example")

    @site.page("/")
    def only(_world: Any) -> str:
        return FOCUS

    browser = Browser(new_store(), None, [site])
    page = browser.tab
    page.navigate("https://s.example")
    page.save()

    def active() -> str:
        shown = playwright.snapshot(browser.tab.tree())
        return next(line.split("[")[0].strip(" -") for line in shown.splitlines() if "[active]" in line)

    act(browser, 'link "Skip"', "click")
    assert active() == "main"  # the target of a link takes the focus, and Tab goes on from there
    for expected in ('radio "r2"', 'button "Go"', 'link "Beside"'):  # Tab stops at the chosen radio button only
        page = browser.tab
        page.press("Tab")
        page.save()
        assert active() == expected
    act(browser, "paragraph", "click")
    assert active() == "main"
    act(browser, 'link "Skip"', "click")
    page = browser.tab
    for _ in range(2):
        page.press("Shift+Tab")
    page.save()
    assert active() == 'generic "One"'  # the link in closed details is no stop
    act(browser, 'generic "One"', "click")
    assert "Inner" in playwright.snapshot(browser.tab.tree())
    assert [element.text for element in browser.tab.root.walk() if browser.tab.form.values.get(str(element.place))] == [
        "OneInner"
    ]  # details of one name are open one at a time
    act(browser, 'link "Beside"', "click")
    assert [(record["current"], record["url"]) for record in browser.tabs] == [
        (True, "https://s.example/#main"),
        (False, "https://s.example/"),
    ]


def after_tabs(html: str, clicked: str, count: int, *, without: str = "") -> list[str]:
    """Return the labels of the elements with the focus after a click and each of some Tabs; '' for no element."""
    site = Site("https://s.example")

    @site.page("/")
    def only(_world: Any) -> str:
        return html

    tab = Browser(new_store(), None, [site]).tab
    tab.navigate("https://s.example")
    tab.record.pop(without, None)
    target = tab.root.first(clicked)
    if target is not None:
        tab.click(target)
    labels = list[str]()
    for _ in range(count):
        tab.press("Tab")
        labels.append("" if tab.focused is None else tab.focused.get("aria-label"))
    return labels


def test_tab_goes_on_from_a_click_once_and_then_from_the_top() -> None:
    html = "<body><a href=/1 aria-label=A>A</a><p>text</p><a href=/2 aria-label=B>B</a></body>"
    assert after_tabs(html, "p", 5) == ["B", "", "A", "B", ""]
    assert after_tabs(html, "", 2, without="start") == ["A", "B"], "a tab that an earlier version stored"


def test_tab_stops_at_the_first_radio_button_that_is_shown() -> None:
    html = "<body><input type=radio name=a hidden><input type=radio name=a aria-label=R><input aria-label=T></body>"
    assert after_tabs(html, "", 3) == ["R", "T", ""]


@pytest.mark.parametrize(
    ("size", "role"),
    [
        ("abc", "combobox"),
        ("", "combobox"),
        ("1", "combobox"),
        ("-3", "combobox"),
        ("02", "listbox"),
        (" +12px", "listbox"),
    ],
)
def test_lists_without_a_valid_size_show_one_option(size: str, role: str) -> None:
    assert f'- {role} "G"' in shown(f'<body><select aria-label=G size="{size}"><option>a</select></body>')


def test_the_only_cell_of_a_row_is_a_header_in_a_table_of_several_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "columnheader" not in shown("<body><table><tr><th>1</table></body>")
    visited = list[str]()

    def walk(element: Element) -> Iterator[Element]:
        for inner in walk_all(element):
            visited.append(inner.tag)
            yield inner

    walk_all = Element.walk
    monkeypatch.setattr(Element, "walk", walk)
    snapshot = shown(f"<body><table>{'<tr><th>1' * 300}</table></body>")
    assert snapshot.count("columnheader") == 300
    assert visited.count("tr") < 10 * 300, "the rows are not counted for each header"


def test_answers_to_a_post_and_places_on_a_page_are_steps_of_the_history() -> None:
    browser, _ = fields()
    act(browser, 'textbox "Short"', "fill", "wx")
    act(browser, 'link "End"', "click")
    assert browser.tab.url == "https://f.example/#end"
    for text in ("Heard 1", "Heard 2"):
        act(browser, 'button "Send"', "click")
        assert browser.tab.text().startswith(text)
        act(browser, 'link "Again"', "click")
    shown = list[tuple[str, str]]()
    for _ in range(4):
        tab = browser.tab
        tab.go_back()
        tab.save()
        shown.append((tab.url, tab.text()[:7]))
    echo = "https://f.example/echo"
    assert shown == [
        (echo, "Heard 2"),
        ("https://f.example/", "End Day"),
        (echo, "Heard 1"),
        ("https://f.example/#end", "End Day"),
    ]
