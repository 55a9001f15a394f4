// @ts-check
/** The place of the keyboard: no change of the page loses the focus, and nothing covers it. */
import { FocusPlace, hasFocus } from "./focus-place.js";
import { isLiveRedraw } from "./live-redraw.js";

/** The space between the focus and a message that would cover it, in pixels. */
const GAP = 12;

/** Gives the focus to what a change has said, or else to the beginning of the page's content. */
export function focusResult() {
  const notice = document.querySelector("#notice .notice");
  const place = notice ?? document.getElementById("main");
  if (place instanceof HTMLElement) place.focus({ preventScroll: place !== notice });
}

/** Scrolls what has the focus above the messages about firings. */
export function uncoverFocus() {
  const [element, messages] = [document.activeElement, document.getElementById("firings")];
  if (!element || !messages?.firstElementChild || !hasFocus() || messages.contains(element)) return;
  const [box, cover] = [element.getBoundingClientRect(), messages.getBoundingClientRect()];
  const isBeside = box.right <= cover.left || box.left >= cover.right;
  // Of an element that is larger than the window the beginning has to be seen.
  const bottom = Math.min(box.bottom, box.top + window.innerHeight / 4);
  if (isBeside || bottom <= cover.top || box.top >= cover.bottom) return;
  window.scrollBy({ top: bottom - cover.top + GAP });
}

/**
 * Returns the request whose response is swapped in.
 * @param {Event} event
 * @returns {object}
 */
const swapOf = (event) => /** @type {CustomEvent<{ctx: object}>} */ (event).detail.ctx;

/** Keeps the focus on each page. */
export function keepFocus() {
  /**
   * The places before swaps that are not finished yet.
   * @type {WeakMap<object, FocusPlace>}
   */
  const places = new WeakMap();
  document.addEventListener("htmx:before:swap", (event) => {
    const place = FocusPlace.present();
    if (place) places.set(swapOf(event), place);
  });
  document.addEventListener("htmx:after:swap", (event) => {
    const place = places.get(swapOf(event));
    if (place && !hasFocus()) restoreFocus(place, isLiveRedraw(event));
    place?.keepInSight();
  });
  document.addEventListener("focusin", uncoverFocus);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) closeMenu();
  });
  // A form without htmx leads to a new page, whose notice says what has been done.
  if (!hasFocus() && document.querySelector("#notice .notice")) focusResult();
}

/**
 * Gives the focus back to an element, or else to its neighbour after a live redraw, to the result after a change.
 * @param {FocusPlace} place
 * @param {boolean} isLive
 */
function restoreFocus(place, isLive) {
  if (place.return()) return;
  const neighbour = isLive ? place.neighbour() : undefined;
  if (neighbour) neighbour.focus({ preventScroll: true });
  else focusResult();
}

/** Closes the account menu if the focus is in it. */
function closeMenu() {
  const menu = document.activeElement?.closest("details.menu");
  if (!(menu instanceof HTMLDetailsElement) || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary")?.focus();
}
