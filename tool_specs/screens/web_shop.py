"""A browser with a shop, in the tools of Playwright's MCP server."""

import json

import shop

from mcp_sim.libraries.patterns import PatternError, search_test
from mcp_sim.libraries.screens import NotReady, ScreenError, playwright, reason
from mcp_sim.programs import Refused, fail, initial, tool

tables = {**shop.tables}

other_versions = {
    "arguments": {"ref": "target", "startRef": "startTarget", "endRef": "endTarget"},
    "tools": {
        "browser_tab_list": {"as": "browser_tabs", "with": {"action": "list"}, "verb": "list"},
        "browser_tab_new": {"as": "browser_tabs", "with": {"action": "new"}, "verb": "create"},
        "browser_tab_select": {"as": "browser_tabs", "with": {"action": "select"}, "verb": "update"},
        "browser_tab_close": {"as": "browser_tabs", "with": {"action": "close"}, "verb": "delete"},
        "browser_wait": {"as": "browser_wait_for", "verb": "get"},
    },
}


class Session:
    """The browser during one call, and the parts of its answer."""

    def __init__(self, world):
        self.browser = world.screens.browser(world, shop.site)
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

    def failures(self):
        """The requests of the page that failed: what the console shows of a page without scripts."""
        return [request for request in self.tab.record["requests"][-1:] if request[2] >= 400]

    def page(self):
        yield "### Page"
        yield f"- Page URL: {self.tab.url}"
        if not self.is_blocked and self.tab.title:
            yield f"- Page Title: {self.tab.title}"
        if self.tab.record["status"] != 200:
            yield f"- HTTP status: {self.tab.record['status']} Not Found"
        if self.failures():
            yield f"- Console: {len(self.failures())} errors, 0 warnings"
        if self.is_blocked:
            yield from self.modal()

    @property
    def is_blocked(self):
        """Whether a dialog or a file chooser waits for an answer."""
        return self.tab.dialog is not None or self.tab.chooser is not None

    def modal(self):
        yield "### Modal state"
        if self.tab.chooser is not None:
            yield "- [File chooser]: can be handled by browser_file_upload"
        else:
            message = f'["confirm" dialog with message "{self.tab.dialog}"]'
            yield f"- {message}: can be handled by browser_handle_dialog"

    def stamp(self):
        return self.now.strftime("%Y-%m-%dT%H-%M-%S-") + f"{self.now.microsecond // 1000:03d}Z"


def opened(world, name, handles_dialog=False):
    """Return the session of a call, unless a dialog is open that this tool does not handle."""
    session = Session(world)
    if session.is_blocked and not handles_dialog:
        modal = "\n".join(session.modal())
        raise Refused(f'### Error\nError: Tool "{name}" does not handle the modal state.\n{modal}')
    return session


def act(do, *arguments, **options):
    """Run an action of the tab. What the page does not allow is refused in the words of the server."""
    try:
        return do(*arguments, **options)
    except NotReady as error:
        timeout = "TimeoutError: browserBackend.callTool: Timeout 5000ms exceeded.\nCall log:"
        raise Refused(f"### Error\n{timeout}\n  - {error}\n") from None
    except ScreenError as error:
        text = str(error)
        where = "" if text.startswith(("Ref ", "Tab ", '"')) else "browserBackend.callTool: "
        raise Refused(f"### Error\nError: {where}{text}") from None


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


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
def browser_snapshot(world, target="", filename="", depth=0, boxes=False):
    session = opened(world, "browser_snapshot")
    if boxes:
        raise Refused("### Error\nError: boxes are not available: the pages of this browser have no layout.")
    tree = session.tab.tree()
    if target:
        act(session.tab.element, target)
    shown = playwright.snapshot(tree, target, int(depth))
    session.tab.save()
    if filename:
        return "\n".join([*session.page(), "### Snapshot", f"- [Snapshot](./{filename})"])
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


@tool(verb="update", entity="tab", gesture="click")
def browser_click(world, target, doubleClick=False, button="left", modifiers=(), **_element):
    session = opened(world, "browser_click")
    element = act(session.tab.element, target)
    chosen = {"button": quoted(button)} if button != "left" else {}
    if modifiers:
        chosen["modifiers"] = f"[{', '.join(map(quoted, modifiers))}]"
    options = "{\n" + ",\n".join(f"  {name}: {value}" for name, value in chosen.items()) + "\n}" if chosen else ""
    session.code = [f"await {session.locator(element)}.{'dblclick' if doubleClick else 'click'}({options});"]
    if button == "left":
        act(session.tab.click, element)
    return session.done()


