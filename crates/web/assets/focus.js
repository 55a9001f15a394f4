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

/** Keeps the focus on each page. */
export function keepFocus() {
  let hadFocus = false;
  document.addEventListener("htmx:before:swap", () => (hadFocus ||= hasFocus()));
  document.addEventListener("htmx:after:swap", () => {
    if (hadFocus && !hasFocus()) focusResult();
    hadFocus = false;
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
