//! What is: every alert as the API shows it, and every firing as the database has it.

use std::collections::BTreeMap;

use acceptance::{Client, Database};
use serde_json::Value;
use sqlx::{Connection, PgConnection, SqliteConnection};
use sqlx_macros::FromRow;
use uuid::Uuid;

use crate::model::{Price, Status};
use crate::post::{Firing, Firings};

/// An alert, as the API shows it in its list.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) symbol: String,
    pub(crate) condition: String,
    pub(crate) threshold: Price,
    pub(crate) status: Status,
    pub(crate) note: u64,
}

/// A number of dollars that has at most four decimals.
pub(crate) fn price(value: &Value) -> Price {
    let scaled = value.as_f64().unwrap() * 10_000.0;
    format!("{scaled:.0}").parse().unwrap()
}

/// All alerts, page by page.
pub(crate) async fn shown(client: &Client) -> Vec<Shown> {
    let mut all = Vec::new();
    for page in 1.. {
        let path = format!("/alerts?limit=100&sort_direction=asc&page={page}");
        let answer = client.get(&path).await.ok(200);
        all.extend(answer.items().iter().map(|alert| {
            let text = |field: &str| alert[field].as_str().unwrap().to_owned();
            Shown {
                id: text("id"),
                symbol: text("symbol"),
                condition: text("condition"),
                threshold: price(&alert["threshold"]),
                status: Status::read(&text("status")),
                note: alert["parameters"]["note"].as_u64().unwrap_or_default(),
            }
        }));
        if answer.items().len() < 100 {
            break;
        }
    }
    all
}

/// What a history has of an alert.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Written {
    /// The prices at which it fired, in order.
    pub(crate) fired: Vec<Price>,
    /// How many events its firings made.
    pub(crate) events: i64,
    /// The status after the last entry.
    pub(crate) last_status: String,
}

/// The database at one moment.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Books {
    /// All histories.
    pub(crate) alerts: BTreeMap<String, Written>,
    /// The number of all events.
    pub(crate) events: i64,
    /// All firings.
    pub(crate) firings: Firings,
}

#[derive(FromRow)]
struct Entry {
    id: Uuid,
    action: String,
    new_status: String,
    at: i64,
    price: Option<i64>,
    events: i64,
}

/// One statement, so that it sees one moment.
const ENTRIES: &str = "SELECT a.id AS id, h.action AS action, h.new_status AS new_status, h.at AS at, h.price AS price, \
    (SELECT COUNT(*) FROM events e WHERE e.seq = h.seq AND e.alert_seq = h.alert_seq) AS events \
    FROM alerts a JOIN history h ON h.alert_seq = a.seq ORDER BY h.seq";

/// What the database has.
pub(crate) async fn written(database: Database, url: &str) -> Books {
    const EVENTS: &str = "SELECT COUNT(*) FROM events";
    let (entries, events): (Vec<Entry>, i64) = match database {
        Database::Sqlite => {
            let mut link = SqliteConnection::connect(url).await.unwrap();
            let entries = sqlx::query_as(ENTRIES).fetch_all(&mut link).await.unwrap();
            let events = sqlx::query_scalar(EVENTS).fetch_one(&mut link).await.unwrap();
            link.close().await.unwrap();
            (entries, events)
        }
        Database::Postgres => {
            let mut link = PgConnection::connect(url).await.unwrap();
            let entries = sqlx::query_as(ENTRIES).fetch_all(&mut link).await.unwrap();
            let events = sqlx::query_scalar(EVENTS).fetch_one(&mut link).await.unwrap();
            link.close().await.unwrap();
            (entries, events)
        }
    };
    let mut books = Books {
        events,
        ..Books::default()
    };
    for entry in entries {
        let id = entry.id.to_string();
        let alert = books.alerts.entry(id.clone()).or_default();
        if entry.action == "triggered" {
            // Prices are kept in millionths, instants in microseconds.
            let price = entry.price.unwrap_or_default() / 100;
            alert.fired.push(price);
            let firing = Firing {
                alert: id,
                at_ms: entry.at / 1_000,
                price,
            };
            *books.firings.entry(firing).or_default() += 1;
        }
        alert.events += entry.events;
        alert.last_status = entry.new_status;
    }
    books
}
