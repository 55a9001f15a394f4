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
};

for (const theme of /** @type {const} */ (["light", "dark"])) {
  for (const width of [1280, 390]) {
    await withPage({ theme, width }, async (page) => {
      await page.goto("/sign-in");
      await assertAccessible(page);
      await picture(page, `sign-in-${theme}-${width}`);
      await signIn(page, environment("EMAIL"));
      for (const [name, path] of Object.entries(SCREENS)) {
        await page.goto(path);
        assert.equal(await page.locator("main").count(), 1, path);
        assert.equal(await page.locator("h1").count(), 1, path);
        if (name === "stock") await page.locator("price-chart canvas").first().waitFor();
        await assertAccessible(page);
        await assertNoSidewaysScroll(page);
        await picture(page, `${name}-${theme}-${width}`);
      }
    });
  }
}
