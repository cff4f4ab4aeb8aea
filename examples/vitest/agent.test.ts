import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serve } from "./simulator.ts";

const DEAL = { title: "Spring order", contact_id: "con_00001", amount: 4000, currency: "EUR" };
let simulator: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => void (simulator = await serve("../agents/lost_deal.yaml")), 60_000);
afterAll(() => simulator.stop());

/** Your agent. This one creates a deal, and looks for it before it tries again. */
async function agent(url: string, looksFirst: boolean) {
  const client = new Client({ name: "agent", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const call = (name: string, args: object) => client.callTool({ name, arguments: { ...args } });
  const created = await call("create_deal", DEAL);
  if (created.isError) {
    const listed = await call("list_deals", { contact_id: DEAL.contact_id });
    const exists = JSON.stringify(listed.content).includes(DEAL.title);
    if (!exists || !looksFirst) await call("create_deal", DEAL);
  }
  await client.close();
  return "I created the deal.";
}

async function outcome(world: string, answer: string) {
  const params = { path: { world } };
  const { data, error } = await simulator.control.POST("/worlds/{world}/answer", { params, body: { answer } });
  if (!data) throw new Error(JSON.stringify(error));
  return { outcome: data.outcome, failed: data.verdicts.filter((v) => v.outcome === "failed").map((v) => v.id) };
}

test("the agent looks before it creates the deal again", async () => {
  const answer = await agent(simulator.url("careful"), true);
  expect(await outcome("careful", answer)).toEqual({ outcome: "passed", failed: [] });
});

test("an agent that does not look creates it twice", async () => {
  const answer = await agent(simulator.url("hasty"), false);
  expect((await outcome("hasty", answer)).failed).toContain("one-deal");
});
