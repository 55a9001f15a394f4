// Tests OAuth with a strict client (oauth4webapi, unchanged) and a simulated browser with cookies and forms but without scripts. The
// service at ORIGIN has an account with the confirmed address EMAIL and the password PASSWORD.

import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';

const { ORIGIN: origin, EMAIL: email, PASSWORD: password } = process.env;
const insecure = { [oauth.allowInsecureRequests]: true };
const resource = `${origin}/mcp`;
const callback = 'http://127.0.0.1:51004/callback';
const all = ['alerts:read', 'alerts:write', 'watchlist:read', 'watchlist:write'];
const none = oauth.None();

/** A browser that keeps cookies and reads forms, but does not follow redirects. */
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

  /** Loads a page and parses its form. */
  async open(url) {
    const response = await this.fetch(url);
    const html = await response.text();
    return { url, status: response.status, html, location: response.headers.get('location'), form: formOf(html, url) };
  }

  /** Submits a page's form with the given fields and button. */
  async send({ form }, more) {
    const body = new URLSearchParams([...form.hidden, ...more]);
    return this.fetch(form.action, { method: 'POST', body, headers: { origin } });
  }
}

const unescapeHtml = (text) => text.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

function formOf(html, url) {
  const found = /<form[^>]* method="post" action="([^"]*)">([\s\S]*?)<\/form>/.exec(html);
  if (!found) return null;
  const inputs = [...found[2].matchAll(/<input ([^>]*)>/g)].map(([, attributes]) =>
    Object.fromEntries([...attributes.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(([, name, value]) => [name, unescapeHtml(value ?? '')])));
  return {
    action: new URL(unescapeHtml(found[1]), url),
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

/** Builds an authorization request. */
async function authorizationRequest(change = {}) {
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

/** Returns a browser that has signed in with the form. */
async function signedIn() {
  const browser = new Browser();
  const { url } = await authorizationRequest();
  const page = await browser.open(url);
  assert.equal(page.status, 200, page.html);
  const answer = await browser.send(page, [['email', email], ['password', password]]);
  assert.equal(answer.status, 303);
  const again = await browser.open(new URL(answer.headers.get('location'), page.form.action));
  assert.deepEqual(again.form.buttons, ['allow', 'deny']);
  return browser;
}

const browser = await signedIn();

/** Submits the consent form and returns the redirect address. */
async function submitConsent(request, decision = 'allow', scopes = undefined) {
  const page = await browser.open(request.url);
  assert.equal(page.status, 200, page.html);
  const ticked = (scopes ?? page.form.choices).map((scope) => ['scope', scope]);
  const answer = await browser.send(page, [...ticked, ['decision', decision]]);
  assert.equal(answer.status, 303, await answer.text());
  return new URL(answer.headers.get('location'));
}

async function code(request, scopes) {
  const back = await submitConsent(request, 'allow', scopes);
  assert.ok(back.href.startsWith(`${callback}?`), back.href);
  return oauth.validateAuthResponse(as, client, back, request.state);
}

const exchange = (params, verifier) => oauth.authorizationCodeGrantRequest(as, client, none, params, callback, verifier,
  { additionalParameters: { resource }, ...insecure });

async function tokens(scopes) {
  const request = await authorizationRequest();
  const answer = await exchange(await code(request, scopes), request.verifier);
  return oauth.processAuthorizationCodeResponse(as, client, answer);
}

const refresh = (token) => oauth.refreshTokenGrantRequest(as, client, none, token, insecure);
const refreshed = async (token) => oauth.processRefreshTokenResponse(as, client, await refresh(token));
const isRefused = (error) => (promise) => assert.rejects(promise, (thrown) => thrown.error === error || assert.fail(thrown));
const isBad = isRefused('invalid_grant');

const tests = {};

tests['discovery metadata matches the service'] = async () => {
  assert.equal(as.issuer, origin);
  assert.deepEqual(as.code_challenge_methods_supported, ['S256']);
  assert.equal(as.authorization_response_iss_parameter_supported, true);
  assert.equal(client.token_endpoint_auth_method, 'none');
  assert.equal(client.client_secret, undefined);
};

tests['the consent page shows the client and its scopes, with the client name escaped'] = async () => {
  const { url } = await authorizationRequest({ scope: 'alerts:read watchlist:read' });
  const page = await browser.open(url);
  for (const text of ['Strict &#60;b&#62;agent', '127.0.0.1:51004', 'alerts:read', email]) assert.ok(page.html.includes(text), text);
  assert.deepEqual(page.form.choices, ['alerts:read', 'watchlist:read']);
};

tests['a code is exchanged for tokens with the allowed scopes, which can be refreshed'] = async () => {
  const first = await tokens(['alerts:read', 'watchlist:write']);
  assert.equal(first.token_type, 'bearer');
  assert.equal(first.scope, 'alerts:read watchlist:write');
  assert.match(first.access_token, /^mcp_at_[A-Za-z0-9_-]{43}$/);
  const next = await refreshed(first.refresh_token);
  assert.notEqual(next.access_token, first.access_token);
  assert.notEqual(next.refresh_token, first.refresh_token);
};

tests['a denial redirects with access_denied, state and issuer'] = async () => {
  const request = await authorizationRequest();
  const back = await submitConsent(request, 'deny');
  assert.throws(() => oauth.validateAuthResponse(as, client, back, request.state), (error) => error.error === 'access_denied');
};

tests['request errors redirect with the error, state and issuer'] = async () => {
  for (const [change, error] of [
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ resource: `${origin}/` }, 'invalid_target'],
    [{ scope: 'moon:read' }, 'invalid_scope'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
  ]) {
    const request = await authorizationRequest(change);
    const page = await browser.open(request.url);
    const back = new URL(page.location);
    assert.throws(() => oauth.validateAuthResponse(as, client, back, request.state), (thrown) => thrown.error === error, error);
  }
};

tests['an unregistered redirect address is rejected without a redirect'] = async () => {
  for (const redirect_uri of [
    'http://127.0.0.1:51004/callback/', 'http://127.0.0.1:51004/callback?x', 'http://127.0.0.1:51004/callback#x',
    'http://127.0.0.1:51004/x/../callback', 'http://127.0.0.1:51004/%63allback', 'http://127.0.0.1:80@evil.example/callback',
    'http://127.0.0.1.evil.example/callback', 'http://localhost:51004/callback', 'https://127.0.0.1:51004/callback',
    'HTTP://127.0.0.1:51004/callback', 'https://evil.example/callback', 'javascript:alert(1)', '', undefined,
  ]) {
    for (const visitor of [browser, new Browser()]) {
      const { status, location } = await visitor.open((await authorizationRequest({ redirect_uri })).url);
      assert.deepEqual([status, location], [400, null], redirect_uri);
    }
  }
};

tests['reuse of a code revokes its tokens'] = async () => {
  const request = await authorizationRequest();
  const params = await code(request);
  const first = await oauth.processAuthorizationCodeResponse(as, client, await exchange(params, request.verifier));
  await isBad(exchange(params, request.verifier).then((answer) => oauth.processAuthorizationCodeResponse(as, client, answer)));
  await isBad(refreshed(first.refresh_token));
};

tests['a code requires its verifier'] = async () => {
  const request = await authorizationRequest();
  const params = await code(request);
  const wrong = oauth.generateRandomCodeVerifier();
  await isBad(exchange(params, wrong).then((answer) => oauth.processAuthorizationCodeResponse(as, client, answer)));
  await oauth.processAuthorizationCodeResponse(as, client, await exchange(params, request.verifier));
};

tests['reuse of a refresh token revokes all its descendants'] = async () => {
  const first = await tokens();
  const second = await refreshed(first.refresh_token);
  await isBad(refreshed(first.refresh_token));
  await isBad(refreshed(second.refresh_token));
};

tests['one of twenty concurrent refreshes succeeds'] = async () => {
  const { refresh_token: token } = await tokens();
  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(token)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(400)]);
  const [good] = answers.filter(({ status }) => status === 200);
  const { refresh_token: next } = await oauth.processRefreshTokenResponse(as, client, good);
  await isBad(refreshed(next));
};

tests['a revoked token is invalid'] = async () => {
  const first = await tokens();
  for (const token of [first.refresh_token, first.refresh_token, 'nothing']) {
    await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, none, token, insecure));
  }
  await isBad(refreshed(first.refresh_token));
};

tests['the REST API rejects access tokens'] = async () => {
  const { access_token: token } = await tokens();
  for (const headers of [{ authorization: `Bearer ${token}` }, { 'x-api-key': token }]) {
    const { status } = await fetch(`${origin}/api/v1/alerts`, { headers });
    assert.equal(status, 401);
  }
};

tests['users can list and revoke their grants'] = async () => {
  const { refresh_token: token } = await tokens(['alerts:read']);
  const answer = await browser.fetch(`${origin}/api/v1/oauth/grants`);
  const { data: grants } = await answer.json();
  const { id, client_id: by, scopes } = grants.at(-1);
  assert.deepEqual([by, scopes], [client.client_id, ['alerts:read']]);
  const ended = await browser.fetch(`${origin}/api/v1/oauth/grants/${id}`, { method: 'DELETE', headers: { origin } });
  assert.equal(ended.status, 200);
  await isBad(refreshed(token));
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
