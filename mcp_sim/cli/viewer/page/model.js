// The document: worlds with their entries, the records at any step, and what is known about each entry.

// A number that JavaScript would round, as it was written.
class Exact {
  constructor(source) {
    this.source = source;
  }
  toJSON() {
    return JSON.rawJSON ? JSON.rawJSON(this.source) : this.source;
  }
}

function exact(_name, value, context) {
  const isRounded = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && context ? new Exact(context.source) : value;
}

function parsed(text) {
  const value = JSON.parse(text);
  return value.exact ? JSON.parse(text, exact) : value;
}

const VERDICT_ORDER = ["failed", "inconclusive", "not judged"];

class World {
  constructor(viewer, index) {
    this.viewer = viewer;
    this.index = index;
    this.json = viewer.worlds[index];
    this.trace = viewer.traces[this.json.trace];
    this.scenario = viewer.scenarios[this.trace.scenario];
    this.name = this.json.name;
    this.refresh();
  }

  // Build what follows from the entries. A fork begins with the entries of its parent.
  refresh() {
    const inherited = this.parent && !this.json.whole ? this.parent.upTo(this.json.fork.n) : [];
    this.own = this.json.own ?? inherited.length;
    this.grade = this.json.grade;
    this.entries = [...inherited, ...this.json.entries];
    this.deciding = new Map();
    for (const verdict of this.grade?.verdicts ?? []) {
      for (const n of verdict.steps) this.deciding.set(n, [...(this.deciding.get(n) ?? []), verdict]);
    }
    this.places = new Map(this.entries.flatMap((entry, at) => (entry.step ? [[entry.step.n, at]] : [])));
    this.records = new Records(this);
    this.facts = this.entries.map((entry, at) => factsOf(this, entry, at));
    this.texts = [];
  }

  get parent() {
    const place = this.json.fork?.world;
    return place === null || place === undefined ? null : this.viewer.world(place);
  }

  // The worlds that begin at a step of this one, as pairs of the step and the index of the world.
  get forks() {
    return this.viewer.forks.get(this.index) ?? [];
  }

  upTo(n) {
    const end = this.entries.findIndex((entry) => entry.step && entry.step.n > n);
    const inherited = end < 0 ? this.entries : this.entries.slice(0, end);
    let last = inherited.length;
    while (last > 0 && inherited[last - 1].crash) last -= 1;
    return inherited.slice(0, last);
  }

  // The faults that could have fired at a call: those that the scenario has, else those that the trace has.
  findings(step) {
    for (let world = this; world; world = world.parent) {
      const findings = world.json.findings?.steps[step.n];
      if (findings) return findings.map((finding) => explained(finding, step, world.json.findings.conditions));
      if (world.own <= this.places.get(step.n)) break;
    }
    return (step.perturbations ?? []).map((perturbation) => ({ ...perturbation, decided: true, why: [], reason: perturbation.why }));
  }

  text(at) {
    this.texts[at] ??= JSON.stringify(this.entries[at]).toLowerCase();
    return this.texts[at];
  }

  // The verdicts, those that failed first, then those that could not be judged.
  get verdicts() {
    const rank = (verdict) => (VERDICT_ORDER.indexOf(verdict.outcome) + 1 || VERDICT_ORDER.length + 1);
    return [...(this.grade?.verdicts ?? [])].sort((a, b) => rank(a) - rank(b));
  }

  // The place of the first step at which a failed expectation was decided.
  get decisive() {
    const last = this.verdicts.filter((verdict) => verdict.outcome === "failed" && !verdict.optional && verdict.steps.length).map((verdict) => Math.max(...verdict.steps));
    return last.length ? this.places.get(Math.min(...last)) : undefined;
  }

  get opening() {
    return this.entries.find((entry) => entry.step?.entry === "reset")?.step;
  }

  get calls() {
    return this.facts.filter((facts) => facts.kind === "call" || facts.kind === "crash").length;
  }

  get outcome() {
    return outcomeOfWorld(this.viewer, this.index);
  }
}

function explained(finding, step, conditions) {
  const recorded = (step.perturbations ?? []).find((perturbation) => perturbation.id === finding.id);
  const why = finding.why.map(([condition, actual, held]) => ({ condition: conditions[condition], found: actual, held: Boolean(held) }));
  return { ...finding, why, outcome: finding.outcome || recorded?.outcome || "", reason: recorded?.why ?? "" };
}

// What the list and the filter know about an entry.
function factsOf(world, entry, at) {
  if (entry.crash) return { kind: "crash", tool: entry.crash.tool, flags: new Set(["crash", "failed"]) };
  const step = entry.step;
  const flags = new Set();
  const add = (flag, holds) => holds && flags.add(flag);
  const served = servedOf(step);
  const applied = (step.perturbations ?? []).filter((perturbation) => perturbation.outcome === "applied");
  add("fault", applied.length);
  add("failed", served && failsOf(served));
  add("written", step.committed?.length);
  add("guessed", step.guessed);
  add("stub", step.stub);
  add("differs", step.served && step.truth && differ(step));
  add("event", step.entry === "event");
  add("verdict", world.deciding.has(step.n));
  add("missed", step.entry === "call" && (world.json.findings?.steps[step.n] ?? []).length > applied.length);
  return { kind: step.entry, tool: step.tool ?? "", flags, applied, at };
}

