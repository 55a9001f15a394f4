//! The content of the database, read from the simulated disk without the service.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OpenFlags, Row};

use crate::model::{AlertStatus, Cents, EmailResult, RecordedAlert, RecordedEmail, RecordedFiring};
use crate::network::cents;
use crate::plan::STOCKS;
use crate::template::symbol;

/// Hundredths of a cent: the database stores prices in millionths of a dollar.
const MILLIONTHS_PER_CENT: i64 = 10_000;

/// The records of the database.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// The alerts, by the number in their requests.
    pub(crate) alerts: BTreeMap<usize, RecordedAlert>,
    /// The numbers of requests that have made several alerts.
    pub(crate) doubled: Vec<usize>,
    /// The ids of acknowledged firings.
    pub(crate) acknowledged: BTreeSet<String>,
    /// The number of acknowledgements in the history.
    pub(crate) acknowledgements_in_history: usize,
    /// The users and stocks of watchlists.
    pub(crate) watched: Vec<(usize, usize)>,
    /// The emails.
    pub(crate) emails: Vec<RecordedEmail>,
    /// The results of emails in the histories of alerts.
    pub(crate) email_results: Vec<EmailResult>,
}

/// A connection to the database. Opening one takes longer than reading all records.
pub(crate) struct DatabaseReader(Connection);

const ALERTS: &str =
    "SELECT a.seq, lower(hex(a.id)), u.email, a.status, a.threshold, a.deleted_at, a.parameters, a.revision, a.options, a.note,
                        (SELECT COUNT(*) FROM history h WHERE h.alert_seq = a.seq AND h.details LIKE '%split_ratio%'),
                        (SELECT COUNT(*) FROM history h WHERE h.alert_seq = a.seq AND h.action IN
                           ('created', 'updated', 'snoozed', 'paused', 'reactivated', 'triggered', 'expired', 'deleted'))
                      FROM alerts a JOIN accounts u ON u.id = a.account_id ORDER BY a.seq";
const FIRINGS: &str = "SELECT h.price, h.details,
                         (SELECT COUNT(*) FROM events e WHERE e.seq = h.seq AND e.alert_seq = h.alert_seq)
                       FROM history h WHERE h.alert_seq = ?1 AND h.action = 'triggered' ORDER BY h.seq";

const ACKNOWLEDGED: &str = "SELECT lower(hex(e.id)) FROM acknowledgements a JOIN events e ON e.seq = a.event_seq";
const ACKNOWLEDGEMENTS: &str = "SELECT seq FROM history WHERE action = 'acknowledged'";
const WATCHED: &str = "SELECT u.email, w.symbol FROM watchlist_items w JOIN accounts u ON u.id = w.account_id";
const EMAILS: &str =
    "SELECT lower(hex(m.id)), lower(hex(e.id)), lower(hex(a.id)), m.status, m.outcome, lower(hex(f.id)), u.email,
                        (SELECT h.details ->> '$.reason' FROM history h WHERE h.seq = e.seq AND h.alert_seq = e.alert_seq)
                      FROM messages m JOIN accounts u ON u.id = m.account_id LEFT JOIN events e ON e.seq = m.event_seq
                      LEFT JOIN alerts a ON a.seq = m.alert_seq LEFT JOIN messages f ON f.seq = m.folded_into
                      WHERE m.channel = 'email' ORDER BY m.seq";
const EMAIL_RESULTS: &str = "SELECT lower(hex(a.id)), h.details ->> '$.message_id', h.action FROM history h
                             JOIN alerts a ON a.seq = h.alert_seq
                             WHERE h.action IN ('notification_sent', 'notification_failed')";

impl DatabaseReader {
    /// Opens the database.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn open(url: &str) -> rusqlite::Result<Self> {
        let path = url.trim_start_matches("sqlite://");
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map(Self)
    }

    /// Returns the result of SQLite's check of the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn check(&self) -> rusqlite::Result<String> {
        self.0.query_row("PRAGMA integrity_check", [], |row| row.get(0))
    }

    /// Reads the records.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn records(&self) -> rusqlite::Result<Records> {
        read(&self.0)
    }
}

