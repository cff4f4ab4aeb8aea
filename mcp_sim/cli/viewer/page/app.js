// The page: which world, step and view are shown, and what keys and controls do.

const TABS = [
  ["runs", "Runs"],
  ["steps", "Steps"],
  ["step", "Step"],
  ["state", "State"],
  ["faults", "Faults"],
  ["verdicts", "Verdicts"],
  ["worlds", "Worlds"],
];

const VIEWS = { runs: runsView, step: stepView, state: stateView, faults: faultsView, verdicts: verdictsView, worlds: worldsView };

const KEYS = [
  ["j k ↓ ↑", "next, previous step in the list"],
  ["PageDown PageUp", "ten steps"],
  ["Home End", "first, last step"],
  ["n p", "next, previous step with a fault"],
  ["1 2 3 4 5", "Step, State, Faults, Verdicts, Worlds"],
  ["0", "all runs, where there are several"],
  ["[ ]", "previous, next world"],
  ["/", "filter; Escape clears it"],
  ["t", "light or dark"],
  ["?", "this help"],
];

class App {
  constructor(viewer) {
    this.viewer = viewer;
    viewer.app = this;
    this.tabs = TABS.filter(([name]) => name !== "runs" || hasOverview(viewer));
    this.query = "";
    this.stateOptions = { find: "", onlyWritten: true, record: null };
    this.list = new StepList((at) => this.choose(at, isNarrow() ? "step" : undefined));
    this._controls();
    this.listWorlds();
    const wanted = new URLSearchParams(location.hash.slice(1));
    const index = Number(wanted.get("world"));
    const start = hasOverview(viewer) && !wanted.has("world") ? "runs" : "step";
    this.tab = this.tabs.some(([name]) => name === wanted.get("tab")) ? wanted.get("tab") : start;
    this.open(viewer.worlds[index] ? index : 0, Number(wanted.get("step")) || undefined);
  }

  // Show a run, from the list of all.
  openRun(index) {
    this.tab = "step";
    this.open(index);
  }

  // Show a world, at the step with a number, at the one that decided a failure, or at the first fault.
  open(index, n) {
    this.world = this.viewer.world(index);
    const world = this.world;
    const applied = world.facts.findIndex((facts) => facts.flags.has("fault"));
    this.at = world.places.get(n) ?? world.decisive ?? Math.max(applied, Math.min(1, world.entries.length - 1), 0);
    byId("world").value = String(index);
    document.title = `${world.name} · ${world.scenario.name} · mcp-sim`;
    this._outcome();
    byId("slider").max = String(Math.max(world.entries.length - 1, 0));
    this._quick();
    this.filter(this.query);
    this.choose(this.at);
    this.viewer.live?.follow(world);
  }

  // Show what the followed world has new: the newest step, if that was chosen.
  grown() {
    const wasLast = this.at >= this.world.entries.length - 1;
    this.world.refresh();
    const last = Math.max(this.world.entries.length - 1, 0);
    this._outcome();
    byId("slider").max = String(last);
    this._quick();
    this.filter(this.query);
    const at = wasLast ? last : Math.min(this.at, last);
    if (this.tab === "steer" || !wasLast) this.place(at);
    else this.choose(at);
    if (this.tab === "steer") this.viewer.live.form.refresh();
  }

  _outcome() {
    const world = this.world;
    const outcome = byId("outcome");
    outcome.textContent = world.outcome || "not judged";
    outcome.className = `pill ${OUTCOME_KINDS[world.outcome] ?? "plain"}`;
    outcome.title = world.grade?.because ?? "";
    outcome.setAttribute("aria-label", `Outcome: ${outcome.textContent}`);
  }

  filter(query) {
    this.query = query;
    if (byId("filter").value !== query) byId("filter").value = query;
    const places = filtered(this.world, query);
    this.list.show(this.world, places);
    for (const control of byId("quick").children) control.setAttribute("aria-pressed", String(control.dataset.flag === query.trim()));
    if (query.trim()) announce(`${plural(places.length, "step")} found`);
    drawMarks(this.world, new Set(places), this.at);
  }

  choose(at, tab) {
    if (at === undefined) return;
    if (tab) this.tab = tab;
    this.place(at);
    this.render();
  }

  // Mark an entry in the list and on the slider.
  place(at) {
    this.at = at;
    this.list.choose(at);
    byId("slider").value = String(at);
    const entry = this.world.entries[at];
    byId("slider").setAttribute("aria-valuetext", entry ? `step ${entry.step?.n ?? "crash"} ${this.world.facts[at].tool}` : "no step");
    byId("position").textContent = `${(at + 1).toLocaleString("en")} / ${this.world.entries.length.toLocaleString("en")}`;
  }

