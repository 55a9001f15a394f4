//! Paged lists over HTTP: numbered pages, and pages after an item.

use std::collections::BTreeSet;

use alerts::Plan;
use foundation::Scope;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::scopes;
use crate::http::test_server::{TestResponse, TestServer, above};

const UNKNOWN: &str = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";

on_each_database! {
    each_list_read_after_its_items_is_the_list_of_its_pages
    items_of_other_lists_and_accounts_are_refused
    list_that_changes_between_pages_misses_and_repeats_nothing
    agents_read_events_after_an_event
}

/// The refused parameters of a response.
fn refused_fields(response: TestResponse) -> Vec<String> {
    let refused = response.refused(422, "VALIDATION_ERROR");
    let fields = refused.body["error"]["details"]["fields"].as_object().unwrap();
    fields.keys().cloned().collect()
}

fn items(response: &TestResponse) -> Vec<Value> {
    response.body["data"].as_array().unwrap().clone()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Compares the pages of a list by their numbers with those after its items. Returns the items.
async fn check(server: &TestServer, path: &str, id: &str) -> Vec<Value> {
    let path = format!("{path}{}", if path.contains('?') { '&' } else { '?' });
    let all = items(&server.get(&format!("{path}limit=100")).await.ok(200));
    for limit in [1, 2] {
        let (mut numbered, mut following) = (Vec::new(), Vec::new());
        for page in 1.. {
            let found = server.get(&format!("{path}limit={limit}&page={page}")).await.ok(200);
            if items(&found).is_empty() {
                break;
            }
            numbered.extend(items(&found));
        }
        let mut query = format!("{path}limit={limit}");
        loop {
            let found = server.get(&query).await.ok(200);
            let pagination = &found.body["meta"]["pagination"];
            assert_eq!(
                (&pagination["page"], &pagination["total"]),
                (&json!(1), &json!(all.len()))
            );
            let page = items(&found);
            let Some(last) = page.last() else { break };
            query = format!("{path}limit={limit}&after={}", text(&last[id]));
            following.extend(page);
        }
        assert_eq!(numbered, all, "{path}");
        assert_eq!(following, all, "{path}");
    }
    assert_eq!(
        refused_fields(server.get(&format!("{path}after=")).await),
        ["after"],
        "{path}"
    );
    if let Some(last) = all.last() {
        let both = format!("{path}page=1&after={}", text(&last[id]));
        assert_eq!(refused_fields(server.get(&both).await), ["page"], "{path}");
        let distinct: BTreeSet<&str> = all.iter().map(|item| text(&item[id])).collect();
        assert_eq!(distinct.len(), all.len(), "{path}");
    }
    all
}

async fn create_webhook(server: &TestServer) -> String {
    let body = json!({"url": "https://receiver.example/hook", "events": ["alert.triggered"]});
    let webhook = server.post("/v1/webhooks", body).await.ok(201);
    text(&webhook.body["data"]["id"]).to_owned()
}

async fn each_list_read_after_its_items_is_the_list_of_its_pages(server: TestServer) {
    let webhook = create_webhook(&server).await;
    let deliveries = format!("/v1/webhooks/{webhook}/deliveries");
    assert!(check(&server, &deliveries, "id").await.is_empty());
    scopes::prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0), ("IBM", 100.0)]).await;
    let many = scopes::created(&server, scopes::over(&["MSFT", "AAPL", "IBM"], 125)).await;
    for threshold in [121, 122, 123] {
        let _ = server.create_alert(threshold).await;
    }
    let id = server.create_alert(200).await;
    for change in ["pause", "activate", "pause"] {
        let _ = server
            .post(&format!("/v1/alerts/{id}/{change}"), json!({}))
            .await
            .ok(200);
    }
    scopes::prices(&server, &[("AAPL", 130.0), ("IBM", 130.0)]).await;
    testkit::eventually("all emails are in the outbox", async || {
        server.get("/v1/outbox").await.ok(200).body["meta"]["pagination"]["total"] == 5
    })
    .await;
    for (path, id, count) in [
        ("/v1/alerts".to_owned(), "id", 5),
        ("/v1/alerts?symbol=AAPL&sort_field=status".to_owned(), "id", 5),
        (format!("/v1/alerts/{id}/history"), "position", 4),
        (format!("/v1/alerts/{many}/history"), "position", 5),
        (format!("/v1/alerts/{many}/members"), "symbol", 3),
        (format!("/v1/alerts/{id}/members"), "symbol", 1),
        (deliveries.clone(), "id", 5),
        (format!("{deliveries}?status=delivered"), "id", 0),
        ("/v1/outbox".to_owned(), "id", 5),
        ("/v1/outbox?channel=email".to_owned(), "id", 5),
        ("/v1/outbox?to=operator@example.com&channel=email".to_owned(), "id", 5),
        ("/v1/outbox?channel=sms".to_owned(), "id", 0),
    ] {
        assert_eq!(check(&server, &path, id).await.len(), count, "{path}");
    }
    for symbol in ["AAPL", "MSFT", "IBM"] {
        let body = json!({"stock_symbol": symbol, "intention": "buy"});
        let _ = server.post("/v1/watchlist", body).await.ok(201);
    }
    assert_eq!(check(&server, "/v1/watchlist/paper-trades", "id").await.len(), 3);
}

