"""Calls every method of `alerts`, `watchlist`, `stocks` and `user` of the published Python client, synchronous and asynchronous.

The client is unchanged. BASE_URL and API_KEY are the base address of the service and an API key; NARROW_KEY is a key that may only
read stocks. The service has the stocks AAPL (with history, at 100) and MSFT, and no alerts.
"""

import asyncio
import inspect
import os
import sys
import time
import traceback
from datetime import datetime, timedelta, timezone

from stockalert import StockAlert
from stockalert.async_client import AsyncStockAlert
from stockalert.exceptions import (
    APIError, AuthenticationError, NetworkError, NotFoundError, RateLimitError, StockAlertError, ValidationError,
)
from stockalert.types import Alert, UserSubscription

BASE_URL, API_KEY, NARROW_KEY = (os.environ[name] for name in ("BASE_URL", "API_KEY", "NARROW_KEY"))
ABOVE = {"symbol": "aapl", "condition": "price_above", "threshold": 200}


class SyncAdapter:
    """Gives the synchronous client the interface of the asynchronous one, so that each test is written once."""

    def __init__(self, client):
        self.alerts, self.stocks, self.user = (AsyncResource(one) for one in (client.alerts, client.stocks, client.user))
        self.watchlist = AsyncResource(client.watchlist)


class AsyncResource:
    def __init__(self, resource):
        self._resource = resource

    def __getattr__(self, name):
        method = getattr(self._resource, name)
        if name == "iterate":

            async def iterate(**params):
                for alert in method(**params):
                    yield alert

            return iterate

        async def call(*args, **kwargs):
            return method(*args, **kwargs)

        return call


async def expect(error, call, *parts):
    """Asserts that the call raises this error and that its message contains these parts."""
    try:
        await call
    except error as raised:
        for part in parts:
            assert part in str(raised), f"{part!r} is not in {raised}"
        return raised
    raise AssertionError(f"no {error}")


async def create(client):
    alert = await client.alerts.create(**ABOVE)
    assert isinstance(alert, Alert)
    shown = (alert.symbol, alert.condition, alert.threshold, alert.notification, alert.status, alert.initial_price)
    assert shown == ("AAPL", "price_above", 200, "email", "active", 100), shown
    age = datetime.now(timezone.utc) - alert.created_at
    assert abs(age) < timedelta(minutes=2), alert.created_at
    assert (await client.alerts.create(**ABOVE)).id == alert.id


async def create_every_condition(client):
    later = (datetime.now(timezone.utc) + timedelta(days=3)).date().isoformat()
    for condition, threshold, parameters in [
        ("price_above", 200, None), ("price_below", 50.5, None), ("price_change_up", 5, None), ("price_change_down", 5, None),
        ("new_high", None, None), ("new_low", None, None),
        ("ma_crossover_golden", None, None), ("ma_crossover_death", None, None),
        ("ma_touch_above", 50, None), ("ma_touch_below", 200, None), ("rsi_limit", 70, None), ("volume_change", 150, None),
        ("pe_ratio_below", 10, None), ("pe_ratio_above", 40, None),
        ("forward_pe_below", 10, None), ("forward_pe_above", 40, None),
        ("social_buzz", None, {"direction": "falling"}),
        ("insider_transactions", 500000, {"direction": "buy", "minExecutives": 2, "windowDays": 14, "openMarketOnly": False}),
        ("reminder", 1, {"reminder_date": later, "reminder_time": "16:00"}),
        ("daily_reminder", None, {"deliveryTime": "market_open"}),
        ("earnings_announcement", 3, None), ("dividend_ex_date", 1, None), ("dividend_payment", None, {"shares": 12.5}),
    ]:
        fields = {"symbol": "AAPL", "condition": condition}
        if threshold is not None:
            fields["threshold"] = threshold
        if parameters is not None:
            fields["parameters"] = parameters
        alert = await client.alerts.create(**fields)
        # The client requires a threshold for reminders; the service ignores it.
        kept = None if condition == "reminder" else threshold
        assert (alert.condition, alert.threshold, alert.status) == (condition, kept, "active"), alert.to_dict()


async def list_(client):
    for threshold in (200, 300):
        await client.alerts.create(symbol="AAPL", condition="price_above", threshold=threshold)
    await client.alerts.create(symbol="MSFT", condition="price_below", threshold=5)
    page = await client.alerts.list()
    assert (page.page, page.limit, page.total, page.total_pages, page.has_more) == (1, 10, 3, 1, False), page.meta
    assert page.rate_limit["limit"] > 0

    async def thresholds(**params):
        return [alert.threshold for alert in (await client.alerts.list(**params)).data]

    assert await thresholds(symbol="msft") == [5]
    assert await thresholds(condition="price_above", sort_field="threshold", sort_direction="asc") == [200, 300]
    assert await thresholds(sort_field="threshold", limit=1, page=2) == [200]
    assert await thresholds(search="msft") == [5]
    assert await thresholds(status="triggered") == []
    # The Python client sends booleans as `True` and `False`.
    extended = await client.alerts.list(extended=True, symbol="AAPL")
    assert extended.data[0].stock["last_price"] == 100, extended.data[0].to_dict()


