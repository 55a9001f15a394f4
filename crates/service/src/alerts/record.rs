//! History entries that first-party clients add.
//!
//! Such an entry is marked as made by a client, so that it is not taken for an observation of this service. It does
//! not change the alert.

use alerts::transition::{HistoryStatus, StatusChange};
use alerts::{AlertId, HistoryAction, Status};
use jiff::Timestamp;
use market::{Price, Symbol};
use serde_json::{Map, Value, json};
use store::model::HistoryRow;
use store::{Abort, BoxFuture, Transaction, UnitOfWork};
use uuid::Uuid;

use super::no_such_alert;
use crate::alerts::Alerts;
use accounts::identity::sessions::session_of;
use foundation::account::lock_active_account;
use foundation::body::BodyReader;
use foundation::{Actor, ServiceError};
use store::model::AccountId;

/// The maximum length of `alert_data`, as JSON in bytes.
const MAX_DATA_BYTES: usize = 16 * 1024;
/// The maximum length of `notification_status`, in characters.
const MAX_STATUS_CHARACTERS: usize = 64;

impl Alerts {
    /// Adds an entry to the history of an alert of the signed-in actor: `{alert_id, symbol, action_type, new_status,
    /// previous_status?, alert_data?, trigger_price?, notification_status?}`. Works for deleted alerts, too.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body; [`ServiceError::NotFound`] if the
    /// actor does not have the alert; [`ServiceError::Forbidden`] if the actor has not signed in.
    pub async fn record_history(&self, actor: &Actor, body: &Value) -> Result<(), ServiceError> {
        session_of(actor)?;
        let entry = read(body)?;
        let work = AppendHistoryEntry {
            account: actor.account,
            entry,
            now: self.ports.clock.now(),
        };
        Ok(self.ports.store.write(work).await?)
    }
}

/// A history entry from a client.
#[derive(Debug)]
struct ClientHistoryEntry {
    alert: AlertId,
    symbol: Symbol,
    entry: StatusChange,
    price: Option<Price>,
    details: Map<String, Value>,
}

fn read(body: &Value) -> Result<ClientHistoryEntry, ServiceError> {
    let mut members = BodyReader::new(body)?;
    let alert = members.required("alert_id").and_then(|text| Uuid::try_parse(text).ok());
    if alert.is_none() {
        missing_or(&mut members, "alert_id", "must be the id of an alert, a UUID");
    }
    let symbol = members.required("symbol").and_then(|text| text.trim().parse().ok());
    if symbol.is_none() {
        missing_or(
            &mut members,
            "symbol",
            "must be 1 to 10 of the characters A-Z, 0-9, dot and hyphen",
        );
    }
    let (all, name) = (HistoryAction::ALL, HistoryAction::name);
    let action = members.one_of("action_type", all, HistoryAction::from_name, name);
    if action.is_none() {
        members.add_missing("action_type");
    }
    let previous_status = members.one_of("previous_status", Status::ALL, Status::from_name, Status::name);
    let statuses = Status::ALL.iter().copied().map(HistoryStatus::Of);
    let statuses: Vec<_> = statuses.chain([HistoryStatus::Deleted]).collect();
    let new_status = members.one_of("new_status", &statuses, HistoryStatus::from_name, HistoryStatus::name);
    if new_status.is_none() {
        members.add_missing("new_status");
    }
    let price = members.price("trigger_price");
    let details = details(&mut members);
    members.finish()?;
    // Unreachable: a missing member has been reported before.
    let (Some(alert), Some(symbol), Some(action), Some(new_status)) = (alert, symbol, action, new_status) else {
        return Err(ServiceError::Malformed("a required field is missing".to_owned()));
    };
    Ok(ClientHistoryEntry {
        alert: AlertId(alert),
        symbol,
        entry: StatusChange {
            action,
            previous_status,
            new_status,
        },
        price,
        details,
    })
}

/// Adds an error, unless the member is missing, which has been reported.
fn missing_or(members: &mut BodyReader<'_>, name: &str, fault: &str) {
    if members.value(name).is_some_and(Value::is_string) {
        members.add_error(name, fault);
    }
}

