// Calls every tool as an agent does, with any client.
import assert from "node:assert/strict";

const TOOLS = [
  "list_alerts", "get_alert", "list_alert_events", "create_alert", "update_alert", "pause_alert", "resume_alert",
  "delete_alert", "list_watchlist", "create_watchlist_item", "delete_watchlist_item",
];

const STOCK = "bellwether://stocks/AAPL";

/** Lists and reads the resources and prompts. */
async function read(client) {
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map((one) => one.uri), ["bellwether://guide/conditions", "bellwether://events"]);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map((one) => one.uriTemplate), ["bellwether://stocks/{symbol}"]);
  const text = async (uri) => (await client.readResource({ uri })).contents[0].text;
  assert.ok((await text("bellwether://guide/conditions")).includes("price_above"));
  assert.ok(Array.isArray(JSON.parse(await text("bellwether://events")).items));
  assert.equal(JSON.parse(await text(STOCK)).symbol, "AAPL");
  await assert.rejects(client.readResource({ uri: "bellwether://stocks/NONE" }));
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((one) => one.name), ["set_up_alert", "review_fired_alerts"]);
  const prompt = await client.getPrompt({ name: "set_up_alert", arguments: { request: "when Apple drops 5 %" } });
  assert.ok(prompt.messages[0].content.text.includes("when Apple drops 5 %"));
}

/**
 * Calls every tool. `client` has the methods of both published clients: listTools(), callTool({name, arguments}), listResources(),
 * readResource({uri}), listPrompts() and so on.
 */
export async function walk(client) {
  await read(client);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
  const called = new Set();
  const call = async (name, given) => {
    called.add(name);
    const result = await client.callTool({ name, arguments: given });
    assert.ok(!result.isError, `${name}: ${result.content[0]?.text}`);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, name);
    return result.structuredContent;
  };
  const refused = async (name, given, part) => {
    const result = await client.callTool({ name, arguments: given });
    assert.ok(result.isError, `${name} was not refused`);
    assert.ok(result.content[0].text.includes(part), `${name}: ${result.content[0].text}`);
  };

  const alert = await call("create_alert", { symbol: "AAPL", condition: "rsi_limit", threshold: 70, parameters: { direction: "above" } });
  assert.equal(alert.status, "active");
  assert.equal(alert.created, true);
  assert.equal(alert.sentence, "fires when RSI(14) is at or above 70");
  const id = { alert_id: alert.id };
  assert.equal((await call("get_alert", id)).condition, "rsi_limit");
  assert.equal((await call("update_alert", { ...id, threshold: 75.5 })).threshold, 75.5);
  assert.equal((await call("pause_alert", id)).status, "paused");
  assert.equal((await call("resume_alert", id)).status, "active");
  for (const size of [{}, { extended: true }, { minimal: true }]) {
    const listed = await call("list_alerts", { symbol: "AAPL", limit: 5, ...size });
    assert.equal(listed.items.find((item) => item.id === alert.id)?.threshold, 75.5, JSON.stringify(size));
  }
  const events = await call("list_alert_events", id);
  assert.equal(events.items.at(-1).action_type, "created");
  assert.ok(Array.isArray((await call("list_alert_events", { since: "2020-01-01T00:00:00Z" })).items));
  await refused("delete_alert", { ...id, confirm: false }, "confirm: true");
  await refused("get_alert", {}, "alert_id");
  assert.equal((await call("delete_alert", { ...id, confirm: true })).status, "deleted");
  await refused("get_alert", id, "no such alert");

  const item = await call("create_watchlist_item", { stock_symbol: "MSFT", intention: "buy", target_price: 90 });
  const watched = await call("list_watchlist", {});
  assert.ok(watched.items.some((one) => one.id === item.id));
  await refused("create_watchlist_item", { stock_symbol: "MSFT", intention: "buy" }, "already");
  assert.equal((await call("delete_watchlist_item", { item_id: item.id, confirm: true })).deleted, true);

  await assert.rejects(client.callTool({ name: "buy_stock", arguments: {} }), (error) => error.code === -32602);
  assert.equal(called.size, TOOLS.length, "every tool was called");
}