@tool(verb="get", entity="tab")
def browser_hover(world, target, **_element):
    session = opened(world, "browser_hover")
    element = act(session.tab.element, target)
    session.code = [f"await {session.locator(element)}.hover();"]
    return session.done()


@tool(verb="get", entity="tab")
def browser_drag(world, startTarget, endTarget, **_element):
    session = opened(world, "browser_drag")
    start, end = (session.locator(act(session.tab.element, target)) for target in (startTarget, endTarget))
    session.code = [f"await {start}.dragTo({end});"]
    return session.done()


@tool(verb="get", entity="tab")
def browser_drop(world, target, paths=(), data=None, **_element):
    session = opened(world, "browser_drop")
    if not paths and not data:
        raise Refused('### Error\nError: At least one of "paths" or "data" must be provided.')
    act(session.tab.element, target)
    raise Refused(
        "### Error\nError: browserBackend.callTool: Drop target did not accept the drop — its dragover handler did not "
        "call preventDefault()"
    )


@tool(verb="update", entity="tab")
def browser_file_upload(world, paths=None):
    session = opened(world, "browser_file_upload", handles_dialog=True)
    if session.tab.chooser is None:
        raise Refused(unrelated("browser_file_upload"))
    session.code = [f"await fileChooser.setFiles({'undefined' if paths is None else json.dumps(paths)})"]
    try:
        session.tab.choose_files(paths or ())
    except ScreenError as error:
        code = "\n".join(session.code)
        raise Refused(
            f"### Error\nfileChooser.setFiles: Error: {error}\n### Ran Playwright code\n```js\n{code}\n```\n"
            + "\n".join(session.page())
        ) from None
    return session.done()


def unrelated(name):
    return f'### Error\nError: The tool "{name}" can only be used when there is related modal state present.'


@tool(verb="get", entity="tab")
def browser_resize(world, width, height):
    session = opened(world, "browser_resize")
    if not (0 < width <= 10**7 and 0 < height <= 10**7):
        raise Refused(
            "### Error\nError: browserBackend.callTool: Protocol error (Emulation.setDeviceMetricsOverride): Screen "
            "width and height values must be positive, not greater than 10000000"
        )
    session.code = [f"await page.setViewportSize({{ width: {width}, height: {height} }});"]
    return session.done(shows_page=False)


@tool(verb="get", entity="tab")
def browser_emulate_media(world, colorScheme=None, reducedMotion=None, forcedColors=None, contrast=None, media=None):
    session = opened(world, "browser_emulate_media")
    given = {
        "colorScheme": colorScheme, "reducedMotion": reducedMotion, "forcedColors": forcedColors,
        "contrast": contrast, "media": media,
    }  # fmt: skip
    named = ", ".join(f"{name}: {quoted(value)}" for name, value in given.items() if value is not None)
    if not named:
        raise Refused("### Error\nError: Specify at least one media feature to emulate.")
    session.code = [f"await page.emulateMedia({{ {named} }});"]
    return session.done(shows_page=False)


@tool(verb="get", entity="tab")
def browser_console_messages(world, all=False, **_level):
    session = opened(world, "browser_console_messages", handles_dialog=True)
    requests = session.tab.record["requests"] if all else session.failures()
    failed = [(url, status) for _, url, status in requests if status >= 400]
    lines = [
        f"[ERROR] Failed to load resource: the server responded with a status of {status} ({reason(status)}) @ {url}:0"
        for url, status in failed
    ]
    return "\n".join(["### Result", f"Total messages: {len(failed)} (Errors: {len(failed)}, Warnings: 0)", "", *lines])


