// @ts-check
/** The command palette (Ctrl+K), the list of keys (`?`), and the keys of approvals. */

/** @param {string} id */
function dialog(id) {
  const found = document.getElementById(id);
  return found instanceof HTMLDialogElement ? found : null;
}

/** The commands of the palette that are shown. */
function shownCommands() {
  const items = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#commands [role=option]")]);
  return items.filter((item) => !item.hidden);
}

/** @param {HTMLElement | undefined} chosen */
function choose(chosen) {
  const input = document.getElementById("command");
  for (const item of document.querySelectorAll("#commands [role=option]")) {
    item.setAttribute("aria-selected", String(item === chosen));
  }
  if (chosen) {
    input?.setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({ block: "nearest" });
  } else {
    input?.removeAttribute("aria-activedescendant");
  }
}

function filterCommands() {
  const input = document.getElementById("command");
  if (!(input instanceof HTMLInputElement)) return;
  const words = input.value.trim().toLowerCase().split(/\s+/);
  for (const item of document.querySelectorAll("#commands [role=option]")) {
    const text = item.textContent?.toLowerCase() ?? "";
    if (item instanceof HTMLElement) item.hidden = !words.every((word) => text.includes(word));
  }
  choose(shownCommands()[0]);
}

/** @param {KeyboardEvent} event */
function onPaletteKey(event) {
  const items = shownCommands();
  const at = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown") choose(items[Math.min(at + 1, items.length - 1)]);
  else if (event.key === "ArrowUp") choose(items[Math.max(at - 1, 0)]);
  // Without a command the form leads to the stock or to the builder.
  else if (event.key === "Enter" && items[at]) items[at]?.click();
  else return;
  event.preventDefault();
}

/** @param {HTMLElement | null} target */
const isTyping = (target) => Boolean(target?.closest("input, textarea, select, [contenteditable]"));

/**
 * Returns the approval in which a single key was pressed, but not in one of its inputs.
 * @param {KeyboardEvent} event
 */
function approvalOf({ target, ctrlKey, metaKey, altKey }) {
  if (!(target instanceof HTMLElement) || ctrlKey || metaKey || altKey || isTyping(target)) return null;
  return target.closest("form.approval");
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    const palette = dialog("palette");
    if (!palette || palette.open) return;
    palette.showModal();
    const input = palette.querySelector("input");
    if (input) input.value = "";
    filterCommands();
  } else if (document.documentElement.dataset["keys"] === "off") {
    return;
  } else if (["y", "n"].includes(event.key)) {
    // `y` approves and `n` denies the change that has the focus.
    const button = approvalOf(event)?.querySelector(`button[data-key=${event.key}]`);
    if (button instanceof HTMLButtonElement) button.click();
  } else if (event.key === "?") {
    if (!isTyping(event.target instanceof HTMLElement ? event.target : null)) dialog("keys")?.showModal();
  }
}

/** Connects the dialogs of the page. */
export function connectDialogs() {
  document.addEventListener("keydown", onKey);
  document.getElementById("command")?.addEventListener("input", filterCommands);
  document.getElementById("command")?.addEventListener("keydown", onPaletteKey);
}
