//! Plan limits and their usage.

use alerts::Plan;
use foundation::Scope;
use serde_json::json;

use crate::http::test_server::{TestServer, above};

#[tokio::test]
async fn any_api_key_reads_the_subscription() {
    let server = TestServer::new().await;
    let key = server
        .account(
            "ann@example.com",
            Plan::Basic,
            false,
            &[Scope::StocksRead, Scope::AlertsWrite],
        )
        .await;
    server.set_price("AAPL", 100.0).await;
    let post = server.anonymous("POST", "/v1/alerts").header("x-api-key", &key);
    let _ = post.json(&above(200)).send().await.ok(201);
    for path in ["/v1/user/subscription", "/api/v1/user/subscription"] {
        let response = server
            .anonymous("GET", path)
            .header("x-api-key", &key)
            .send()
            .await
            .ok(200);
        let mut data = response.body["data"].clone();
        assert!(data["id"].take().is_string());
        assert_eq!(
            data,
            json!({
                "id": null, "account_type": "basic", "status": "active",
                "is_early_bird": false, "is_early_bird_eligible": false, "is_premium": false,
                "cancel_at_period_end": false, "quotas": {"sms": 0}, "usage": {"count": 0},
                "current_period": {"start": "2024-03-01T00:00:00.000Z", "end": "2024-04-01T00:00:00.000Z"},
                "alerts": {
                    "counts": {
                        "total": 1,
                        "by_status": {"active": 1, "inactive": 0, "paused": 0, "triggered": 0},
                    },
                    "quota": {"limit": 20, "remaining": 19, "unlimited": false},
                },
                "watchlist_items_count": 0, "watchlist_quota": 10,
            })
        );
    }
}

#[tokio::test]
async fn paid_plans_have_unlimited_alerts_and_50_text_messages() {
    let server = TestServer::new().await;
    for (name, plan, word) in [
        ("ann", Plan::Premium, "premium"),
        ("bob", Plan::EarlyBird, "early_bird"),
    ] {
        let data = server
            .create_user(name, plan)
            .await
            .get("/v1/user/subscription")
            .await
            .ok(200)
            .body["data"]
            .clone();
        assert_eq!(
            (&data["account_type"], &data["is_premium"]),
            (&json!(word), &json!(true))
        );
        assert_eq!(data["is_early_bird"], plan == Plan::EarlyBird);
        assert_eq!(data["quotas"], json!({"sms": 50}));
        let unlimited = json!({"limit": null, "remaining": null, "unlimited": true});
        assert_eq!(data["alerts"]["quota"], unlimited);
    }
    let unauthenticated = server.anonymous("GET", "/v1/user/subscription").send().await;
    let _ = unauthenticated.refused(401, "UNAUTHORIZED");
}
