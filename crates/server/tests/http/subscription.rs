//! What a plan has, and how much of it is used.

use alerts::Plan;
use serde_json::json;
use service::Scope;

use crate::world::{World, above};

#[tokio::test]
async fn an_api_key_of_any_scope_reads_the_subscription_whole() {
    let world = World::new().await;
    let key = world
        .account(
            "ann@example.com",
            Plan::Basic,
            false,
            &[Scope::StocksRead, Scope::AlertsWrite],
        )
        .await;
    world.stock_at("AAPL", 100.0).await;
    let post = world.stranger("POST", "/v1/alerts").header("x-api-key", &key);
    let _ = post.json(&above(200)).send().await.ok(201);
    for path in ["/v1/user/subscription", "/api/v1/user/subscription"] {
        let answer = world
            .stranger("GET", path)
            .header("x-api-key", &key)
            .send()
            .await
            .ok(200);
        let mut data = answer.body["data"].clone();
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
async fn the_paid_plans_have_any_number_of_alerts_and_fifty_text_messages() {
    let world = World::new().await;
    for (name, plan, word) in [
        ("ann", Plan::Premium, "premium"),
        ("bob", Plan::EarlyBird, "early_bird"),
    ] {
        let data = world
            .person(name, plan)
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
    let nobody = world.stranger("GET", "/v1/user/subscription").send().await;
    let _ = nobody.refused(401, "UNAUTHORIZED");
}
