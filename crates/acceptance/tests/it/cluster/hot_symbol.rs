use serde_json::{Value, json};

use super::harness::{TestCluster, wait_until};

const SYMBOL: &str = "HOT";
/// More than an evaluator writes in one transaction (2,048).
const ALERTS: usize = 2_100;
/// The maximum number of alerts that one request creates.
const BATCH: usize = 1_000;
const FIRINGS_QUERY: &str = "SELECT COUNT(*) FROM history WHERE action = 'triggered'";

#[tokio::test]
async fn thousands_of_alerts_on_one_stock_fire_once_although_their_owner_is_killed_meanwhile() {
    let mut cluster = TestCluster::start(&["api", "evaluator", "evaluator"]).await;
    cluster.first().add_stocks(&[SYMBOL.to_owned()]).await;
    create_alerts(&cluster).await;
    let owner = cluster.owner_of(SYMBOL).await;
    let owner = cluster.take(&owner);
    let rise = json!({"quotes": [{"symbol": SYMBOL, "price": 200}]});
    let kill = async {
        wait_until("the owner has written its first firings", || async {
            cluster.count(FIRINGS_QUERY).await > 0
        })
        .await;
        owner.kill().await;
    };
    tokio::join!(kill, cluster.first().ingest_until_accepted(&rise));
    cluster.assert_all_fired_once(ALERTS).await;
    // The survivor, which was the standby, commits none of them again when it becomes the owner.
    cluster.wait_until_shared().await;
    cluster.assert_all_fired_once(ALERTS).await;
}

/// Creates alerts with different thresholds below 200, in batches.
async fn create_alerts(cluster: &TestCluster) {
    let numbers: Vec<usize> = (0..ALERTS).collect();
    for batch in numbers.chunks(BATCH) {
        let alerts = batch.iter().map(|number| {
            let threshold = f64::from(u32::try_from(11_000 + number).unwrap()) / 100.0;
            json!({"symbol": SYMBOL, "condition": "price_above", "threshold": threshold})
        });
        let body = json!({"create": alerts.collect::<Value>()});
        let created = cluster
            .first()
            .operator
            .post("/alerts/batch", &body)
            .await
            .expect_ok(200);
        assert_eq!(created.data()["create"].as_array().unwrap().len(), batch.len());
    }
}
