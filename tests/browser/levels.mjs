// @ts-check
/** Levels on the chart of a stock: moved by mouse, touch and keys, previewed while they move, flipped across the price. */
import assert from "node:assert/strict";
import { dragByTouch, environment, signIn, withPage } from "./harness.mjs";

/**
 * Returns the stored threshold and condition of the account's price alerts.
 * @param {import("playwright-core").Page} page
 */
async function stored(page) {
  const response = await page.request.get("/api/v1/alerts?symbol=AAPL&limit=100");
  const { data } = await response.json();
  return Object.fromEntries(
    data.filter((/** @type {any} */ alert) => alert.condition.startsWith("price_"))
      .map((/** @type {any} */ alert) => [alert.id, `${alert.condition} ${alert.threshold}`]),
  );
}

/**
 * Waits until an alert is stored so.
 * @param {import("playwright-core").Page} page
 * @param {(values: string[]) => boolean} expected
 */
async function waitForStored(page, expected) {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (expected(Object.values(await stored(page)))) return;
    await page.waitForTimeout(50);
  }
  assert.fail(JSON.stringify(await stored(page)));
}

await withPage({}, async (page) => {
  await signIn(page, environment("EMAIL"));
  await page.goto("/stocks/AAPL");
  const level = page.getByRole("slider", { name: "Alert level 90.00" });
  await level.waitFor();

  // Keys: a tick, a dollar, Escape restores.
  await level.focus();
  await page.keyboard.press("PageDown");
  await page.keyboard.press("ArrowUp");
  const moved = page.getByRole("slider", { name: "Alert level 89.01" });
  await moved.waitFor();
  await page.getByRole("status", { name: "Preview" }).getByText("times a year").waitFor();
  await waitForStored(page, (values) => values.includes("price_below 89.01"));
  await page.keyboard.press("PageUp");
  await page.keyboard.press("Escape");
  await moved.waitFor();

  // By mouse, downwards.
  const box = await moved.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + 40, { steps: 5 });
  await page.mouse.up();
  await waitForStored(page, (values) => values.every((value) => value !== "price_below 89.01"));

  // Escape ends a drag: the pointer moves nothing any more.
  const dropped = await stored(page);
  const dragged = page.getByRole("slider").first();
  const label = (await dragged.getAttribute("aria-label")) ?? "";
  const place = await dragged.boundingBox();
  assert.ok(place);
  await page.mouse.move(place.x + place.width / 2, place.y + place.height / 2);
  await page.mouse.down();
  await page.mouse.move(place.x + place.width / 2, place.y + place.height / 2 + 20, { steps: 3 });
  await page.keyboard.press("Escape");
  await page.mouse.move(place.x + place.width / 2, place.y + place.height / 2 + 30, { steps: 3 });
  await page.mouse.up();
  assert.equal(await dragged.getAttribute("aria-label"), label);
  assert.deepEqual(await stored(page), dropped);

  // Across the price nothing is stored until the alert is flipped.
  const before = await stored(page);
  assert.equal(await page.getByRole("button", { name: "Flip to above" }).isVisible(), false);
  const slider = page.getByRole("slider").first();
  await slider.focus();
  for (let dollar = 0; dollar < 30; dollar += 1) await page.keyboard.press("PageUp");
  const flip = page.getByRole("button", { name: "Flip to above" });
  await flip.waitFor();
  assert.deepEqual(await stored(page), before);
  await flip.click();
  await waitForStored(page, (values) => values.every((value) => value.startsWith("price_above")));

  // A store that fails returns the level and says so.
  await page.route("**/api/v1/alerts/*", (route) => route.fulfill({
    status: 503,
    contentType: "application/json",
    body: JSON.stringify({ success: false, error: { code: "SERVICE_UNAVAILABLE", message: "try again later" } }),
  }));
  const name = await slider.getAttribute("aria-label");
  await slider.focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("try again later").waitFor();
  assert.equal(await slider.getAttribute("aria-label"), name);
});

// By finger on a phone. A level stays in sight while keys move it beyond the scale.
await withPage({ width: 390, touch: true }, async (page) => {
  await signIn(page, environment("EMAIL"));
  await page.goto("/stocks/AAPL");
  const slider = page.getByRole("slider").first();
  await slider.waitFor();
  const before = Object.values(await stored(page)).sort().join();
  await dragByTouch(page, slider, -30);
  await waitForStored(page, (values) => values.sort().join() !== before);
  await slider.focus();
  for (let dollar = 0; dollar < 40; dollar += 1) await page.keyboard.press("PageUp");
  await page.waitForFunction(() => {
    const [level, box] = [document.activeElement, document.querySelector("price-chart .box")].map((element) => element?.getBoundingClientRect());
    return level !== undefined && box !== undefined && level.top >= box.top - 12 && level.bottom <= box.bottom;
  });
});

// The labels of levels that are close do not cover each other, also at the edge of the scale, and each can be dragged.
await withPage({}, async (page) => {
  await signIn(page, environment("EMAIL"));
  await page.goto("/stocks/AAPL");
  await page.evaluate(async () => {
    for (const threshold of [150, 150.05, 150.1]) {
      const body = JSON.stringify({ symbol: "AAPL", condition: "price_above", threshold });
      const response = await fetch("/api/v1/alerts", { method: "POST", headers: { "content-type": "application/json" }, body });
      if (!response.ok) throw new Error(await response.text());
    }
  });
  await page.reload();
  const names = ["150.00", "150.05", "150.10"].map((level) => `Alert level ${level}`);
  const sliders = names.map((name) => page.getByRole("slider", { name }));
  for (const slider of sliders) await slider.waitFor();
  await page.waitForFunction((names) => {
    const boxes = names.map((name) => document.querySelector(`[aria-label="${name}"]`)?.getBoundingClientRect());
    const tops = boxes.map((box) => box?.top ?? 0);
    // A higher level stands higher.
    return boxes.every((box, index) => index === 0 || (box !== undefined && box.bottom <= (tops[index - 1] ?? 0)));
  }, names);
  // A label beside its level does not jump to the pointer: one pixel is a few cents.
  const box = await sliders[2]?.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + 1);
  const level = Number(await page.locator(".level:hover").getAttribute("aria-valuenow"));
  await page.keyboard.press("Escape");
  await page.mouse.up();
  assert.ok(Math.abs(level - 150.1) < 1.5, `the level has jumped to ${level}`);
});
