// @ts-check
/** Live redraws keep the focus, an open menu, a selection, typed text and the scroll position on each live screen. */
import assert from "node:assert/strict";
import { environment, ingest, signIn, withPage } from "./harness.mjs";

/**
 * @typedef {import("playwright-core").Page} Page
 * @typedef {import("playwright-core").Locator} Locator
 */

const REPEATING = environment("REPEATING");
/** The price of the last firing. Each firing has a price of its own, by which the page shows it. */
let lastPrice = 106;

/** @param {number} price */
const quote = (price) => ingest({ quotes: [{ symbol: "AAPL", price }] });

/** Lets the repeating alert fire, and returns the price as the pages show it. */
async function fire() {
  await quote(101);
  lastPrice += 1;
  await quote(lastPrice);
  return `${lastPrice}.00`;
}

/**
 * Creates an alert that fires once, and returns its id.
 * @param {Page} page
 * @param {number} threshold
 */
async function createAlert(page, threshold) {
  await quote(101);
  return await page.evaluate(async (threshold) => {
    const body = JSON.stringify({ symbol: "AAPL", condition: "price_above", threshold });
    const response = await fetch("/api/v1/alerts", { method: "POST", headers: { "content-type": "application/json" }, body });
    return /** @type {string} */ ((await response.json()).data.id);
  }, threshold);
}

/** @param {Page} page */
const isLive = (page) => page.waitForFunction(() => document.documentElement.dataset["live"] === "on");

/**
 * Opens a page with live events.
 * @param {Page} page
 * @param {string} path
 */
async function open(page, path) {
  await page.goto(path);
  await isLive(page);
}

/**
 * Describes a control by what it does: its address or value, and the row that it belongs to.
 * @param {Element} element
 */
function describe(element) {
  const row = element.closest("li, tr, article");
  const parts = [
    element.tagName,
    element.getAttribute("href") ?? element.getAttribute("value"),
    row?.querySelector("a[href*='/alerts/']")?.getAttribute("href"),
    row?.querySelector(".figure:not([data-quote])")?.textContent,
  ];
  return parts.join(" ");
}

/**
 * Asserts that a control has the focus before and after a redraw, and that it does the same.
 * @param {Page} page
 * @param {Locator} control
 * @param {() => Promise<unknown>} redraw ends when the page shows the event
 */
async function assertKeepsFocus(page, control, redraw) {
  await control.focus();
  const element = /** @type {import("playwright-core").ElementHandle<HTMLElement>} */ (await control.elementHandle());
  const before = await element.evaluate(describe);
  await redraw();
  const focused = await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200));
  assert.ok(await element.evaluate((element) => element === document.activeElement), `${page.url()}: ${before} lost the focus to ${focused}`);
  assert.equal(await element.evaluate(describe), before, `${page.url()}: the control with the focus became another one`);
}

/** @param {Page} page */
async function today(page) {
  await quote(101);
  await open(page, "/");
  // The prices change the order of the nearest alerts, below an open menu.
  const rows = page.locator("#nearest li");
  await page.locator("details.menu summary").click();
  await assertKeepsFocus(page, rows.filter({ hasText: "90" }).getByRole("link"), async () => {
    assert.equal(await rows.first().filter({ hasText: "90" }).count(), 0);
    await quote(91);
    await rows.first().filter({ hasText: "90" }).waitFor();
  });
  assert.ok(await page.locator("details.menu").evaluate((menu) => /** @type {HTMLDetailsElement} */ (menu).open), "the menu has closed");
  // A firing comes before the earlier ones.
  const price = await fire();
  const firings = page.locator("#today li.firing", { has: page.locator(`a[href$="${REPEATING}"]`) });
  await firings.filter({ hasText: price }).waitFor();
  await assertKeepsFocus(page, firings.filter({ hasText: price }).getByRole("link"), async () => {
    await firings.filter({ hasText: await fire() }).waitFor();
  });
}

/** @param {Page} page */
async function alerts(page) {
  const once = await createAlert(page, 105.25);
  await open(page, "/alerts?status=active");
  const box = (/** @type {string} */ id) => page.locator(`#alert-${id} input[type=checkbox]`);
  const [first, , last] = await page.locator("tbody input[type=checkbox]").all();
  assert.ok(first && last);
  await box(REPEATING).check();
  // A row of another alert disappears.
  await assertKeepsFocus(page, box(REPEATING), async () => {
    await fire();
    await page.locator(`#alert-${once}`).waitFor({ state: "detached" });
  });
  assert.ok(await box(REPEATING).isChecked(), "the selection is lost");

  // The row with the focus disappears: the focus moves to the row that follows, or to the last one.
  const next = await createAlert(page, 105.25);
  await page.reload();
  await isLive(page);
  await box(next).focus();
  const ids = await page.locator("tbody input[type=checkbox]").evaluateAll((boxes) => boxes.map((box) => /** @type {HTMLInputElement} */ (box).value));
  const place = ids.indexOf(next);
  await fire();
  await page.locator(`#alert-${next}`).waitFor({ state: "detached" });
  const row = await page.evaluate(() => document.activeElement?.closest("tr")?.id);
  assert.equal(row, `alert-${ids[place + 1] ?? ids[place - 1]}`);
}

