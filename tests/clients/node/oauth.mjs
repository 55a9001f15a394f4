// A strict OAuth client, unchanged (oauth4webapi), and a browser that is played here with nothing but fetch and forms, against the
// program at ORIGIN, in which EMAIL has an account with PASSWORD. EMAIL's address was confirmed.

import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';

const { ORIGIN: origin, EMAIL: email, PASSWORD: password } = process.env;
const insecure = { [oauth.allowInsecureRequests]: true };
const resource = `${origin}/mcp`;
const callback = 'http://127.0.0.1:51004/callback';
const all = ['alerts:read', 'alerts:write', 'watchlist:read', 'watchlist:write'];
const none = oauth.None();

/** A browser: it keeps cookies, reads forms, and follows nobody. */
class Browser {
  cookies = new Map();

  async fetch(url, options = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', ...options, headers: { ...options.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      this.cookies.set(name, value);
    }
    return response;
  }

  /** The page at an address, with its one form. */
  async open(url) {
    const response = await this.fetch(url);
    const html = await response.text();
    return { url, status: response.status, html, location: response.headers.get('location'), form: formOf(html, url) };
  }

  /** Sends a page's form with what was written and which button was pressed. */
  async send({ form }, more) {
    const body = new URLSearchParams([...form.hidden, ...more]);
    return this.fetch(form.action, { method: 'POST', body, headers: { origin } });
  }
}

const plain = (text) => text.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

function formOf(html, url) {
  const found = /<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/.exec(html);
  if (!found) return null;
  const inputs = [...found[2].matchAll(/<input ([^>]*)>/g)].map(([, attributes]) =>
    Object.fromEntries([...attributes.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(([, name, value]) => [name, plain(value ?? '')])));
  return {
    action: new URL(plain(found[1]), url),
    hidden: inputs.filter(({ type }) => type === 'hidden').map(({ name, value }) => [name, value]),
    choices: inputs.filter(({ type }) => type === 'checkbox').map(({ value }) => value),
    buttons: [...found[2].matchAll(/<button [^>]*name="decision" value="([a-z]+)"/g)].map(([, value]) => value),
  };
}

const as = await (async () => {
  const answer = await oauth.resourceDiscoveryRequest(new URL(resource), insecure);
  const found = await oauth.processResourceDiscoveryResponse(new URL(resource), answer);
  assert.deepEqual(found.scopes_supported, all);
  const issuer = new URL(found.authorization_servers[0]);
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }));
})();

const client = await oauth.processDynamicClientRegistrationResponse(
  await oauth.dynamicClientRegistrationRequest(
    as,
    { client_name: 'Strict <b>agent</b>', redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' },
    insecure,
  ),
);

/** What a client sends a browser with. */
async function request(change = {}) {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(as.authorization_endpoint);
  const params = {
    response_type: 'code', client_id: client.client_id, redirect_uri: callback, state, resource,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', ...change,
  };
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
  return { url, state, verifier };
}

/** Somebody who has signed in by the form. */
async function signedIn() {
  const browser = new Browser();
  const { url } = await request();
  const page = await browser.open(url);
  assert.equal(page.status, 200, page.html);
  const answer = await browser.send(page, [['email', email], ['password', password]]);
  assert.equal(answer.status, 303);
  const again = await browser.open(new URL(answer.headers.get('location'), page.form.action));
  assert.deepEqual(again.form.buttons, ['allow', 'deny']);
  return browser;
}

const browser = await signedIn();

/** Lets the browser decide, and gives where it is sent. */
async function decided(wish, decision = 'allow', scopes = undefined) {
  const page = await browser.open(wish.url);
  assert.equal(page.status, 200, page.html);
  const ticked = (scopes ?? page.form.choices).map((scope) => ['scope', scope]);
  const answer = await browser.send(page, [...ticked, ['decision', decision]]);
  assert.equal(answer.status, 303, await answer.text());
  return new URL(answer.headers.get('location'));
}

async function code(wish, scopes) {
  const back = await decided(wish, 'allow', scopes);
  assert.ok(back.href.startsWith(`${callback}?`), back.href);
  return oauth.validateAuthResponse(as, client, back, wish.state);
}

const exchange = (params, verifier) => oauth.authorizationCodeGrantRequest(as, client, none, params, callback, verifier,
  { additionalParameters: { resource }, ...insecure });

async function tokens(scopes) {
  const wish = await request();
  const answer = await exchange(await code(wish, scopes), wish.verifier);
  return oauth.processAuthorizationCodeResponse(as, client, answer);
}

const renewal = (token) => oauth.refreshTokenGrantRequest(as, client, none, token, insecure);
const renewed = async (token) => oauth.processRefreshTokenResponse(as, client, await renewal(token));
const isRefused = (error) => (promise) => assert.rejects(promise, (thrown) => thrown.error === error || assert.fail(thrown));
const isBad = isRefused('invalid_grant');

const tests = {};

tests['what is discovered is what there is'] = async () => {
  assert.equal(as.issuer, origin);
  assert.deepEqual(as.code_challenge_methods_supported, ['S256']);
  assert.equal(as.authorization_response_iss_parameter_supported, true);
  assert.equal(client.token_endpoint_auth_method, 'none');
  assert.equal(client.client_secret, undefined);
};

tests['the page says who wants what, and what clients say of themselves stays text'] = async () => {
  const { url } = await request({ scope: 'alerts:read watchlist:read' });
  const page = await browser.open(url);
  for (const text of ['Strict &#60;b&#62;agent', '127.0.0.1:51004', 'alerts:read', email]) assert.ok(page.html.includes(text), text);
  assert.deepEqual(page.form.choices, ['alerts:read', 'watchlist:read']);
};

tests['a code is exchanged for tokens of what was allowed, which are renewed'] = async () => {
  const first = await tokens(['alerts:read', 'watchlist:write']);
  assert.equal(first.token_type, 'bearer');
  assert.equal(first.scope, 'alerts:read watchlist:write');
  assert.match(first.access_token, /^mcp_at_[A-Za-z0-9_-]{43}$/);
  const next = await renewed(first.refresh_token);
  assert.notEqual(next.access_token, first.access_token);
  assert.notEqual(next.refresh_token, first.refresh_token);
};

tests['whoever denies is sent back with that, in a way that a client can trust'] = async () => {
  const wish = await request();
  const back = await decided(wish, 'deny');
  assert.throws(() => oauth.validateAuthResponse(as, client, back, wish.state), (error) => error.error === 'access_denied');
};

tests['what is wrong with a request is told to the client, with its state and the issuer'] = async () => {
  for (const [change, error] of [
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ resource: `${origin}/` }, 'invalid_target'],
    [{ scope: 'moon:read' }, 'invalid_scope'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
  ]) {
    const wish = await request(change);
    const page = await browser.open(wish.url);
    const back = new URL(page.location);
    assert.throws(() => oauth.validateAuthResponse(as, client, back, wish.state), (thrown) => thrown.error === error, error);
  }
};

