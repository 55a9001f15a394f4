use acceptance::ApiClient;
use reqwest::Method;
use serde_json::json;
use sqlx::query_scalar;

use super::harness::{TestCluster, quotes, symbols};

const EMAIL: &str = "leaver@example.com";

#[tokio::test]
async fn alerts_of_an_account_that_is_deleted_while_their_evaluator_is_stopped_do_not_fire() {
    let mut cluster = TestCluster::start(&["api,jobs,dispatcher", "evaluator", "evaluator"]).await;
    let symbols = symbols(20);
    let others = cluster.first().add_stocks_with_alerts(&symbols).await;
    let leaver = cluster.add_account(EMAIL).await;
    let deleted = create_alerts(&cluster, &leaver, &symbols).await;
    let stopped = cluster.take("node-1");
    stopped.signal("STOP");
    delete_account(&leaver).await;
    let api = cluster.first();
    api.ingest_until_accepted(&json!({"quotes": quotes(&symbols, 111.0)}))
        .await;
    api.assert_fired_once(&others).await;
    assert_no_firing_of(&cluster, &deleted).await;
    // The stopped node still has the alerts, and judges the push when it goes on.
    stopped.signal("CONT");
    cluster.nodes.push(stopped);
    cluster.wait_until_each_owns_its_share().await;
    cluster.first().assert_fired_once(&others).await;
    assert_no_firing_of(&cluster, &deleted).await;
}

/// Creates an alert on each stock, and returns the numbers of the alerts in the database.
async fn create_alerts(cluster: &TestCluster, account: &ApiClient, symbols: &[String]) -> Vec<i64> {
    for symbol in symbols {
        let body = json!({"symbol": symbol, "condition": "price_above", "threshold": 110});
        let _ = account.post("/alerts", &body).await.expect_ok(201);
    }
    let sql =
        "SELECT alerts.seq FROM alerts JOIN accounts ON accounts.id = alerts.account_id WHERE accounts.email = $1";
    let mut connection = cluster.connect().await;
    let created: Vec<i64> = query_scalar(sql).bind(EMAIL).fetch_all(&mut connection).await.unwrap();
    assert_eq!(created.len(), symbols.len());
    created
}

async fn delete_account(account: &ApiClient) {
    let anonymous = account.without_key();
    let login = json!({"email": EMAIL, "password": "correct horse"});
    let signed_in = anonymous.post("/auth/login", &login).await.expect_ok(200);
    let bearer = format!("Bearer {}", signed_in.text_of("access_token"));
    let request = anonymous
        .request(Method::DELETE, "/user/account")
        .header("authorization", &bearer);
    let _ = request
        .json(&json!({"confirmation": "DELETE"}))
        .send()
        .await
        .expect_ok(200);
}

/// Asserts that none of these alerts has fired, and that the account got no email about a stock.
async fn assert_no_firing_of(cluster: &TestCluster, alerts: &[i64]) {
    let sql = "SELECT COUNT(*) FROM history WHERE action = 'triggered' AND alert_seq = ANY ($1)";
    let mut connection = cluster.connect().await;
    let fired: i64 = query_scalar(sql).bind(alerts).fetch_one(&mut connection).await.unwrap();
    assert_eq!(fired, 0);
    let path = format!("/outbox?channel=email&to={EMAIL}");
    let emails = cluster.first().operator.get(&path).await.expect_ok(200);
    let is_about_a_stock = |email: &&serde_json::Value| {
        email["subject"]
            .as_str()
            .is_some_and(|subject| subject.starts_with("S0"))
    };
    assert_eq!(emails.items().iter().find(is_about_a_stock), None);
}
