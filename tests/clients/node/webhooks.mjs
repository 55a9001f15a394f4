// Calls every method of `webhooks` of the published JavaScript client, unchanged. Verifies real deliveries of the service at BASE_URL
// with the client's verifier, with Standard Webhooks, and with a receiver that parses and serializes the body before it signs.
// API_KEY belongs to an account, OPERATOR_KEY may push market data. AAPL is at 100, and there is no other data.

import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { ApiError, StockAlert, ValidationError } from '@stockalert/sdk';
import { Webhook } from 'standardwebhooks';

const { BASE_URL: baseUrl, API_KEY: apiKey, OPERATOR_KEY: operatorKey } = process.env;
const { webhooks } = new StockAlert({ apiKey, baseUrl, maxRetries: 0 });
const tests = {};
const URL = 'https://hooks.example.com/stocks?x=1';
const EVENTS = ['alert.triggered'];

/** A receiver that keeps its requests; callers can wait for the next one. */
class Receiver {
  received = [];
  #waiting = [];

  async open() {
    this.server = createServer((request, response) => {
      const parts = [];
      request.on('data', (part) => parts.push(part));
      request.on('end', () => {
        response.writeHead(200).end('thank you');
        const delivery = { headers: request.headers, body: Buffer.concat(parts) };
        this.received.push(delivery);
        this.#waiting.shift()?.(delivery);
      });
    });
    await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${this.server.address().port}/hook`;
    return this;
  }

  /** Resolves with the next delivery. */
  next() {
    return new Promise((done, fail) => {
      this.#waiting.push(done);
      setTimeout(() => fail(new Error('no delivery within a minute')), 60_000).unref();
    });
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** Sends a request for which the client has no method. */
async function send(key, method, path, body) {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const response = await fetch(`${baseUrl}${path}`, { method, headers, body: body && JSON.stringify(body) });
  const json = await response.json();
  assert.ok(response.ok, JSON.stringify(json));
  return json.data;
}

const ingest = (batch) => send(operatorKey, 'POST', '/market/ingest', batch);

/** Creates an alert, fires it and returns its delivery. */
async function fire(receiver, alert, quote) {
  const coming = receiver.next();
  await send(apiKey, 'POST', '/alerts', { symbol: 'AAPL', ...alert });
  await ingest({ quotes: [{ symbol: 'AAPL', ...quote }] });
  const delivery = await coming;
  await ingest({ quotes: [{ symbol: 'AAPL', price: 100 }] });
  return delivery;
}

tests['responses have the format that the client expects'] = async () => {
  const created = await webhooks.create({ url: URL, events: EVENTS });
  assert.ok(created.secret.startsWith('whsec_') && created.url === URL && created.is_active, JSON.stringify(created));
  const own = await webhooks.create({ url: URL, events: EVENTS, secret: 'my own' });
  assert.equal(own.secret, 'my own');
  assert.equal((await webhooks.retrieve(created.id)).id, created.id);
  const listed = await webhooks.list();
  assert.deepEqual(listed.data.map((webhook) => webhook.id), [created.id, own.id]);
  assert.equal((await webhooks.remove(created.id)).id, created.id);
  await assert.rejects(webhooks.retrieve(created.id), (error) => error.statusCode === 404);
};

tests['the client rejects invalid webhooks before sending'] = async () => {
  assert.throws(() => webhooks.create({ url: 'http://example.com', events: EVENTS }), ValidationError);
  assert.throws(() => webhooks.create({ url: URL, events: ['alert.created'] }), ValidationError);
  await assert.rejects(webhooks.create({ url: 'https://127.0.0.1.:1/', events: EVENTS }),
    (error) => error instanceof ApiError && error.message.includes('url'));
};

tests['a sixth webhook is rejected'] = async () => {
  for (let created = 0; created < 5; created += 1) await webhooks.create({ url: URL, events: EVENTS });
  await assert.rejects(webhooks.create({ url: URL, events: EVENTS }), (error) => error.statusCode === 403);
};

tests['a test is delivered and its response is returned'] = async (receiver) => {
  const coming = receiver.next();
  const result = await webhooks.test({ url: receiver.url, secret: 'whsec_dGVzdA==' });
  assert.deepEqual([result.status, result.status_text, result.statusText, result.response], [200, 'OK', 'OK', 'thank you']);
  const { headers, body } = await coming;
  const { 'x-stockalert-signature': signature, 'x-stockalert-timestamp': timestamp } = headers;
  assert.ok(webhooks.verifySignature(body, signature, 'whsec_dGVzdA==', timestamp));
  assert.equal(webhooks.parse(body).event, 'alert.triggered');
};

// Numbers in every format of JavaScript.
const SPECIAL_VALUES = { tiny: 1e-7, large: 123456789012345680000, huge: 1e21, negative: -0.5, whole: 3, text: '€ \u2028 "<\\', deep: [{ b: 1, a: 2 }] };
const FIRINGS = [
  [{ condition: 'price_above', threshold: 200, parameters: SPECIAL_VALUES }, { price: 200 }],
  [{ condition: 'price_above', threshold: 198.66, parameters: SPECIAL_VALUES }, { price: 198.66 }],
  [{ condition: 'price_above', threshold: 1000000, parameters: SPECIAL_VALUES }, { price: 1000000.25 }],
  [{ condition: 'price_below', threshold: 0.000123, parameters: SPECIAL_VALUES }, { price: 0.000001 }],
  // The volume remains, so with the second form the alert holds at once, at the price before.
  [{ condition: 'volume_change', threshold: 150 }, { price: 100, volume: 9007199254740 }],
];

for (const form of ['timestamped', 'body']) {
  tests[`all verifiers accept deliveries with the signature form ${form}`] = async (receiver) => {
    const created = await send(apiKey, 'POST', '/webhooks', { url: receiver.url, events: EVENTS, signature: form });
    for (const [alert, quote] of FIRINGS) {
      const { headers, body } = await fire(receiver, alert, quote);
      const text = body.toString('utf8');
      const signature = headers['x-stockalert-signature'];
      const timestamp = form === 'body' ? undefined : headers['x-stockalert-timestamp'];
      assert.ok(webhooks.verifySignature(body, signature, created.secret, timestamp), text);
      assert.ok(webhooks.verifySignature(text, headers['x-service-signature'], created.secret, timestamp));
      assert.ok(!webhooks.verifySignature(`${text} `, signature, created.secret, timestamp));
      assert.ok(!webhooks.verifySignature(body, signature, `${created.secret}x`, timestamp));

      // A receiver that parses and serializes the body before it signs.
      assert.equal(JSON.stringify(JSON.parse(text)), text);
      const signed = (form === 'body' ? '' : `${timestamp}.`) + JSON.stringify(JSON.parse(text));
      const expected = createHmac('sha256', created.secret).update(signed).digest();
      assert.ok(timingSafeEqual(expected, Buffer.from(signature.replace('sha256=', ''), 'hex')));

      assert.deepEqual(new Webhook(created.secret).verify(text, headers), JSON.parse(text));
      assert.throws(() => new Webhook(created.secret).verify(`${text} `, headers));

      const event = webhooks.parse(body);
      assert.deepEqual([event.event, event.id, event.timestamp],
        ['alert.triggered', headers['x-stockalert-delivery'], headers['x-stockalert-timestamp']]);
      assert.deepEqual([event.data.alert.condition, event.data.alert.threshold, event.data.alert.status, event.data.stock.price],
        [alert.condition, alert.threshold, 'triggered', quote.price]);
      if (alert.parameters) assert.deepEqual(JSON.parse(text).data.alert.parameters, SPECIAL_VALUES);
    }
  };
}

tests['after a rotation Standard Webhooks verify with both secrets'] = async (receiver) => {
  const created = await send(apiKey, 'POST', '/webhooks', { url: receiver.url, events: EVENTS });
  const rotated = await send(apiKey, 'POST', `/webhooks/${created.id}/rotate-secret`);
  const { headers, body } = await fire(receiver, { condition: 'price_above', threshold: 150 }, { price: 150 });
  for (const secret of [created.secret, rotated.secret]) new Webhook(secret).verify(body, headers);
  const { 'x-stockalert-signature': signature, 'x-stockalert-timestamp': timestamp } = headers;
  assert.ok(webhooks.verifySignature(body, signature, rotated.secret, timestamp));
  assert.ok(!webhooks.verifySignature(body, signature, created.secret, timestamp));
};

// New methods of a new client version need new tests.
tests['the list of methods is complete'] = async () => {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(webhooks));
  const methods = own.filter((name) => name !== 'constructor' && !/^(validate|normalize|isRecord)/.test(name)).sort();
  assert.deepEqual(methods, ['create', 'list', 'parse', 'remove', 'retrieve', 'test', 'verifySignature']);
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  const receiver = await new Receiver().open();
  try {
    for (const webhook of (await webhooks.list()).data) await webhooks.remove(webhook.id);
    for (const alert of await send(apiKey, 'GET', '/alerts?limit=100')) await send(apiKey, 'DELETE', `/alerts/${alert.id}`);
    await test(receiver);
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
  receiver.close();
}
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
