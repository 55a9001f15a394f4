// @ts-check
/** The place of the keyboard: no change of the page loses the focus, and nothing covers it. */

/** The space between the focus and a message that would cover it, in pixels. */
const GAP = 12;

/** Whether an element of the page has the focus. */
const hasFocus = () => document.activeElement !== null && document.activeElement !== document.body;

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
 * The place of an element: the nearest element around it that has an id, those that follow and precede that one, and the way from it.
 * @typedef {{element: Element, anchors: string[], way: number[], wasInSight: boolean}} Place
 */

/** @param {Element} element */
function isInSight(element) {
  const box = element.getBoundingClientRect();
  return box.top < window.innerHeight && box.bottom > 0;
}

/**
 * Returns the place of an element.
 * @param {Element} element
 * @returns {Place}
 */
function placeOf(element) {
  const way = [];
  let anchor = element;
  while (anchor.id === "" && anchor.parentElement) {
    way.unshift([...anchor.parentElement.children].indexOf(anchor));
    anchor = anchor.parentElement;
  }
  const siblings = [...(anchor.parentElement?.children ?? [])];
  const own = siblings.indexOf(anchor);
  const neighbours = [anchor, ...siblings.slice(own + 1), ...siblings.slice(0, Math.max(own, 0)).reverse()];
  const anchors = neighbours.map((neighbour) => neighbour.id).filter((id) => id !== "");
  return { element, anchors, way, wasInSight: isInSight(element) };
}

/**
 * Gives the focus back after a change: to the same element, to the one in its place, or to the one in the place of its neighbour.
 * @param {Place} place
 */
function focusAgain(place) {
  const { element, anchors, way } = place;
  if (element instanceof HTMLElement && element.isConnected) {
    element.focus({ preventScroll: true });
    if (hasFocus()) return;
  }
  for (const id of anchors) {
    const anchor = document.getElementById(id);
    const found = way.reduce((/** @type {Element | null | undefined} */ at, index) => at?.children[index], anchor);
    if (!(found instanceof HTMLElement)) continue;
    found.focus({ preventScroll: id === anchors[0] });
    if (hasFocus()) return;
  }
  focusResult();
}

/** Keeps the focus on each page. */
export function keepFocus() {
  /** @type {Place | undefined} */
  let place;
  document.addEventListener("htmx:before:swap", () => {
    if (hasFocus()) place ??= placeOf(/** @type {Element} */ (document.activeElement));
  });
  document.addEventListener("htmx:after:swap", () => {
    if (place && !hasFocus()) focusAgain(place);
    const element = document.activeElement;
    // Content above the focus can grow.
    if (place?.wasInSight && element && !isInSight(element)) element.scrollIntoView({ block: "nearest" });
    place = undefined;
  });
  document.addEventListener("focusin", uncoverFocus);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) closeMenu();
  });
  // A form without htmx leads to a new page, whose notice says what has been done.
  if (!hasFocus() && document.querySelector("#notice .notice")) focusResult();
}

/** Closes the account menu if the focus is in it. */
function closeMenu() {
  const menu = document.activeElement?.closest("details.menu");
  if (!(menu instanceof HTMLDetailsElement) || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary")?.focus();
}
