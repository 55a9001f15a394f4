// @ts-check
/** What a page does with live events: prices change in place, and a firing shows as a message, in the title and in the count. */

import { focusResult, uncoverFocus } from "./focus.js";

/**
 * @typedef {import("./live-events.js").LiveFiring} LiveFiring
 * @typedef {import("./live-events.js").LiveQuote} LiveQuote
 */

/** The largest number of messages at once. */
const MAX_MESSAGES = 3;
/** The number of unseen firings at the start of the title. */
const COUNT_IN_TITLE = /^\(\d+\) /;

/**
 * Returns a price as the pages show it.
 * @param {number} price
 */
function usd(price) {
  const maximumFractionDigits = Math.abs(price) < 1 ? 4 : 2;
  return new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits, useGrouping: false }).format(price);
}

/** @param {number} percent */
function signedPercent(percent) {
  const text = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping: false }).format(Math.abs(percent));
  return `${percent < 0 ? "−" : "+"}${text}%`;
}

/**
 * Shows a text in an element. The node of an equal text stays, and with it a selection of it.
 * @param {Element} element
 * @param {string} text
 */
function showText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {LiveQuote} quote */
function showQuote(quote) {
  const name = CSS.escape(quote.symbol);
  for (const element of document.querySelectorAll(`[data-quote="${name}"]`)) {
    if (quote.price !== null) showText(element, usd(quote.price));
  }
  for (const element of document.querySelectorAll(`[data-change="${name}"]`)) {
    if (quote.change_percent === null) continue;
    showText(element, signedPercent(quote.change_percent));
    element.classList.toggle("rise", quote.change_percent >= 0);
    element.classList.toggle("fall", quote.change_percent < 0);
  }
}

/** @param {LiveFiring} firing */
function showFiring(firing) {
  showMessage(firing);
  countUnseen();
  if (document.documentElement.dataset["sound"] === "on") playSound();
}

/** @param {LiveFiring} firing */
function showMessage(firing) {
  const [list, template] = [document.getElementById("firings"), document.getElementById("firing")];
  if (!list || !(template instanceof HTMLTemplateElement)) return;
  const message = /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
  const link = /** @type {HTMLAnchorElement} */ (message.querySelector("a"));
  link.href = `${document.body.dataset["base"] ?? ""}/alerts/${encodeURIComponent(firing.alert_id)}`;
  /** @type {[string, string][]} */
  const parts = [
    [".symbol", firing.symbol ?? ""],
    [".figure", firing.price === null ? "" : usd(firing.price)],
    [".reason", firing.reason ?? ""],
  ];
  for (const [selector, text] of parts) {
    const part = message.querySelector(selector);
    if (part) part.textContent = text;
  }
  message.querySelector("button")?.addEventListener("click", () => removeMessages([message]));
  list.append(message);
  // The space below the page stays when the messages are closed, so that nothing jumps.
  document.body.classList.add("has-messages");
  // A message with the focus stays.
  const old = [...list.children].filter((element) => !element.contains(document.activeElement));
  removeMessages(old.slice(0, Math.max(0, list.childElementCount - MAX_MESSAGES)));
  uncoverFocus();
}

/**
 * Removes messages. The focus in one of them goes to the next message, or back to the page.
 * @param {Element[]} messages
 */
function removeMessages(messages) {
  const hadFocus = messages.some((message) => message.contains(document.activeElement));
  for (const message of messages) message.remove();
  if (!hadFocus) return;
  const next = document.querySelector("#firings button");
  if (next instanceof HTMLElement) next.focus();
  else focusResult();
}

function countUnseen() {
  const count = document.getElementById("unseen");
  if (!count?.firstElementChild) return;
  const next = Number(count.dataset["count"]) + 1;
  count.dataset["count"] = String(next);
  count.firstElementChild.textContent = String(next);
  count.hidden = false;
  document.title = `(${next}) ${document.title.replace(COUNT_IN_TITLE, "")}`;
}

/** Plays a short tone. Browsers stay silent until the first key or click on the page, and play nothing of it later. */
function playSound() {
  if (!navigator.userActivation.hasBeenActive) return;
  const audio = new AudioContext();
  const [tone, gain] = [audio.createOscillator(), audio.createGain()];
  tone.frequency.value = 880;
  gain.gain.setValueAtTime(0.2, audio.currentTime);
  gain.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.6);
  tone.connect(gain).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.6);
  tone.addEventListener("ended", () => void audio.close());
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented) removeMessages([...document.querySelectorAll("#firings > *")]);
});
document.addEventListener("quote", (event) => showQuote(/** @type {CustomEvent<LiveQuote>} */ (event).detail));
document.addEventListener("firing", (event) => showFiring(/** @type {CustomEvent<LiveFiring>} */ (event).detail));
