// Calls every method of `alerts`, `watchlist`, `stocks` and `user` of the published JavaScript client, unchanged. BASE_URL and API_KEY
// are the base address of the service and an API key; NARROW_KEY is a key that may only read stocks. The service has the stocks AAPL
// (with history, at 100) and MSFT, and no alerts.

import assert from 'node:assert/strict';
import { ApiError, AuthenticationError, RateLimitError, StockAlert, ValidationError, isAlert, isPaginatedResponse } from '@stockalert/sdk';

const { BASE_URL: baseUrl, API_KEY: apiKey, NARROW_KEY: narrowKey } = process.env;
const client = new StockAlert({ apiKey, baseUrl, maxRetries: 0 });
const { alerts, stocks, user, watchlist } = client;

const tests = {};
const isTime = (text) => typeof text === 'string' && new Date(text).toISOString() === text;

/** Deletes all alerts, so that each test starts without data. */
async function clear() {
  for await (const alert of alerts.iterate()) await alerts.remove(alert.id);
}

const above = (threshold, more = {}) => ({ symbol: 'AAPL', condition: 'price_above', threshold, ...more });

tests['create returns an alert'] = async () => {
  const alert = await alerts.create(above(200));
  assert.ok(isAlert(alert), JSON.stringify(alert));
  assert.deepEqual(
    [alert.symbol, alert.condition, alert.threshold, alert.notification, alert.status, alert.initial_price],
    ['AAPL', 'price_above', 200, 'email', 'active', 100],
  );
  assert.ok(isTime(alert.created_at), alert.created_at);
};

tests['create returns the existing equivalent alert'] = async () => {
  const first = await alerts.create(above(200));
  const second = await alerts.create(above(200));
  assert.equal(second.id, first.id);
};

tests['create accepts every condition in the client\'s format'] = async () => {
  const later = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
  for (const [condition, threshold, parameters] of [
    ['price_above', 200], ['price_below', 50], ['price_change_up', 5], ['price_change_down', 5],
    ['new_high'], ['new_low'], ['ma_crossover_golden'], ['ma_crossover_death'],
    ['ma_touch_above', 50], ['ma_touch_below', 200],
    ['rsi_limit', 70, { direction: 'up' }], ['rsi_limit', 30, { direction: 'down' }], ['rsi_limit', 50, { direction: 'both' }],
    ['volume_change', 150], ['pe_ratio_below', 10], ['pe_ratio_above', 40], ['forward_pe_below', 10], ['forward_pe_above', 40],
    ['social_buzz', undefined, { direction: 'rising' }],
    ['insider_transactions', 500000, { direction: 'both', minExecutives: 2, windowDays: 14, openMarketOnly: true }],
    ['reminder', 1, { reminder_date: later, reminder_time: '09:30' }],
    ['daily_reminder', undefined, { deliveryTime: 'after_market_close' }], ['daily_reminder'],
    ['earnings_announcement', 3], ['dividend_ex_date', 1], ['dividend_payment', undefined, { shares: 100 }],
  ]) {
    const alert = await alerts.create({ symbol: 'AAPL', condition, threshold, parameters });
    assert.ok(isAlert(alert) && alert.condition === condition, JSON.stringify(alert));
  }
};

tests['createBatch creates many alerts'] = async () => {
  const created = await alerts.createBatch(Array.from({ length: 12 }, (_, at) => above(200 + at)));
  assert.deepEqual(created.map((alert) => alert.threshold), Array.from({ length: 12 }, (_, at) => 200 + at));
};

tests['list returns a page'] = async () => {
  await alerts.createBatch([above(200), above(300), { symbol: 'MSFT', condition: 'price_below', threshold: 5 }]);
  const page = await alerts.list();
  assert.ok(isPaginatedResponse(page, isAlert), JSON.stringify(page));
  assert.deepEqual(page.meta.pagination, { page: 1, limit: 10, total: 3, total_pages: 1 });
  assert.equal(typeof page.meta.rate_limit.reset, 'number');
};

tests['list filters and sorts'] = async () => {
  await alerts.createBatch([above(200), above(300), { symbol: 'MSFT', condition: 'price_below', threshold: 5 }]);
  const thresholds = async (params) => (await alerts.list(params)).data.map((alert) => alert.threshold);
  assert.deepEqual(await thresholds({ symbol: 'msft' }), [5]);
  assert.deepEqual(await thresholds({ condition: 'price_above', sortField: 'threshold', sortDirection: 'asc' }), [200, 300]);
  assert.deepEqual(await thresholds({ sortField: 'threshold', sortDirection: 'desc', limit: 1, page: 2 }), [200]);
  assert.deepEqual(await thresholds({ search: 'msft' }), [5]);
  for (const status of ['triggered', 'paused', 'inactive']) assert.deepEqual(await thresholds({ status }), []);
  const minimal = await alerts.list({ minimal: true });
  assert.deepEqual(Object.keys(minimal.data[0]).sort(), ['condition', 'id', 'status', 'symbol', 'threshold']);
  const extended = await alerts.list({ extended: true, symbol: 'AAPL' });
  assert.equal(extended.data[0].stock.last_price, 100);
  assert.ok('last_metric_value' in extended.data[0]);
};

