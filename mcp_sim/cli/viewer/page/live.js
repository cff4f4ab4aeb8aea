// A running server: its worlds and their ledgers, through the relay that serves this page, and what can be done to them.

const LOOK_EVERY = 1500;
const SCREEN_FIELDS = "select, textarea, input:not([type=checkbox], [type=radio], [type=submit], [type=button], [type=reset], [type=image], [type=file])";

class Live {
  constructor(json) {
    this.server = json.server;
    this.key = takeKey();
    this.form = null;
    this.following = null;
    this.state = "connecting";
    this.version = json.version;
  }

  async start() {
    try {
      const about = await this.ask("GET", "/scenario");
      const scenario = { name: about.name, sha256: about.sha256, reference: "", note: "", task: about.task, faults: [], bases: {}, entities: about.entities, tools: Object.values(about.servers).flat() };
      this.viewer = new Viewer({ version: this.version, note: "", scenarios: [scenario], traces: [{ file: "", scenario: 0 }], worlds: [] });
      this.viewer.live = this;
      this.gestures = about.gestures;
      await this.look();
      while (!this.viewer.worlds.length) {
        byId("panel").replaceChildren(h("p", { class: "dim" }, "There is no world yet. One begins with the first request of an agent."));
        await new Promise((done) => setTimeout(done, LOOK_EVERY));
        await this.look();
      }
      document.querySelector(".brand").append(" ", chip("good", "live"));
      app = new App(this.viewer);
      this.keepLooking();
    } catch (error) {
      byId("panel").replaceChildren(h("p", { class: "callout bad" }, error.message));
    }
  }

  // Make a request of the control plane. Throws an error with its refusal.
  async ask(method, path, body, signal) {
    const response = await this.send(method, path, body, signal);
    if (response.ok) return response.status === 204 ? null : JSON.parse(await response.text(), exact);
    const refusal = await response.json().catch(() => ({}));
    const problems = (refusal.error?.problems ?? []).map((problem) => `${problem.path}: ${problem.message}`);
    throw new Error([refusal.error?.message ?? `status ${response.status}`, ...problems].join("; "));
  }

  send(method, path, body, signal) {
    const headers = { "x-mcp-sim-key": this.key, ...(body ? { "content-type": "application/json" } : {}) };
    return fetch(`control${path}`, { method, headers, signal, cache: "no-store", body: body ? JSON.stringify(body) : undefined });
  }

  async act(method, path, body) {
    const answer = await this.ask(method, path, body);
    await this.look();
    return answer;
  }

  async keepLooking() {
    for (;;) {
      await new Promise((done) => setTimeout(done, LOOK_EVERY));
      try {
        await this.look();
        this.report("connected");
      } catch (error) {
        this.report(`not connected: ${error.message}`);
      }
    }
  }

  report(state) {
    this.state = state;
    for (const place of document.querySelectorAll(".live-state")) place.textContent = `${this.server} · ${state}`;
  }

  // Take over the list of worlds.
  async look() {
    const { worlds } = await this.ask("GET", "/worlds?limit=1000");
    const known = this.viewer.worlds;
    const places = new Map(known.map((world, index) => [world.name, index]));
    let isChanged = false;
    for (const summary of worlds) {
      if (!places.has(summary.name)) {
        places.set(summary.name, known.length);
        known.push({ trace: 0, name: summary.name, fork: null, stream: null, entries: [], whole: true, own: 0 });
        isChanged = true;
      }
      const json = known[places.get(summary.name)];
      json.fork ??= summary.parent && places.has(summary.parent) ? { world: places.get(summary.parent) } : null;
      json.summary = summary;
    }
    const names = new Set(worlds.map((summary) => summary.name));
    for (const json of known) json.ended = !names.has(json.name);
    if (!isChanged) return;
    this.viewer.index();
    app?.listWorlds();
  }

  // Follow the ledger of one world, from its start.
  async follow(world) {
    this.following?.abort();
    const control = (this.following = new AbortController());
    const json = world.json;
    Object.assign(json, { entries: [], own: 0, at: 0 });
    while (!control.signal.aborted) {
      try {
        const response = await this.send("GET", `/worlds/${encodeURIComponent(json.name)}/ledger/stream?after=${json.at}`, undefined, control.signal);
        if (response.status === 404) return;
        for await (const event of eventsOf(response.body)) this.note(world, event);
      } catch (error) {
        if (control.signal.aborted) return;
        this.report(`not connected: ${error.message}`);
      }
      await new Promise((done) => setTimeout(done, LOOK_EVERY));
    }
  }

  note(world, { kind, id, data }) {
    const json = world.json;
    if (id) json.at = Number(id);
    if (kind === "entry") noteEntry(json, JSON.parse(data, exact));
    if (kind === "gap") world.scenario.note = "The server keeps the newest entries only; its trace has all of them.";
    if (kind === "end") json.ended = true;
    this.later ??= setTimeout(() => this.refresh(world), 60);
  }

