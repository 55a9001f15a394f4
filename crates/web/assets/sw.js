// @ts-check
/**
 * The service worker: it shows push messages, and a page when the service cannot be reached. It keeps nothing else. Its address names
 * the style of that page, so a new version of the program replaces the worker.
 *
 * @typedef {{title: string, body: string, url?: string, tag: string, urgent: boolean, actions: {title: string, url: string}[]}} PushContent
 */

const worker = /** @type {any} */ (self);
const CACHE = "bellwether-offline";
const style = new URL(worker.location.href).searchParams.get("style") ?? "";
const offline = new URL("./offline", worker.location.href).pathname;

async function keepPage() {
  await caches.delete(CACHE);
  const cache = await caches.open(CACHE);
  await cache.addAll([offline, style].filter((path) => path.startsWith("/") && !path.startsWith("//")));
}

/** @param {Request} request */
async function respond(request) {
  try {
    return await fetch(request);
  } catch {
    const kept = await caches.match(request.mode === "navigate" ? offline : request);
    return kept ?? Response.error();
  }
}

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(keepPage()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { mode, url } = event.request;
  if (mode === "navigate" || new URL(url).pathname === style) event.respondWith(respond(event.request));
});

/** @param {PushContent} content */
const show = ({ title, body, url, tag, urgent, actions }) =>
  worker.registration.showNotification(title, {
    body,
    tag,
    requireInteraction: urgent,
    data: { url, actions: actions.map((action) => action.url) },
    actions: actions.map((action, index) => ({ action: String(index), title: action.title })),
  });

/** @param {string} url */
async function openPage(url) {
  const windows = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = windows.find((/** @type {any} */ window) => window.url === url);
  await (shown ? shown.focus() : worker.clients.openWindow(url));
}

/**
 * Reports the subscription that replaces a former one to the service.
 * @param {PushSubscription | null} former
 * @param {PushSubscription | null} replacement
 */
async function renewSubscription(former, replacement) {
  const subscription = replacement ?? (former && (await worker.registration.pushManager.subscribe(former.options)));
  if (!subscription) return;
  const { endpoint, keys } = subscription.toJSON();
  const fields = {
    type: "web_push",
    former_endpoint: former?.endpoint ?? "",
    "config.endpoint": endpoint,
    "config.p256dh": keys.p256dh,
    "config.auth": keys.auth,
  };
  const address = new URL("./settings/channels/new", worker.location.href);
  await fetch(address, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });
}

worker.addEventListener("push", (/** @type {any} */ event) => {
  if (event.data) event.waitUntil(show(event.data.json()));
});
worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  const { url, actions } = event.notification.data;
  event.notification.close();
  const address = actions[event.action] ?? url;
  if (address) event.waitUntil(openPage(address));
});
worker.addEventListener("pushsubscriptionchange", (/** @type {any} */ event) =>
  event.waitUntil(renewSubscription(event.oldSubscription ?? null, event.newSubscription ?? null)),
);
