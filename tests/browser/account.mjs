// @ts-check
/** What a person takes along, and how it leaves: printed pages, the export of an account, its deletion. */
import assert from "node:assert/strict";
import { ORIGIN, environment, fillCredentials, signIn, withPage } from "./harness.mjs";

const email = environment("EMAIL");
/** The width of a sheet (A4) between its margins, in pixels. */
const SHEET_WIDTH = 700;

// Each screen prints its content alone, in dark letters, and within the width of the sheet.
await withPage({ theme: "dark" }, async (page) => {
  await signIn(page, email);
  for (const path of ["/", "/alerts", "/fired", "/deliveries", "/watchlist", "/stocks/AAPL", "/alerts/new?text=AAPL+%3C+90", "/settings/keys"]) {
    await page.goto(path);
    const chart = page.locator("price-chart canvas, rule-chart canvas").first();
    const hasChart = path.startsWith("/stocks") || path.startsWith("/alerts/new");
    if (hasChart) await chart.waitFor();
    await page.setViewportSize({ width: SHEET_WIDTH, height: 900 });
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.getByRole("navigation", { name: "Main" }).isVisible(), false, `${path} prints the navigation`);
    assert.equal(await page.getByRole("heading", { level: 1 }).isVisible(), true, path);
    const printed = await page.evaluate(() => ({
      color: getComputedStyle(document.body).color,
      width: document.documentElement.scrollWidth,
      scrolling: [...document.querySelectorAll(".scroll, #check")].filter((element) => getComputedStyle(element).overflowX !== "visible").length,
      buttons: [...document.querySelectorAll("main button:not(.level)")].filter((button) => button.checkVisibility()).length,
      chart: [...document.querySelectorAll(".canvas")].map((canvas) => (canvas.firstElementChild?.scrollWidth ?? 0) - canvas.clientWidth),
    }));
    assert.equal(printed.color, "rgb(0, 0, 0)", path);
    assert.ok(printed.width <= SHEET_WIDTH, `${path} is ${printed.width} wide`);
    assert.equal(printed.scrolling, 0, `${path} cuts its tables`);
    assert.equal(printed.buttons, 0, `${path} prints buttons`);
    assert.ok(printed.chart.every((excess) => excess <= 0), `${path} cuts its chart by ${printed.chart}`);
    if (hasChart) assert.equal(await chart.isVisible(), true, path);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen" });
    await page.setViewportSize({ width: 1280, height: 900 });
  }
});

// The export has the account's data. The deletion needs its word, and ends the account.
await withPage({}, async (page) => {
  await signIn(page, email);
  await page.goto("/settings/account");
  const link = page.locator('a[href$="/user/account/export"]');
  const exported = await link.evaluate(async (element) => (await fetch(element.getAttribute("href") ?? "")).json());
  assert.equal(exported.data.account.email, email);
  assert.ok(exported.data.alerts.length > 0, "the export has the alerts");
  const confirmation = page.locator("#confirmation");
  await confirmation.fill("yes");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.locator("#confirmation-error").waitFor();
  await confirmation.fill("DELETE");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(`${ORIGIN}/sign-in`);
  await fillCredentials(page, email);
  await page.getByRole("alert").waitFor();
});
