// @ts-check
/**
 * Push messages: the button subscribes this browser once, and the service worker shows a message and opens its pages.
 *
 * The push service of Chromium needs a connection to its vendor. So the subscription is that of a local server, and the debugger
 * delivers the message.
 */
import assert from "node:assert/strict";
import { ORIGIN, assertAccessible, environment, picture, signIn, withPage } from "./harness.mjs";

const ENDPOINT = environment("PUSH_URL");
/** The keys of RFC 8291, appendix A. */
const KEYS = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
};

/** @typedef {import("playwright-core").Page} Page */

/**
 * Replaces the push service of the browser, and its permission.
 * @param {Page} page
 * @param {NotificationPermission} permission
 */
async function replacePushService(page, permission) {
  await page.addInitScript(
    ({ endpoint, keys, permission }) => {
      Notification.requestPermission = async () => permission;
      PushManager.prototype.getSubscription = async () => null;
      PushManager.prototype.subscribe = async (/** @type {PushSubscriptionOptionsInit} */ options) => {
        const key = options.applicationServerKey;
        if (typeof key !== "string" || key.length !== 87) throw new Error("no key");
        return /** @type {any} */ ({ toJSON: () => ({ endpoint, keys }) });
      };
    },
    { endpoint: ENDPOINT, keys: KEYS, permission },
  );
}

/**
 * Delivers a push message to the service worker.
 * @param {Page} page
 * @param {unknown} content
 */
async function deliver(page, content) {
  const session = await page.context().newCDPSession(page);
  const registration = new Promise((resolve) =>
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const found = registrations.find(({ scopeURL, isDeleted }) => !isDeleted && scopeURL.startsWith(ORIGIN));
      if (found) resolve(found.registrationId);
    }),
  );
  await session.send("ServiceWorker.enable");
  const registrationId = await registration;
  await session.send("ServiceWorker.deliverPushMessage", { origin: ORIGIN, registrationId, data: JSON.stringify(content) });
}

await withPage({ worker: true }, async (page) => {
  await replacePushService(page, "denied");
  await signIn(page, environment("EMAIL"));
  await page.goto("/settings/channels");
  await page.getByRole("button", { name: "Notify this browser" }).click();
  await page.getByRole("alert").filter({ hasText: "does not permit notifications" }).waitFor();
  await assertAccessible(page);
});

await withPage({ worker: true }, async (page) => {
  await page.context().grantPermissions(["notifications"], { origin: ORIGIN });
  await replacePushService(page, "granted");
  await signIn(page, environment("EMAIL"));
  const channels = page.locator(".channels > li");
  for (const answer of ["is added.", "The channel is changed."]) {
    await page.goto("/settings/channels");
    await page.getByRole("button", { name: "Notify this browser" }).click();
    await page.getByRole("status").filter({ hasText: answer }).waitFor();
    assert.equal(await channels.count(), 1);
  }
  assert.equal(await page.getByText(ENDPOINT).count(), 0, "the secret is shown");
  await channels.getByRole("heading", { name: "Chrome on Linux" }).waitFor();
  await channels.getByRole("button", { name: "Send a test" }).click();
  await page.getByRole("status").filter({ hasText: "Accepted" }).waitFor();
  await channels.getByText("Last success").waitFor();
  await assertAccessible(page);
  await picture(page, "web-push-1280");

  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  const worker = page.context().serviceWorkers().find((found) => found.url().includes("/sw.js"));
  assert.ok(worker);
  // Asking for the notifications while one is about to be shown deletes it in Chromium, so the worker says when it is shown.
  await worker.evaluate(() => {
    const scope = /** @type {any} */ (globalThis);
    scope.isShown = new Promise((resolve) => {
      const { registration } = scope;
      const show = registration.showNotification.bind(registration);
      registration.showNotification = (/** @type {unknown[]} */ ...args) => {
        const shown = show(...args);
        resolve(shown);
        return shown;
      };
    });
  });
  const url = `${ORIGIN}/alerts/7`;
  const acknowledge = `${ORIGIN}/acknowledge?t=token`;
  const actions = [{ title: "Acknowledge", url: acknowledge }];
  await deliver(page, { title: "AAPL 201.50", body: "AAPL is at 201.50", url, tag: "7", urgent: true, actions });
  /** @type {unknown} */
  const shown = await worker.evaluate(async () => {
    const scope = /** @type {any} */ (globalThis);
    await scope.isShown;
    const [found] = await scope.registration.getNotifications();
    return found && { title: found.title, body: found.body, stays: found.requireInteraction };
  });
  assert.deepEqual(shown, { title: "AAPL 201.50", body: "AAPL is at 201.50", stays: true });

  for (const [action, opened] of [
    ["0", acknowledge],
    ["", url],
  ]) {
    // A page can only be opened after a real click.
    /** @type {unknown} */
    const found = await worker.evaluate(async (action) => {
      const scope = /** @type {any} */ (globalThis);
      const [notification] = await scope.registration.getNotifications();
      return new Promise((resolve) => {
        scope.clients.openWindow = async (/** @type {string} */ address) => resolve(address);
        Object.defineProperty(notification, "close", { value: () => undefined });
        scope.dispatchEvent(new scope.NotificationEvent("notificationclick", { notification, action }));
      });
    }, action);
    assert.equal(found, opened);
  }
});