tests['iterate walks all pages'] = async () => {
  await alerts.createBatch(Array.from({ length: 11 }, (_, at) => above(200 + at)));
  const seen = [];
  for await (const alert of alerts.iterate({ limit: 4, sortField: 'threshold', sortDirection: 'asc' })) seen.push(alert.threshold);
  assert.deepEqual(seen, Array.from({ length: 11 }, (_, at) => 200 + at));
};

tests['retrieve returns the stock'] = async () => {
  const { id } = await alerts.create(above(200));
  const alert = await alerts.retrieve(id);
  assert.ok(isAlert(alert));
  assert.equal(alert.stock.last_price, 100);
  for (const field of ['name', 'high_52w', 'low_52w', 'rsi', 'ma_50', 'ma_200']) assert.ok(field in alert.stock, field);
};

tests['update changes an alert'] = async () => {
  const { id } = await alerts.create(above(200));
  assert.equal((await alerts.update(id, { threshold: 250.5 })).threshold, 250.5);
  const high = await alerts.update(id, { condition: 'new_high', threshold: null, parameters: null });
  assert.deepEqual([high.condition, high.threshold], ['new_high', null]);
};

tests['pause and activate'] = async () => {
  const { id } = await alerts.create(above(200));
  assert.deepEqual(await alerts.pause(id), { alert_id: id, status: 'paused' });
  assert.deepEqual(await alerts.activate(id), { alert_id: id, status: 'active', initial_price: 100 });
};

tests['history returns all changes'] = async () => {
  const { id } = await alerts.create(above(200));
  await alerts.pause(id);
  const history = await alerts.history(id, { page: 1, limit: 20 });
  assert.deepEqual(history.data.map((entry) => entry.action_type), ['paused', 'created']);
  assert.deepEqual(history.meta.pagination, { page: 1, limit: 20, total: 2, total_pages: 1 });
  assert.ok(isTime(history.data[0].action_timestamp) && history.data[0].alert_id === id);
};

tests['remove deletes'] = async () => {
  const { id } = await alerts.create(above(200));
  const gone = await alerts.remove(id);
  assert.deepEqual([gone.alert_id, gone.status], [id, 'deleted']);
  await assert.rejects(alerts.retrieve(id), (error) => error instanceof ApiError && error.statusCode === 404);
};

tests['stocks.retrieve returns a stock'] = async () => {
  const stock = await stocks.retrieve('aapl');
  assert.deepEqual([stock.symbol, stock.last_price, stock.is_active], ['AAPL', 100, true]);
  assert.equal(typeof stock.ma_50, 'number');
  assert.equal(typeof stock.details, 'object');
  const whole = await stocks.retrieve('AAPL', { fields: ['fundamentals'] });
  assert.equal(whole.fundamentals.pe_ratio, 20);
};

tests['errors have the message of the service'] = async () => {
  const message = (part) => (error) => error instanceof ApiError && error.message.includes(part);
  await assert.rejects(stocks.retrieve('NOSUCH'), (error) => error.statusCode === 404);
  await assert.rejects(alerts.create(above(-1)), message('threshold'));
  await assert.rejects(alerts.create(above(200, { symbol: 'NOSUCH' })), (error) => error.statusCode === 404);
  assert.throws(() => alerts.retrieve('no id'), ValidationError);
  const unknown = new StockAlert({ apiKey: `sk_${'0'.repeat(64)}`, baseUrl, maxRetries: 0 });
  await assert.rejects(unknown.alerts.list(), AuthenticationError);
};

tests['watchlist.create returns an item, which list returns with its stock'] = async () => {
  const item = await watchlist.create({
    stock_symbol: 'AAPL', stock_name: 'Apple', intention: 'buy', target_price: 90.5, notes: 'patience',
  });
  assert.deepEqual(
    [item.stock_symbol, item.intention, item.target_price, item.notes, item.initial_price, item.is_active],
    ['AAPL', 'buy', 90.5, 'patience', 100, true],
  );
  assert.equal(typeof item.auto_alerts_enabled, 'boolean');
  assert.deepEqual([item.stocks.symbol, item.stocks.last_price], ['AAPL', 100]);
  const { data } = await watchlist.list();
  assert.deepEqual(data.map((one) => one.id), [item.id]);
  assert.equal(typeof data[0].active_alert_count, 'number');
  await assert.rejects(watchlist.create({ stock_symbol: 'AAPL', intention: 'sell' }), (error) => error.statusCode === 409 || error.status === 409 || /already/.test(error.message));
  assert.deepEqual((await watchlist.remove(item.id)).deleted, true);
};

