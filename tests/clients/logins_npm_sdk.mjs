// npm @modelcontextprotocol/sdk: log in as a user whose browser follows redirects, and make five calls.
//
//   node logins_npm_sdk.mjs URL      prints {"calls": ..., "logins": ..., "denials": ...}

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const BACK = "http://127.0.0.1:9/callback";
const MOST_ATTEMPTS = 4; // a wrong audience and a denied consent take three

class Login {
  logins = 0;
  denials = 0;
  redirectUrl = BACK;
  clientMetadata = { client_name: "Tester", redirect_uris: [BACK], token_endpoint_auth_method: "none" };
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.held;
  saveTokens = (tokens) => void (this.held = tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  invalidateCredentials = (scope) => void (scope !== "verifier" && (this.held = undefined));

  async redirectToAuthorization(url) {
    this.logins += 1;
    const response = await fetch(url, { redirect: "manual" });
    const back = new URL(response.headers.get("location"));
    this.code = back.searchParams.get("code");
    if (!this.code) this.denials += 1;
  }
}

const login = new Login();
let client, transport;

async function connected() {
  if (client) return client;
  transport = new StreamableHTTPClientTransport(new URL(process.argv[2]), { authProvider: login });
  const opened = new Client({ name: "my-agent", version: "1.0.0" });
  await opened.connect(transport);
  return (client = opened);
}

async function attempt(act, left = MOST_ATTEMPTS) {
  try {
    return await act();
  } catch (failure) {
    if (!left) throw failure;
    if (login.code) await transport.finishAuth(login.code);
    login.code = undefined;
    return attempt(act, left - 1);
  }
}

let calls = 0;
for (let number = 0; number < 5; number += 1) {
  const result = await attempt(async () =>
    (await connected()).callTool({ name: "get_deal", arguments: { deal_id: "deal_0001" } }),
  );
  calls += result.isError ? 0 : 1;
}
await client.close();
console.log(JSON.stringify({ calls, logins: login.logins, denials: login.denials }));
