// @ts-check
/** The button that subscribes this browser to push messages. Its form creates the notification channel. */

const isSupported = () => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

/**
 * Returns bytes in base64url without padding.
 * @param {ArrayBuffer | null} buffer
 */
const base64url = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer ?? new ArrayBuffer(0))))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/**
 * Returns the subscription of this browser. One with another key gets no messages of this service, so it is replaced; the form names it,
 * so that its channel gets the new one.
 * @param {HTMLFormElement} form
 */
async function subscribe(form) {
  const key = form.dataset["webPush"] ?? "";
  const { pushManager } = await navigator.serviceWorker.ready;
  const former = await pushManager.getSubscription();
  if (former && base64url(former.options.applicationServerKey) !== key) {
    input(form, "former_endpoint").value = former.endpoint;
    await former.unsubscribe();
  }
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 */
const input = (form, name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

/**
 * Fills in the form with the subscription. Returns the name of the message of the problem if there is none.
 * @param {HTMLFormElement} form
 * @returns {Promise<"denied" | "failed" | undefined>}
 */
async function fillIn(form) {
  // Browsers permit the question only as a response to a click, so it comes first.
  if ((await Notification.requestPermission()) !== "granted") return "denied";
  try {
    const { endpoint, keys } = (await subscribe(form)).toJSON();
    input(form, "config.endpoint").value = endpoint ?? "";
    input(form, "config.p256dh").value = keys?.["p256dh"] ?? "";
    input(form, "config.auth").value = keys?.["auth"] ?? "";
  } catch (error) {
    console.warn(error);
    return "failed";
  }
  return undefined;
}

/** Shows the button if this browser supports push messages. */
export function connectPushButton() {
  const form = document.querySelector("form[data-web-push]");
  if (!(form instanceof HTMLFormElement) || !isSupported()) return;
  form.classList.add("supported");
  form.addEventListener("submit", async (event) => {
    if (input(form, "config.endpoint").value !== "") return;
    event.preventDefault();
    const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
    button.disabled = true;
    const problem = await fillIn(form);
    button.disabled = false;
    for (const message of form.querySelectorAll("[data-problem]")) {
      /** @type {HTMLElement} */ (message).hidden = message.getAttribute("data-problem") !== problem;
    }
    if (!problem) form.requestSubmit();
  });
}
