// aimock's MCP server, which answers with one constant text per tool: for `over_http.py --beside`.
//
// node aimock_server.mjs TOOLS.json RESULTS.json, in a folder where @copilotkit/aimock is installed.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { MCPMock } = createRequire(join(process.cwd(), "package.json"))("@copilotkit/aimock");
const [tools, results] = process.argv.slice(2, 4).map((name) => JSON.parse(readFileSync(name, "utf-8")));

const server = new MCPMock();
for (const { name, description, inputSchema } of tools.tools) {
  const text = JSON.stringify(results[name] ?? null);
  server.addTool({ name, description, inputSchema });
  server.onToolCall(name, () => text);
}
console.error(await server.start());
