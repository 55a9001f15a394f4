// @ts-check
/** A walk through the demo with the keyboard alone: from the link to the sign-out. Each stop of the focus can be seen. */
import assert from "node:assert/strict";
import { ORIGIN, withPage } from "./harness.mjs";

/** What Tab may stop at. */
const STOPS = "a[href], button, input, select, textarea, summary, [tabindex='0']";

/** @typedef {import("playwright-core").Page} Page */

/** How often the focus is looked for while the page is still moving. */
const MAX_LOOKS = 40;

/**
 * Returns the name of the element with the focus, and asserts that a person sees where the focus is.
 * @param {Page} page
 */
async function focused(page) {
  let stop = await describeFocus(page);
  for (let look = 1; look < MAX_LOOKS && stop && !stop.isSeen; look++) {
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    stop = await describeFocus(page);
  }
  if (!stop) return "";
  assert.ok(stop.isSeen, `${page.url()}: the focus on "${stop.name}" is covered or out of sight (${stop.place})`);
  assert.ok(stop.hasOutline, `${page.url()}: the focus on "${stop.name}" has no outline (${stop.place})`);
  return stop.name;
}

/**
 * Describes the element with the focus.
 * @param {Page} page
 */
function describeFocus(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement) || element === document.body) return undefined;
    const box = element.getBoundingClientRect();
    // An element that is larger than the window is seen by its beginning.
    const [x, y] = [box.x + Math.min(box.width / 2, 40), box.y + Math.min(box.height / 2, 20)];
    const top = document.elementFromPoint(x, y);
    const style = getComputedStyle(element);
    const label = element.getAttribute("aria-label") ?? /** @type {any} */ (element).labels?.[0]?.textContent ?? element.textContent ?? "";
    return {
      name: label.trim().replace(/\s+/g, " "),
      isSeen: top !== null && (element.contains(top) || top.contains(element)),
      // The button in an input of a time has an outline of its own, which scripts do not see.
      hasOutline:
        /^(datetime-local|time)$/.test(element.getAttribute("type") ?? "") ||
        (style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2),
      place: `${element.tagName} ${Math.round(box.x)},${Math.round(box.y)}`,
    };
  });
}

/**
 * Returns the number of elements that Tab may stop at. Firings add some while a person walks.
 * @param {Page} page
 */
const countStops = (page) => page.evaluate((stops) => document.querySelectorAll(stops).length, STOPS);

/**
 * Presses Tab until the focus is on an element with a name: at most once around the page.
 * @param {Page} page
 * @param {RegExp} name
 * @param {{key?: "Tab" | "Shift+Tab", within?: string, row?: RegExp}} options `within`: a selector of the part with the element; `row`:
 * the text of its row
 */
async function tabTo(page, name, { key = "Tab", within = "body", row = /(?:)/ } = {}) {
  const stops = [];
  // Between its last and its first element the page gives the focus to the browser.
  while (stops.length <= (await countStops(page)) + 1) {
    await page.keyboard.press(key);
    const stop = await focused(page);
    const isWithin = await page.evaluate((within) => Boolean(document.activeElement?.closest(within)), within);
    const text = await page.evaluate(() => document.activeElement?.closest("article")?.textContent ?? "");
    if (isWithin && name.test(stop) && row.test(text)) return;
    stops.push(stop);
    assert.ok(stops.filter((stop) => stop === "").length <= 1, `${page.url()} lost the focus: ${stops.join(" | ")}`);
  }
  assert.fail(`no stop ${name} of ${row} in ${within} at ${page.url()}: ${stops.join(" | ")}`);
}

/**
 * Goes to a section by the command palette, which needs no way out of a long page.
 * @param {Page} page
 * @param {string} section
 * @param {string} path
 */
async function goTo(page, section, path = `/${section.toLowerCase()}`) {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(section);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${ORIGIN}${path}`);
}

/**
 * Presses Enter on a button whose form leads to a new page.
 * @param {Page} page
 */
async function send(page) {
  const loaded = page.waitForEvent("load");
  await page.keyboard.press("Enter");
  await loaded;
}

/**
 * Types into the search box and sends it.
 * @param {Page} page
 * @param {string} text
 */
async function search(page, text) {
  await tabTo(page, /^Search or add$/);
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

/**
 * Requests an alert as an agent.
 * @param {string} key
 * @param {string} symbol
 * @param {number} threshold
 */
async function requestAlert(key, symbol, threshold) {
  const params = { name: "create_alert", arguments: { symbol, condition: "price_below", threshold } };
  const response = await fetch(`${ORIGIN}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  const { result } = await response.json();
  assert.ok(result?.structuredContent?.approval?.id, JSON.stringify(result));
}

