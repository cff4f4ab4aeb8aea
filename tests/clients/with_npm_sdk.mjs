// npm @modelcontextprotocol/sdk: an error is a result with `isError`.

import { readFileSync } from "node:fs";

// page: imports
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// page: end

const steps = JSON.parse(readFileSync(new URL("steps.json", import.meta.url)));
const url = (world) => `${process.argv[2]}${world}/mcp`;

async function overStdio() {
  // page: over stdio
  const crm = new Client({ name: "my-agent", version: "1.0.0" });
  await crm.connect(new StdioClientTransport({ command: "mcp-sim", args: ["serve", "flaky_crm"] }));
  // page: end
  return crm;
}

async function overHttp(world) {
  // page: over HTTP
  const crm = new Client({ name: "my-agent", version: "1.0.0" });
  await crm.connect(new StreamableHTTPClientTransport(new URL(url(world))));
  // page: end
  return crm;
}

async function answer(crm, step) {
  if (!step.tool) return (await crm.listTools()).tools.map((tool) => tool.name);
  const result = await crm.callTool({ name: step.tool, arguments: step.arguments });
  return { failed: result.isError === true, text: result.content[0].text };
}

for (const [route, opens] of [["stdio", overStdio], ["HTTP", overHttp]]) {
  const started = performance.now();
  const worlds = { a: await opens("a"), b: await opens("b") };
  const answers = [];
  for (const step of steps) answers.push(await answer(worlds[step.world], step));
  await Promise.all(Object.values(worlds).map((crm) => crm.close()));
  console.log(JSON.stringify({ route, seconds: Math.round(performance.now() - started) / 1000, answers }));
}
