//! `list_alert_events` for the whole account.

use jiff::SignedDuration;
use serde_json::{Value, json};
use testkit::Database;

use crate::http::test_server::TestServer;

fn alerts_of(listed: &Value) -> Vec<Value> {
    let items = listed["items"].as_array().unwrap().iter();
    items.map(|item| item["alert_id"].clone()).collect()
}

macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod sqlite { $(#[tokio::test] async fn $name() { super::$name(testkit::Database::sqlite()).await; })* }
        mod postgresql { $(#[tokio::test] async fn $name() { super::$name(testkit::Database::postgres().await).await; })* }
    };
}

on_both![
    account_firings_are_listed_newest_first,
    firings_are_listed_since_an_instant,
    alert_history_is_listed_since_an_instant,
];

async fn start_server_on(database: Database) -> TestServer {
    let server = TestServer::with_database(database, server::HttpConfig::default(), |_| ()).await;
    server.set_price("AAPL", 189.2).await;
    server
}

async fn account_firings_are_listed_newest_first(database: Database) {
    let mut server = start_server_on(database).await;
    let (first, second) = (server.create_alert(190).await, server.create_alert(192).await);
    let _ = server.create_alert(500).await;
    server.set_price("AAPL", 191.0).await;
    server.clock.advance(SignedDuration::from_secs(60));
    server.set_price("AAPL", 193.0).await;
    let gone = json!({"alert_id": first, "confirm": true});
    let _ = server.tool("delete_alert", gone).await;
    let listed = server.tool("list_alert_events", json!({})).await;
    assert_eq!(alerts_of(&listed), [json!(second), json!(first)]);
    let firing = &listed["items"][1];
    assert_eq!(
        (&firing["action_type"], &firing["symbol"], &firing["trigger_price"]),
        (&json!("triggered"), &json!("AAPL"), &json!(191))
    );
    assert_eq!(firing["details"]["reason"], "price 191.00 is at or above 190.00");
    let page = server.tool("list_alert_events", json!({"limit": 1, "page": 2})).await;
    assert_eq!(alerts_of(&page), [json!(first)]);
    assert_eq!(
        page["pagination"],
        json!({"page": 2, "limit": 1, "total": 2, "total_pages": 2})
    );
    server.key = server
        .account("ann@example.com", alerts::Plan::Premium, false, &super::AGENTS)
        .await;
    let of_another = server.tool("list_alert_events", json!({})).await;
    assert_eq!(alerts_of(&of_another), [json!(null); 0]);
}

async fn firings_are_listed_since_an_instant(database: Database) {
    let server = start_server_on(database).await;
    let id = server.create_alert(190).await;
    server.set_price("AAPL", 191.0).await;
    let listed = server.tool("list_alert_events", json!({})).await;
    let at = listed["items"][0]["action_timestamp"].as_str().unwrap().to_owned();
    let since = server.tool("list_alert_events", json!({"since": at})).await;
    assert_eq!(alerts_of(&since), [json!(id)]);
    let later: jiff::Timestamp = at.parse().unwrap();
    let later = later + SignedDuration::from_secs(1);
    let since = server
        .tool("list_alert_events", json!({"since": later.to_string()}))
        .await;
    assert_eq!((alerts_of(&since).len(), &since["pagination"]["total"]), (0, &json!(0)));
}

async fn alert_history_is_listed_since_an_instant(database: Database) {
    let server = start_server_on(database).await;
    let id = server.create_alert(200).await;
    server.clock.advance(SignedDuration::from_secs(60));
    let _ = server.tool("pause_alert", json!({"alert_id": id})).await;
    let all = server.tool("list_alert_events", json!({"alert_id": id})).await;
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
    let paused_at = &all["items"][0]["action_timestamp"];
    let since = json!({"alert_id": id, "since": paused_at});
    let since = server.tool("list_alert_events", since).await;
    assert_eq!(since["items"], json!([all["items"][0]]));
}