  async refresh(world) {
    this.later = null;
    if (app.world !== world) return;
    app.grown();
    const path = `/worlds/${encodeURIComponent(world.name)}`;
    try {
      const [grade, faults] = await Promise.all([this.ask("GET", `${path}/grade`), this.ask("GET", `${path}/faults`), this.first(world, path)]);
      world.json.grade = grade.verdicts.length ? grade : undefined;
      world.json.faults = faults;
      world.json.added = faults.map((fault) => ({ ...fault, timed: false }));
      app.grown();
    } catch (error) {
      if (!world.json.ended) this.report(error.message);
    }
  }

  // The screen after a step, once the server has sent it. Steps that are taken back have their numbers again.
  screen(world, n) {
    if (!world.scenario.entities.some((entity) => /(^|\.)tab$/.test(entity))) return null;
    const screens = (world.json.screens ??= new Map());
    if (!screens.has(n)) {
      screens.set(n, null);
      this.fetchScreen(world, n, screens);
    }
    return screens.get(n);
  }

  // The element that shows why the last act on the screen of a world failed. It outlives the view: each call shows that anew.
  failure(world) {
    return (world.json.failure ??= h("p", { class: "dim", role: "status" }));
  }

  // Listen to what a person does on a screen, whose elements carry their references. What was entered into fields is
  // sent before the next click, or with Enter: each call shows the screen anew.
  listen(page, world) {
    const entered = new Map();
    const send = async (...last) => {
      const acts = [...entered.values(), ...last];
      entered.clear();
      for (const [gesture, ...values] of acts) {
        const { tool, arguments: names } = this.gestures[gesture] ?? {};
        if (!tool) return `The program declares no tool for the gesture ${gesture}.`;
        const given = Object.fromEntries(names.map((name, at) => [name, values[at]]));
        const { observation } = await this.act("POST", `/worlds/${encodeURIComponent(world.name)}/calls`, { tool, arguments: given });
        if (observation.is_error) return String(observation.text ?? observation.result);
      }
      return "";
    };
    const report = (sent) => sent.catch((error) => error.message).then((text) => (this.failure(world).textContent = visible(text)));
    page.addEventListener("click", (event) => {
      const target = event.target.closest("[data-ref]");
      if (!target || target.matches(SCREEN_FIELDS)) return;
      event.preventDefault();
      report(send(["click", target.dataset.ref]));
    });
    page.addEventListener("change", (event) => {
      const target = event.target;
      if (!target.matches(SCREEN_FIELDS) || !target.dataset.ref) return;
      if (target.matches("select")) report(send(["choose", target.dataset.ref, [...target.selectedOptions].map((option) => option.value)]));
      else entered.set(target, ["fill", target.dataset.ref, target.value]);
    });
    page.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("input") && event.target.matches(SCREEN_FIELDS)) setTimeout(() => report(send()));
    });
  }

  async fetchScreen(world, n, screens) {
    try {
      const response = await this.send("GET", `/worlds/${encodeURIComponent(world.name)}/screen?step=${n}`);
      if (!response.ok) return; // the ledger does not reach back to its start
      screens.set(n, await response.text());
      const isShown = (VIEWS[app.tab] ?? stepView) === stepView && world.entries[app.at]?.step?.n === n;
      if (app.world === world && isShown) app.render();
    } catch (error) {
      screens.delete(n);
      this.report(`not connected: ${error.message}`);
    }
  }

  // Fetch the records that a world began with, as far as its ledger reaches back.
  async first(world, path) {
    const start = world.json.entries[0]?.step;
    const { bases, entities } = world.scenario;
    if (start?.entry !== "reset" || bases[start.seed]) return;
    bases[start.seed] = {};
    for (const entity of entities) {
      const page = await this.ask("GET", `${path}/records?entity=${encodeURIComponent(entity)}&step=${start.n}&limit=1000`);
      bases[start.seed][entity] = { count: page.total, records: page.records.map((row) => [row.key, row.record]) };
    }
    world.scenario.parsedBases = undefined;
  }
}

// The key of this page is in the address that the command prints; it is kept for this tab only.
function takeKey() {
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
  if (given) {
    sessionStorage.setItem("mcp-sim-key", given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("mcp-sim-key") ?? "";
}

function noteEntry(json, entry) {
  if (entry.fork && entry.fork.of === entry.world) {
    json.entries = json.entries.filter((kept) => !kept.step || kept.step.n <= entry.fork.n);
    delete json.screens;
  } else if (entry.fork) {
    json.own = json.entries.length;
    if (json.fork) json.fork.n = entry.fork.n;
  } else if ("answer" in entry) {
    json.answer = entry.answer;
  } else {
    if (entry.step?.entry === "reset") delete json.answer;
    json.entries.push(entry);
  }
}

// The server-sent events of a response.
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      if (fields.event) yield { kind: fields.event, id: fields.id, data: fields.data };
    }
  }
}

TABS.push(["steer", "Steer"]);
VIEWS.steer = steerView;
KEYS.splice(4, 1, ["1 2 3 4 5 6", "Step, State, Faults, Verdicts, Worlds, Steer"]);
new Live(parsed(byId("data").textContent)).start();
