// @ts-check
/** The demo: its link signs in, and the budgets of the start page hold with an empty cache, in the best of three visits. */
import assert from "node:assert/strict";
import { ORIGIN, withPage } from "./harness.mjs";

/** The largest transfer of the start page, in bytes, with headers. */
const MAX_TRANSFER = 102_400;
/** The longest time until the document is there, in milliseconds. */
const MAX_CONTENT_LOADED = 300;
/** The longest task of the page, in milliseconds. Chromium reports tasks from this length on. */
const MAX_TASK = 50;
const VISITS = 3;

/** @type {{transferred: number, loaded: number, longest: number}[]} */
const visits = [];
for (let visit = 0; visit < VISITS; visit += 1) {
  await withPage({}, async (page) => {
    let transferred = 0;
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    session.on("Network.loadingFinished", (event) => {
      transferred += event.encodedDataLength;
    });
    await page.addInitScript(() => {
      const tasks = /** @type {number[]} */ ([]);
      Object.assign(window, { longTasks: tasks });
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask", buffered: true });
    });
    await page.goto("/demo", { waitUntil: "load" });
    await page.getByRole("heading", { name: "Today" }).waitFor();
    const atLoad = transferred;
    await page.waitForFunction(() => document.documentElement.dataset["live"] === "on");
    const { loaded, longest } = await page.evaluate(() => {
      const [navigation] = performance.getEntriesByType("navigation");
      const entry = /** @type {PerformanceNavigationTiming} */ (navigation);
      return { loaded: entry.domContentLoadedEventEnd, longest: Math.max(0, .../** @type {any} */ (window).longTasks) };
    });
    visits.push({ transferred: atLoad, loaded, longest });
    assert.equal(page.url(), `${ORIGIN}/`);

    // A page of another site whose name resolves to this machine has no session to steal.
    const refused = await page.request.get(`${ORIGIN}/demo`, { headers: { host: "evil.example" }, maxRedirects: 0 });
    assert.equal(refused.status(), 403);
  });
}
const best = (/** @type {(visit: (typeof visits)[number]) => number} */ figure) => Math.min(...visits.map(figure));
const report = JSON.stringify(visits);
assert.ok(best((visit) => visit.transferred) > 5_000 && best((visit) => visit.transferred) <= MAX_TRANSFER, report);
assert.ok(best((visit) => visit.loaded) <= MAX_CONTENT_LOADED, report);
assert.ok(best((visit) => visit.longest) <= MAX_TASK, report);