fn read(connection: &Connection) -> rusqlite::Result<Records> {
    let mut records = Records::default();
    let mut statement = connection.prepare_cached(ALERTS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let sequence: i64 = row.get(0)?;
        let status: String = row.get(3)?;
        let is_deleted = row.get::<_, Option<i64>>(5)?.is_some();
        let parameters = json(row.get(6)?);
        let level: Option<i64> = row.get(4)?;
        let level = level.map(|level| level / MILLIONTHS_PER_CENT);
        let threshold = level.or_else(|| level_in(parameters["when"].as_str()?));
        let options = json(row.get(8)?);
        let note: Option<String> = row.get(9)?;
        let adjustments: i64 = row.get(10)?;
        let email: String = row.get(2)?;
        let alert = RecordedAlert {
            id: uuid_text(&row.get::<_, String>(1)?),
            owner: user_of(&email),
            status: if is_deleted {
                AlertStatus::Deleted
            } else {
                status_of(&status)
            },
            threshold: threshold.unwrap_or_default(),
            returns_at: options["rearm"]["at"].as_f64().map(cents),
            max_firings: options["max_firings"]
                .as_u64()
                .and_then(|last| u32::try_from(last).ok()),
            adjustments,
            firings: firings(connection, sequence, threshold.is_some())?,
            revision: row.get(7)?,
            changes: row.get::<_, i64>(11)? + adjustments,
        };
        let Some(slot) = slot_in(&parameters["note"]).or_else(|| note?.parse().ok()) else {
            continue;
        };
        if records.alerts.insert(slot, alert).is_some() {
            records.doubled.push(slot);
        }
    }
    records.acknowledged = list(connection, ACKNOWLEDGED, |row| Ok(uuid_text(&row.get::<_, String>(0)?)))?
        .into_iter()
        .collect();
    records.acknowledgements_in_history = list(connection, ACKNOWLEDGEMENTS, |row| row.get::<_, i64>(0))?.len();
    records.watched = list(connection, WATCHED, |row| {
        let (email, of_stock): (String, String) = (row.get(0)?, row.get(1)?);
        let stock = (0..STOCKS).find(|stock| symbol(*stock) == of_stock);
        Ok((user_of(&email), stock.unwrap_or(STOCKS)))
    })?;
    records.emails = list(connection, EMAILS, |row| {
        let id = |column| {
            let digits: String = row.get(column)?;
            // NULL has none.
            let is_null = digits.is_empty();
            Ok::<_, rusqlite::Error>((!is_null).then(|| uuid_text(&digits)))
        };
        Ok(RecordedEmail {
            id: id(0)?.unwrap_or_default(),
            firing: id(1)?,
            alert: id(2)?,
            status: row.get(3)?,
            outcome: row.get(4)?,
            folded_into: id(5)?,
            recipient: row.get(6)?,
            reason: row.get(7)?,
        })
    })?;
    records.email_results = list(connection, EMAIL_RESULTS, |row| {
        let action: String = row.get(2)?;
        Ok(EmailResult {
            alert: uuid_text(&row.get::<_, String>(0)?),
            email: row.get(1)?,
            is_sent: action == "notification_sent",
        })
    })?;
    Ok(records)
}

fn list<T>(
    connection: &Connection,
    sql: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map([], read)?.collect()
}

fn user_of(email: &str) -> usize {
    usize::from(email.starts_with("bob"))
}

fn json(text: Option<String>) -> serde_json::Value {
    text.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Returns the firings of an alert. Those of a reminder, which has no threshold, have no price.
fn firings(connection: &Connection, sequence: i64, has_threshold: bool) -> rusqlite::Result<Vec<RecordedFiring>> {
    let mut statement = connection.prepare_cached(FIRINGS)?;
    let rows = statement.query_map([sequence], |row| {
        let price: Option<Cents> = row.get(0)?;
        let details = json(row.get(1)?);
        Ok(RecordedFiring {
            price: price.filter(|_| has_threshold).unwrap_or_default() / MILLIONTHS_PER_CENT,
            reason: details["reason"].as_str().unwrap_or_default().to_owned(),
            events: row.get(2)?,
        })
    })?;
    rows.collect()
}

fn status_of(text: &str) -> AlertStatus {
    match text {
        "active" => AlertStatus::Active,
        "paused" => AlertStatus::Paused,
        "triggered" => AlertStatus::Triggered,
        "inactive" => AlertStatus::Expired,
        _ => AlertStatus::Absent,
    }
}

/// Returns the level of an expression, which ends with it.
fn level_in(expression: &str) -> Option<Cents> {
    expression.rsplit(' ').next()?.parse().ok().map(cents)
}

fn slot_in(note: &serde_json::Value) -> Option<usize> {
    // The note of a reminder is a text.
    let number = note.as_u64().or_else(|| note.as_str()?.parse().ok())?;
    usize::try_from(number).ok()
}

/// Formats 32 hexadecimal digits as a UUID.
fn uuid_text(hex: &str) -> String {
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!(
        "{}-{}-{}-{}-{}",
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32)
    )
}
