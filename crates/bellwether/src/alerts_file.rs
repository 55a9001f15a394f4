//! The alerts file of a replay: a JSON array of create-alert request bodies.
//!
//! Each body has the fields of the API and optionally `created_at`, an RFC 3339 timestamp. The alert is evaluated
//! from that time on. `scope` lists the stocks of an alert over many; a replay has no watchlist. A file with an invalid alert is not replayed at all: a typo in one alert of a hundred must show
//! before the result.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use alerts::AlertScope;
use alerts::request::{FieldErrors, ParseContext, RequestError, parse_create, parse_template};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use market::Calendar;
use serde_json::Value;

use crate::replay::ReplayAlert;

/// The maximum number of invalid alerts in an error message; the message counts the others.
const MAX_ALERTS_LISTED: usize = 20;

/// The reasons why an alerts file cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum AlertsFileError {
    /// The file cannot be read.
    #[error("cannot read the alerts file {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        cause: std::io::Error,
    },
    /// The file is not valid JSON.
    #[error("{} is not valid JSON: {cause}; write an array of alerts such as \
             [{{\"symbol\": \"AAPL\", \"condition\": \"price_above\", \"threshold\": 200}}]", path.display())]
    InvalidJson {
        /// The file.
        path: PathBuf,
        /// The parse error, with its position.
        cause: serde_json::Error,
    },
    /// The file is valid JSON but not an array.
    #[error("{} is not a JSON array; put the alerts into [ ]", path.display())]
    NotAnArray {
        /// The file.
        path: PathBuf,
    },
    /// Some alerts are invalid.
    #[error("{}: {invalid}", path.display())]
    InvalidAlerts {
        /// The file.
        path: PathBuf,
        /// The invalid alerts.
        invalid: InvalidAlerts,
    },
}

/// The invalid alerts, each with its index and error.
#[derive(Debug)]
pub struct InvalidAlerts(pub Vec<(usize, ReplayAlertError)>);

/// The error of one alert.
#[derive(Debug, thiserror::Error)]
pub enum ReplayAlertError {
    /// The request body is invalid.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// `created_at` is not a valid timestamp.
    #[error("created_at: must be a timestamp such as 2024-03-08T14:30:00Z")]
    CreatedAt,
    /// `scope` is invalid.
    #[error("{0}")]
    Scope(FieldErrors),
    /// `scope` follows a watchlist.
    #[error("scope.watchlist: must be omitted, because a replay has no watchlist; list the stocks in scope.symbols")]
    Watchlist,
}

impl fmt::Display for InvalidAlerts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the alerts are invalid; correct or remove them", self.0.len())?;
        for (index, error) in self.0.iter().take(MAX_ALERTS_LISTED) {
            write!(f, "\n  alert {index}: {error}")?;
        }
        match self.0.len().saturating_sub(MAX_ALERTS_LISTED) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// Reads the array from the file. The bodies are parsed later, because this needs the start of the replay.
///
/// # Errors
/// [`AlertsFileError`] if the file cannot be read or is not a JSON array.
pub fn read_bodies(path: &Path) -> Result<Vec<Value>, AlertsFileError> {
    let bytes = fs::read(path).map_err(|cause| AlertsFileError::Unreadable {
        path: path.into(),
        cause,
    })?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Array(bodies)) => Ok(bodies),
        Ok(_) => Err(AlertsFileError::NotAnArray { path: path.into() }),
        Err(cause) => Err(AlertsFileError::InvalidJson {
            path: path.into(),
            cause,
        }),
    }
}

/// Parses all bodies. An alert without `created_at` is parsed as of `start`.
///
/// # Errors
/// [`InvalidAlerts`] with all invalid alerts.
pub fn parse_bodies(
    bodies: &[Value],
    calendar: &Calendar,
    start: Timestamp,
) -> Result<Vec<ReplayAlert>, InvalidAlerts> {
    let time_zone = market::calendar::new_york_time_zone();
    let mut valid = Vec::with_capacity(bodies.len());
    let mut invalid = Vec::new();
    for (index, body) in bodies.iter().enumerate() {
        match parse_body(body, calendar, &time_zone, start) {
            Ok(alert) => valid.push(alert),
            Err(error) => invalid.push((index, error)),
        }
    }
    if invalid.is_empty() {
        Ok(valid)
    } else {
        Err(InvalidAlerts(invalid))
    }
}

fn parse_body(
    body: &Value,
    calendar: &Calendar,
    time_zone: &TimeZone,
    start: Timestamp,
) -> Result<ReplayAlert, ReplayAlertError> {
    let created_at = match body.get("created_at") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.parse().map_err(|_| ReplayAlertError::CreatedAt)?),
        Some(_) => return Err(ReplayAlertError::CreatedAt),
    };
    let now = created_at.unwrap_or(start);
    let context = ParseContext {
        now,
        time_zone,
        calendar,
    };
    let Some(scope) = body.get("scope").filter(|scope| !scope.is_null()) else {
        return Ok(ReplayAlert::new(parse_create(body, &context)?, created_at));
    };
    match AlertScope::read(scope).map_err(ReplayAlertError::Scope)? {
        AlertScope::Symbols(symbols) => Ok(ReplayAlert::over(parse_template(body, &context)?, symbols, created_at)),
        AlertScope::Watchlist(_) => Err(ReplayAlertError::Watchlist),
    }
}
