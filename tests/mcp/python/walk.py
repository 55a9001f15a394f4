"""Calls every tool as an agent does, with any client."""

import json

TOOLS = [
    "list_alerts", "get_alert", "list_alert_events", "create_alert", "update_alert", "pause_alert", "resume_alert",
    "delete_alert", "list_watchlist", "create_watchlist_item", "delete_watchlist_item",
]


async def read_everything(list_resources, read_resource, list_prompts, get_prompt):
    """Lists and reads the resources and prompts."""
    assert await list_resources() == [
        "bellwether://guide/conditions", "bellwether://events", "bellwether://stocks/{symbol}",
    ]
    assert "price_above" in await read_resource("bellwether://guide/conditions")
    assert isinstance(json.loads(await read_resource("bellwether://events"))["items"], list)
    assert json.loads(await read_resource("bellwether://stocks/AAPL"))["symbol"] == "AAPL"
    assert await list_prompts() == ["set_up_alert", "review_fired_alerts"]
    assert "when Apple drops" in await get_prompt("set_up_alert", {"request": "when Apple drops 5 %"})


async def walk(list_tools, call_tool):
    """Calls every tool. `call_tool(name, arguments)` returns (is_error, text, structured) or raises a protocol error."""
    assert await list_tools() == TOOLS
    called = set()

    async def call(name, **arguments):
        called.add(name)
        is_error, text, structured = await call_tool(name, arguments)
        assert not is_error, f"{name}: {text}"
        assert json.loads(text) == structured, name
        return structured

    async def refused(name, part, **arguments):
        is_error, text, _ = await call_tool(name, arguments)
        assert is_error and part in text, f"{name}: {text}"

    alert = await call("create_alert", symbol="AAPL", condition="rsi_limit", threshold=70, parameters={"direction": "above"})
    assert alert["created"] is True and alert["sentence"] == "fires when RSI(14) is at or above 70"
    one = {"alert_id": alert["id"]}
    assert (await call("get_alert", **one))["condition"] == "rsi_limit"
    assert (await call("update_alert", **one, threshold=75.5))["threshold"] == 75.5
    assert (await call("pause_alert", **one))["status"] == "paused"
    assert (await call("resume_alert", **one))["status"] == "active"
    for size in ({}, {"extended": True}, {"minimal": True}):
        listed = await call("list_alerts", symbol="AAPL", limit=5, **size)
        assert any(item["id"] == alert["id"] and item["threshold"] == 75.5 for item in listed["items"]), size
    events = await call("list_alert_events", **one)
    assert events["items"][-1]["action_type"] == "created"
    assert isinstance((await call("list_alert_events", since="2020-01-01T00:00:00Z"))["items"], list)
    await refused("delete_alert", "confirm: true", **one, confirm=False)
    await refused("get_alert", "alert_id")
    assert (await call("delete_alert", **one, confirm=True))["status"] == "deleted"
    await refused("get_alert", "no such alert", **one)

    item = await call("create_watchlist_item", stock_symbol="MSFT", intention="buy", target_price=90)
    watched = await call("list_watchlist")
    assert any(other["id"] == item["id"] for other in watched["items"])
    await refused("create_watchlist_item", "already", stock_symbol="MSFT", intention="buy")
    assert (await call("delete_watchlist_item", item_id=item["id"], confirm=True))["deleted"] is True
    try:
        await call_tool("buy_stock", {})
    except Exception as error:  # noqa: BLE001 - each client has a different class
        assert error.error.code == -32602, error
    else:
        raise AssertionError("an unknown tool was called")
    assert called == set(TOOLS)
