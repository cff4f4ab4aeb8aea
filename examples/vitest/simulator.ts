// Start `mcp-sim serve` for the tests of a file, and steer it through its control plane.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import createClient from "openapi-fetch";
import type { paths } from "./control.d.ts";

const START_MS = 30_000;

export async function serve(scenario: string, ...options: string[]) {
  const token = randomBytes(24).toString("hex");
  const words = ["serve", scenario, "--http", "0", "--control", "0", ...options];
  const process_ = spawn("mcp-sim", words, {
    env: { ...process.env, MCP_SIM_CONTROL_TOKEN: token },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const late = setTimeout(() => process_.kill(), START_MS);
  const log: string[] = [];
  let agents = "";
  let control = "";
  for await (const line of createInterface({ input: process_.stderr })) {
    log.push(line);
    agents ||= /(http:\S+)\/w\/WORLD/.exec(line)?.[1] ?? "";
    control ||= /^ *control +(http:[^\s,]+)/.exec(line)?.[1] ?? "";
    if (agents && control) break;
  }
  clearTimeout(late);
  if (!control) throw new Error(log.join("\n"));
  process_.stderr.resume();
  return {
    /** The URL for an agent; each name is a world of its own. */
    url: (world: string) => `${agents}/w/${world}/mcp`,
    /** The control plane, with the types of its OpenAPI document. */
    control: createClient<paths>({ baseUrl: control, headers: { authorization: `Bearer ${token}` } }),
    stop: () => new Promise((stopped) => process_.once("exit", stopped) && process_.kill()),
  };
}