const servedOf = (step) => (step.entry === "call" ? (step.served ?? step.truth?.observation) : undefined);

const failsOf = (observation) => Boolean(observation.is_error || observation.is_failure || observation.rpc_error || observation.broken);

// Whether the agent saw something else than what was true. A delay alone is no difference.
const differ = (step) => !same(timeless(step.served), timeless(step.truth.observation));

const timeless = ({ delay_ms, notifications, ...body }) => body;

// The records of a world at any step: for each record the writes in order, and the one that the world began with.
class Records {
  constructor(world) {
    this.scenario = world.scenario;
    this.lives = [];
    this.writes = new Map();
    this.changes = world.entries.map((entry, at) => this._changes(entry.step, at));
  }

  _changes(step, at) {
    if (!step) return [];
    if (step.entry === "reset") this.lives.push({ at, base: baseOf(this.scenario, step.seed) });
    const changes = [
      ...(step.committed ?? []).map((change) => ({ change, absorbed: false })),
      ...(step.absorbed ?? []).map((change) => ({ change, absorbed: true })),
    ];
    return changes.map(({ change, absorbed }) => {
      const before = this.at(change.entity, change.key, at);
      const record = change.op === "put" ? change.record : null;
      if (change.op !== "reserve") this._of(change.entity, change.key).push({ at, record, absorbed });
      return { ...change, absorbed, before };
    });
  }

  _of(entity, key) {
    if (!this.writes.has(entity)) this.writes.set(entity, new Map());
    const keys = this.writes.get(entity);
    if (!keys.has(key)) keys.set(key, []);
    return keys.get(key);
  }

  life(at) {
    return this.lives.findLast((life) => life.at <= at) ?? { at: -1, base: null };
  }

  // The record after an entry; null if there is none, undefined if that is not known.
  at(entity, key, at) {
    const life = this.life(at);
    const write = newest(this.writes.get(entity)?.get(key) ?? [], at);
    return write && write.at >= life.at ? write.record : first(life.base, entity, key);
  }

  // The writes of a record in the life of the world that an entry belongs to.
  history(entity, key, at) {
    const life = this.life(at);
    const end = this.lives.find((other) => other.at > at)?.at ?? Infinity;
    return (this.writes.get(entity)?.get(key) ?? []).filter((write) => write.at >= life.at && write.at < end);
  }

  // The entities after an entry: how many records each has, those that were written since the world began, and others.
  entities(at) {
    const life = this.life(at);
    const names = new Set([...(life.base?.keys() ?? []), ...this.writes.keys()]);
    return [...names].map((entity) => this._entity(entity, at, life)).filter((entry) => entry.count || entry.written.length);
  }

  _entity(entity, at, life) {
    const base = life.base?.get(entity);
    const written = [];
    let count = base?.count ?? 0;
    for (const [key, writes] of this.writes.get(entity) ?? []) {
      const write = newest(writes, at);
      if (!write || write.at < life.at) continue;
      const was = first(life.base, entity, key);
      count += (write.record ? 1 : 0) - (was ? 1 : 0);
      if (!write.record && was === null) continue;
      written.push({ key, was, record: write.record, here: write.at === at, mark: markOf(was, write) });
    }
    return { entity, count, written, base, isKnown: life.base !== null };
  }
}

// The newest write up to an entry.
function newest(writes, at) {
  let low = 0;
  let high = writes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (writes[middle].at <= at) low = middle + 1;
    else high = middle;
  }
  return writes[low - 1];
}

function markOf(was, write) {
  if (!write.record) return "deleted";
  if (write.absorbed && !was) return "mentioned";
  return was === undefined ? "written" : was ? "changed" : "created";
}

const first = (base, entity, key) => (base === null ? undefined : (base.get(entity)?.records.get(key) ?? null));

// The records that worlds of a seed begin with; null if they are not known.
function baseOf(scenario, seed) {
  const json = scenario.bases?.[String(seed)];
  if (!json) return null;
  scenario.parsedBases ??= new Map();
  if (!scenario.parsedBases.has(seed)) {
    const entities = Object.entries(json).map(([entity, { count, records }]) => [entity, { count, records: new Map(records) }]);
    scenario.parsedBases.set(seed, new Map(entities));
  }
  return scenario.parsedBases.get(seed);
}

class Viewer {
  constructor(json) {
    Object.assign(this, json);
    this.opened = new Map();
    this.index();
  }

  // Note which worlds continue which.
  index() {
    this.forks = new Map();
    this.worlds.forEach((world, index) => {
      const parent = world.fork?.world;
      if (parent !== null && parent !== undefined) this.forks.set(parent, [...(this.forks.get(parent) ?? []), [world.fork.n, index]]);
    });
  }

  world(index) {
    if (!this.opened.has(index)) this.opened.set(index, new World(this, index));
    return this.opened.get(index);
  }
}
