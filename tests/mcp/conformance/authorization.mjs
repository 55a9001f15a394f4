// node authorization.mjs FOLDER: registers an app and runs the conformance suite's scenarios for authorization servers with it. A
// simulated user (person.mjs) performs the browser steps that the suite requests.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { authorize } from "../node/person.mjs";

const { ISSUER, EMAIL, PASSWORD, SUITE } = process.env;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const port = await freePort();
const registered = await fetch(`${ISSUER}/oauth/register`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    client_name: "The conformance suite",
    redirect_uris: [`http://127.0.0.1:${port}/callback`],
    token_endpoint_auth_method: "none",
  }),
});
const { client_id } = await registered.json();
const options = ["--url", ISSUER, "--client-id", client_id, "--resource", `${ISSUER}/mcp`, "--port", String(port), "-o", process.argv[2]];
const suite = spawn(process.execPath, [SUITE, "authorization", ...options], { stdio: ["ignore", "pipe", "inherit"] });
let output = "";
let isAuthorized = false;
suite.stdout.on("data", async (text) => {
  output += text;
  const url = /^https?:\/\/\S*\/oauth\/authorize\?\S+/m.exec(output)?.[0];
  if (url && !isAuthorized && output.includes("Waiting")) {
    isAuthorized = true;
    await fetch(await authorize(url, { email: EMAIL, password: PASSWORD }));
  }
});
suite.on("exit", (code) => {
  console.log(output);
  process.exit(code || (isAuthorized ? 0 : 1));
});
