//! The file of alerts that a replay watches: a JSON array of create-alert bodies.
//!
//! A body is what the API takes, with one field more: `created_at`, an RFC 3339 instant, from which on the alert is
//! judged. A file with a mistake is not replayed at all: who has misspelt one alert of a hundred wants to know it
//! before the result.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use alerts::NewAlert;
use alerts::request::{Context, RequestError, parse_create};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::Calendar;
use serde_json::Value;

/// How many bad alerts are listed before "and more".
const MAX_LISTED: usize = 20;

/// An alert to be replayed; its place in the list is its index.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayAlert {
    /// What to watch for.
    pub alert: NewAlert,
    /// From when on; `None` is before everything.
    pub created_at: Option<Timestamp>,
}

/// Why a file of alerts cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum AlertsFileError {
    /// The file cannot be read.
    #[error("cannot read the alerts file {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is no JSON.
    #[error("{} is no JSON: {cause}; write an array of alerts such as \
             [{{\"symbol\": \"AAPL\", \"condition\": \"price_above\", \"threshold\": 200}}]", path.display())]
    NoJson {
        /// The file.
        path: PathBuf,
        /// Where and what.
        cause: serde_json::Error,
    },
    /// The file is JSON but no array.
    #[error("{} is no JSON array; put the alerts into [ ]", path.display())]
    NoArray {
        /// The file.
        path: PathBuf,
    },
    /// Some of the alerts are wrong.
    #[error("{}: {bad}", path.display())]
    BadAlerts {
        /// The file.
        path: PathBuf,
        /// Which, and what is wrong with them.
        bad: BadAlerts,
    },
}

/// The alerts that are wrong: index and fault.
#[derive(Debug)]
pub struct BadAlerts(pub Vec<(usize, Fault)>);

/// What is wrong with one alert.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The body itself.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Its `created_at`.
    #[error("created_at: must be an instant such as 2024-03-08T14:30:00Z")]
    CreatedAt,
}

impl fmt::Display for BadAlerts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of the alerts cannot be used; correct or remove them",
            self.0.len()
        )?;
        for (index, fault) in self.0.iter().take(MAX_LISTED) {
            write!(f, "\n  alert {index}: {fault}")?;
        }
        match self.0.len().saturating_sub(MAX_LISTED) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// Reads the file as far as it can be read without knowing when the replay begins.
///
/// # Errors
/// [`AlertsFileError`]
pub fn read_bodies(path: &Path) -> Result<Vec<Value>, AlertsFileError> {
    let bytes = fs::read(path).map_err(|cause| AlertsFileError::Unreadable {
        path: path.into(),
        cause,
    })?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Array(bodies)) => Ok(bodies),
        Ok(_) => Err(AlertsFileError::NoArray { path: path.into() }),
        Err(cause) => Err(AlertsFileError::NoJson {
            path: path.into(),
            cause,
        }),
    }
}

/// Reads every body; an alert without `created_at` is read as of `start`.
///
/// # Errors
/// [`BadAlerts`], all of them at once.
pub fn parse_bodies(bodies: &[Value], calendar: &Calendar, start: Timestamp) -> Result<Vec<ReplayAlert>, BadAlerts> {
    let time_zone = market::calendar::new_york_time_zone();
    let mut good = Vec::with_capacity(bodies.len());
    let mut bad = Vec::new();
    for (index, body) in bodies.iter().enumerate() {
        match parse_body(body, calendar, &time_zone, start) {
            Ok(alert) => good.push(alert),
            Err(fault) => bad.push((index, fault)),
        }
    }
    if bad.is_empty() { Ok(good) } else { Err(BadAlerts(bad)) }
}

fn parse_body(body: &Value, calendar: &Calendar, time_zone: &TimeZone, start: Timestamp) -> Result<ReplayAlert, Fault> {
    let created_at = match body.get("created_at") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.parse().map_err(|_| Fault::CreatedAt)?),
        Some(_) => return Err(Fault::CreatedAt),
    };
    let now = created_at.unwrap_or(start);
    let alert = parse_create(
        body,
        &Context {
            now,
            time_zone,
            calendar,
        },
    )?;
    Ok(ReplayAlert { alert, created_at })
}
