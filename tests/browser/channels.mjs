// @ts-check
/** Notification channels: one is added, tested and deleted, with and without scripts; a route; the receipt of a firing. */
import assert from "node:assert/strict";
import { assertAccessible, assertNoSidewaysScroll, environment, ingest, picture, signIn, withPage } from "./harness.mjs";

const SLACK_URL = environment("SLACK_URL");
const alert = environment("ALERT");

/** @typedef {import("playwright-core").Page} Page */

/**
 * Adds a Slack channel from the list of channels.
 * @param {Page} page
 * @param {string} name
 */
async function addSlack(page, name) {
  await page.goto("/settings/channels");
  await page.getByLabel("New channel").selectOption("slack");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByLabel("Name (optional)").fill(name);
  await page.getByLabel("URL").fill(SLACK_URL);
  await page.getByRole("button", { name: "Add channel" }).click();
  await page.getByRole("status").filter({ hasText: `The channel “${name}” is added.` }).waitFor();
  assert.equal(await page.getByText(SLACK_URL).count(), 0, "the secret is shown");
}

/**
 * @param {Page} page
 * @param {string} name
 */
async function deleteChannel(page, name) {
  const channel = page.locator(".channels > li").filter({ hasText: name });
  await channel.getByText("Rename, limit or delete").click();
  await channel.getByRole("button", { name: "Delete channel" }).click();
  await page.getByRole("status").filter({ hasText: "The channel is deleted." }).waitFor();
  assert.equal(await page.locator(".channels > li").filter({ hasText: name }).count(), 0);
}

await withPage({}, async (page) => {
  await signIn(page, environment("EMAIL"));
  await page.goto("/settings/channels/new?type=ntfy");
  await page.getByLabel("Topic").fill("a/b");
  await page.getByRole("button", { name: "Add channel" }).click();
  await page.locator('[id="config.topic-error"]').waitFor();
  await assertAccessible(page);
  await picture(page, "new-channel-1280");

  await addSlack(page, "Trading room");
  await page.getByRole("button", { name: "Send a test Trading room" }).click();
  await page.getByRole("status").filter({ hasText: "Accepted" }).waitFor();
  await assertAccessible(page);
  await picture(page, "channels-1280");

  // Firings go to the channel, and have a receipt.
  const route = page.locator("#route");
  await route.getByLabel("Trading room", { exact: true }).check();
  await route.getByLabel("Position").fill("1");
  await route.getByLabel("Order").selectOption("failover");
  await route.getByLabel("Time for an acknowledgement").fill("15m");
  await route.getByRole("button", { name: "Save the route" }).click();
  await page.getByRole("status").filter({ hasText: "The route is saved." }).waitFor();
  await picture(page, "route-1280");

  // An alert has its own route, which is set in its form.
  await page.goto(`/alerts/${alert}/edit`);
  await page.getByText("Notification", { exact: true }).click();
  await page.getByLabel("Trading room", { exact: true }).check();
  await page.getByLabel("Urgent").check();
  await assertAccessible(page);
  await page.getByLabel("Urgent").scrollIntoViewIfNeeded();
  await picture(page, "builder-notification-1280");
  await page.setViewportSize({ width: 390, height: 900 });
  await assertNoSidewaysScroll(page);
  await assertAccessible(page);
  await page.getByLabel("Urgent").scrollIntoViewIfNeeded();
  await picture(page, "builder-notification-390");
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("Sent during quiet hours, too").waitFor();
  assert.equal(await page.getByText("default route").count(), 0);

  await ingest({ quotes: [{ symbol: "AAPL", price: 106 }] });
  await page.goto(`/alerts/${alert}`);
  const receipts = page.getByRole("region", { name: "Latest firings" });
  await receipts.getByText("Trading room").waitFor();
  await receipts.locator(".state").filter({ hasText: "Accepted" }).waitFor();
  await assertAccessible(page);
  await picture(page, "receipt-1280");
  await page.setViewportSize({ width: 390, height: 900 });
  await receipts.scrollIntoViewIfNeeded();
  await assertNoSidewaysScroll(page);
  await assertAccessible(page);
  await picture(page, "receipt-390");
  await receipts.getByRole("button", { name: "Acknowledge" }).click();
  await receipts.getByText("Acknowledged by").waitFor();
  assert.equal(await receipts.getByRole("button", { name: "Acknowledge" }).count(), 0);

  await page.goto("/settings/channels");
  await page.locator(".channels summary").click();
  await assertNoSidewaysScroll(page);
  await assertAccessible(page);
  await page.locator("#notification-channels").scrollIntoViewIfNeeded();
  await picture(page, "channels-390");
  await page.locator(".channels summary").click();
  await page.locator("#route").scrollIntoViewIfNeeded();
  await picture(page, "route-390");
  await deleteChannel(page, "Trading room");
});

await withPage({ scripts: false, width: 390 }, async (page) => {
  await signIn(page, environment("EMAIL"));
  await addSlack(page, "Without scripts");
  await page.getByRole("button", { name: "Send a test Without scripts" }).click();
  await page.getByRole("status").filter({ hasText: "Accepted" }).waitFor();
  await deleteChannel(page, "Without scripts");
});
