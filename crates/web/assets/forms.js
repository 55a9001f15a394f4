// @ts-check
/** Small helps for forms. Each form works without them. */

/** Fields whose values are never kept. */
const SECRETS = ["password", "hidden", "submit"];

/**
 * Submits forms with `data-submit-on-change` when a choice changes.
 * @param {Document} root
 */
export function submitOnChange(root) {
  root.addEventListener("change", (event) => {
    const input = event.target;
    if (!(input instanceof HTMLSelectElement || input instanceof HTMLInputElement)) return;
    const form = input.form;
    if (form?.hasAttribute("data-submit-on-change")) form.requestSubmit();
  });
}

/** @returns {string} */
const keptName = () => `bellwether-form ${location.pathname}`;

/** @param {HTMLFormElement} form */
const placeOf = (form) => [...document.forms].indexOf(form);

/**
 * Returns what a form is about: where it is sent, and the object in it.
 * @param {HTMLFormElement} form
 */
const subjectOf = (form) => {
  const fields = new FormData(form);
  return `${form.getAttribute("action")} ${fields.get("id") ?? fields.get("alert") ?? ""}`;
};

/** @param {HTMLFormElement} form */
function fieldsOf(form) {
  const fields = [...form.elements].filter(
    (field) => field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement,
  );
  return fields.filter((field) => field.name !== "" && !SECRETS.includes(field.type));
}

/** @param {ReturnType<typeof fieldsOf>[number]} field */
const isChoice = (field) => field instanceof HTMLInputElement && ["checkbox", "radio"].includes(field.type);

/** @param {HTMLFormElement} form */
function keep(form) {
  const values = fieldsOf(form).map((field) =>
    isChoice(field) ? [field.name, field.value, /** @type {HTMLInputElement} */ (field).checked] : [field.name, field.value],
  );
  sessionStorage.setItem(keptName(), JSON.stringify({ place: placeOf(form), subject: subjectOf(form), values }));
}

/**
 * Returns the form of an event if it changes something.
 * @param {EventTarget | null} target
 */
function postForm(target) {
  const form = target instanceof HTMLFormElement ? target : target instanceof Element ? target.closest("form") : null;
  return form?.method === "post" ? form : null;
}

/**
 * Keeps what is sent or being written, for the case that the session has ended or that the form is refused: the page opens again, after
 * the sign-in or with the error, and the form is filled in as it was. A page that opens in another way forgets it.
 */
export function keepForms() {
  /** @type {HTMLFormElement | null} */
  let edited = null;
  document.addEventListener("input", (event) => (edited = postForm(event.target) ?? edited));
  document.addEventListener("submit", (event) => {
    const form = postForm(event.target);
    if (form?.getAttribute("action")?.endsWith("/sign-out")) {
      // Another person may sign in next.
      edited = null;
      sessionStorage.clear();
    } else if (form) {
      keep(form);
    }
  });
  // Also a check in the background leads to the sign-in if the session has ended.
  addEventListener("pagehide", () => {
    if (edited?.isConnected) keep(edited);
  });
  // A form that htmx has sent leads to no new page.
  document.addEventListener("htmx:after:swap", () => sessionStorage.removeItem(keptName()));
  const kept = sessionStorage.getItem(keptName());
  sessionStorage.removeItem(keptName());
  const from = URL.canParse(document.referrer) ? new URL(document.referrer).pathname : "";
  const isRefused = document.querySelector("#notice .bad") !== null;
  if (kept && (from.endsWith("/sign-in") || isRefused)) fillIn(JSON.parse(kept));
}

/** @param {{place: number, subject: string, values: [string, string, boolean?][]}} kept */
function fillIn({ place, subject, values }) {
  const form = document.forms[place];
  // A form that is sent by a change would be refused again, and a list may have another form at this place by now.
  if (!form || form.hasAttribute("data-submit-on-change") || subjectOf(form) !== subject) return;
  for (const details of form.querySelectorAll("details")) details.open = true;
  form.closest("details")?.setAttribute("open", "");
  for (const field of fieldsOf(form)) {
    const choice = isChoice(field);
    const found = values.find(([name, value]) => name === field.name && (!choice || value === field.value));
    if (!found) continue;
    if (choice) /** @type {HTMLInputElement} */ (field).checked = found[2] ?? false;
    else field.value = found[1];
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
}