await withPage({}, async (page) => {
  await page.goto("/demo");
  // The first stop skips the navigation.
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to content");
  await page.keyboard.press("Enter");

  // An alert is found, opened and read.
  await page.locator("#nearest [data-symbol] a").first().waitFor();
  await tabTo(page, /./, { within: "#nearest [data-symbol]" });
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/alerts\/[0-9a-f-]{36}$/);
  const symbol = (await page.locator("#main [data-quote]").first().getAttribute("data-quote")) ?? "";
  await page.getByRole("region", { name: "Why" }).waitFor();

  // A rule in the search box becomes an alert.
  const price = Number(await page.locator(`[data-quote="${symbol}"]`).first().innerText());
  const level = (price * 0.8).toFixed(2);
  await search(page, `${symbol} <= ${level}`);
  await page.waitForURL(/\/alerts\/new\?text=/);
  await page.getByRole("status", { name: "Sentence" }).getByText(level).waitFor();
  await tabTo(page, /^Create alert$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/alerts\/[0-9a-f-]{36}$/);

  // Its pause is undone.
  await tabTo(page, /^Pause$/);
  await page.keyboard.press("Enter");
  await page.getByText("1 alert paused.").waitFor();
  await tabTo(page, /^Undo$/);
  await page.keyboard.press("Enter");
  await page.getByText("1 alert is as it was before.").waitFor();

  // A level is moved on the chart of the stock.
  await search(page, symbol);
  await page.waitForURL(`${ORIGIN}/stocks/${symbol}`);
  await page.getByRole("slider", { name: `Alert level ${level}` }).waitFor();
  await tabTo(page, new RegExp(`^Alert level ${level}$`));
  const before = await focused(page);
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await focused(page), before);
  await page.keyboard.press("Escape");
  assert.equal(await focused(page), before);

  // In the table single keys select, pause and undo, and the focus stays in the table.
  await tabTo(page, /^Alerts$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${ORIGIN}/alerts`);
  const select = new RegExp(`^Select ${symbol}\\b.*${level}`);
  await tabTo(page, select);
  await page.keyboard.press("x");
  await page.keyboard.press("p");
  await page.getByText("1 alert paused.").waitFor();
  assert.match(await focused(page), select);
  await page.keyboard.press("u");
  await page.getByText("1 alert is as it was before.").waitFor();
  assert.match(await focused(page), select);

  // A delivery is sent again.
  await goTo(page, "Deliveries");
  await tabTo(page, /^Resend$/);
  await page.keyboard.press("Enter");
  await page.getByText("The delivery is sent again.").waitFor();

  // A stock is added to the watchlist.
  await goTo(page, "Watchlist");
  await tabTo(page, /^Symbol$/);
  await page.keyboard.type(symbol);
  await tabTo(page, /^Add$/);
  await page.keyboard.press("Enter");
  await page.getByText(/is on your watchlist|already/).first().waitFor();

  // A setting is changed.
  await goTo(page, "Settings");
  await tabTo(page, /^Full name$/);
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Ann Example");
  await page.keyboard.press("Enter");
  await page.getByText("Your settings are saved.").waitFor();

  // A change that an agent requests is approved.
  await goTo(page, "API keys", "/settings/keys");
  await tabTo(page, /^Name$/);
  await page.keyboard.type("Agent");
  await tabTo(page, /^Create key$/);
  await send(page);
  const key = await page.locator(".secret").innerText();
  await goTo(page, "Agents", "/settings/agents");
  await tabTo(page, /^Changes by agents wait for my approval$/);
  await page.keyboard.press("Space");
  await tabTo(page, /^Save$/);
  await send(page);
  await requestAlert(key, symbol, Number((price * 0.7).toFixed(2)));
  await goTo(page, "Pending approvals", "/approvals");
  await tabTo(page, new RegExp(symbol), { within: "form.approval" });
  const decided = page.waitForEvent("load");
  await page.keyboard.press("y");
  await decided;
  await page.getByText("The change was made.").waitFor();

  // Firings are marked as seen, and an ended alert is armed again.
  await page.locator("#unseen:not([hidden])").waitFor();
  await goTo(page, "Fired");
  await tabTo(page, /^Mark as seen$/);
  await send(page);
  await page.locator("article", { hasText: /P\/E|RSI|average/, has: page.getByRole("button", { name: "Re-arm" }) }).first().waitFor();
  // The demo arms alerts on prices again by itself.
  await tabTo(page, /^Re-arm$/, { row: /P\/E|RSI|average/ });
  await send(page);
  await page.getByText(/is armed again|would fire/).first().waitFor();

  // The menu has the sign-out.
  await tabTo(page, /^Account$/, { key: "Shift+Tab" });
  await page.keyboard.press("Enter");
  await tabTo(page, /^Sign out$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${ORIGIN}/sign-in`);
});
