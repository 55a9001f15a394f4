// @ts-check
import { isLiveRedraw } from "./live-redraw.js";

/**
 * Selection and single keys in the table of alerts: `j` and `k` move, `x` selects, `p` pauses, `r` resumes, `s` snoozes, Delete
 * deletes, `u` undoes. Keys work only while the focus is in the table and not in a text input (WCAG 2.1.4).
 */
class AlertTable extends HTMLElement {
  /** The row that had the focus at the last key. */
  row = 0;

  connectedCallback() {
    this.addEventListener("change", this.onChange);
    this.addEventListener("keydown", this.onKey);
    document.addEventListener("htmx:after:swap", this.onSwap);
    this.showSelection();
  }

  disconnectedCallback() {
    this.removeEventListener("change", this.onChange);
    this.removeEventListener("keydown", this.onKey);
    document.removeEventListener("htmx:after:swap", this.onSwap);
  }

  /** The checkboxes of the rows. */
  get boxes() {
    return /** @type {HTMLInputElement[]} */ ([...this.querySelectorAll("td.pick input")]);
  }

  /** The checkbox that selects all rows. */
  get allBox() {
    return /** @type {HTMLInputElement | null} */ (this.querySelector("[data-pick-all]"));
  }

  /** Ends the selection of all rows of all pages. */
  endSelectionOfAllPages() {
    const all = document.querySelector("input[name=all]");
    if (all instanceof HTMLInputElement) all.checked = false;
  }

  showSelection() {
    const all = this.allBox;
    if (!all) return;
    const selected = this.boxes.filter((box) => box.checked).length;
    all.checked = selected > 0 && selected === this.boxes.length;
    all.indeterminate = selected > 0 && selected < this.boxes.length;
  }

  /**
   * A change is done, so its selection ends, as it does on a new page. A live redraw keeps it.
   * @param {Event} event
   */
  onSwap = (event) => {
    if (isLiveRedraw(event)) return this.showSelection();
    for (const box of this.boxes) box.checked = false;
    this.endSelectionOfAllPages();
    this.showSelection();
    // A row that the filter does not show any more takes the focus with it.
    if (document.activeElement === document.body) this.boxes[Math.min(this.row, this.boxes.length - 1)]?.focus();
  };

  /** @param {Event} event */
  onChange = (event) => {
    if (event.target === this.allBox) {
      const checked = this.allBox?.checked ?? false;
      for (const box of this.boxes) box.checked = checked;
    }
    if (event.target === this.allBox || this.boxes.some((box) => box === event.target)) this.endSelectionOfAllPages();
    this.showSelection();
  };

  /** @param {KeyboardEvent} event */
  onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.documentElement.dataset.keys === "off") return;
    const target = event.target;
    if (!(target instanceof HTMLElement) || !target.closest(".scroll")) return;
    const boxes = this.boxes;
    const at = boxes.findIndex((box) => box.closest("tr")?.contains(target));
    this.row = Math.max(at, 0);
    switch (event.key) {
      case "j":
        boxes[Math.min(at + 1, boxes.length - 1)]?.focus();
        break;
      case "k":
        boxes[Math.max(at - 1, 0)]?.focus();
        break;
      case "x":
        boxes[Math.max(at, 0)]?.click();
        break;
      default: {
        const button = this.buttonOf(event.key);
        if (!button) return;
        const row = boxes[at];
        // Without a selection the key is about the row that has the focus.
        if (button.dataset.key !== "u" && row && !boxes.some((box) => box.checked)) row.checked = true;
        button.click();
      }
    }
    event.preventDefault();
  };

  /**
   * @param {string} key
   * @returns {HTMLButtonElement | null}
   */
  buttonOf(key) {
    return document.querySelector(`button[data-key="${CSS.escape(key)}"]`);
  }
}

customElements.define("alert-table", AlertTable);
