//! Compares the firings and deliveries on disk with the expected ones, when the load has ended and all nodes work again.

use std::collections::{BTreeMap, BTreeSet};

use acceptance::clock::wait_for;
use acceptance::{RecordedRequest, ScriptedServer};
use sqlx::{Connection, PgConnection};
use sqlx_macros::FromRow;
use uuid::Uuid;

use crate::model::{Cents, ModelAlert, differences};

/// The differences, and the numbers of what was compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) expected: usize,
    /// Expected firings that are not on disk.
    pub(crate) lost: Vec<String>,
    /// Firings on disk that no push explains: a second one for one push, or one of an earlier push.
    pub(crate) doubled: Vec<String>,
    /// Alerts with another status, and deliveries that are missing or too many.
    pub(crate) other: Vec<String>,
    pub(crate) deliveries: usize,
    /// Requests for deliveries that were received before.
    pub(crate) repeated_deliveries: usize,
}

#[derive(Clone, Debug, FromRow)]
struct FiringRow {
    id: Uuid,
    seq: i64,
    at: i64,
    price: Option<i64>,
    details: Option<String>,
    deliveries: i64,
}

#[derive(Clone, Debug, FromRow)]
struct AlertRow {
    id: Uuid,
    status: String,
}

/// The database stores prices in millionths.
const MICROS_PER_CENT: i64 = 10_000;

const FIRINGS_QUERY: &str = "SELECT a.id AS id, h.seq AS seq, h.at AS at, h.price AS price, h.details AS details, \
    (SELECT COUNT(*) FROM deliveries d WHERE d.event_seq = h.seq) AS deliveries \
    FROM alerts a JOIN history h ON h.alert_seq = a.seq WHERE h.action = 'triggered' ORDER BY h.seq";

/// Compares the database and the receivers with the alerts of all clients.
///
/// So many alerts may be on disk that no client knows: each holds since its creation, and fires once.
pub(crate) async fn compare(
    url: &str,
    (alerts, perhaps_created): (&[ModelAlert], usize),
    receivers: &[ScriptedServer],
) -> Comparison {
    let mut connection = PgConnection::connect(url).await.unwrap();
    wait_for_deliveries(url).await;
    let firings: Vec<FiringRow> = sqlx::query_as(FIRINGS_QUERY).fetch_all(&mut connection).await.unwrap();
    let stored: Vec<AlertRow> = sqlx::query_as("SELECT id, status FROM alerts")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let delivered: Vec<Uuid> = sqlx::query_scalar("SELECT id FROM deliveries")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let mut comparison = Comparison {
        expected: alerts.iter().map(|alert| alert.fired.len()).sum(),
        deliveries: delivered.len(),
        ..Comparison::default()
    };
    compare_firings(&mut comparison, (alerts, perhaps_created), &firings, receivers.len());
    compare_statuses(&mut comparison, alerts, &stored);
    let received: Vec<RecordedRequest> = receivers.iter().flat_map(ScriptedServer::received).collect();
    compare_deliveries(&mut comparison, &delivered, &received);
    comparison
}

/// Waits until no delivery is pending. Those that a killed node has claimed are free when the claim ends.
async fn wait_for_deliveries(url: &str) {
    wait_for("no delivery is pending", || async {
        let mut connection = PgConnection::connect(url).await.ok()?;
        let pending: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM deliveries WHERE status = 'pending'")
            .fetch_one(&mut connection)
            .await
            .ok()?;
        (pending == 0).then_some(())
    })
    .await;
}

fn compare_firings(
    comparison: &mut Comparison,
    (alerts, perhaps_created): (&[ModelAlert], usize),
    firings: &[FiringRow],
    webhooks: usize,
) {
    let mut actual: BTreeMap<String, Vec<&FiringRow>> = BTreeMap::new();
    for firing in firings {
        actual.entry(firing.id.to_string()).or_default().push(firing);
        if usize::try_from(firing.deliveries) != Ok(webhooks) {
            let other = format!(
                "firing {} of {} has {} deliveries",
                firing.seq, firing.id, firing.deliveries
            );
            comparison.other.push(other);
        }
    }
    for alert in alerts {
        let rows = actual.remove(&alert.id).unwrap_or_default();
        let prices: Vec<Cents> = rows
            .iter()
            .map(|row| row.price.unwrap_or_default() / MICROS_PER_CENT)
            .collect();
        let (lost, doubled) = differences(&alert.fired, &prices);
        let describe = |price: &Cents| {
            let of_price = prices.iter().zip(&rows).filter(|(fired, _)| *fired == price);
            let rows: Vec<_> = of_price.map(|(_, row)| (row.at, &row.details)).collect();
            format!(
                "{} {} {:?} at {price}: {rows:?}; expected {:?}, fired {prices:?}",
                alert.id, alert.symbol, alert.condition, alert.fired
            )
        };
        comparison.lost.extend(lost.iter().map(describe));
        comparison.doubled.extend(doubled.iter().map(describe));
    }
    for (number, (unknown, rows)) in actual.into_iter().enumerate() {
        if number >= perhaps_created || rows.len() != 1 {
            let doubled = format!("{unknown}, which no client knows, has fired {} times", rows.len());
            comparison.doubled.push(doubled);
        }
    }
}

fn compare_statuses(comparison: &mut Comparison, alerts: &[ModelAlert], stored: &[AlertRow]) {
    let stored: BTreeMap<String, &str> = stored
        .iter()
        .map(|alert| (alert.id.to_string(), alert.status.as_str()))
        .collect();
    for alert in alerts {
        let status = stored.get(&alert.id).copied().unwrap_or("missing");
        if status != alert.status() {
            let (id, condition, expected) = (&alert.id, alert.condition, alert.status());
            comparison
                .other
                .push(format!("{id} {condition:?} is {status}, not {expected}"));
        }
    }
}

fn compare_deliveries(comparison: &mut Comparison, delivered: &[Uuid], received: &[RecordedRequest]) {
    let ids: BTreeSet<String> = delivered.iter().map(Uuid::to_string).collect();
    let mut seen = BTreeSet::new();
    for request in received {
        let id = request.id();
        if !ids.contains(&id) {
            comparison.other.push(format!("the delivery {id} is not on disk"));
        }
        if !seen.insert(id) {
            comparison.repeated_deliveries += 1;
        }
    }
    let missing = ids.difference(&seen);
    comparison
        .other
        .extend(missing.map(|id| format!("the delivery {id} was never received")));
}
