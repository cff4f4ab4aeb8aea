// The filter: words that an entry has, and facts about it. All of them must hold; a leading - negates.

const FLAGS = {
  fault: "a fault was applied",
  missed: "a fault could have fired and did not",
  failed: "the agent saw an error",
  written: "records were written",
  differs: "the agent saw something else than what was true",
  guessed: "the answer is a guess",
  stub: "a stub answered",
  event: "another actor wrote",
  crash: "mcp-sim crashed",
  verdict: "an expectation depends on it",
};

const FIELDS = {
  tool: (world, at, value) => world.facts[at].tool.toLowerCase().includes(value),
  fault: (world, at, value) =>
    (world.entries[at].step?.perturbations ?? []).some((perturbation) => perturbation.id.toLowerCase() === value || perturbation.kind === value),
  entity: (world, at, value) => world.records.changes[at].some((change) => change.entity.toLowerCase() === value),
  record: (world, at, value) => world.records.changes[at].some((change) => String(change.key).toLowerCase() === value),
  verdict: (world, at, value) =>
    (world.deciding.get(world.entries[at].step?.n) ?? []).some((verdict) => verdict.id.toLowerCase() === value),
  step: (world, at, value) => String(world.entries[at].step?.n) === value,
};

function matcher(query) {
  const tests = (query.match(/-?(?:\w+:)?"[^"]*"?|\S+/g) ?? []).map(testOf);
  return (world, at) => tests.every((test) => test(world, at));
}

function testOf(word) {
  if (word.startsWith("-") && word.length > 1) {
    const test = testOf(word.slice(1));
    return (world, at) => !test(world, at);
  }
  const [, name, rest] = /^(?:(\w+):)?(.*)$/s.exec(word);
  const value = rest.replace(/^"|"$/g, "").toLowerCase();
  if (name && FIELDS[name] && value) return (world, at) => FIELDS[name](world, at, value);
  if (!name && FLAGS[rest]) return (world, at) => world.facts[at].flags.has(rest);
  const text = name ? word.toLowerCase() : value;
  return (world, at) => world.text(at).includes(text);
}

function filtered(world, query) {
  const places = world.entries.map((_, at) => at);
  const holds = matcher(query);
  return query.trim() ? places.filter((at) => holds(world, at)) : places;
}