tests['a redirect that was not registered is followed by nobody'] = async () => {
  for (const redirect_uri of [
    'http://127.0.0.1:51004/callback/', 'http://127.0.0.1:51004/callback?x', 'http://127.0.0.1:51004/callback#x',
    'http://127.0.0.1:51004/x/../callback', 'http://127.0.0.1:51004/%63allback', 'http://127.0.0.1:80@evil.example/callback',
    'http://127.0.0.1.evil.example/callback', 'http://localhost:51004/callback', 'https://127.0.0.1:51004/callback',
    'HTTP://127.0.0.1:51004/callback', 'https://evil.example/callback', 'javascript:alert(1)', '', undefined,
  ]) {
    for (const somebody of [browser, new Browser()]) {
      const { status, location } = await somebody.open((await request({ redirect_uri })).url);
      assert.deepEqual([status, location], [400, null], redirect_uri);
    }
  }
};

tests['a code that is shown twice ends what came of it'] = async () => {
  const wish = await request();
  const params = await code(wish);
  const first = await oauth.processAuthorizationCodeResponse(as, client, await exchange(params, wish.verifier));
  await isBad(exchange(params, wish.verifier).then((answer) => oauth.processAuthorizationCodeResponse(as, client, answer)));
  await isBad(renewed(first.refresh_token));
};

tests['a code is nothing without its verifier'] = async () => {
  const wish = await request();
  const params = await code(wish);
  const wrong = oauth.generateRandomCodeVerifier();
  await isBad(exchange(params, wrong).then((answer) => oauth.processAuthorizationCodeResponse(as, client, answer)));
  await oauth.processAuthorizationCodeResponse(as, client, await exchange(params, wish.verifier));
};

tests['a refresh token that is shown twice ends all that came of it'] = async () => {
  const first = await tokens();
  const second = await renewed(first.refresh_token);
  await isBad(renewed(first.refresh_token));
  await isBad(renewed(second.refresh_token));
};

tests['of twenty renewals at once one succeeds'] = async () => {
  const { refresh_token: token } = await tokens();
  const answers = await Promise.all(Array.from({ length: 20 }, () => renewal(token)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(400)]);
  const [good] = answers.filter(({ status }) => status === 200);
  const { refresh_token: next } = await oauth.processRefreshTokenResponse(as, client, good);
  await isBad(renewed(next));
};

tests['a token that is given back is good for nothing'] = async () => {
  const first = await tokens();
  for (const token of [first.refresh_token, first.refresh_token, 'nothing']) {
    await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, none, token, insecure));
  }
  await isBad(renewed(first.refresh_token));
};

tests['an access token is good for nothing on REST'] = async () => {
  const { access_token: token } = await tokens();
  for (const headers of [{ authorization: `Bearer ${token}` }, { 'x-api-key': token }]) {
    const { status } = await fetch(`${origin}/api/v1/alerts`, { headers });
    assert.equal(status, 401);
  }
};

tests['people see what they have allowed, and end it'] = async () => {
  const { refresh_token: token } = await tokens(['alerts:read']);
  const answer = await browser.fetch(`${origin}/api/v1/oauth/grants`);
  const { data: grants } = await answer.json();
  const { id, client_id: by, scopes } = grants.at(-1);
  assert.deepEqual([by, scopes], [client.client_id, ['alerts:read']]);
  const ended = await browser.fetch(`${origin}/api/v1/oauth/grants/${id}`, { method: 'DELETE', headers: { origin } });
  assert.equal(ended.status, 200);
  await isBad(renewed(token));
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
  } catch (error) {
    failed += 1;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
