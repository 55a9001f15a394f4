use serde_json::json;

use super::harness::{TestCluster, quotes, symbols};

/// Triggers that fail as PostgreSQL does when a table cannot grow: on the tables that evaluators write while they evaluate and renew their
/// leases.
const SIMULATE_FULL_DISK_SQL: &str = "
    CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER full_1 BEFORE INSERT OR UPDATE OR DELETE ON history FOR EACH STATEMENT EXECUTE FUNCTION disk_is_full();
    CREATE TRIGGER full_2 BEFORE INSERT OR UPDATE OR DELETE ON quotes FOR EACH STATEMENT EXECUTE FUNCTION disk_is_full();
    CREATE TRIGGER full_3 BEFORE INSERT OR UPDATE OR DELETE ON shards FOR EACH STATEMENT EXECUTE FUNCTION disk_is_full();
    CREATE TRIGGER full_4 BEFORE INSERT OR UPDATE OR DELETE ON nodes FOR EACH STATEMENT EXECUTE FUNCTION disk_is_full();";

const FREE_DISK_SQL: &str = "DROP FUNCTION disk_is_full CASCADE";

#[tokio::test]
async fn push_to_a_full_disk_is_refused_and_fires_each_alert_once_when_there_is_space_again() {
    let cluster = TestCluster::start(&["api", "evaluator", "evaluator"]).await;
    let symbols = symbols(40);
    let api = cluster.first();
    let alerts = api.add_stocks_with_alerts(&symbols).await;
    cluster.execute(SIMULATE_FULL_DISK_SQL).await;
    let rise = json!({"quotes": quotes(&symbols, 111.0)});
    let refused = api.operator.post("/market/ingest", &rise).await;
    let _ = refused.expect_error(503, "SERVICE_UNAVAILABLE");
    for id in &alerts {
        assert_eq!(
            (api.status_of(id).await.as_str(), api.firings_of(id).await),
            ("active", 0)
        );
    }
    cluster.execute(FREE_DISK_SQL).await;
    api.ingest_until_accepted(&rise).await;
    api.assert_fired_once(&alerts).await;
    // Evaluators whose leases ended meanwhile join again, and no firing that waited is committed again.
    cluster.wait_until_each_owns_its_share().await;
    cluster.assert_all_fired_once(alerts.len()).await;
}

#[tokio::test]
async fn leases_that_end_on_a_full_disk_are_renewed_when_there_is_space_again() {
    let cluster = TestCluster::start(&["api", "evaluator", "evaluator"]).await;
    let symbols = symbols(40);
    let api = cluster.first();
    let alerts = api.add_stocks_with_alerts(&symbols).await;
    cluster.execute(SIMULATE_FULL_DISK_SQL).await;
    for name in ["node-1", "node-2"] {
        cluster.node(name).wait_until_not_ready().await;
    }
    cluster.execute(FREE_DISK_SQL).await;
    let rise = json!({"quotes": quotes(&symbols, 111.0)});
    api.ingest_until_accepted(&rise).await;
    api.assert_fired_once(&alerts).await;
    for name in ["node-1", "node-2"] {
        cluster.node(name).wait_until_ready().await;
    }
}
