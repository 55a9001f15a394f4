// @ts-check
/** A browser with the guards of every test: no error, no report of the content security policy, no foreign request. */
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const ORIGIN = environment("BASE_URL");
export const PASSWORD = "correct horse";
/** The time after which a wait is a hang, in milliseconds. */
const HANG_LIMIT = 120_000;
const SHOTS = process.env["SCREENSHOTS"] ?? "";
/** Whether times are checked. They depend on the machine, so a run of the tests only prints them. */
export const CHECKS_TIMES = process.env["CHECK_TIMES"] === "1";

/** @param {string} name */
export function environment(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

/**
 * @typedef {{width?: number, theme?: "light" | "dark", scripts?: boolean, touch?: boolean, worker?: boolean}} BrowserOptions
 * @typedef {import("playwright-core").Page} Page
 */

/** A name of this machine as another one would use it, and as secure as one with HTTPS. */
const OTHER_HOST = ["--host-resolver-rules=MAP bellwether.test 127.0.0.1", `--unsafely-treat-insecure-origin-as-secure=${ORIGIN}`];
/** Number of attempts to start the browser, which now and then crashes before it has a page. */
const LAUNCH_ATTEMPTS = 3;

async function launch() {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await chromium.launch({
        executablePath: environment("CHROMIUM"),
        args: [...OTHER_HOST, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
      });
    } catch (error) {
      if (attempt === LAUNCH_ATTEMPTS) throw error;
    }
  }
}

/**
 * Runs a test with a page of a fresh browser profile.
 * @param {BrowserOptions} options
 * @param {(page: Page) => Promise<void>} test
 */
export async function withPage(options, test) {
  const browser = await launch();
  try {
    const context = await browser.newContext({
      baseURL: ORIGIN,
      viewport: { width: options.width ?? 1280, height: 900 },
      colorScheme: options.theme ?? "light",
      javaScriptEnabled: options.scripts ?? true,
      hasTouch: options.touch ?? false,
      reducedMotion: "reduce",
      // Only the tests of the service worker have one: each navigation would wait until Chromium has started it.
      serviceWorkers: options.worker ? "allow" : "block",
    });
    // A test waits for states. The time limit only detects hangs, as in the tests in Rust.
    context.setDefaultTimeout(HANG_LIMIT);
    const page = await context.newPage();
    /** @type {string[]} */
    const faults = [];
    // A refused form answers with an error status on purpose, and the browser logs it.
    page.on("console", (message) => {
      const text = message.text();
      if (message.type() === "error" && !text.startsWith("Failed to load resource")) faults.push(text);
    });
    page.on("pageerror", (error) => faults.push(String(error.stack ?? error)));
    page.on("request", (request) => {
      if (!request.url().startsWith(ORIGIN) && !request.url().startsWith("data:")) faults.push(`foreign request ${request.url()}`);
    });
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText ?? "";
      if (reason !== "net::ERR_ABORTED") faults.push(`${request.url()}: ${reason}`);
    });
    await test(page);
    assert.deepEqual(faults, [], "the page reported errors");
  } finally {
    await browser.close();
  }
}

/**
 * Signs in on the sign-in page.
 * @param {Page} page
 * @param {string} email
 */
export async function signIn(page, email) {
  await page.goto("/sign-in");
  await fillCredentials(page, email);
  await page.waitForURL(`${ORIGIN}/`);
}

/**
 * Fills the form on the sign-in page and sends it.
 * @param {Page} page
 * @param {string} email
 * @param {string} password
 */
export async function fillCredentials(page, email, password = PASSWORD) {
  await page.getByLabel("Email", { exact: true }).fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/**
 * Pushes market data as the operator.
 * @param {unknown} batch
 */
export async function ingest(batch) {
  const response = await fetch(`${ORIGIN}/api/v1/market/ingest`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": environment("OPERATOR_KEY") },
    body: JSON.stringify(batch),
  });
  const body = await response.json();
  assert.equal(response.status, 200, JSON.stringify(body));
  assert.deepEqual(body.data.rejected, []);
}

/**
 * Asserts that axe finds no violation of WCAG 2.2 AA and of best practices.
 * @param {Page} page
 */
export async function assertAccessible(page) {
  const violations = await page.evaluate(async (source) => {
    // The policy of the page forbids inline scripts, so the program is evaluated by the debugger.
    if (!("axe" in window)) (0, eval)(source);
    const result = await /** @type {any} */ (window).axe.run(document, { resultTypes: ["violations"] });
    return result.violations.map((/** @type {any} */ violation) => ({
      id: violation.id,
      help: violation.help,
      nodes: violation.nodes.map((/** @type {any} */ node) => node.html + " " + node.failureSummary),
    }));
  }, AXE);
  assert.deepEqual(violations, [], `axe at ${page.url()}`);
}

/**
 * Saves a picture of the page if the tests keep pictures.
 * @param {Page} page
 * @param {string} name
 */
export async function picture(page, name) {
  if (!SHOTS) return;
  await mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: false });
}

/**
 * Asserts that a page is no wider than its window, and that no table with cards for its rows scrolls sideways.
 * @param {Page} page
 */
export async function assertNoSidewaysScroll(page) {
  const [content, window_] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok((content ?? 0) <= (window_ ?? 0), `${page.url()} is ${content} wide in a window of ${window_}`);
  const wide = await page.locator(".scroll:has(> .cards)").evaluateAll((tables) =>
    tables.filter((table) => window.innerWidth < 768 && table.scrollWidth > table.clientWidth).map((table) => table.ariaLabel ?? table.id),
  );
  assert.deepEqual(wide, [], `tables of ${page.url()} scroll in a window of ${window_}`);
}

/**
 * Drags an element up or down with a finger.
 * @param {Page} page
 * @param {import("playwright-core").Locator} element
 * @param {number} distance in pixels, downwards
 */
export async function dragByTouch(page, element, distance) {
  await element.scrollIntoViewIfNeeded();
  const box = await element.boundingBox();
  assert.ok(box);
  const session = await page.context().newCDPSession(page);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = (/** @type {"touchStart" | "touchMove"} */ type, /** @type {number} */ moved) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: [{ x, y: y + moved }] });
  await touch("touchStart", 0);
  for (const part of [0.25, 0.5, 0.75, 1]) await touch("touchMove", distance * part);
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}
