// @ts-check
/** The builder: a rule becomes a sentence and a preview while it is typed, and an alert when it is sent. */
import assert from "node:assert/strict";
import { ORIGIN, assertAccessible, dragByTouch, environment, fillCredentials, picture, signIn, withPage } from "./harness.mjs";

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

  // The form follows the rule, and the rule follows the form; the chart has the level.
  const threshold = page.getByLabel("Threshold");
  assert.equal(await threshold.inputValue(), "85");
  await page.locator("rule-chart canvas").first().waitFor();
  await page.getByRole("img", { name: "Price chart of AAPL" }).waitFor();
  await threshold.fill("84.5");
  await sentence.getByText("84.50").waitFor();
  await page.waitForFunction(() => {
    const typed = document.querySelector("textarea#rule");
    return typed instanceof HTMLTextAreaElement && typed.value === "AAPL falls to 84.50 or below";
  });
  assert.equal(await threshold.inputValue(), "84.5");

  // The level on the chart moves by keys and by mouse: the form, the rule, the sentence and the preview follow, the focus stays.
  const level = page.getByRole("slider", { name: /^Alert level/ });
  await page.getByRole("slider", { name: "Alert level 84.50" }).focus();
  await page.keyboard.press("PageDown");
  await page.keyboard.press("ArrowUp");
  await sentence.getByText("83.51").waitFor();
  assert.equal(await threshold.inputValue(), "83.51");
  assert.equal(await rule.inputValue(), "AAPL falls to 83.51 or below");
  await page.getByRole("status", { name: "Preview" }).getByText("It would").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Alert level 83.51");
  await page.keyboard.press("Escape");
  await sentence.getByText("84.50").waitFor();
  assert.equal(await threshold.inputValue(), "84.5");
  const box = await level.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 - 20, { steps: 5 });
  await page.mouse.up();
  const dropped = Number(await level.getAttribute("aria-valuenow"));
  assert.ok(dropped > 84.5, String(dropped));
  await sentence.getByText(dropped.toFixed(2)).waitFor();
  assert.equal(Number(await threshold.inputValue()), dropped);

  // In an expression the level is one of its numbers.
  await rule.fill("AAPL price < 85 and rsi < 30");
  await sentence.getByText("RSI is under 30").waitFor();
  await page.getByRole("slider", { name: "Alert level 85.00" }).focus();
  await page.keyboard.press("PageDown");
  await sentence.getByText("84.00").waitFor();
  assert.match(await page.getByLabel("Expression").inputValue(), /^price < 84 and rsi/);
  // A calculated level is a line only.
  await rule.fill("AAPL price < 0.9 * sma(50)");
  await sentence.getByText("50-day average").waitFor();
  assert.equal(await level.count(), 0);
  await rule.fill("AAPL price <= 84.5");
  await page.getByRole("slider", { name: "Alert level 84.50" }).waitFor();

  // Another condition has other inputs; the focus stays.
  const condition = page.getByLabel("Condition");
  await condition.focus();
  await condition.selectOption("social_buzz");
  await page.getByLabel("Direction").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), "condition");
  assert.equal(await rule.inputValue(), "");
  await page.getByLabel("Direction").selectOption("rising");
  await sentence.getByText(/discussion rises sharply|rising mentions/).waitFor();
  await page.getByLabel("Stocks", { exact: true }).selectOption("several");
  await page.getByLabel("Symbols").fill("AAPL");
  await sentence.getByText("for each stock on its own").waitFor();

  // A rule takes the lead again.
  await rule.fill("AAPL price <= 83");
  await sentence.getByText("83.00").waitFor();
  assert.equal(await page.getByLabel("Threshold").inputValue(), "83");
  assert.equal(await page.getByLabel("Stocks", { exact: true }).inputValue(), "one");
  await page.getByRole("button", { name: "Create alert" }).click();
  await page.waitForURL(/\/alerts\/[0-9a-f-]{36}$/);
  await page.getByRole("region", { name: "Why" }).waitFor();
  assert.match(await page.getByRole("heading", { level: 1 }).innerText(), /AAPL/);

  // The same builder changes the alert.
  await page.getByRole("link", { name: "Edit" }).click();
  await page.waitForURL(/\/alerts\/[0-9a-f-]{36}\/edit$/);
  await page.locator("rule-chart canvas").first().waitFor();
  await assertAccessible(page);
  await picture(page, "editor");
  await page.getByLabel("Threshold").fill("82");
  await sentence.getByText("82.00").waitFor();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.waitForURL(/\/alerts\/[0-9a-f-]{36}$/);
  await page.getByRole("heading", { level: 1, name: /82\.00/ }).waitFor();

  // A symbol leads to its stock.
  await search.fill("aapl");
  await search.press("Enter");
  await page.waitForURL(`${ORIGIN}/stocks/AAPL`);
  await page.locator("price-chart canvas").first().waitFor();
  await page.getByRole("img", { name: "Price chart of AAPL" }).waitFor();
});

// By finger on a phone.
await withPage({ width: 390, touch: true }, async (page) => {
  await signIn(page, email);
  await page.goto("/alerts/new?text=AAPL+price+%3C%3D+85");
  const level = page.getByRole("slider", { name: /^Alert level/ });
  await level.waitFor();
  await dragByTouch(page, level, 20);
  const dropped = Number(await level.getAttribute("aria-valuenow"));
  assert.ok(dropped < 85, String(dropped));
  await page.getByRole("status", { name: "Sentence" }).getByText(dropped.toFixed(2)).waitFor();
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