async def iterate(client):
    for threshold in range(200, 211):
        await client.alerts.create(symbol="AAPL", condition="price_above", threshold=threshold)
    seen = [alert.threshold async for alert in client.alerts.iterate(limit=4, sort_field="threshold", sort_direction="asc")]
    assert seen == list(range(200, 211)), seen


async def get(client):
    alert = await client.alerts.get((await client.alerts.create(**ABOVE)).id)
    assert alert.stock["last_price"] == 100
    assert {"name", "high_52w", "low_52w", "rsi", "ma_50", "ma_200"} <= set(alert.stock), alert.stock
    assert alert.triggered_at is None


async def update(client):
    alert = await client.alerts.create(**ABOVE)
    assert (await client.alerts.update(alert.id, threshold=250.5)).threshold == 250.5
    changed = await client.alerts.update(alert.id, condition="rsi_limit", threshold=70, parameters={"direction": "up"})
    assert (changed.condition, changed.threshold) == ("rsi_limit", 70)
    assert (await client.alerts.update(alert.id, notification="email")).notification == "email"


async def pause_and_activate(client):
    alert = await client.alerts.create(**ABOVE)
    assert await client.alerts.pause(alert.id) == {"alert_id": alert.id, "status": "paused"}
    active = await client.alerts.activate(alert.id)
    assert active == {"alert_id": alert.id, "status": "active", "initial_price": 100}, active


async def history(client):
    alert = await client.alerts.create(**ABOVE)
    await client.alerts.pause(alert.id)
    page = await client.alerts.history(alert.id)
    assert [entry["action_type"] for entry in page.data] == ["paused", "created"]
    assert (page.page, page.limit, page.total, page.total_pages) == (1, 50, 2, 1), page.meta
    second = await client.alerts.history(alert.id, page=2, limit=1)
    assert [entry["action_type"] for entry in second.data] == ["created"]


async def delete(client):
    alert = await client.alerts.create(**ABOVE)
    gone = await client.alerts.delete(alert.id)
    assert (gone["alert_id"], gone["alertId"], gone["status"]) == (alert.id, alert.id, "deleted"), gone
    await expect((NotFoundError, APIError), client.alerts.get(alert.id))


async def stocks(client):
    stock = await client.stocks.retrieve(" aapl ")
    assert (stock["symbol"], stock["last_price"], stock["is_active"]) == ("AAPL", 100, True), stock
    whole = await client.stocks.retrieve("AAPL", fields=["fundamentals"])
    assert whole["stock_fundamentals"]["pe_ratio"] == 20, whole


async def errors(client):
    await expect(StockAlertError, client.alerts.create(symbol="AAPL", condition="price_above", threshold=-1), "threshold")
    await expect((NotFoundError, APIError), client.stocks.retrieve("NOSUCH"))
    await expect(StockAlertError, client.alerts.list(status="asleep"), "status")
    await expect(ValidationError, client.alerts.create(symbol="AAPL", condition="price_above"))


async def subscription(client):
    paused = await client.alerts.create(**ABOVE)
    await client.alerts.create(symbol="AAPL", condition="price_above", threshold=300)
    await client.alerts.pause(paused.id)
    subscription = await client.user.get_subscription()
    assert isinstance(subscription, UserSubscription)
    plan = (subscription.account_type, subscription.status, subscription.is_premium, subscription.is_early_bird, subscription.is_early_bird_eligible)
    assert plan == ("premium", "active", True, False, False), plan
    assert (subscription.quotas, subscription.usage, subscription.cancel_at_period_end) == ({"sms": 50}, {"count": 0}, False), subscription.to_dict()
    now = datetime.now(timezone.utc)
    assert subscription.current_period["start"] <= now < subscription.current_period["end"], subscription.current_period
    assert subscription.alerts["counts"] == {"total": 2, "by_status": {"active": 1, "inactive": 0, "paused": 1, "triggered": 0}}
    assert subscription.alerts["quota"] == {"limit": None, "remaining": None, "unlimited": True}
    assert (subscription.watchlist_items_count, subscription.watchlist_quota) == (0, 1000)


