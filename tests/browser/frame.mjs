// @ts-check
/** The frame of every page: command palette, keys, the end of the session in the middle of a form, and no connection. */
import assert from "node:assert/strict";
import { ORIGIN, assertAccessible, environment, fillCredentials, picture, signIn, withPage } from "./harness.mjs";

const email = environment("EMAIL");

// The command palette finds commands, stocks and rules with the keyboard alone.
await withPage({}, async (page) => {
  await signIn(page, email);
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Command palette" });
  await palette.waitFor();
  await assertAccessible(page);
  await picture(page, "palette");
  await page.keyboard.type("web");
  assert.equal(await palette.getByRole("option").count(), 1);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${ORIGIN}/settings/webhooks`);

  await page.keyboard.press("Control+k");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${ORIGIN}/alerts`);

  await page.keyboard.press("Control+k");
  await page.keyboard.type("AAPL < 90");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Rule" }).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Rule" }).inputValue(), "AAPL < 90");

  // In a text a question mark is a question mark.
  await page.getByRole("textbox", { name: "Rule" }).press("?");
  assert.equal(await page.getByRole("dialog", { name: "Keyboard shortcuts" }).count(), 0);
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Escape");

  // Single keys can be switched off.
  await page.goto("/settings");
  const appearance = page.locator("main form", { has: page.getByRole("heading", { name: "Appearance" }) });
  await appearance.getByRole("checkbox", { name: "Single keys" }).uncheck();
  await appearance.getByRole("button", { name: "Save" }).click();
  await page.waitForFunction(() => document.documentElement.dataset["keys"] === "off");
  await page.keyboard.press("?");
  assert.equal(await page.getByRole("dialog", { name: "Keyboard shortcuts" }).count(), 0);
});

// `y` and `n` decide about the approval that has the focus, also on a control in it, but not while one types.
await withPage({}, async (page) => {
  await signIn(page, email);
  await page.goto("/approvals");
  await page.evaluate(() => {
    const create = (/** @type {string} */ name, /** @type {Record<string, string>} */ attributes, /** @type {Element} */ parent) => {
      const element = document.createElement(name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      return parent.appendChild(element);
    };
    const main = /** @type {HTMLElement} */ (document.getElementById("main"));
    const form = create("form", { class: "approval", tabindex: "0" }, main);
    create("input", { "aria-label": "A text" }, form);
    create("a", { href: "#main", id: "link" }, form);
    for (const key of ["y", "n"]) create("button", { type: "submit", value: key, "data-key": key }, form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      form.dataset["decision"] = /** @type {HTMLButtonElement} */ (event.submitter).value;
    });
  });
  const form = page.locator("form.approval");
  await form.getByLabel("A text").press("y");
  assert.equal(await form.getAttribute("data-decision"), null);
  await page.locator("#link").evaluate((link) => link.focus());
  await page.keyboard.press("Control+y");
  assert.equal(await form.getAttribute("data-decision"), null);
  await page.keyboard.press("y");
  assert.equal(await form.getAttribute("data-decision"), "y");
  await form.focus();
  await page.keyboard.press("n");
  assert.equal(await form.getAttribute("data-decision"), "n");
});

// A firing sounds if the account wants it.
await withPage({}, async (page) => {
  await page.addInitScript(() => {
    const Original = window.AudioContext;
    const sounds = /** @type {AudioContext[]} */ ([]);
    Object.assign(window, { sounds });
    window.AudioContext = class extends Original {
      constructor() {
        super();
        sounds.push(this);
      }
    };
  });
  await signIn(page, email);
  const fire = () => page.evaluate(() => {
    const detail = { alert_id: "00000000-0000-4000-8000-000000000001", symbol: "AAPL", price: 1, reason: "" };
    document.dispatchEvent(new CustomEvent("firing", { detail }));
    return /** @type {any} */ (window).sounds.length;
  });
  await page.goto("/settings");
  await page.getByRole("heading", { level: 1 }).click();
  assert.equal(await fire(), 0, "sound is off by default");
  const appearance = page.locator("main form", { has: page.getByRole("heading", { name: "Appearance" }) });
  await appearance.getByRole("checkbox", { name: "Sound at a firing" }).check();
  await appearance.getByRole("button", { name: "Save" }).click();
  await page.waitForFunction(() => document.documentElement.dataset["sound"] === "on");
  await page.goto("/settings");
  await page.getByRole("heading", { level: 1 }).click();
  assert.equal(await fire(), 1);
  // The tone is played to its end.
  await page.waitForFunction(() => /** @type {any} */ (window).sounds[0].state === "closed");
});

// A form that is sent after the end of the session is there again after the sign-in.
await withPage({}, async (page) => {
  await signIn(page, email);
  await page.goto("/settings");
  await page.getByLabel("Full name").fill("Ann Example");
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  await page.getByLabel("Email me when alerts cannot be evaluated").check();
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.waitForURL(`${ORIGIN}/sign-in**`);
  await fillCredentials(page, email);
  await page.waitForURL(`${ORIGIN}/settings`);
  assert.equal(await page.getByLabel("Full name").inputValue(), "Ann Example");
  assert.equal(await page.getByLabel("Time zone").inputValue(), "Europe/Berlin");
  assert.equal(await page.getByLabel("Email me when alerts cannot be evaluated").isChecked(), true);
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText("Your settings are saved.").waitFor();
  // Nothing is filled in by itself later.
  await page.goto("/settings");
  await page.getByLabel("Full name").fill("");
  await page.goto("/settings");
  assert.equal(await page.getByLabel("Full name").inputValue(), "Ann Example");
});

// A form that is being written is there again if a check in the background finds that the session has ended; after a sign-out it is not.
await withPage({}, async (page) => {
  await signIn(page, email);
  await page.goto("/alerts/new");
  await page.getByLabel("Note").fill("keep me");
  await page.context().clearCookies();
  await page.getByRole("textbox", { name: "Rule" }).fill("AAPL < 81");
  await page.waitForURL(`${ORIGIN}/sign-in**`);
  await fillCredentials(page, email);
  await page.waitForURL(`${ORIGIN}/alerts/new**`);
  assert.equal(await page.getByLabel("Note").inputValue(), "keep me");
  assert.match(await page.getByRole("textbox", { name: "Rule" }).inputValue(), /AAPL/);
  await page.evaluate(() => document.querySelector("form[action$='/sign-out']")?.dispatchEvent(new Event("submit", { bubbles: true })));
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});

// A refused form returns with the error and what was entered.
await withPage({}, async (page) => {
  await signIn(page, email);
  await page.goto("/watchlist");
  const symbol = page.getByRole("main").getByLabel("Symbol");
  await symbol.fill("NO STOCK");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.locator("#add-stock_symbol-error").waitFor();
  // The page's scripts fill the form in before the page counts as loaded.
  await page.waitForLoadState();
  assert.equal(await symbol.inputValue(), "NO STOCK");
});

// Without a connection the browser shows the service's own page.
await withPage({ worker: true }, async (page) => {
  await signIn(page, email);
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await page.context().setOffline(true);
  await page.goto("/alerts");
  await page.getByRole("heading", { name: "You are offline" }).waitFor();
  await page.context().setOffline(false);
  await page.goto("/alerts");
  await page.getByRole("heading", { name: "Alerts", exact: true }).waitFor();
});
