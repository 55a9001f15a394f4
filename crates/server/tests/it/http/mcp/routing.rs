//! The route of an alert as arguments of the tools.

use serde_json::{Value, json};

use super::without_aliases;
use crate::http::notification_channels::start_server;
use crate::http::test_server::TestServer;

/// Returns a server with a price of AAPL, and the ids of two notification channels.
async fn with_channels(database: &testkit::Database) -> (TestServer, [String; 2]) {
    let server = start_server(database).await;
    server.set_price("AAPL", 189.2).await;
    let mut ids = Vec::new();
    for body in [
        json!({"type": "sms", "name": "Phone"}),
        json!({"type": "email", "name": "Desk", "config": {"address": "desk@example.com"}}),
    ] {
        let created = server.post("/v1/notification-channels", body).await.ok(201);
        ids.push(created.body["data"]["id"].as_str().unwrap().to_owned());
    }
    (server, ids.try_into().unwrap())
}

fn routing(alert: &Value) -> Value {
    let members = ["channels", "policy", "ack_timeout", "urgent"];
    let present = members
        .into_iter()
        .filter_map(|name| Some((name, alert.get(name)?.clone())));
    Value::from_iter(present)
}

testkit::on_both_databases! {
    async fn create_alert_sets_the_route_and_shows_it_as_rest_does(database) {
        let (server, ids) = with_channels(database).await;
        let route = json!({"channels": ids, "policy": "failover", "ack_timeout": "15m", "urgent": true});
        let mut arguments = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 150});
        arguments.as_object_mut().unwrap().extend(route.as_object().unwrap().clone());
        let created = server.tool("create_alert", arguments).await;
        assert_eq!(routing(&created), route);
        let path = format!("/v1/alerts/{}", created["id"].as_str().unwrap());
        let read = server.tool("get_alert", json!({"alert_id": created["id"]})).await;
        assert_eq!(read, without_aliases(server.data(&path).await));
        assert_eq!(routing(&read), route);
    }

    async fn update_alert_changes_the_members_of_the_route_one_by_one(database) {
        let (server, ids) = with_channels(database).await;
        let arguments = json!({
            "symbol": "AAPL", "condition": "price_below", "threshold": 150, "channels": ids, "policy": "failover", "ack_timeout": "15m",
        });
        let id = server.tool("create_alert", arguments).await["id"].clone();
        for (change, expected) in [
            (json!({"channels": [ids[1]]}), json!({"channels": [ids[1]], "policy": "failover", "ack_timeout": "15m"})),
            (json!({"policy": "all"}), json!({"channels": [ids[1]], "policy": "all"})),
            (json!({"urgent": true}), json!({"channels": [ids[1]], "policy": "all", "urgent": true})),
            (json!({"channels": null, "urgent": null}), json!({})),
        ] {
            let mut arguments = change.clone();
            arguments["alert_id"] = id.clone();
            assert_eq!(routing(&server.tool("update_alert", arguments).await), expected, "{change}");
        }
    }

    async fn invalid_routes_are_refused_as_by_rest(database) {
        let (server, ids) = with_channels(database).await;
        for (route, part) in [
            (json!({"channels": [ids[0], ids[0]]}), "channels: must name each channel once"),
            (json!({"channels": ["Phone"]}), "channels: must be ids of notification channels"),
            (json!({"policy": "failover"}), "policy: needs `channels`"),
            (json!({"channels": ids, "ack_timeout": "5m"}), "ack_timeout: needs the policy `failover`"),
            (json!({"channels": ids, "policy": "failover", "ack_timeout": "30s"}), "ack_timeout: must be a length of time from 1m to 24h"),
            (json!({"urgent": "yes"}), "urgent: must be boolean"),
        ] {
            let mut arguments = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 150});
            arguments.as_object_mut().unwrap().extend(route.as_object().unwrap().clone());
            let text = server.refused("create_alert", arguments).await;
            assert!(text.contains(part), "{route}: {text}");
        }
    }

    async fn channel_of_another_account_is_refused_without_naming_a_route_of_rest(database) {
        let (server, _) = with_channels(database).await;
        let unknown = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";
        let arguments = json!({"symbol": "AAPL", "condition": "price_below", "threshold": 150, "channels": [unknown]});
        let text = server.refused("create_alert", arguments.clone()).await;
        assert!(text.contains("channels: must be ids of your notification channels") && text.contains("ask the user for the ids"), "{text}");
        assert!(!text.contains("GET /"), "{text}");
        let by_rest = server.post("/v1/alerts", arguments).await.refused(422, "VALIDATION_ERROR");
        assert!(by_rest.body["error"]["details"]["fields"]["channels"][0].as_str().unwrap().contains("GET /notification-channels"));
    }
}
