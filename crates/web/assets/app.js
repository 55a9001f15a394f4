// @ts-check
/** The script of every page for a signed-in account. */
import htmx from "./vendor/htmx.js";
import "./alert-table.js";
import { connectDialogs } from "./dialogs.js";
import { keepFocus } from "./focus.js";
import { keepForms, submitOnChange } from "./forms.js";
import { startLiveEvents } from "./live-events.js";
import "./live-page.js";
import { mayChange } from "./live-redraw.js";
import { connectPushButton } from "./web-push.js";

/** The only policy of the page. Its input is HTML that this service has rendered and escaped, and the address of its worker. */
const policy = window.trustedTypes?.createPolicy("bellwether", {
  createHTML: (/** @type {string} */ html) => html,
  createScriptURL: (/** @type {string} */ url) => url,
});

htmx.registerExtension("bellwether", {
  /** @param {{initSecurity: (policy: unknown) => void}} api */
  init: (api) => api.initSecurity(policy),
  /**
   * @param {Element} element
   * @param {{attrName: string}} change
   */
  htmx_before_morph_attr: (element, { attrName }) => mayChange(element, attrName),
});

submitOnChange(document);
keepForms();
connectDialogs();
keepFocus();
startLiveEvents();
connectPushButton();

// The charts are large, so only pages with one load it.
if (document.querySelector("price-chart")) await import("./price-chart.js");
if (document.querySelector("rule-chart")) await import("./rule-chart.js");
if (document.querySelector("performance-chart")) await import("./performance-chart.js");

const base = document.body.dataset["base"] ?? "";
const style = document.querySelector("link[rel=stylesheet]")?.getAttribute("href") ?? "";
const worker = `${base}/sw.js?${new URLSearchParams({ style })}`;
// Service workers need a secure context. Without one a browser shows its own page when it is offline.
void navigator.serviceWorker?.register(/** @type {string} */ (policy?.createScriptURL(worker) ?? worker));
