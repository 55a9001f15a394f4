// @ts-check
/** The list of alerts: selection, keys, changes of many alerts, undo, filters in the address. */
import assert from "node:assert/strict";
import { ORIGIN, environment, signIn, withPage } from "./harness.mjs";

const email = environment("EMAIL");

/** @param {import("playwright-core").Page} page */
const rows = (page) => page.locator("tbody tr");

await withPage({}, async (page) => {
  await signIn(page, email);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Alerts" }).click();
  await page.waitForURL(`${ORIGIN}/alerts`);
  assert.equal(await rows(page).count(), 3);

  // By mouse: select one, pause it, undo it. The page is not loaded again.
  await page.evaluate(() => ((/** @type {any} */ (window)).kept = true));
  const first = rows(page).first();
  await first.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("1 alert paused.").waitFor();
  await first.getByText("Paused").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("1 alert is as it was before.").waitFor();
  await first.getByText("Paused").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => (/** @type {any} */ (window)).kept), true, "the page was loaded again");

  // By keyboard: `x` selects, `j` moves, `p` pauses, `u` undoes.
  await first.getByRole("checkbox").focus();
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  assert.equal(await page.locator("td.pick input:checked").count(), 2);
  await page.keyboard.press("p");
  await page.getByText("2 alerts paused.").waitFor();
  await rows(page).first().getByRole("checkbox").focus();
  await page.keyboard.press("u");
  await page.getByText("2 alerts are as they were before.").waitFor();

  // Keys do nothing in an input.
  await page.getByLabel("Search", { exact: true }).fill("pux");
  assert.equal(await page.getByLabel("Search", { exact: true }).inputValue(), "pux");

  // Delete, and undo restores the alert with its id.
  await page.goto("/alerts");
  const id = (await rows(page).first().getAttribute("id")) ?? "";
  await rows(page).first().getByRole("checkbox").check();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("1 alert deleted.").waitFor();
  assert.equal(await page.locator(`#${id}`).count(), 0);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(`#${id}`).waitFor();

  // Filters are in the address; back and forward work.
  await page.getByLabel("Status").selectOption("paused");
  await page.waitForURL(/status=paused/);
  await page.getByText("No alert matches these filters.").waitFor();
  await page.goBack();
  await page.waitForURL(`${ORIGIN}/alerts`);
  await rows(page).first().waitFor();
  await page.goForward();
  await page.getByText("No alert matches these filters.").waitFor();
});

// A change of all alerts of all pages ends that selection, so that the next change concerns the selected alert alone.
await withPage({}, async (page) => {
  await signIn(page, email);
  await page.goto("/alerts");
  const statuses = await page.evaluate(async () => {
    const create = (/** @type {number} */ threshold) =>
      fetch("/api/v1/alerts", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ symbol: "AAPL", condition: "price_above", threshold }),
      }).then((response) => response.status);
    return Promise.all(Array.from({ length: 60 }, (_, place) => create(5_000 + place)));
  });
  assert.deepEqual([...new Set(statuses)], [201]);
  await page.goto("/alerts");
  await page.locator("input[name=all]").check();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("63 alerts paused.").waitFor();
  await rows(page).first().getByRole("checkbox").check();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("1 alert deleted.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("1 alert is as it was before.").waitFor();
  await page.locator("input[name=all]").check();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("63 alerts resumed.").waitFor();
});

// Without scripts the same works with whole pages.
await withPage({ scripts: false }, async (page) => {
  await signIn(page, email);
  await page.goto("/alerts");
  await rows(page).first().getByRole("checkbox").check();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("1 alert paused.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("1 alert is as it was before.").waitFor();
});

// By touch on a phone.
await withPage({ width: 390, touch: true }, async (page) => {
  await signIn(page, email);
  await page.goto("/alerts");
  await rows(page).nth(1).getByRole("checkbox").tap();
  await page.getByRole("button", { name: "Snooze" }).tap();
  await page.getByText("1 alert snoozed until").waitFor();
  await page.getByRole("button", { name: "Undo" }).tap();
  await page.getByText("1 alert is as it was before.").waitFor();
});
