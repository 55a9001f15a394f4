// A simulated user in a browser without JavaScript: signs in, allows the app and follows the redirect to the app.
import assert from "node:assert/strict";

/** Returns the default fields and the action of the form in a page. */
export function form(html) {
  const fields = new URLSearchParams();
  for (const [tag] of html.matchAll(/<input\b[^>]*>/g)) {
    const attribute = (name) => unescape(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
    const [name, type] = [attribute("name"), attribute("type")];
    if (!name || type === "submit" || (type === "checkbox" && !/\bchecked\b/.test(tag))) continue;
    fields.append(name, attribute("value") || (type === "checkbox" ? "on" : ""));
  }
  const action = unescape(/<form\b[^>]*\baction="([^"]*)"/.exec(html)?.[1] ?? "");
  return { fields, action };
}

function unescape(text) {
  const named = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'", "#38": "&", "#34": '"', "#60": "<", "#62": ">" };
  return text.replace(/&(#?\w+);/g, (whole, name) => named[name] ?? whole);
}

/** Opens the authorization address of an app and returns the redirect address. */
export async function authorize(url, { email, password, decision = "allow", change = () => {} }) {
  const origin = new URL(url).origin;
  const cookies = new Map();
  const go = async (target, body) => {
    const response = await fetch(target, {
      method: body ? "POST" : "GET",
      body,
      redirect: "manual",
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        ...(body ? { origin, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" } : {}),
      },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair] = cookie.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    return response;
  };
  let at = new URL(url);
  let response = await go(at);
  for (let step = 0; step < 8; step += 1) {
    const location = response.headers.get("location");
    if (location) {
      const next = new URL(location, at);
      if (next.origin !== origin) return next;
      at = next;
      response = await go(at);
      continue;
    }
    const html = await response.text();
    assert.equal(response.headers.get("x-frame-options"), "DENY", "pages must not be framed");
    const { fields, action } = form(html);
    if (fields.has("password")) {
      fields.set("email", email);
      fields.set("password", password);
    } else {
      assert.ok(html.includes('value="allow"'), html);
      change(fields, html);
      fields.set("decision", decision);
    }
    at = new URL(action || at, at);
    response = await go(at, fields);
  }
  throw new Error("no redirect to the app after 8 steps");
}
