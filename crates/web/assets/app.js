// @ts-check
/** The script of every page for a signed-in account. */
import htmx from "./vendor/htmx.js";
import "./alert-table.js";
import { submitOnChange } from "./forms.js";
import { startLiveEvents } from "./live-events.js";
import "./live-page.js";

/** The only policy of the page. Its input is HTML that this service has rendered and escaped. */
const policy = window.trustedTypes?.createPolicy("bellwether", { createHTML: (/** @type {string} */ html) => html });

htmx.registerExtension("bellwether", {
  /** @param {{initSecurity: (policy: unknown) => void}} api */
  init: (api) => api.initSecurity(policy),
});

submitOnChange(document);
startLiveEvents();

// The charts are large, so only pages with one load it.
if (document.querySelector("price-chart")) await import("./price-chart.js");
if (document.querySelector("performance-chart")) await import("./performance-chart.js");