async fn items_of_other_lists_and_accounts_are_refused(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let webhook = create_webhook(&server).await;
    let (fired, other) = (server.create_alert(120).await, server.create_alert(130).await);
    server.set_price("AAPL", 125.0).await;
    let entry = items(&server.get(&format!("/v1/alerts/{fired}/history")).await.ok(200)).remove(0);
    let delivery = items(&server.get(&format!("/v1/webhooks/{webhook}/deliveries")).await.ok(200)).remove(0);
    let another = create_webhook(&server).await;
    for path in [
        format!("/v1/alerts/{other}/history?after={}", text(&entry["position"])),
        format!("/v1/alerts/{fired}/history?after=999999"),
        format!("/v1/alerts/{fired}/history?after={fired}"),
        format!("/v1/alerts/{fired}/members?after=MSFT"),
        format!("/v1/webhooks/{another}/deliveries?after={}", text(&delivery["id"])),
        format!("/v1/webhooks/{webhook}/deliveries?after={UNKNOWN}"),
        format!("/v1/webhooks/{webhook}/deliveries?status=failed&after={fired}"),
        format!("/v1/outbox?after={UNKNOWN}"),
        format!("/v1/watchlist/paper-trades?after={UNKNOWN}"),
    ] {
        assert_eq!(refused_fields(server.get(&path).await), ["after"], "{path}");
    }
    let key = server
        .account("ann@example.com", Plan::Premium, false, Scope::PUBLIC)
        .await;
    let post = server.anonymous("POST", "/v1/alerts").header("x-api-key", &key);
    let own = post.json(&above(500)).send().await.ok(201);
    let own = text(&own.body["data"]["id"]).to_owned();
    for (path, refused) in [
        (
            format!("/v1/alerts/{own}/history?after={}", text(&entry["position"])),
            422,
        ),
        (
            format!("/v1/alerts/{fired}/history?after={}", text(&entry["position"])),
            404,
        ),
        (format!("/v1/alerts?after={fired}"), 422),
    ] {
        let response = server.anonymous("GET", &path).header("x-api-key", &key).send().await;
        assert_eq!(response.status, refused, "{path}");
    }
}

async fn list_that_changes_between_pages_misses_and_repeats_nothing(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(200).await;
    let history = format!("/v1/alerts/{id}/history?limit=2");
    let changes = ["pause", "activate"];
    for change in changes.iter().cycle().take(7) {
        let _ = server
            .post(&format!("/v1/alerts/{id}/{change}"), json!({}))
            .await
            .ok(200);
    }
    let all = items(&server.get(&format!("/v1/alerts/{id}/history")).await.ok(200));
    let (mut found, mut query) = (Vec::new(), history.clone());
    for change in changes.iter().rev().cycle() {
        let page = items(&server.get(&query).await.ok(200));
        let Some(last) = page.last() else { break };
        query = format!("{history}&after={}", text(&last["position"]));
        found.extend(page);
        let _ = server
            .post(&format!("/v1/alerts/{id}/{change}"), json!({}))
            .await
            .ok(200);
    }
    assert_eq!(found, all);

    // A deleted alert keeps its place in the list, and its history stays.
    let _ = server
        .request("DELETE", &format!("/v1/alerts/{id}"))
        .send()
        .await
        .ok(200);
    let older = server
        .get(&format!("{history}&after={}", text(&all[0]["position"])))
        .await
        .ok(200);
    assert_eq!(items(&older), all[1..3]);
}

async fn agents_read_events_after_an_event(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in [110, 120, 130] {
        ids.insert(0, json!(server.create_alert(threshold).await));
    }
    for price in [115.0, 125.0, 135.0] {
        server.clock.advance(SignedDuration::from_secs(60));
        server.set_price("AAPL", price).await;
    }
    let (mut fired, mut arguments) = (Vec::new(), json!({"limit": 1}));
    loop {
        let page = server.tool("list_alert_events", arguments).await;
        assert_eq!(page["pagination"]["total"], 3);
        let Some(last) = page["items"].as_array().unwrap().last() else {
            break;
        };
        fired.push(last["alert_id"].clone());
        arguments = json!({"limit": 1, "after": last["position"]});
    }
    assert_eq!(fired, ids);
    // The entry about the email may follow the firing.
    let history = server.tool("list_alert_events", json!({"alert_id": ids[0]})).await;
    let mut entries = history["items"].as_array().unwrap().iter().rev();
    let (created, fired) = (entries.next().unwrap(), entries.next().unwrap());
    let arguments = json!({"alert_id": ids[0], "after": fired["position"]});
    let rest = server.tool("list_alert_events", arguments).await;
    assert_eq!(rest["items"], json!([created]));
    let following = server.tool("list_alerts", json!({"after": ids[1]})).await;
    assert_eq!(following["items"][0]["id"], ids[2]);
}
