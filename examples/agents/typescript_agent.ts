// An agent in TypeScript, on the official MCP client and any endpoint with OpenAI's chat completions:
// `npm install @modelcontextprotocol/sdk`, then `node typescript_agent.ts` (Node.js 22.18 or newer).

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

type ToolCall = { id: string; function: { name: string; arguments: string } };
type Message = { role: string; content: string | null; tool_calls?: ToolCall[]; tool_call_id?: string };

const { MCP_SIM_URL, MCP_SIM_TASK, MODEL = "gpt-5-mini", OPENAI_API_KEY } = process.env;
const base = process.env.OPENAI_BASE_URL ?? "https://api.openai.com/v1";

const crm = new Client({ name: "typescript-agent", version: "1.0.0" });
await crm.connect(new StreamableHTTPClientTransport(new URL(MCP_SIM_URL!)));
const listed = await crm.listTools();
const tools = listed.tools.map(({ name, description, inputSchema }) => ({
  type: "function",
  function: { name, description, parameters: inputSchema },
}));

async function ask(messages: Message[]): Promise<Message> {
  const response = await fetch(`${base}/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model: MODEL, messages, tools }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { choices: { message: Message }[] }).choices[0].message;
}

const messages: Message[] = [{ role: "user", content: MCP_SIM_TASK! }];
for (;;) {
  const reply = await ask(messages);
  messages.push(reply);
  if (!reply.tool_calls?.length) {
    console.log(reply.content);
    break;
  }
  for (const call of reply.tool_calls) {
    const result = await crm.callTool({ name: call.function.name, arguments: JSON.parse(call.function.arguments) });
    messages.push({ role: "tool", tool_call_id: call.id, content: JSON.stringify(result.content) });
  }
}
await crm.close();
