// What can be done to a world of a running server.

const EXAMPLE = '{"error": {"status": 503}, "tools": "*", "when": {"first": 1}}';

// The form of a world is kept, so that what is typed survives new steps.
function steerView(world) {
  const live = world.viewer.live;
  if (live.form?.world !== world) live.form = { world, ...steerForm(world, live) };
  live.form.refresh();
  return live.form.element;
}

function steerForm(world, live) {
  const path = `/worlds/${encodeURIComponent(world.name)}`;
  const message = h("p", { class: "callout", role: "status", hidden: true });
  const say = (text, isBad) => {
    message.hidden = false;
    message.className = isBad ? "callout bad" : "callout good";
    message.textContent = visible(text);
  };
  const does = (action) => async () => {
    try {
      say(await action(), false);
    } catch (error) {
      say(error.message, true);
    }
  };

  const name = h("input", { type: "text", placeholder: "name of the new world", "aria-label": "Name of the fork", autocomplete: "off" });
  const fork = does(async () => {
    const twin = await live.act("POST", `${path}/fork`, name.value ? { name: name.value } : {});
    name.value = "";
    return `${twin.name} continues ${world.name} as it is now.`;
  });
  const reset = does(async () => {
    await live.act("POST", `${path}/reset`, {});
    return `${world.name} begins again.`;
  });
  const fault = h("textarea", { rows: 4, "aria-label": "Fault as JSON", spellcheck: "false" });
  fault.value = EXAMPLE;
  const inject = does(async () => {
    const added = await live.act("POST", `${path}/faults`, { fault: asJson(fault.value) });
    return `${added.id ?? "The fault"} acts from the next call on.`;
  });
  const span = h("input", { type: "text", value: "1m", size: 8, "aria-label": "By how long" });
  const advance = does(async () => {
    await live.act("POST", `${path}/clock`, { by: span.value });
    return `The clock of ${world.name} is ${span.value} further.`;
  });
  const tool = h("select", { "aria-label": "Tool" }, world.scenario.tools.map((id) => h("option", {}, id)));
  const given = h("textarea", { rows: 3, "aria-label": "Arguments as JSON", spellcheck: "false" });
  given.value = "{}";
  const result = h("pre", { class: "text", tabindex: "0", "aria-label": "Answer", hidden: true });
  const call = does(async () => {
    const { observation } = await live.act("POST", `${path}/calls`, { tool: tool.value, arguments: asJson(given.value) });
    result.hidden = false;
    const text = observation.rpc_error?.message ?? observation.text ?? observation.result;
    result.textContent = visible(typeof text === "string" ? text : JSON.stringify(text, null, 2));
    return `${tool.value} was called; what it changed is written by control.`;
  });
  const faults = h("ul", { class: "findings" });
  const about = h("p", { class: "dim live-state" });
  const control = (text, onclick, kind = "") => h("button", { type: "button", class: `do ${kind}`, onclick }, text);
  const element = h(
    "div",
    { class: "view" },
    h("div", { class: "head" }, h("h2", {}, `Steer ${world.name}`), about),
    message,
    section("Fork", h("div", { class: "tools" }, name, control("Fork now", fork))),
    section("Reset", h("div", { class: "tools" }, control("Begin again", reset, "danger"), h("span", { class: "dim" }, "Records, clock and faults are as at the start."))),
    section("Inject a fault", h("p", { class: "dim" }, "As an entry of perturbations in a scenario, as JSON."), fault, h("div", { class: "tools" }, control("Inject", inject))),
    section("Faults", faults),
    section("Act", h("p", { class: "dim" }, "Call a tool as someone other than the agent. No fault applies."), h("div", { class: "tools" }, tool), given, h("div", { class: "tools" }, control("Call", call)), result),
    section("Clock", h("div", { class: "tools" }, span, control("Advance", advance))),
  );
  const refresh = () => {
    about.textContent = `${live.server} · ${world.json.ended ? "this world has ended" : live.state}`;
    const rows = (world.json.faults ?? []).map((fault) => faultSwitch(fault, path, live, does));
    faults.replaceChildren(...(rows.length ? rows : [h("li", { class: "dim" }, "None.")]));
  };
  return { element, refresh };
}

function faultSwitch(fault, path, live, does) {
  const toggle = does(async () => {
    await live.act("PATCH", `${path}/faults/${encodeURIComponent(fault.id)}`, { enabled: !fault.enabled });
    return `${fault.id} is ${fault.enabled ? "disabled" : "enabled"}.`;
  });
  const control = h("button", { type: "button", class: "do", role: "switch", "aria-checked": fault.enabled, "aria-label": `${fault.id} enabled`, onclick: toggle }, fault.enabled ? "on" : "off");
  const tools = fault.tools.length ? fault.tools.join(", ") : "every tool";
  return h("li", {}, control, " ", h("b", {}, fault.id), ` ${spaced(fault.kind)} `, h("span", { class: "dim" }, `on ${tools}${fault.when ? `, ${fault.when}` : ""} `), fault.injected ? chip("plain", "injected") : null);
}

function asJson(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${error.message}`);
  }
}