tests['watchlist.update changes only given fields'] = async () => {
  const { id } = await watchlist.create({ stock_symbol: 'MSFT', intention: 'sell' });
  const changed = await watchlist.update(id, { target_price: 450, notes: null, is_active: false, auto_alerts_enabled: false });
  assert.deepEqual(
    [changed.id, changed.target_price, changed.notes, changed.is_active, changed.auto_alerts_enabled],
    [id, 450, null, false, false],
  );
  assert.equal((await watchlist.update(id, { target_price: null })).target_price, null);
  await watchlist.remove(id);
};

tests['watchlist.swapIntention reverses the intention'] = async () => {
  const { id } = await watchlist.create({ stock_symbol: 'AAPL', intention: 'buy' });
  const { item, deleted_alerts: deleted } = await watchlist.swapIntention({
    item_id: id, new_intention: 'sell', stock_symbol: 'AAPL',
  });
  assert.deepEqual([item.id, item.intention, item.initial_price, typeof deleted], [id, 'sell', 100, 'number']);
  await watchlist.remove(id);
};

tests['user.getSubscription returns quotas and usage'] = async () => {
  const created = await alerts.create(above(200));
  await alerts.create(above(300));
  await alerts.pause(created.id);
  const subscription = await user.getSubscription();
  const { id, current_period: period, alerts: of, ...rest } = subscription;
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(rest, {
    account_type: 'premium', status: 'active', is_early_bird: false, is_early_bird_eligible: false, is_premium: true,
    cancel_at_period_end: false, quotas: { sms: 50 }, usage: { count: 0 }, watchlist_items_count: 0, watchlist_quota: 1000,
  });
  assert.ok(isTime(period.start) && isTime(period.end), JSON.stringify(period));
  assert.ok(Date.parse(period.start) <= Date.now() && Date.now() < Date.parse(period.end), JSON.stringify(period));
  assert.deepEqual(of.counts, { total: 2, by_status: { active: 1, inactive: 0, paused: 1, triggered: 0 } });
  assert.deepEqual(of.quota, { limit: null, remaining: null, unlimited: true });
  const narrow = new StockAlert({ apiKey: narrowKey, baseUrl, maxRetries: 0 });
  assert.equal((await narrow.user.getSubscription()).account_type, 'premium');
};

tests['401, 403 and 429 have separate error classes'] = async () => {
  const unknown = new StockAlert({ apiKey: `sk_${'0'.repeat(64)}`, baseUrl, maxRetries: 0 });
  await assert.rejects(unknown.user.getSubscription(), (error) => {
    assert.ok(error instanceof AuthenticationError && error.statusCode === 401, error);
    return error.message.includes('API key');
  });
  const narrow = new StockAlert({ apiKey: narrowKey, baseUrl, maxRetries: 0 });
  await assert.rejects(narrow.alerts.list(), (error) => {
    assert.ok(error instanceof ApiError && !(error instanceof AuthenticationError) && error.statusCode === 403, error);
    assert.deepEqual(error.response.error.details, { reason: 'scope', required: 'alerts:read' });
    return error.message.includes('alerts:read');
  });
  // A separate client: a limited client sends no further requests to this address until the window ends.
  const limited = new StockAlert({ apiKey, baseUrl, maxRetries: 0 });
  const blocked = { url: 'https://127.0.0.1/hook', secret: 'secret' };
  for (let at = 0; at < 5; at += 1) await assert.rejects(limited.webhooks.test(blocked), (error) => error.statusCode === 400);
  await assert.rejects(limited.webhooks.test(blocked), (error) => {
    assert.ok(error instanceof RateLimitError && error.statusCode === 429, error);
    return error.retryAfter > 0 && error.retryAfter <= 60;
  });
  assert.equal((await alerts.list()).data.length, 0);
};

tests['a key is also accepted as a bearer token'] = async () => {
  const bearer = new StockAlert({ apiKey, bearerToken: apiKey, baseUrl, maxRetries: 0 });
  assert.equal((await bearer.alerts.list()).data.length, 0);
};

// New methods of a new client version need new tests.
tests['the list of methods is complete'] = async () => {
  const methods = (resource) => {
    const own = Object.getOwnPropertyNames(Object.getPrototypeOf(resource));
    return own.filter((name) => name !== 'constructor' && !/^(validate|sanitize)/.test(name)).sort();
  };
  assert.deepEqual(methods(alerts),
    ['activate', 'create', 'createBatch', 'history', 'iterate', 'list', 'pause', 'remove', 'retrieve', 'update']);
  assert.deepEqual(methods(stocks), ['retrieve']);
  assert.deepEqual(methods(user), ['getSubscription']);
  assert.deepEqual(methods(watchlist), ['create', 'list', 'remove', 'swapIntention', 'update']);
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await clear();
    await test();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
