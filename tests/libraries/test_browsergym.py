"""The lines that BrowserGym prints of a page, and its numbers of elements."""

from __future__ import annotations

import pytest

from mcp_sim.libraries.screens import ScreenError, browsergym, parse
from mcp_sim.libraries.screens.forms import Form

PAGE = (
    "<title>T</title><body><h1>News <small>now</small></h1><ul><li>One</li></ul><ol><li value=7>x</li></ol><form>"
    "<label>Name <input name=n required value=Ida></label> <label>Day "
    "<input type=date min=2029-03-01 max=2029-10-31 value=2029-04-30></label><select aria-label=C><option>a"
    "</option><option selected>b</option></select><button>Go</button></form><table><tr><td>k</td><td><form>"
    "<button>Del</button></form></td></tr></table><p aria-hidden=true>q</p><details><summary>More</summary>in"
    "</details><dl><dt>D</dt><dd>v <s>w</s></dd></dl></body>"
)
CHROMIUM = """\
RootWebArea 'T', focused, url='https://s.example/'
    [4] heading 'News now'
        StaticText 'now'
    [6] list ''
        [7] listitem ''
            ListMarker '•'
            StaticText 'One'
    [8] list ''
        [9] listitem ''
            ListMarker '7.'
            StaticText 'x'
    [10] form ''
        [11] LabelText '', clickable
            StaticText 'Name'
            [12] textbox 'Name' value='Ida', clickable, required
                StaticText 'Ida'
        [13] LabelText '', clickable
            StaticText 'Day'
            [14] Date 'Day' value='2029-04-30', clickable
                [14] spinbutton 'Month Month' value=4, clickable, valuemin=3, valuemax=10, valuetext='04'
                    StaticText '04'
                StaticText '/'
                [14] spinbutton 'Day Day' value=30, clickable, valuemin=1, valuemax=31, valuetext='30'
                    StaticText '30'
                StaticText '/'
                [14] spinbutton 'Year Year' value=2029, clickable, valuemin=2029, valuemax=2029, valuetext='2029'
                    StaticText '2029'
                button 'Show date picker', hasPopup='menu'
        [15] combobox 'C' value='b', hasPopup='menu', expanded=False
            MenuListPopup ''
                [16] option 'a', selected=False
                [17] option 'b', selected=True
        [18] button 'Go', clickable
    [19] LayoutTable ''
        [21] LayoutTableRow ''
            [22] LayoutTableCell 'k'
            [23] LayoutTableCell ''
                [24] form ''
                    [25] button 'Del', clickable
    [27] group ''
        [28] DisclosureTriangle 'More', clickable, expanded=False
    [29] DescriptionList ''
        [30] term 'D'
        [31] definition ''
            StaticText 'v'
            [32] deletion ''
                StaticText 'w'"""
"""What BrowserGym 0.14.3 prints of the page in Chromium, with what reacts to a click."""


def test_a_page_has_the_lines_that_browsergym_prints_of_chromium() -> None:
    lines = browsergym.flattened(Form(parse(PAGE), {}), "T", "https://s.example/", with_clickable=True)
    assert lines == CHROMIUM.replace("    ", "\t")


def test_a_bid_means_its_element_whether_or_not_the_page_writes_html_head_and_body() -> None:
    inner, head = "<h1>A</h1><p>B</p>", "<title>T</title><meta charset=utf-8>"
    for html in (f"{head}{inner}", f"<html><head>{head}</head><body>{inner}</body></html>", f"{head}<body>{inner}"):
        root = parse(html)
        assert [browsergym.element(root, bid).tag for bid in ("2", "3", "5", "6")] == ["title", "meta", "h1", "p"]
        with pytest.raises(ScreenError, match='Could not find element with bid "7"'):
            browsergym.element(root, "7")


def test_the_focus_and_what_was_entered_are_shown() -> None:
    root = parse("<input aria-label=A type=password><input aria-label=B type=time><textarea aria-label=C></textarea>")
    fields = [*root.elements]
    values = {fields[0].place: "abc", fields[1].place: "14:05", fields[2].place: "x\ny"}
    form = Form(root, {str(place): value for place, value in values.items()})
    lines = browsergym.flattened(form, "", "https://s.example/", fields[2].place).split("\n")
    shown = [line.strip() for line in lines if "textbox" in line or "Hours" in line]
    assert shown == [
        "[3] textbox 'A' value='•••'",
        "[4] spinbutton 'Hours Hours' value=2, valuemin=1, valuemax=12, valuetext='02'",
        "[5] textbox 'C' value='x\\ny', focused",
    ]
