// @ts-check
/** The builder: a rule becomes a sentence and a preview while it is typed, and an alert when it is sent. */
import assert from "node:assert/strict";
import { ORIGIN, environment, fillCredentials, signIn, withPage } from "./harness.mjs";

const email = environment("EMAIL");

await withPage({}, async (page) => {
  await signIn(page, email);
  await page.keyboard.press("Tab");
  const search = page.getByRole("searchbox", { name: "Search or add" });
  await search.fill("AAPL < 80");
  await search.press("Enter");
  await page.waitForURL(/\/alerts\/new\?text=/);
  const sentence = page.getByRole("status", { name: "Sentence" });
  assert.match(await sentence.innerText(), /AAPL falls below 80/);

  const rule = page.getByRole("textbox", { name: "Rule" });
  await rule.fill("AAPL price < 85 and rsi < 30");
  await sentence.getByText("RSI is under 30").waitFor();
  await page.getByRole("status", { name: "Preview" }).getByText("It would").waitFor();

  // An error names its place, and the input stays.
  await rule.fill("AAPL prise < 85");
  await page.getByText("unknown metric").waitFor();
  assert.equal(await rule.inputValue(), "AAPL prise < 85");

  await rule.fill("AAPL price <= 85");
  await sentence.getByText("85.00").waitFor();
  await page.getByRole("button", { name: "Create alert" }).click();
  await page.waitForURL(/\/alerts\/[0-9a-f-]{36}$/);
  await page.getByRole("region", { name: "Why" }).waitFor();
  assert.match(await page.getByRole("heading", { level: 1 }).innerText(), /AAPL/);

  // A symbol leads to its stock.
  await search.fill("aapl");
  await search.press("Enter");
  await page.waitForURL(`${ORIGIN}/stocks/AAPL`);
  await page.locator("price-chart canvas").first().waitFor();
  await page.getByRole("img", { name: "Price chart of AAPL" }).waitFor();
});

// Without scripts, and with a session that ends in the middle of the form.
await withPage({ scripts: false }, async (page) => {
  await signIn(page, email);
  await page.goto("/alerts/new?symbol=AAPL");
  await page.getByRole("textbox", { name: "Rule" }).fill("AAPL price <= 70");
  await page.getByLabel("Note").fill("Buy a little.");
  await page.context().clearCookies({ name: "bellwether_session" });
  await page.getByRole("button", { name: "Create alert" }).click();
  await page.waitForURL(/\/sign-in\?next=/);
  await fillCredentials(page, email);
  await page.waitForURL(/\/alerts\/new\?text=/);
  assert.equal(await page.getByRole("textbox", { name: "Rule" }).inputValue(), "AAPL price <= 70");
  await page.getByRole("button", { name: "Create alert" }).click();
  await page.waitForURL(/\/alerts\/[0-9a-f-]{36}$/);
  await page.getByText("Buy a little.").waitFor();
});