  // Show a view, with a record or a fault of it.
  show(tab, { record, fault } = {}) {
    this.tab = tab;
    if (record) Object.assign(this.stateOptions, { record, find: "", onlyWritten: true });
    this.fault = fault ?? null;
    this.render();
    const chosen = byId("panel").querySelector(".chosen, [aria-expanded=true]");
    if (chosen) chosen.scrollIntoView({ block: "nearest" });
    else byId("panel").scrollTop = 0;
  }

  render() {
    document.body.dataset.tab = this.tab;
    for (const tab of byId("tabs").children) {
      const isChosen = tab.dataset.tab === this.tab || (tab.dataset.tab === "step" && this.tab === "steps" && !isNarrow());
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    const view = VIEWS[this.tab] ?? VIEWS.step;
    byId("panel").setAttribute("aria-labelledby", `tab-${this.tab}`);
    byId("panel").replaceChildren(view(this.world, this.at, this));
    byId("previous").disabled = this.at <= 0;
    byId("next").disabled = this.at >= this.world.entries.length - 1;
    this._remember();
  }

  _remember() {
    const place = new URLSearchParams({ world: this.world.index, step: this.world.entries[this.at]?.step?.n ?? "", tab: this.tab });
    try {
      history.replaceState(null, "", `#${place}`);
    } catch {
      // A page without an address, as in a frame, remembers nothing.
    }
  }

  listWorlds() {
    const groups = this.viewer.traces.map((trace, place) => {
      const worlds = this.viewer.worlds.map((world, index) => [world, index]).filter(([world]) => world.trace === place);
      const name = this.viewer.scenarios[trace.scenario].name;
      return h("optgroup", { label: trace.file ? `${name} · ${trace.file}` : name }, worlds.map(([world, index]) => h("option", { value: index }, `${name} · ${world.name}`)));
    });
    byId("world").replaceChildren(...groups);
    if (this.world) byId("world").value = String(this.world.index);
    if (this.tab === "worlds" && this.world) this.render();
  }

  _controls() {
    byId("world").addEventListener("change", (event) => this.open(Number(event.target.value)));
    byId("outcome").addEventListener("click", () => this.show("verdicts"));
    byId("filter").addEventListener("input", (event) => this.filter(event.target.value));
    byId("slider").addEventListener("input", (event) => this.choose(Number(event.target.value)));
    byId("previous").addEventListener("click", () => this.choose(this.at - 1));
    byId("next").addEventListener("click", () => this.choose(this.at + 1));
    byId("theme").addEventListener("click", switchTheme);
    byId("help").addEventListener("click", () => this.help());
    for (const [name, title] of this.tabs) {
      byId("tabs").append(h("button", { type: "button", role: "tab", id: `tab-${name}`, "data-tab": name, "aria-controls": name === "steps" ? "steps" : "panel", onclick: () => this.show(name) }, title));
    }
    byId("tabs").addEventListener("keydown", (event) => this._tabKeys(event));
    document.addEventListener("keydown", (event) => this._key(event));
    new ResizeObserver(() => this.world && drawMarks(this.world, new Set(this.list.places), this.at)).observe(byId("marks"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  redraw() {
    drawMarks(this.world, new Set(this.list.places), this.at);
  }

  // The quick filters that find something, with their numbers.
  _quick() {
    const counts = {};
    for (const facts of this.world.facts) for (const flag of facts.flags) counts[flag] = (counts[flag] ?? 0) + 1;
    const flags = Object.keys(FLAGS).filter((flag) => counts[flag]);
    const control = (flag, text) => h("button", { type: "button", "data-flag": flag, "aria-pressed": "false", title: FLAGS[flag], onclick: () => this.filter(flag === this.query.trim() ? "" : flag) }, text);
    byId("quick").replaceChildren(control("", `all ${this.world.entries.length.toLocaleString("en")}`), ...flags.map((flag) => control(flag, `${flag} ${counts[flag].toLocaleString("en")}`)));
  }

  _tabKeys(event) {
    const names = this.tabs.map(([name]) => name).filter((name) => name !== "steps" || isNarrow());
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const next = names[(names.indexOf(this.tab) + by + names.length) % names.length];
    this.show(next);
    byId(`tab-${next}`).focus();
  }

  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("sheet").open) return;
    const inText = event.target.closest("input:not([type=range], [type=checkbox]), textarea, select");
    if (event.key === "Escape" && event.target === byId("filter")) {
      this.filter("");
      byId("list").focus();
    } else if (event.key === "Enter" && event.target === byId("filter")) {
      byId("list").focus();
      if (!this.list.places.includes(this.at)) this.choose(this.list.places[0]);
    } else if (!inText && this._act(event)) {
      event.preventDefault();
    }
  }

  _act(event) {
    const scrolls = event.target.closest("#panel") || event.target.id === "slider";
    const moves = { j: 1, k: -1, ...(scrolls ? {} : { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }) };
    if (moves[event.key]) return this._move(moves[event.key]);
    if (event.key === "Home" && !scrolls) return this._go(this.list.places[0]);
    if (event.key === "End" && !scrolls) return this._go(this.list.places.at(-1));
    if (event.key === "n" || event.key === "p") return this._toFault(event.key === "n" ? 1 : -1);
    if (event.key === "[" || event.key === "]") return this._toWorld(event.key === "]" ? 1 : -1);
    if (event.key === "0" && hasOverview(this.viewer)) return this._done(() => this.show("runs"));
    const tab = this.tabs.filter(([name]) => name !== "runs")[Number(event.key)];
    if (/^[1-9]$/.test(event.key) && tab) return this._done(() => this.show(tab[0]));
    if (event.key === "/") return this._done(() => byId("filter").select());
    if (event.key === "t") return this._done(switchTheme);
    if (event.key === "?") return this._done(() => this.help());
    return false;
  }

  _done(action) {
    action();
    return true;
  }

  _go(at) {
    return this._done(() => this.choose(at));
  }

  _move(by) {
    let at = this.at;
    for (let count = Math.abs(by); count > 0; count -= 1) at = this.list.neighbour(at, by);
    return this._go(at);
  }

  _toFault(by) {
    const faults = this.world.facts.map((facts, at) => (facts.flags.has("fault") ? at : -1)).filter((at) => at >= 0);
    return this._go(by > 0 ? faults.find((at) => at > this.at) : faults.findLast((at) => at < this.at));
  }

  _toWorld(by) {
    const count = this.viewer.worlds.length;
    return this._done(() => this.open((this.world.index + by + count) % count));
  }

  help() {
    const keys = h("table", {}, h("tbody", {}, KEYS.map(([key, text]) => h("tr", {}, h("th", { scope: "row" }, key.split(" ").map((name) => h("kbd", {}, name))), h("td", {}, text)))));
    const flags = h("table", {}, h("tbody", {}, Object.entries(FLAGS).map(([flag, text]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, flag)), h("td", {}, text)))));
    const fields = h("p", {}, "All words must be found. ", ...["tool:create", "fault:ID", "entity:deal", "record:KEY", "verdict:ID", "step:12"].flatMap((word) => [h("code", {}, word), " "]), "look in one place. ", h("code", {}, "-word"), " excludes a word, ", h("code", {}, '"two words"'), " are one text.");
    byId("sheet").replaceChildren(
      h("div", { class: "sheet-head" }, h("h2", { id: "sheet-title" }, "Keys and filters"), h("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => byId("sheet").close() }, "×")),
      h("div", { class: "sheet-body" }, h("section", {}, h("h3", {}, "Keys"), keys), h("section", {}, h("h3", {}, "Filter"), fields, flags)),
    );
    byId("sheet").showModal();
  }
}

const isNarrow = () => matchMedia("(max-width: 760px)").matches;

// theme

function isDark() {
  return (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
}

function switchTheme() {
  setTheme(isDark() ? "light" : "dark");
  try {
    localStorage.setItem("mcp-sim-theme", document.documentElement.dataset.theme);
  } catch {
    // Pages of files may have no storage.
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  app?.redraw();
}

function storedTheme() {
  try {
    return localStorage.getItem("mcp-sim-theme");
  } catch {
    return null;
  }
}

// The scrubber's marks: faults above, writes and failures below, and what the filter hides dimmed.
function drawMarks(world, shown, at) {
  const canvas = byId("marks");
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width) return;
  const scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  const colour = (name) => {
    canvas.style.color = `var(${name})`;
    return getComputedStyle(canvas).color;
  };
  const count = world.facts.length;
  const inner = width - 16;
  const mark = Math.max(2, Math.min(10, inner / Math.max(count, 1) - 2));
  const lanes = [["fault", "--fault", 0], ["failed", "--bad", 1], ["written", "--write", 2]];
  const lane = height / 3;
  for (const [flag, name, place] of lanes) {
    context.fillStyle = colour(name);
    world.facts.forEach((facts, index) => {
      if (!facts.flags.has(flag)) return;
      context.globalAlpha = shown.has(index) ? 1 : 0.2;
      const x = 8 + (count > 1 ? (index / (count - 1)) * inner : 0);
      context.fillRect(x - mark / 2, place * lane + 1.5, mark, lane - 3);
    });
  }
}

let app = null;
const theme = storedTheme();
if (theme === "light" || theme === "dark") setTheme(theme);
