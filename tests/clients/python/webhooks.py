"""Calls every method of `webhooks` of the published Python client, synchronous and asynchronous, and verifies real deliveries.

The client is unchanged; its verifier and the one of Standard Webhooks check deliveries of the service at BASE_URL. API_KEY belongs
to an account, OPERATOR_KEY may push market data. AAPL is at 100, and there is no other data.
"""

import asyncio
import inspect
import os
import queue
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError
from stockalert import StockAlert
from stockalert.async_client import AsyncStockAlert
from stockalert.exceptions import StockAlertError
from stockalert.resources.webhooks import WebhooksResource

BASE_URL, API_KEY, OPERATOR_KEY = (os.environ[name] for name in ("BASE_URL", "API_KEY", "OPERATOR_KEY"))
URL = "https://hooks.example.com/stocks?x=1"
EVENTS = ["alert.triggered"]


class Receiver:
    """A receiver that keeps its requests."""

    def __init__(self):
        received = self.received = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Length", "9")
                self.end_headers()
                self.wfile.write(b"thank you")
                received.put((dict(self.headers), body))

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self):
        headers, body = self.received.get(timeout=60)
        return {name.lower(): value for name, value in headers.items()}, body

    def close(self):
        self.server.shutdown()


def request(key, method, path, body=None):
    """Sends a request for which the client has no method."""
    response = requests.request(method, BASE_URL + path, json=body, headers={"X-API-Key": key}, timeout=60)
    assert response.ok, response.text
    return response.json()["data"]


def fire(receiver, threshold):
    request(API_KEY, "POST", "/alerts", {"symbol": "AAPL", "condition": "price_above", "threshold": threshold})
    for price in (threshold, 100):
        request(OPERATOR_KEY, "POST", "/market/ingest", {"quotes": [{"symbol": "AAPL", "price": price}]})
    return receiver.next()


def verify(secret, form, headers, body):
    """Asserts that both verifiers accept the delivery and reject changed ones."""
    signature, timestamp = headers["x-stockalert-signature"], headers["x-stockalert-timestamp"]
    timestamp = None if form == "body" else timestamp
    check = WebhooksResource.verify_signature
    assert check(body, signature, secret, timestamp), (signature, body)
    assert check(body.decode(), headers["x-service-signature"], secret, timestamp)
    assert not check(body + b" ", signature, secret, timestamp)
    assert not check(body, signature, secret + "x", timestamp)
    parsed = Webhook(secret).verify(body, headers)
    assert parsed["id"] == headers["webhook-id"] and parsed["event"] == "alert.triggered", parsed
    try:
        Webhook(secret).verify(body + b" ", headers)
        raise AssertionError("a changed body was accepted")
    except WebhookVerificationError:
        pass
    return parsed


def methods(client, receiver):
    created = client.create(URL)
    assert created["secret"].startswith("whsec_") and created["url"] == URL, created
    assert client.get(created["id"])["id"] == created["id"]
    other = client.create(URL, EVENTS)
    assert [webhook["id"] for webhook in client.list()] == [created["id"], other["id"]]
    deleted = client.delete(created["id"])
    assert deleted == {"id": created["id"], "deleted": True}, deleted
    for wrong, part in [
        (lambda: client.create("http://8.8.8.8/"), "url"),
        (lambda: client.create(URL, ["alert.created"]), "events"),
        (lambda: client.get(created["id"]), "webhook"),
    ]:
        try:
            wrong()
            raise AssertionError("no error")
        except StockAlertError as error:
            assert part in str(error), error


def test(client, receiver):
    secret = "whsec_dGVzdA=="
    result = client.test(receiver.url, secret)
    assert (result["status"], result["statusText"], result["response"]) == (200, "OK", "thank you"), result
    verify(secret, "timestamped", *receiver.next())


def deliveries(client, receiver):
    for form in ("timestamped", "body"):
        created = request(API_KEY, "POST", "/webhooks", {"url": receiver.url, "events": EVENTS, "signature": form})
        for threshold in (200, 198.66, 1000000, 123.456789):
            parsed = verify(created["secret"], form, *fire(receiver, threshold))
            assert parsed["data"]["alert"]["threshold"] == threshold, parsed
            assert parsed["data"]["stock"]["price"] == threshold, parsed
        request(API_KEY, "DELETE", f"/webhooks/{created['id']}")


def rotation(client, receiver):
    created = request(API_KEY, "POST", "/webhooks", {"url": receiver.url, "events": EVENTS})
    rotated = request(API_KEY, "POST", f"/webhooks/{created['id']}/rotate-secret")
    headers, body = fire(receiver, 150)
    verify(rotated["secret"], "timestamped", headers, body)
    Webhook(created["secret"]).verify(body, headers)


TESTS = [methods, test, deliveries, rotation]


def clear():
    for webhook in request(API_KEY, "GET", "/webhooks"):
        request(API_KEY, "DELETE", f"/webhooks/{webhook['id']}")
    for alert in request(API_KEY, "GET", "/alerts?limit=100"):
        request(API_KEY, "DELETE", f"/alerts/{alert['id']}")


def run(mode, resource):
    failed = 0
    for case in TESTS:
        receiver = Receiver()
        try:
            clear()
            case(resource, receiver)
            print(f"ok      {mode} {case.__name__}")
        except Exception:
            failed += 1
            print(f"FAILED  {mode} {case.__name__}\n{traceback.format_exc()}")
        receiver.close()
    return failed


def every_method():
    """Asserts the list of methods: new methods of a new client version need new tests."""
    for resource in (StockAlert(api_key=API_KEY).webhooks, AsyncStockAlert(api_key=API_KEY).webhooks):
        found = {name for name, _ in inspect.getmembers(resource, inspect.isroutine) if not name.startswith("_")}
        assert found == {"list", "get", "create", "delete", "test", "verify_signature"}, found


async def main():
    failed = run("sync", StockAlert(api_key=API_KEY, base_url=BASE_URL).webhooks)
    # In this version the webhook methods of the asynchronous client are synchronous.
    async with AsyncStockAlert(api_key=API_KEY, base_url=BASE_URL) as client:
        failed += run("async", client.webhooks)
    every_method()
    print(f"{2 * len(TESTS) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(asyncio.run(main()))
