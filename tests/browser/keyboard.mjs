// @ts-check
/** A walk through the demo with the keyboard alone: from the link to the sign-out. Each stop of the focus can be seen. */
import assert from "node:assert/strict";
import { ORIGIN, withPage } from "./harness.mjs";

/** The largest number of stops from the place of the focus to what a person looks for. */
const MAX_STOPS = 60;

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
 * Presses Tab until the focus is on an element with a name.
 * @param {Page} page
 * @param {RegExp} name
 * @param {"Tab" | "Shift+Tab"} key
 */
async function tabTo(page, name, key = "Tab") {
  const stops = [];
  while (stops.length < MAX_STOPS) {
    await page.keyboard.press(key);
    const stop = await focused(page);
    if (name.test(stop)) return;
    stops.push(stop);
  }
  assert.fail(`no stop ${name} at ${page.url()}: ${stops.join(" | ")}`);
}

/**
 * Presses Tab until the focus is on a link within an element. The links may change meanwhile.
 * @param {Page} page
 * @param {string} selector
 */
async function tabInto(page, selector) {
  const stops = [];
  while (stops.length < MAX_STOPS) {
    await page.keyboard.press("Tab");
    stops.push(await focused(page));
    if (await page.evaluate((within) => document.activeElement?.matches(`${within} a`) ?? false, selector)) return;
  }
  assert.fail(`no link in ${selector} at ${page.url()}: ${stops.join(" | ")}`);
}

/**
 * Goes to a section by the command palette, which needs no way out of a long page.
 * @param {Page} page
 * @param {string} section
 */
async function goTo(page, section) {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(section);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${ORIGIN}/${section.toLowerCase()}`);
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

await withPage({}, async (page) => {
  await page.goto("/demo");
  // The first stop skips the navigation.
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to content");
  await page.keyboard.press("Enter");

  // An alert is found, opened and read.
  await tabInto(page, "#nearest");
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
  await tabTo(page, /^Select /);
  await tabTo(page, /^Select /);
  await page.keyboard.press("x");
  await page.keyboard.press("p");
  await page.getByText("1 alert paused.").waitFor();
  assert.match(await focused(page), /^Select /);
  await page.keyboard.press("u");
  await page.getByText("1 alert is as it was before.").waitFor();
  assert.match(await focused(page), /^Select /);

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

  // Firings are marked as seen, and an ended alert is armed again.
  await page.locator("#unseen:not([hidden])").waitFor({ timeout: 60_000 });
  await goTo(page, "Fired");
  await tabTo(page, /^Mark as seen$/);
  await send(page);
  await page.locator("article").first().waitFor();
  await tabTo(page, /^Re-arm$/);
  await send(page);
  await page.getByText(/is armed again|would fire/).first().waitFor();

  // The menu has the sign-out.
  await tabTo(page, /^Account$/, "Shift+Tab");
  await page.keyboard.press("Enter");
  await tabTo(page, /^Sign out$/);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${ORIGIN}/sign-in`);
});