/** @param {Page} page */
async function fired(page) {
  await createAlert(page, 105.25);
  await fire();
  for (let count = 0; count < 3; count += 1) await fire();
  await open(page, "/fired");
  const article = page.locator("article", { has: page.getByRole("button", { name: "Re-arm" }) }).first();
  const level = article.getByRole("spinbutton", { name: "New level" });
  await level.fill("123.5");
  // Above the messages about firings, which would scroll the page to uncover the focus.
  await article.evaluate((article) => window.scrollBy(0, article.getBoundingClientRect().top - 150));
  const top = (await level.boundingBox())?.y ?? 0;
  assert.ok((await page.evaluate(() => window.scrollY)) > 0, "the page is too short for the test");
  await assertKeepsFocus(page, level, async () => page.locator("article").first().filter({ hasText: await fire() }).waitFor());
  assert.equal(await level.inputValue(), "123.5");
  const moved = ((await level.boundingBox())?.y ?? 0) - top;
  assert.ok(Math.abs(moved) < 3, `the row has moved by ${moved} in the window`);
  // Typed text stays without the focus, too.
  const selected = await article.evaluate((article) => {
    const text = article.querySelector("p")?.firstChild;
    if (text) window.getSelection()?.selectAllChildren(text.parentNode ?? text);
    return String(window.getSelection());
  });
  assert.notEqual(selected, "");
  await assertKeepsFocus(page, article.getByRole("button", { name: "Re-arm" }), async () => {
    await page.locator("article").first().filter({ hasText: await fire() }).waitFor();
  });
  assert.equal(await level.inputValue(), "123.5");
  assert.equal(await page.evaluate(() => String(window.getSelection())), selected);

  // The alert is armed again elsewhere: its row takes the focus, so that Enter reaches no other control.
  const row = await article.getAttribute("id");
  const id = await article.locator("input[name=alert]").inputValue();
  await quote(101);
  const status = await page.evaluate(async (id) => (await fetch(`/api/v1/alerts/${id}/activate`, { method: "POST" })).status, id);
  assert.equal(status, 200);
  await fire();
  await page.locator(`#${row} button`).waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement?.id), row);
}

/** @param {Page} page */
async function stock(page) {
  const once = await createAlert(page, 105.25);
  await open(page, "/stocks/AAPL");
  const row = page.locator("#alerts-of-stock li", { has: page.locator(`a[href$="${once}"]`) });
  await assertKeepsFocus(page, row.getByRole("link"), async () => {
    const before = await row.innerText();
    await fire();
    await page.waitForFunction(
      ([id, text]) => document.querySelector(`#alerts-of-stock a[href$="${id}"]`)?.closest("li")?.innerText !== text,
      /** @type {const} */ ([once, before]),
    );
  });
  // The level of an alert that fires cannot be moved any more, but it keeps the focus.
  await createAlert(page, 105.25);
  await page.reload();
  await isLive(page);
  const level = page.getByRole("slider", { name: "Alert level 105.25" });
  await assertKeepsFocus(page, level, async () => {
    await fire();
    await page.locator(".level.fired[aria-label$=' 105.25']").waitFor();
  });
}

/** @param {Page} page */
async function alert(page) {
  await open(page, `/alerts/${REPEATING}`);
  await assertKeepsFocus(page, page.getByRole("button", { name: "Pause" }), async () => {
    await page.locator("#alert-live li.firing", { hasText: await fire() }).waitFor();
  });
  // A button that is gone gives the focus to the one in its place, and does not become it.
  await open(page, `/alerts/${await createAlert(page, 105.25)}`);
  await page.getByRole("button", { name: "Pause" }).focus();
  await fire();
  await page.getByRole("button", { name: "Re-arm" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Re-arm");
}

// Browsers without `moveBefore` take the focus from an element that moves.
for (const hasMoveBefore of [true, false]) {
  await withPage({}, async (page) => {
    if (!hasMoveBefore) {
      await page.addInitScript(() => {
        delete (/** @type {any} */ (Element.prototype).moveBefore);
      });
    }
    await signIn(page, environment("EMAIL"));
    for (const screen of [today, alerts, fired, stock, alert]) await screen(page);
  });
}
