//! The actual state: every alert as the API shows it, and every firing as the database records it.

use std::collections::BTreeMap;

use acceptance::{ApiClient, DatabaseKind};
use serde_json::Value;
use sqlx::{Connection, PgConnection, SqliteConnection};
use sqlx_macros::FromRow;
use uuid::Uuid;

use crate::survival::deliveries::{FiringCounts, FiringRecord};
use crate::survival::model::{AlertStatus, Price};

/// An alert in the list of the API.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ListedAlert {
    pub(crate) id: String,
    pub(crate) symbol: String,
    pub(crate) condition: String,
    pub(crate) threshold: Price,
    pub(crate) status: AlertStatus,
    pub(crate) note: u64,
}

/// Returns the threshold of an alert; that of an expression is the number after its relation.
fn threshold(alert: &Value) -> Price {
    match alert["parameters"]["when"].as_str() {
        Some(when) => {
            let number: f64 = when.rsplit(' ').next().unwrap().parse().unwrap();
            price(&number.into())
        }
        None => price(&alert["threshold"]),
    }
}

/// Converts a dollar amount with at most four decimals.
pub(crate) fn price(value: &Value) -> Price {
    let scaled = value.as_f64().unwrap() * 10_000.0;
    format!("{scaled:.0}").parse().unwrap()
}

/// Returns all alerts of all pages.
pub(crate) async fn list_alerts(client: &ApiClient) -> Vec<ListedAlert> {
    let mut all = Vec::new();
    for page in 1.. {
        let path = format!("/alerts?limit=100&sort_direction=asc&page={page}");
        let response = client.get(&path).await.expect_ok(200);
        all.extend(response.items().iter().map(|alert| {
            let text = |field: &str| alert[field].as_str().unwrap().to_owned();
            ListedAlert {
                id: text("id"),
                symbol: text("symbol"),
                condition: text("condition"),
                threshold: threshold(alert),
                status: AlertStatus::read(&text("status")),
                note: alert["parameters"]["note"].as_u64().unwrap_or_default(),
            }
        }));
        if response.items().len() < 100 {
            break;
        }
    }
    all
}

/// The recorded history of an alert.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct RecordedHistory {
    /// Prices of its firings, in order.
    pub(crate) fired: Vec<Price>,
    /// Number of events of its firings.
    pub(crate) events: i64,
    /// Status after the last entry.
    pub(crate) last_status: String,
}

/// The content of the database at one moment.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct DatabaseSnapshot {
    /// History of each alert, by id.
    pub(crate) alerts: BTreeMap<String, RecordedHistory>,
    /// Number of all events.
    pub(crate) events: i64,
    /// All firings.
    pub(crate) firings: FiringCounts,
}

#[derive(FromRow)]
struct HistoryRow {
    id: Uuid,
    action: String,
    new_status: String,
    at: i64,
    price: Option<i64>,
    events: i64,
}

/// A single statement, so that it reads one consistent snapshot.
const HISTORY_QUERY: &str = "SELECT a.id AS id, h.action AS action, h.new_status AS new_status, h.at AS at, h.price AS price, \
    (SELECT COUNT(*) FROM events e WHERE e.seq = h.seq AND e.alert_seq = h.alert_seq) AS events \
    FROM alerts a JOIN history h ON h.alert_seq = a.seq ORDER BY h.seq";

/// Reads the histories, events and firings from the database.
pub(crate) async fn read_database(database: DatabaseKind, url: &str) -> DatabaseSnapshot {
    const EVENT_COUNT_QUERY: &str = "SELECT COUNT(*) FROM events";
    let (entries, events): (Vec<HistoryRow>, i64) = match database {
        DatabaseKind::Sqlite => {
            let mut connection = SqliteConnection::connect(url).await.unwrap();
            let entries = sqlx::query_as(HISTORY_QUERY).fetch_all(&mut connection).await.unwrap();
            let events = sqlx::query_scalar(EVENT_COUNT_QUERY)
                .fetch_one(&mut connection)
                .await
                .unwrap();
            connection.close().await.unwrap();
            (entries, events)
        }
        DatabaseKind::Postgres => {
            let mut connection = PgConnection::connect(url).await.unwrap();
            let entries = sqlx::query_as(HISTORY_QUERY).fetch_all(&mut connection).await.unwrap();
            let events = sqlx::query_scalar(EVENT_COUNT_QUERY)
                .fetch_one(&mut connection)
                .await
                .unwrap();
            connection.close().await.unwrap();
            (entries, events)
        }
    };
    let mut snapshot = DatabaseSnapshot {
        events,
        ..DatabaseSnapshot::default()
    };
    for entry in entries {
        let id = entry.id.to_string();
        let alert = snapshot.alerts.entry(id.clone()).or_default();
        if entry.action == "triggered" {
            // The database stores prices in millionths and times in microseconds.
            let price = entry.price.unwrap_or_default() / 100;
            alert.fired.push(price);
            let firing = FiringRecord {
                alert: id,
                at_ms: entry.at / 1_000,
                price,
            };
            *snapshot.firings.entry(firing).or_default() += 1;
        }
        alert.events += entry.events;
        alert.last_status = entry.new_status;
    }
    snapshot
}
