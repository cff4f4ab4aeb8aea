"""A browser with a shop, in the tools of Playwright's MCP server."""

import json

from shop import fill, site

from mcp_sim.libraries.patterns import PatternError, search_test
from mcp_sim.libraries.screens import ScreenError, playwright
from mcp_sim.programs import Refused, initial, tool

tables = {
    "part": {"key": "id", "natural": True, "fields": {"id": "", "name": "", "price": 1.0, "stock": 0, "text": ""}},
    "cart": {"key": "part", "natural": True, "links": {"part": "part"}, "fields": {"part": "", "quantity": 1}},
    "order": {
        "ids": "1001",
        "fields": {
            "email": "", "name": "", "street": "", "country": "", "speed": "", "note": "", "items": [], "total": 0.0,
        },
    },
    "account": {"key": "email", "natural": True, "fields": {"email": "", "password": "", "name": ""}},
    "session": {"singleton": True, "fields": {"email": ""}},
}  # fmt: skip


class Session:
    """The browser during one call, and the parts of its answer."""

    def __init__(self, world):
        self.browser = world.screens.browser(world, site)
        self.tab, self.now, self.code = self.browser.tab, world.now, []

    def locator(self, element):
        role, name = self.tab.role_and_name(element)
        quoted = json.dumps(name, ensure_ascii=False)[1:-1].replace("'", "\\'")
        return f"page.getByRole('{role}', {{ name: '{quoted}' }})" if name else f"page.getByRole('{role}')"

    def done(self, result="", shows_page=True, tabs=False):
        """Save the tab, and return the answer: result, code, page and where its snapshot would be."""
        self.tab.save()
        lines = ["### Result", result] if result else []
        if self.code:
            lines += ["### Ran Playwright code", "```js", *self.code, "```"]
        if tabs:
            lines += ["### Open tabs", listed(self.browser)]
        if shows_page:
            lines += [*self.page(), "### Snapshot", f"- [Snapshot](.playwright-mcp/page-{self.stamp()}.yml)"]
        return "\n".join(lines)

    def page(self):
        yield "### Page"
        yield f"- Page URL: {self.tab.url}"
        if self.tab.dialog is not None:
            yield from self.modal()
        elif self.tab.title:
            yield f"- Page Title: {self.tab.title}"
        if self.tab.record["status"] != 200:
            yield f"- HTTP status: {self.tab.record['status']} Not Found"

    def modal(self):
        yield "### Modal state"
        message = f'["confirm" dialog with message "{self.tab.dialog}"]'
        yield f"- {message}: can be handled by browser_handle_dialog"

    def stamp(self):
        return self.now.strftime("%Y-%m-%dT%H-%M-%S-") + f"{self.now.microsecond // 1000:03d}Z"


def opened(world, name, handles_dialog=False):
    """Return the session of a call, unless a dialog is open that this tool does not handle."""
    session = Session(world)
    if session.tab.dialog is not None and not handles_dialog:
        modal = "\n".join(session.modal())
        raise Refused(f'### Error\nError: Tool "{name}" does not handle the modal state.\n{modal}')
    return session


def act(do, *arguments, **options):
    """Run an action of the tab. What the page does not allow is refused in the words of the server."""
    try:
        return do(*arguments, **options)
    except ScreenError as error:
        text = str(error)
        where = "" if text.startswith("Ref ") else "browserBackend.callTool: Error: "
        raise Refused(f"### Error\nError: {where}{text}") from None


def listed(browser):
    lines = (
        f"- {at}:{' (current)' if tab['current'] else ''} [{tab['title']}]({tab['url']})"
        for at, tab in enumerate(browser.tabs)
    )
    return "\n".join(lines) or "No open tabs. Navigate to a URL to create one."


@tool(verb="update", entity="tab")
def browser_navigate(world, url):
    session = opened(world, "browser_navigate")
    act(session.tab.navigate, url)
    session.code = [f"await page.goto('{session.tab.url}');"]
    return session.done()


@tool(verb="update", entity="tab")
def browser_navigate_back(world):
    session = opened(world, "browser_navigate_back")
    act(session.tab.go_back)
    session.code = ["await page.goBack();"]
    return session.done()


@tool(verb="get", entity="tab")
def browser_snapshot(world, target=""):
    session = opened(world, "browser_snapshot")
    tree = session.tab.tree()
    if target:
        act(session.tab.element, target)
    shown = playwright.snapshot(tree, target)
    session.tab.save()
    return "\n".join([*session.page(), "### Snapshot", "```yaml", shown, "```"])


@tool(verb="search", entity="tab")
def browser_find(world, text="", regex=""):
    session = opened(world, "browser_find")
    if bool(text) is bool(regex):
        raise Refused("### Error\nError: Either text or regex must be provided")
    try:
        matches = search_test(regex) if regex else lambda line: text.casefold() in line.casefold()
    except PatternError as error:
        raise Refused(f"### Error\nError: {error}") from None
    lines = playwright.snapshot(session.tab.tree()).split("\n")
    session.tab.save()
    hits = [at for at, line in enumerate(lines) if matches(line)]
    wanted = regex or f'"{text}"'
    if not hits:
        return f"### Result\nNo matches found for {wanted}."
    plural = "match" if len(hits) == 1 else "matches"
    return f"### Result\nFound {len(hits)} {plural} for {wanted}:\n\n" + "\n".join(around(lines, hits))


