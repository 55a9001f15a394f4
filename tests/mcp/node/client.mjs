// node client.mjs sdk1|client2 legacy|modern key|oauth: calls every tool with a published client.
import assert from "node:assert/strict";
import * as v1 from "@modelcontextprotocol/sdk/client/index.js";
import * as v1http from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as v2 from "@modelcontextprotocol/client";
import { App } from "./app.mjs";
import { walk } from "./walk.mjs";

const [library, era, credentials] = process.argv.slice(2);
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
  const authorization = app.authorizationUrl.searchParams;
  assert.equal(authorization.get("scope"), "alerts:read alerts:write watchlist:read watchlist:write", "the first challenge names all scopes");
  assert.equal(authorization.get("resource"), url.href);
  const redirect = app.redirect.searchParams;
  assert.equal(redirect.get("state"), "a-state-of-its-own");
  assert.equal(redirect.get("iss"), url.origin);
  await first.finishAuth(library === "sdk1" ? redirect.get("code") : redirect);
  assert.ok(app.tokens().access_token.startsWith("mcp_at_"));
  const connected = client();
  await connected.connect(new StreamableHTTPClientTransport(url, { authProvider: app }));
  return { connected, app };
}

if (credentials === "key") {
  const connected = await byKey();
  await walk(connected);
  await connected.close();
} else {
  const { connected, app } = await byOAuth();
  await walk(connected);
  await connected.close();
  // An expired access token: the client gets a new one automatically.
  const before = app.tokens();
  app.saveTokens({ ...before, access_token: `mcp_at_${"A".repeat(43)}` });
  const again = client();
  await again.connect(new StreamableHTTPClientTransport(url, { authProvider: app }));
  await again.listTools();
  assert.notEqual(app.tokens().refresh_token, before.refresh_token, "refresh tokens rotate");
  await again.close();
}
console.log(`${library} ${era} ${credentials}: passed`);
