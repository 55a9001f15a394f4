//! The database of a cluster, in SQL: which node evaluates a stock, and how often each alert has fired.

use sha2::{Digest, Sha256};
use sqlx::{Connection, PgConnection};

use super::harness::{SHARDS, TestCluster, wait_until};

/// The numbers of firings of all alerts that exist.
const FIRINGS_QUERY: &str = "SELECT COUNT(history.seq) FROM alerts
    LEFT JOIN history ON history.alert_seq = alerts.seq AND history.action = 'triggered' GROUP BY alerts.seq";

impl TestCluster {
    /// Connects to the database.
    pub(super) async fn connect(&self) -> PgConnection {
        PgConnection::connect(self.setup.database_url()).await.unwrap()
    }

    /// Runs SQL statements.
    pub(super) async fn execute(&self, sql: &'static str) {
        let mut connection = self.connect().await;
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    }

    /// Returns the number that a query returns.
    pub(super) async fn count(&self, sql: &'static str) -> i64 {
        let mut connection = self.connect().await;
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    }

    /// Waits until each shard has an owner and a standby that has read its alerts.
    pub(super) async fn wait_until_standbys_are_ready(&self) {
        let sql =
            "SELECT COUNT(*) FROM shards WHERE owner_id IS NOT NULL AND standby_id IS NOT NULL AND is_standby_ready";
        wait_until("each shard has a standby", || async {
            self.count(sql).await as f64 == SHARDS
        })
        .await;
    }

    /// Returns the name of the node that owns the shard of a stock.
    pub(super) async fn owner_of(&self, symbol: &str) -> String {
        let shard = i64::from(Sha256::digest(symbol)[0]);
        let mut connection = self.connect().await;
        let sql = "SELECT nodes.name FROM nodes JOIN shards ON shards.owner_id = nodes.id WHERE shards.shard = $1";
        let query = sqlx::query_scalar(sql).bind(shard);
        query.fetch_one(&mut connection).await.unwrap()
    }

    /// Asserts that there are so many alerts, and that each has fired once.
    pub(super) async fn assert_all_fired_once(&self, alerts: usize) {
        let mut connection = self.connect().await;
        let firings: Vec<i64> = sqlx::query_scalar(FIRINGS_QUERY)
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let never = firings.iter().filter(|count| **count == 0).count();
        let repeatedly = firings.iter().filter(|count| **count > 1).count();
        assert_eq!(
            (firings.len(), never, repeatedly),
            (alerts, 0, 0),
            "alerts, never fired, fired repeatedly"
        );
    }
}
