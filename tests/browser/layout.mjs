// @ts-check
/** The builder keeps its layout: what arrives later has its place, and the control with the focus stays in sight. */
import assert from "node:assert/strict";
import { withPage } from "./harness.mjs";

/** @typedef {import("playwright-core").Page} Page */

/** Rules with short and long previews, with warnings, with an error, and none. */
const RULES = ["<= 100", "price < 85 and rsi < 30", "rsi < 40", "prise < 3", "price < 0.97 * sma(50)", "change_pct < -2", ""];

/**
 * Records the layout shifts of each page, also those after an input. The messages about firings may arrive at any time; they are above
 * the page.
 * @param {Page} page
 */
async function recordShifts(page) {
  await page.addInitScript(() => {
    const shifts = /** @type {string[]} */ ([]);
    Object.assign(window, { shifts });
    const describe = (/** @type {any} */ { node, previousRect, currentRect }) => {
      const element = node instanceof Element ? node : node?.parentElement;
      if (!element || element.closest("#firings")) return [];
      return [`${element.id || element.outerHTML.slice(0, 80)} from ${previousRect.y} to ${currentRect.y}`];
    };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push(.../** @type {any} */ (entry).sources.flatMap(describe));
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** @param {Page} page */
const shiftsOf = (page) => page.evaluate(() => /** @type {string[]} */ (/** @type {any} */ (window).shifts));

/** @param {Page} page */
async function symbolOfDemo(page) {
  await page.goto("/demo");
  return (await page.locator("#nearest [data-symbol]").first().getAttribute("data-symbol")) ?? "";
}

/**
 * Returns the price of a stock of the demo.
 * @param {Page} page
 * @param {string} symbol
 */
async function priceOf(page, symbol) {
  await page.goto(`/stocks/${symbol}`);
  return Number((await page.locator(`[data-quote="${symbol}"]`).first().innerText()).replaceAll(",", ""));
}

/**
 * Replaces the rule, with the focus where it is, and waits until the page shows the answer.
 * @param {Page} page
 * @param {string} rule
 */
async function replaceRule(page, rule) {
  await page.locator("#rule").evaluate(async (input, rule) => {
    const swapped = new Promise((resolve) => document.addEventListener("htmx:after:swap", resolve, { once: true }));
    /** @type {HTMLTextAreaElement} */ (input).value = rule;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await swapped;
    // The chart follows in the next frames.
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  }, rule);
}

for (const width of [1280, 390]) {
  await withPage({ width }, async (page) => {
    await recordShifts(page);
    const symbol = await symbolOfDemo(page);
    const text = encodeURIComponent(`${symbol} price < 100000`);
    for (const address of ["/alerts/new", `/alerts/new?text=${text}`]) {
      await page.goto(address);
      await page.waitForFunction(() => document.documentElement.dataset["live"] === "on");
      if (address.includes("text")) await page.locator("rule-chart canvas").first().waitFor();
      assert.deepEqual(await shiftsOf(page), [], `${address} jumps at ${width}`);
    }
  });
}

// The sentence, the preview and the chart of each rule have the same place, and the control with the focus stays in sight.
for (const width of [1280, 390]) {
  await withPage({ width }, async (page) => {
    const symbol = await symbolOfDemo(page);
    const price = await priceOf(page, symbol);
    // Levels that the price has passed, on both sides: they have the longest previews.
    const rules = [...RULES, `<= ${(price * 1.03).toFixed(2)}`, `>= ${(price * 0.97).toFixed(2)}`];
    await page.goto("/alerts/new");
    await page.locator("#tags").focus();
    const placeOfNote = () => page.locator("#note").evaluate((note) => Math.round(note.getBoundingClientRect().top + window.scrollY));
    const place = await placeOfNote();
    for (const rule of rules) {
      await page.locator("#tags").evaluate((input) => input.scrollIntoView({ block: "end" }));
      await replaceRule(page, rule === "" ? "" : `${symbol} ${rule}`);
      assert.equal(await placeOfNote(), place, `"${rule}" moves what is below the preview at ${width}`);
      const isSeen = await page.locator("#tags").evaluate((input) => {
        const box = input.getBoundingClientRect();
        return input === document.activeElement && box.top > -1 && box.bottom < window.innerHeight + 1;
      });
      assert.ok(isSeen, `"${rule}" moves the focus out of sight at ${width}`);
    }
  });
}

// A message about a firing moves nothing, neither when it appears nor when it is closed.
await withPage({}, async (page) => {
  await recordShifts(page);
  await symbolOfDemo(page);
  await page.goto("/settings/channels");
  await page.waitForFunction(() => document.documentElement.dataset["live"] === "on");
  const place = () => page.evaluate(() => {
    const box = document.querySelector("main h1")?.getBoundingClientRect();
    return [box?.left, box?.top, document.documentElement.clientWidth];
  });
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
  const before = await place();
  const firing = { alert_id: "00000000-0000-4000-8000-000000000001", symbol: "AAPL", price: 1, reason: "a test" };
  await page.evaluate((detail) => document.dispatchEvent(new CustomEvent("firing", { detail })), firing);
  await page.locator("#firings .notice", { hasText: "a test" }).waitFor();
  assert.deepEqual(await place(), before, "the message moves the page");
  await page.keyboard.press("Escape");
  await page.locator("#firings .notice", { hasText: "a test" }).waitFor({ state: "detached" });
  assert.deepEqual(await place(), before, "closing the message moves the page");
  assert.deepEqual(await shiftsOf(page), []);
});
