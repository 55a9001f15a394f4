// @ts-check
/** The first start of a service: one account can be created, then the page is gone. */
import assert from "node:assert/strict";
import { ORIGIN, PASSWORD, assertAccessible, withPage } from "./harness.mjs";

// A browser of another machine needs the code of the log.
const code = process.env["CODE"];
if (code) {
  await withPage({}, async (page) => {
    await page.goto("/");
    await page.waitForURL(`${ORIGIN}/first-account`);
    await assertAccessible(page);
    await page.getByLabel("Code").fill("not the code");
    await page.getByLabel("Email").fill("first@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.locator("#code-error").waitFor();
    assert.equal(await page.getByLabel("Email").inputValue(), "first@example.com");
    await page.getByLabel("Code").fill(code);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.waitForURL(`${ORIGIN}/`);
    assert.equal((await page.goto("/first-account"))?.status(), 404);
  });
  process.exit(0);
}

await withPage({}, async (page) => {
  await page.goto("/");
  await page.waitForURL(`${ORIGIN}/first-account`);
  assert.equal(await page.getByLabel("Code").count(), 0, "this machine needs no code");
  await page.getByLabel("Email").fill("first@example.com");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL(`${ORIGIN}/`);
  const answer = await page.goto("/first-account");
  assert.equal(answer?.status(), 404);

  // Sign out, and in again with a wrong and the right password.
  await page.goto("/");
  await page.locator("summary[aria-label=Account]").click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${ORIGIN}/sign-in`);
  await page.goto("/alerts?status=active");
  await page.waitForURL(/\/sign-in\?next=/);
  await page.getByLabel("Email", { exact: true }).fill("first@example.com");
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(`${ORIGIN}/alerts?status=active`);

  // The theme is kept.
  await page.locator("summary[aria-label=Account]").click();
  await page.getByRole("combobox", { name: "Theme" }).selectOption("dark");
  await page.locator('html[data-theme="dark"]').waitFor();
  await page.reload();
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
});
