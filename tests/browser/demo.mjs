// @ts-check
/** The demo: its link signs in, and the budgets of the start page hold. */
import assert from "node:assert/strict";
import { ORIGIN, withPage } from "./harness.mjs";

/** The largest transfer of the start page with an empty cache, in bytes, with headers. */
const MAX_TRANSFER = 102_400;

await withPage({}, async (page) => {
  let transferred = 0;
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.loadingFinished", (event) => {
    transferred += event.encodedDataLength;
  });
  await page.goto("/demo");
  await page.waitForURL(`${ORIGIN}/`);
  await page.getByRole("heading", { name: "Today" }).waitFor();
  await page.waitForLoadState("networkidle");
  assert.ok(transferred > 5_000 && transferred <= MAX_TRANSFER, `${transferred} bytes`);

  // A page of another site whose name resolves to this machine has no session to steal.
  const refused = await page.request.get(`${ORIGIN}/demo`, { headers: { host: "evil.example" }, maxRedirects: 0 });
  assert.equal(refused.status(), 403);
});
