// @ts-check
/**
 * Live redraws: an event fetches a part of the page again. A part with `data-live` is morphed, so that its elements stay; rows have
 * ids, by which they are recognized. What a person has typed or opened stays, too.
 */

/**
 * Whether a swap redraws a live part, rather than show what a person has asked for.
 * @param {Event} event
 */
export function isLiveRedraw(event) {
  const source = /** @type {CustomEvent<{ctx?: {sourceElement?: Element}}>} */ (event).detail.ctx?.sourceElement;
  return source?.matches?.("[data-live]") ?? false;
}

/** Whether the present swap redraws a live part. */
let isLive = false;
document.addEventListener("htmx:before:swap", (event) => (isLive = isLiveRedraw(event)));

/**
 * Whether a morph may change an attribute.
 * @param {Element} element
 * @param {string} name
 */
export function mayChange(element, name) {
  if (!isLive) return true;
  if (name === "open") return !(element instanceof HTMLDetailsElement || element instanceof HTMLDialogElement);
  const isTyped = element instanceof HTMLInputElement && element.value !== element.defaultValue;
  return !(name === "value" && isTyped);
}
