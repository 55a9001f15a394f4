// @ts-check
/** The first start of a service: one account can be created, then the page is gone. */
import assert from "node:assert/strict";
import { ORIGIN, PASSWORD, withPage } from "./harness.mjs";

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