async def watchlist(client):
    fields = {"stock_symbol": "AAPL", "intention": "buy", "stock_name": "Apple", "target_price": 90.5, "notes": "patience"}
    item = await client.watchlist.create(**fields)
    shown = tuple(item[name] for name in ("stock_symbol", "intention", "target_price", "notes", "initial_price", "is_active"))
    assert shown == ("AAPL", "buy", 90.5, "patience", 100, True), item
    listed = await client.watchlist.list()
    assert [one["id"] for one in listed] == [item["id"]], listed
    assert listed[0]["stocks"]["last_price"] == 100 and isinstance(listed[0]["active_alert_count"], int)
    await expect(StockAlertError, client.watchlist.create("AAPL", "sell"), "already")
    changed = await client.watchlist.update(item["id"], target_price=95, auto_alerts_enabled=False)
    assert (changed["target_price"], changed["auto_alerts_enabled"], changed["notes"]) == (95, False, "patience"), changed
    turned = await client.watchlist.swap_intention(item["id"], "sell", "AAPL")
    assert turned["item"]["intention"] == "sell" and isinstance(turned["deleted_alerts"], int), turned
    assert (await client.watchlist.delete(item["id"]))["deleted"] is True
    assert await client.watchlist.list() == []


TESTS = [create, create_every_condition, list_, iterate, get, update, pause_and_activate, history, delete, stocks, watchlist, subscription, errors]


async def run(mode, client):
    failed = 0
    for test in TESTS:
        try:
            for alert in [alert async for alert in client.alerts.iterate()]:
                await client.alerts.delete(alert.id)
            await test(client)
            print(f"ok      {mode} {test.__name__}")
        except Exception:
            failed += 1
            print(f"FAILED  {mode} {test.__name__}\n{traceback.format_exc()}")
    return failed


async def client_specific_tests():
    """Tests that differ between the synchronous and the asynchronous client."""
    try:
        StockAlert(api_key="sk_" + "0" * 64, base_url=BASE_URL).alerts.list()
        raise AssertionError("a wrong key was accepted")
    except AuthenticationError:
        pass
    async with AsyncStockAlert(api_key="sk_" + "0" * 64, base_url=BASE_URL) as unknown:
        await expect(AuthenticationError, unknown.alerts.list())
    await error_classes()
    for resource in (StockAlert(api_key=API_KEY, base_url=BASE_URL).user, AsyncStockAlert(api_key=API_KEY).user):
        methods = {name for name, _ in inspect.getmembers(resource, inspect.isroutine) if not name.startswith("_")}
        assert methods == {"get_subscription"}, methods
    for resource in (StockAlert(api_key=API_KEY, base_url=BASE_URL).watchlist, AsyncStockAlert(api_key=API_KEY).watchlist):
        methods = {name for name, _ in inspect.getmembers(resource, inspect.isroutine) if not name.startswith("_")}
        assert methods == {"list", "create", "update", "delete", "swap_intention"}, methods
    for resource in (StockAlert(api_key=API_KEY, base_url=BASE_URL).alerts, AsyncStockAlert(api_key=API_KEY).alerts):
        methods = {name for name, _ in inspect.getmembers(resource, inspect.isroutine) if not name.startswith("_")}
        # New methods of a new client version need new tests.
        known = {"list", "create", "get", "update", "pause", "activate", "delete", "history", "iterate"}
        assert methods == known, methods


async def error_classes():
    """401, 403 and 429, for which the two clients raise different classes."""
    unknown, narrow, limited_client = (StockAlert(api_key=key, base_url=BASE_URL) for key in ("sk_" + "0" * 64, NARROW_KEY, API_KEY))
    await expect(AuthenticationError, SyncAdapter(unknown).user.get_subscription(), "API key")
    refused = await expect(StockAlertError, SyncAdapter(narrow).alerts.list(), "alerts:read")
    assert not isinstance(refused, AuthenticationError)
    assert narrow.user.get_subscription().account_type == "premium"
    blocked = {"url": "https://127.0.0.1/hook", "secret": "secret"}
    test = AsyncResource(limited_client.webhooks).test
    for _ in range(5):
        await expect(StockAlertError, test(**blocked))
    # The client waits for the Retry-After time, three times, and then gives up. The test replaces `sleep`, so nothing waits.
    waited, sleep = [], time.sleep
    time.sleep = waited.append
    try:
        await expect(NetworkError, test(**blocked), "429")
    finally:
        time.sleep = sleep
    assert len(waited) == 3 and all(0 < seconds <= 60 for seconds in waited), waited
    try:
        limited_client._request("POST", "/webhooks/test", json=blocked)
        raise AssertionError("the request was not limited")
    except RateLimitError as limited:
        assert limited.status_code == 429 and 0 < limited.retry_after <= 60, limited.retry_after
    async with AsyncStockAlert(api_key=NARROW_KEY, base_url=BASE_URL) as client:
        assert (await expect(APIError, client.alerts.list(), "alerts:read")).status_code == 403
    async with AsyncStockAlert(api_key=API_KEY, base_url=BASE_URL) as client:
        limited = await expect(APIError, client._request("POST", "/webhooks/test", json=blocked))
        assert limited.status_code == 429


async def main():
    failed = await run("sync", SyncAdapter(StockAlert(api_key=API_KEY, base_url=BASE_URL)))
    async with AsyncStockAlert(api_key=API_KEY, base_url=BASE_URL) as client:
        failed += await run("async", client)
    await client_specific_tests()
    print(f"{2 * len(TESTS) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(asyncio.run(main()))
