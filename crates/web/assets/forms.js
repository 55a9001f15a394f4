// @ts-check
/** Small helps for forms. Each form works without them. */

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
