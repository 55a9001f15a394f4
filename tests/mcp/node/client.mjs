// node client.mjs sdk1|client2 legacy|modern key|oauth
import assert from "node:assert/strict";
import * as v1 from "@modelcontextprotocol/sdk/client/index.js";
import * as v1http from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as v2 from "@modelcontextprotocol/client";
import { App } from "./app.mjs";
import { walk } from "./walk.mjs";

const [library, era, means] = process.argv.slice(2);
const { MCP_URL, API_KEY, EMAIL, PASSWORD } = process.env;
const url = new URL(MCP_URL);
const { Client, StreamableHTTPClientTransport } = library === "sdk1" ? { ...v1, ...v1http } : v2;
const options = library === "sdk1" ? {} : { versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } };

const client = () => new Client({ name: "a published client", version: "1.0.0" }, options);

async function byKey() {
  const connected = client();
  const requestInit = { headers: { authorization: `Bearer ${API_KEY}` } };
  await connected.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return connected;
}

async function byOAuth() {
  const app = new App({ email: EMAIL, password: PASSWORD });
  const first = new StreamableHTTPClientTransport(url, { authProvider: app });
  await assert.rejects(client().connect(first), (error) => error.constructor.name.includes("Unauthorized"));
  const asked = app.asked.searchParams;
  assert.equal(asked.get("scope"), "alerts:read alerts:write watchlist:read watchlist:write", "the first challenge names all");
  assert.equal(asked.get("resource"), url.href);
  const back = app.back.searchParams;
  assert.equal(back.get("state"), "a-state-of-its-own");
  assert.equal(back.get("iss"), url.origin);
  await first.finishAuth(library === "sdk1" ? back.get("code") : back);
  assert.ok(app.tokens().access_token.startsWith("mcp_at_"));
  const connected = client();
  await connected.connect(new StreamableHTTPClientTransport(url, { authProvider: app }));
  return { connected, app };
}

if (means === "key") {
  const connected = await byKey();
  await walk(connected);
  await connected.close();
} else {
  const { connected, app } = await byOAuth();
  await walk(connected);
  await connected.close();
  // An hour later: the access token is worth nothing any more, and the client gets another one by itself.
  const before = app.tokens();
  app.saveTokens({ ...before, access_token: `mcp_at_${"A".repeat(43)}` });
  const again = client();
  await again.connect(new StreamableHTTPClientTransport(url, { authProvider: app }));
  await again.listTools();
  assert.notEqual(app.tokens().refresh_token, before.refresh_token, "refresh tokens rotate");
  await again.close();
}
console.log(`${library} ${era} ${means}: passed`);
