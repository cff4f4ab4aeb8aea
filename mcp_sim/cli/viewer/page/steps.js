// The list of steps. Only the rows in sight are in the page.

const ROW = 48;
const BEYOND = 6;

class StepList {
  constructor(onChoose) {
    this.list = byId("list");
    this.rows = byId("rows");
    this.onChoose = onChoose;
    this.places = [];
    this.list.addEventListener("scroll", () => requestAnimationFrame(() => this.render()));
    new ResizeObserver(() => this.render()).observe(this.list);
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest("[data-at]");
      if (row) this.onChoose(Number(row.dataset.at), true);
    });
  }

  show(world, places) {
    this.world = world;
    this.places = places;
    this.rows.style.height = `${places.length * ROW}px`;
    byId("empty").hidden = places.length > 0;
    this.list.hidden = places.length === 0;
    this.render();
  }

  choose(at) {
    this.at = at;
    const place = this.places.indexOf(at);
    if (place >= 0) this._reveal(place);
    this.render();
  }

  // The neighbour of an entry in the list, also if a filter hides the entry itself.
  neighbour(at, by) {
    if (by > 0) return this.places.find((place) => place > at) ?? at;
    return this.places.findLast((place) => place < at) ?? at;
  }

  _reveal(place) {
    const { scrollTop, clientHeight } = this.list;
    const top = place * ROW;
    if (top < scrollTop) this.list.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.list.scrollTop = top + ROW - clientHeight;
  }

  render() {
    if (!this.world) return;
    // A list that has just become shorter may still be scrolled beyond its end.
    const top = Math.min(this.list.scrollTop, Math.max(0, this.places.length * ROW - this.list.clientHeight));
    const from = Math.max(0, Math.floor(top / ROW) - BEYOND);
    const to = Math.min(this.places.length, Math.ceil((top + this.list.clientHeight) / ROW) + BEYOND);
    const rows = [];
    for (let place = from; place < to; place += 1) rows.push(this._row(place));
    this.rows.replaceChildren(...rows);
    if (this.places.includes(this.at)) this.list.setAttribute("aria-activedescendant", `row-${this.at}`);
    else this.list.removeAttribute("aria-activedescendant");
  }

  _row(place) {
    const at = this.places[place];
    const facts = this.world.facts[at];
    const row = h(
      "div",
      {
        id: `row-${at}`,
        role: "option",
        "data-at": at,
        "aria-selected": at === this.at,
        "aria-setsize": this.places.length,
        "aria-posinset": place + 1,
        class: ["row", ...[facts.kind, ...facts.flags, at < this.world.own ? "inherited" : "own"].map((name) => `is-${name}`)].join(" "),
      },
      h("span", { class: "n" }, this.world.entries[at].step?.n ?? "!"),
      h("div", {}, h("span", { class: "what" }, headline(this.world.entries[at])), h("span", { class: "time" }, clock(this.world.entries[at].step?.at).slice(0, 8))),
      h("div", {}, h("span", { class: "saw" }, outcomeLine(this.world.entries[at])), h("span", { class: "marks" }, marksOf(this.world, at))),
    );
    row.style.top = `${place * ROW}px`;
    return row;
  }
}

function headline({ step, crash }) {
  if (crash) return [h("b", {}, crash.tool), " ", h("span", { class: "dim" }, brief(crash.arguments))];
  if (step.entry === "reset") return [h("b", {}, "World begins")];
  if (step.entry === "event") return [h("b", {}, step.actor), " ", h("span", { class: "dim" }, step.steered ? "steers the world" : "acts by itself")];
  return [h("b", {}, step.tool), " ", h("span", { class: "dim" }, brief(step.arguments))];
}

function outcomeLine({ step, crash }) {
  if (crash) return crash.error;
  if (step.entry === "reset") return `seed ${step.seed}, ${step.clock.mode} clock${step.faults === false ? ", without faults" : ""}`;
  if (step.steered) return steering(step.steered);
  if (step.entry === "event") return step.committed.map((change) => `${VERBS[change.op]} ${change.entity} ${change.key}`).join(", ");
  return observed(servedOf(step));
}

function steering(steered) {
  if (steered.inject) return `added the fault ${steered.inject.id}`;
  if (steered.advance_ms !== undefined) return `advanced the clock by ${(steered.advance_ms / 1000).toLocaleString("en")} s`;
  const [[verb, id]] = Object.entries(steered);
  return `${verb}d the fault ${id}`;
}

const VERBS = { put: "wrote", remove: "removed", reserve: "used up" };

function observed(observation) {
  if (!observation) return "nothing";
  if (observation.rpc_error) return `JSON-RPC error ${observation.rpc_error.code}: ${observation.rpc_error.message}`;
  if (observation.broken) return `${spaced(observation.broken.how)}${observation.broken.status ? `, status ${observation.broken.status}` : ""}`;
  return brief(observation.text ?? observation.result);
}

// A value on one line. Only the first signs are seen, so that only they are written.
function brief(value) {
  if (typeof value === "string") return cut(value.slice(0, 400).replace(/\s+/g, " "), 200);
  const text = JSON.stringify(value) ?? "";
  return text === "{}" ? "" : cut(text, 200);
}

function marksOf(world, at) {
  const facts = world.facts[at];
  const step = world.entries[at].step;
  const marks = [];
  if (!step) return [chip("bad", "crash")];
  for (const perturbation of facts.applied ?? []) marks.push(chip("fault", perturbation.kind, `${perturbation.id}: ${perturbation.why}`));
  if (facts.flags.has("guessed")) marks.push(chip("guess", "guessed"));
  const written = world.records.changes[at].filter((change) => !change.absorbed && change.op !== "reserve").length;
  if (written) marks.push(chip("write", `${written} written`));
  if (world.forks.some(([n]) => n === step.n)) marks.push(chip("plain", "fork"));
  return marks;
}
