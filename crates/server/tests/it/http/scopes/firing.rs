//! Firings of alerts over many stocks.

use serde_json::{Value, json};

use crate::http::identity::{on_each_database, start_server};
use crate::http::scopes::{change, created, fired, members, over, prices, shown, states};
use crate::http::test_server::TestServer;

on_each_database! {
    each_stock_fires_on_its_own_and_the_last_one_ends_the_alert
    firings_of_all_stocks_are_counted
    members_are_not_alerts_of_their_own
    expression_names_other_stocks_beside_the_member
    deleted_alert_fires_no_more
    members_survive_a_restart
    expiry_of_all_members_is_told_once
}

async fn each_stock_fires_on_its_own_and_the_last_one_ends_the_alert(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    prices(&server, &[("MSFT", 126.0)]).await;
    assert_eq!(
        members(&server, &id).await,
        states(&[("AAPL", "active"), ("MSFT", "triggered")])
    );
    assert_eq!(shown(&server, &id).await["status"], "active");
    prices(&server, &[("MSFT", 127.0), ("AAPL", 125.0)]).await;
    let ended = shown(&server, &id).await;
    assert_eq!(
        (&ended["status"], ended["triggered_at"].is_string()),
        (&json!("triggered"), true)
    );
    assert_eq!(fired(&server, &id).await, ["MSFT", "AAPL"]);
    let events = server.tool("list_alert_events", json!({})).await;
    let ids: Vec<_> = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["alert_id"])
        .collect();
    assert_eq!(ids, [&json!(id), &json!(id)]);
}

async fn firings_of_all_stocks_are_counted(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let mut body = over(&["AAPL", "MSFT"], 105);
    body["options"] = json!({"repeat": "each_time"});
    let id = created(&server, body).await;
    assert_eq!(shown(&server, &id).await["trigger_count"], 0);
    for (minute, aapl, msft) in [(1, 106.0, 106.0), (2, 100.0, 100.0), (3, 106.0, 100.0)] {
        server
            .clock
            .set(format!("2024-03-08T15:0{minute}:00Z").parse().unwrap());
        prices(&server, &[("AAPL", aapl), ("MSFT", msft)]).await;
    }
    let counted = |alert: &Value| (alert["trigger_count"].clone(), alert["last_triggered_at"].clone());
    let expected = (json!(3), json!("2024-03-08T15:03:00.000Z"));
    assert_eq!(counted(&shown(&server, &id).await), expected);
    let list = server.get("/v1/alerts").await.ok(200);
    assert_eq!(counted(&list.body["data"][0]), expected);
    // The firings of a stock that is taken out count no more.
    change(&server, "PUT", &id, json!({"scope": {"symbols": ["MSFT"]}}))
        .await
        .ok(200);
    let expected = (json!(1), json!("2024-03-08T15:01:00.000Z"));
    assert_eq!(counted(&shown(&server, &id).await), expected);
}

async fn members_are_not_alerts_of_their_own(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    let single = created(
        &server,
        json!({"symbol": "AAPL", "condition": "price_above", "threshold": 125}),
    )
    .await;
    let listed = server.get("/v1/alerts").await.ok(200);
    assert_eq!(listed.body["data"].as_array().unwrap().len(), 2, "{listed:?}");
    assert_eq!(members(&server, &single).await, states(&[("AAPL", "active")]));
    prices(&server, &[("AAPL", 126.0)]).await;
    assert_eq!(
        (fired(&server, &id).await, fired(&server, &single).await),
        (vec!["AAPL".to_owned()], vec!["AAPL".to_owned()])
    );
}

async fn expression_names_other_stocks_beside_the_member(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0), ("SPY", 500.0)]).await;
    let when = "price > 110 and SPY.price < 490 and AAPL.price > 90";
    let id = created(
        &server,
        json!({"scope": {"symbols": ["AAPL", "MSFT"]}, "condition": "expression", "parameters": {"when": when}}),
    )
    .await;
    assert_eq!(shown(&server, &id).await["parameters"]["when"], when);
    prices(&server, &[("MSFT", 111.0), ("SPY", 480.0)]).await;
    assert_eq!(
        members(&server, &id).await,
        states(&[("AAPL", "active"), ("MSFT", "triggered")])
    );
}

async fn deleted_alert_fires_no_more(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    server
        .request("DELETE", &format!("/v1/alerts/{id}"))
        .send()
        .await
        .ok(200);
    prices(&server, &[("AAPL", 130.0), ("MSFT", 130.0)]).await;
    assert_eq!(fired(&server, &id).await, Vec::<String>::new());
    let events = server.tool("list_alert_events", json!({})).await;
    assert_eq!(events["items"], json!([]));
}

async fn members_survive_a_restart(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let id = created(&server, over(&["AAPL", "MSFT"], 125)).await;
    prices(&server, &[("MSFT", 126.0)]).await;
    let server = server.restarted().await;
    prices(&server, &[("MSFT", 127.0), ("AAPL", 127.0)]).await;
    assert_eq!(fired(&server, &id).await, ["MSFT", "AAPL"]);
}

async fn expiry_of_all_members_is_told_once(server: TestServer) {
    prices(&server, &[("AAPL", 100.0), ("MSFT", 100.0)]).await;
    let mut body = over(&["AAPL", "MSFT"], 125);
    body["options"] = json!({"expires_at": "2024-03-08T15:30:00Z", "notify_on_expiry": true});
    let id = created(&server, body).await;
    server.clock.set("2024-03-08T15:30:00Z".parse().unwrap());
    server.service.evaluate().await.unwrap();
    assert_eq!(
        members(&server, &id).await,
        states(&[("AAPL", "inactive"), ("MSFT", "inactive")])
    );
    assert_eq!(shown(&server, &id).await["status"], "inactive");
    let expired = testkit::eventually_some("a message to the owner", async || {
        let outbox = server.get("/v1/outbox?limit=100").await.ok(200);
        let messages = outbox.body["data"].as_array().unwrap().iter();
        let expired: Vec<_> = messages
            .map(Value::to_string)
            .filter(|message| message.contains("expired"))
            .collect();
        (!expired.is_empty()).then_some(expired)
    })
    .await;
    assert!(expired.len() == 1 && expired[0].contains("and 1 more"), "{expired:?}");
}