/// Returns the stored details of the entry: its source and its content.
fn details(members: &mut BodyReader<'_>) -> Map<String, Value> {
    let mut details = Map::from_iter([("source".to_owned(), json!("client"))]);
    if let Some(data) = members.value("alert_data") {
        let is_short = data.is_object() && serde_json::to_string(data).is_ok_and(|text| text.len() <= MAX_DATA_BYTES);
        if !is_short {
            let fault = format!("must be an object of at most {MAX_DATA_BYTES} bytes, or null");
            members.add_error("alert_data", fault);
        }
        details.insert("alert_data".to_owned(), data.clone());
    }
    if let Some(status) = members.line("notification_status", 1, MAX_STATUS_CHARACTERS) {
        details.insert("notification_status".to_owned(), json!(status));
    }
    details
}

struct AppendHistoryEntry {
    account: AccountId,
    entry: ClientHistoryEntry,
    now: Timestamp,
}

impl Transaction for AppendHistoryEntry {
    type Output = ();
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<(), Abort<ServiceError>>> {
        Box::pin(async move {
            lock_active_account(unit, self.account).await?;
            let entry = &self.entry;
            let symbol = unit.symbol_of_alert(self.account, entry.alert).await?;
            let symbol = symbol.ok_or_else(|| Abort::Refused(no_such_alert()))?;
            if symbol != entry.symbol {
                let fault = format!("must be {symbol}, which this alert is about");
                return Err(Abort::Refused(ServiceError::field("symbol", fault)));
            }
            let row = HistoryRow {
                alert: entry.alert,
                symbol,
                entry: entry.entry,
                at: self.now,
                price: entry.price,
                details: Some(entry.details.clone()),
            };
            Ok(unit.append_history(&row).await?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> Value {
        json!({
            "alert_id": "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11", "symbol": "aapl", "action_type": "paused",
            "new_status": "paused",
        })
    }

    fn faults(change: Value) -> Vec<String> {
        let mut body = body();
        body.as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        match read(&body) {
            Ok(_) => Vec::new(),
            Err(ServiceError::Invalid { fields, .. }) => {
                assert!(fields.values().all(|faults| faults.len() == 1), "{fields:?}");
                fields.into_keys().collect()
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn optional_fields_may_be_omitted() {
        let entry = read(&body()).unwrap();
        assert_eq!((entry.entry.previous_status, entry.price), (None, None));
        assert_eq!(entry.details, *json!({"source": "client"}).as_object().unwrap());
        assert_eq!(entry.symbol, "AAPL".parse().unwrap());
    }

    #[test]
    fn every_invalid_field_is_reported_once() {
        let Err(ServiceError::Invalid { fields, .. }) = read(&json!({})) else {
            panic!("the body was empty");
        };
        let names: Vec<_> = fields.keys().map(String::as_str).collect();
        assert_eq!(names, ["action_type", "alert_id", "new_status", "symbol"]);
        let long = json!({"a": "b".repeat(MAX_DATA_BYTES)});
        for (name, values) in [
            ("alert_id", vec![json!("nonsense"), json!(5), json!(null)]),
            ("symbol", vec![json!(""), json!("TOO LONG FOR IT"), json!([])]),
            ("action_type", vec![json!("Paused"), json!(1)]),
            ("previous_status", vec![json!("deleted"), json!(false)]),
            ("new_status", vec![json!("gone")]),
            ("trigger_price", vec![json!(0), json!(-1), json!("12"), json!(1e300)]),
            ("alert_data", vec![json!("text"), json!([1]), long]),
            (
                "notification_status",
                vec![json!(""), json!("a\r\nb"), json!("a".repeat(65)), json!(7)],
            ),
        ] {
            for value in values {
                assert_eq!(faults(json!({name: value.clone()})), [name], "{value}");
            }
        }
        assert!(faults(json!({"alert_data": {"a": "b".repeat(MAX_DATA_BYTES - 8)}})).is_empty());
    }
}
