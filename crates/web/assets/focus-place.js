// @ts-check
/** A place of the keyboard's focus, which outlasts a change of the page. */

/** What Tab stops at. */
const STOPS = [
  "a[href]",
  "button:not(:disabled)",
  "input:not(:disabled, [type=hidden])",
  "select:not(:disabled)",
  "textarea:not(:disabled)",
  "summary",
  "[tabindex='0']",
].join();

/** Whether an element of the page has the focus. */
export const hasFocus = () => document.activeElement !== null && document.activeElement !== document.body;

/**
 * Returns the elements within `parent` that Tab stops at.
 * @param {ParentNode} parent
 */
function stopsIn(parent) {
  const stops = /** @type {HTMLElement[]} */ ([...parent.querySelectorAll(STOPS)]);
  return stops.filter((stop) => stop.checkVisibility());
}

/**
 * Returns how much of an element is in the window.
 * @param {Element} element
 * @returns {"whole" | "part" | "none"}
 */
function sightOf(element) {
  const { top, bottom } = element.getBoundingClientRect();
  // Scrolling ends at whole pixels.
  if (top > -1 && bottom < window.innerHeight + 1) return "whole";
  return top < window.innerHeight && bottom > 0 ? "part" : "none";
}

export class FocusPlace {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.sight = sightOf(element);
    this.stops = stopsIn(document);
    /** @type {Element[]} */
    this.parents = [];
    for (let parent = element.parentElement; parent; parent = parent.parentElement) this.parents.push(parent);
    this.selection = selectionOf(element);
  }

  /** Returns the present place; `undefined` if no element has the focus. */
  static present() {
    const element = document.activeElement;
    return element instanceof HTMLElement && hasFocus() ? new FocusPlace(element) : undefined;
  }

  /** Gives the focus back to the element, if it is still there. Returns whether it has the focus. */
  return() {
    if (!this.element.isConnected) return false;
    this.element.focus({ preventScroll: true });
    if (this.selection) /** @type {HTMLInputElement} */ (this.element).setSelectionRange(...this.selection);
    return document.activeElement === this.element;
  }

  /** Scrolls the element with the focus into sight again, if what is above it has grown or shrunk. */
  keepInSight() {
    const element = document.activeElement;
    if (!element || !hasFocus()) return;
    const isLost = this.sight === "part" && sightOf(element) === "none";
    if (this.sight === "whole" || isLost) element.scrollIntoView({ block: "nearest" });
  }

  /**
   * Returns the nearest neighbour of an element that is gone: its row, if rows take the focus, so that Enter reaches no other control;
   * else the stop that follows the last one before it, in the nearest of its parents that still has stops.
   */
  neighbour() {
    const row = this.parents.find((parent) => parent.isConnected && parent.matches("article[tabindex='0']"));
    if (row instanceof HTMLElement) return row;
    const before = this.stops.slice(0, this.stops.indexOf(this.element)).reverse();
    for (const parent of this.parents.filter((parent) => parent.isConnected)) {
      const stops = stopsIn(parent);
      const previous = before.find((stop) => stops.includes(stop));
      const next = previous ? stops.indexOf(previous) + 1 : 0;
      if (stops.length > 0) return stops[next] ?? stops.at(-1);
    }
    return undefined;
  }
}

/**
 * Returns the selected part of an input's text.
 * @param {HTMLElement} element
 * @returns {[number, number] | undefined}
 */
function selectionOf(element) {
  if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement)) return undefined;
  const { selectionStart, selectionEnd } = element;
  return selectionStart === null || selectionEnd === null ? undefined : [selectionStart, selectionEnd];
}