def around(lines, hits):
    """Yield the lines that match, with those above and within them."""
    indents = [len(line) - len(line.lstrip()) for line in lines]
    shown = set()
    for hit in hits:
        shown.add(hit)
        level = indents[hit]
        for at in range(hit - 1, -1, -1):
            if indents[at] < level:
                shown.add(at)
                level = indents[at]
        for at in range(hit + 1, len(lines)):
            if indents[at] <= indents[hit]:
                break
            shown.add(at)
    return (lines[at] for at in sorted(shown))


@tool(verb="update", entity="tab")
def browser_click(world, target, doubleClick=False):
    session = opened(world, "browser_click")
    element = act(session.tab.element, target)
    session.code = [f"await {session.locator(element)}.{'dblclick' if doubleClick else 'click'}();"]
    act(session.tab.click, element)
    return session.done()


@tool(verb="get", entity="tab")
def browser_hover(world, target):
    session = opened(world, "browser_hover")
    element = act(session.tab.element, target)
    session.code = [f"await {session.locator(element)}.hover();"]
    return session.done()


@tool(verb="update", entity="tab")
def browser_type(world, target, text, submit=False, slowly=False):
    session = opened(world, "browser_type")
    element = act(session.tab.element, target)
    locator = session.locator(element)
    act(session.tab.fill, element, text)
    quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    session.code = [f"await {locator}.{'pressSequentially' if slowly else 'fill'}('{quoted}');"]
    if submit:
        session.code.append(f"await {locator}.press('Enter');")
        act(session.tab.press, "Enter")
    return session.done(shows_page=submit)


@tool(verb="update", entity="tab")
def browser_fill_form(world, fields):
    session = opened(world, "browser_fill_form")
    for field in fields:
        element = act(session.tab.element, field["target"])
        locator, value = session.locator(element), field["value"]
        if field["type"] in ("checkbox", "radio"):
            on = value == "true"
            session.code.append(f"await {locator}.{'check' if on else 'uncheck'}();")
            act(session.tab.check, element, on=on)
        elif field["type"] == "combobox":
            session.code.append(f"await {locator}.selectOption('{value}');")
            act(session.tab.choose, element, [value])
        else:
            session.code.append(f"await {locator}.fill('{value}');")
            act(session.tab.fill, element, value)
    return session.done(shows_page=False)


@tool(verb="update", entity="tab")
def browser_select_option(world, target, values):
    session = opened(world, "browser_select_option")
    element = act(session.tab.element, target)
    session.code = [f"await {session.locator(element)}.selectOption('{values[0] if values else ''}');"]
    act(session.tab.choose, element, values)
    return session.done()


@tool(verb="update", entity="tab")
def browser_press_key(world, key):
    session = opened(world, "browser_press_key")
    session.code = [f"// Press {key}", f"await page.keyboard.press('{key}');"]
    before = session.tab.record["loads"]
    act(session.tab.press, key)
    return session.done(shows_page=key == "Enter" or session.tab.record["loads"] != before)


@tool(verb="update", entity="tab")
def browser_handle_dialog(world, accept):
    session = opened(world, "browser_handle_dialog", handles_dialog=True)
    if session.tab.dialog is None:
        raise Refused(
            '### Error\nError: The tool "browser_handle_dialog" can only be used when there is related modal state '
            "present."
        )
    act(session.tab.answer, accept=accept)
    session.tab.save()
    return "\n".join(session.page())


@tool(verb="update", entity="tab")
def browser_tabs(world, action, index=None, url=""):
    session = opened(world, "browser_tabs", handles_dialog=True)
    if action == "new":
        session.tab.save()
        session.tab = session.browser.open()
        if url:
            act(session.tab.navigate, url)
            session.code = [f"await page.goto('{session.tab.url}');"]
            session.tab.save()
            return session.done(listed(session.browser), tabs=True)
    elif action == "select":
        session.tab = act(session.browser.select, int(index or 0))
    elif action == "close":
        act(session.browser.close, None if index is None else int(index))
    return f"### Result\n{listed(session.browser)}"


@tool(verb="get", entity="tab")
def browser_wait_for(world, time=0, text="", textGone=""):
    session = opened(world, "browser_wait_for", handles_dialog=True)
    wanted, is_wanted = (text, True) if text else (textGone, False)
    if wanted and (wanted.casefold() in session.tab.text().casefold()) is not is_wanted:
        state = "visible" if is_wanted else "hidden"
        raise Refused(
            "### Error\nTimeoutError: Timeout 5000ms exceeded.\nCall log:\n"
            f"  - waiting for getByText('{wanted}').first() to be {state}\n"
        )
    if wanted:
        state = "visible" if is_wanted else "hidden"
        session.code = [f"await page.getByText(\"{wanted}\").first().waitFor({{ state: '{state}' }});"]
    else:
        session.code = [f"await new Promise(f => setTimeout(f, {time} * 1000));"]
    return session.done(f"Waited for {wanted or f'{time} seconds'}")


@tool(verb="delete", entity="tab")
def browser_close(world):
    browser = world.screens.browser(world, site)
    browser.close()
    return f"### Result\n{listed(browser)}\n### Ran Playwright code\n```js\nawait page.close()\n```"


@tool(reads=True)
def browser_evaluate(_world, **_arguments):
    raise Refused("### Error\nError: browser_evaluate is not available: the pages of this browser run no scripts.")


@initial
def begin(given, world):
    """Fill the shop with the `parts`, `accounts` and `orders` of `world.state`; with seven parts if there is none."""
    fill(world, given)
