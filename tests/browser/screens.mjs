// @ts-check
/** Each screen in both themes and two widths: accessible, no wider than the window, with a picture. */
import assert from "node:assert/strict";
import { assertAccessible, assertNoSidewaysScroll, environment, picture, signIn, withPage } from "./harness.mjs";

const alert = environment("ALERT");
const SCREENS = {
  today: "/",
  alerts: "/alerts",
  "alerts-filtered": "/alerts?status=paused&search=none",
  alert: `/alerts/${alert}`,
  builder: "/alerts/new?text=AAPL+price+%3C+90+and+rsi+%3C+30",
  "builder-error": "/alerts/new?text=AAPL+prise+%3C+90",
  stock: "/stocks/AAPL",
  fired: "/fired",
  approvals: "/approvals",
  deliveries: "/deliveries",
  watchlist: "/watchlist",
  settings: "/settings",
  "settings-channels": "/settings/channels",
  "settings-new-channel": "/settings/channels/new?type=pushover",
  "settings-keys": "/settings/keys",
  "settings-webhooks": "/settings/webhooks",
  "settings-agents": "/settings/agents",
  "settings-sessions": "/settings/sessions",
  "settings-account": "/settings/account",
};
/** Screens of operators only. */
const OPERATOR_SCREENS = { operator: "/operator" };

/**
 * @param {import("playwright-core").Page} page
 * @param {Record<string, string>} screens
 * @param {string} kind
 */
async function checkScreens(page, screens, kind) {
  for (const [name, path] of Object.entries(screens)) {
    await page.goto(path);
    assert.equal(await page.locator("main").count(), 1, path);
    assert.equal(await page.locator("h1").count(), 1, path);
    if (name === "stock") await page.locator("price-chart canvas").first().waitFor();
    await assertAccessible(page);
    await assertNoSidewaysScroll(page);
    await picture(page, `${name}-${kind}`);
  }
}

for (const theme of /** @type {const} */ (["light", "dark"])) {
  for (const width of [1280, 390]) {
    await withPage({ theme, width }, async (page) => {
      await page.goto("/sign-in");
      await assertAccessible(page);
      await picture(page, `sign-in-${theme}-${width}`);
      await signIn(page, environment("EMAIL"));
      await checkScreens(page, SCREENS, `${theme}-${width}`);
      await page.context().clearCookies();
      await signIn(page, environment("OPERATOR"));
      await checkScreens(page, OPERATOR_SCREENS, `${theme}-${width}`);
      await page.getByText("Show", { exact: true }).click();
      await page.getByText("public_url").first().waitFor();
      await assertAccessible(page);
    });
  }
}

// In a window of 320 pixels, as on a small phone or at a zoom of 400 % (WCAG 1.4.10), nothing is wider than the window.
await withPage({ width: 320 }, async (page) => {
  for (const path of ["/sign-in", "/register", "/reset-password"]) {
    await page.goto(path);
    await assertNoSidewaysScroll(page);
  }
  await signIn(page, environment("EMAIL"));
  for (const path of [...Object.values(SCREENS), `/alerts/${alert}/edit`]) {
    await page.goto(path);
    if (path.startsWith("/stocks/")) await page.locator("price-chart canvas").first().waitFor();
    await assertNoSidewaysScroll(page);
  }
  await page.getByLabel("Account", { exact: true }).click();
  await assertNoSidewaysScroll(page);
  await page.context().clearCookies();
  await signIn(page, environment("OPERATOR"));
  await page.goto("/operator");
  await page.getByText("Show", { exact: true }).click();
  await page.getByText("public_url").first().waitFor();
  await assertNoSidewaysScroll(page);
});