@tool(verb="list", entity="tab")
def browser_network_requests(world, static=False, filter=""):
    session = opened(world, "browser_network_requests", handles_dialog=True)
    try:
        matches = search_test(filter) if filter else lambda _url: True
    except PatternError as error:
        raise Refused(f"### Error\nError: {error}") from None
    requests = [row for row in enumerate(session.tab.record["requests"], 1) if matches(row[1][1])]
    shown = [row for row in requests if static or row[1][2] >= 400]
    lines = [f"{at}. [{method}] {url} => [{status}] {reason(status)}" for at, (method, url, status) in shown]
    hidden = len(requests) - len(shown)
    if hidden:
        few, them = ("request", "it") if hidden == 1 else ("requests", "them")
        lines += ["", f'Note: {hidden} static {few} not shown, run with "static" option to see {them}.']
    return "\n".join(["### Result", *(lines or [""])])


@tool(verb="get", entity="tab")
def browser_network_request(world, index, part=""):
    session = opened(world, "browser_network_request", handles_dialog=True)
    requests = session.tab.record["requests"]
    if index > len(requests):
        raise Refused(f"### Error\nRequest #{index} not found. Use browser_network_requests to see available indexes.")
    method, url, status = requests[index - 1]
    if part:
        raise Refused(f"### Error\nError: {part} is not available: this browser keeps no headers and bodies.")
    return "\n".join(
        [
            "### Result", f"#{index} [{method}] {url}", "", "  General", f"    status:    [{status}] {reason(status)}",
            "    type:      document", "    mimeType:  text/html",
        ]
    )  # fmt: skip


@tool(verb="update", entity="tab", gesture="fill")
def browser_type(world, target, text, submit=False, slowly=False, **_element):
    session = opened(world, "browser_type")
    element = act(session.tab.element, target)
    locator = session.locator(element)
    try:
        act(session.tab.fill, element, text)
    except Refused as refused:
        session.tab.save()
        return fail(refused.value)
    session.code = [f"await {locator}.{'pressSequentially' if slowly else 'fill'}({quoted(text)});"]
    if submit:
        session.code.append(f"await {locator}.press('Enter');")
        act(session.tab.press, "Enter")
    return session.done(shows_page=submit)


@tool(verb="update", entity="tab")
def browser_fill_form(world, fields):
    session = opened(world, "browser_fill_form")
    for field in fields:
        try:
            fill_field(session, field)
        except Refused as refused:
            session.tab.save()  # the fields before stay filled
            return fail(refused.value)
    return session.done(shows_page=False)


def fill_field(session, field):
    element = act(session.tab.element, field["target"] if "target" in field else field["ref"])
    locator, value = session.locator(element), field["value"]
    if field["type"] in ("checkbox", "radio"):
        on = value == "true"
        session.code.append(f"await {locator}.{'check' if on else 'uncheck'}();")
        act(session.tab.check, element, on=on)
    elif field["type"] == "combobox":
        session.code.append(f"await {locator}.selectOption({quoted(value)});")
        act(session.tab.choose, element, [value])
    else:
        session.code.append(f"await {locator}.fill({quoted(value)});")
        act(session.tab.fill, element, value)


@tool(verb="update", entity="tab", gesture="choose")
def browser_select_option(world, target, values, **_element):
    session = opened(world, "browser_select_option")
    element = act(session.tab.element, target)
    named = [*map(quoted, values)]
    chosen = named[0] if len(named) == 1 else f"[{', '.join(named)}]"
    session.code = [f"await {session.locator(element)}.selectOption({chosen});"]
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
        raise Refused(unrelated("browser_handle_dialog"))
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
    browser = world.screens.browser(world, shop.site)
    browser.close()
    return f"### Result\n{listed(browser)}\n### Ran Playwright code\n```js\nawait page.close()\n```"


def unavailable(name, why):
    return Refused(f"### Error\nError: {name} is not available: {why}.")


@tool(reads=True)
def browser_evaluate(_world, **_arguments):
    raise unavailable("browser_evaluate", "the pages of this browser run no scripts")


@tool(reads=True)
def browser_run_code_unsafe(_world, **_arguments):
    raise unavailable("browser_run_code_unsafe", "this browser runs no scripts")


@tool(reads=True)
def browser_take_screenshot(_world, **_arguments):
    raise unavailable("browser_take_screenshot", "this browser draws no pictures; browser_snapshot has the page")


@initial
def begin(given, world):
    """Fill the shop with the `parts`, `accounts` and `orders` of `world.state`; with seven parts if there is none."""
    shop.fill(world, given)
