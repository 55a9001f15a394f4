// @ts-check
/**
 * The service worker: it shows a page when the service cannot be reached, and keeps nothing else. Its address names the style of that
 * page, so a new version of the program replaces the worker.
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
