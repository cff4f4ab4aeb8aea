// The official clients in a page of another origin: connect, list the tools, call one, and report what came back.

import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";

const url = location.search.slice(1);

async function meet(Client, Transport, world) {
  const client = new Client({ name: "page", version: "1.0.0" });
  await client.connect(new Transport(new URL(`${url}${world}/mcp`)));
  const { tools } = await client.listTools();
  const result = await client.callTool({ name: "get_deal", arguments: { deal_id: "deal_0001" } });
  await client.close();
  return { tools: tools.length, id: JSON.parse(result.content[0].text).id, failed: result.isError === true };
}

async function report() {
  const reports = {};
  for (const [name, ...client] of [["sdk 1", Client1, Transport1, "a"], ["client 2", Client2, Transport2, "b"]]) {
    reports[name] = await meet(...client).catch((failure) => String(failure));
  }
  await fetch("/", { method: "POST", body: JSON.stringify(reports) });
}

void report();
