//! History entries that first-party clients add.
//!
//! Such an entry is marked as made by a client, so that it is not taken for an observation of this service. It does
//! not change the alert.

use alerts::transition::{HistoryStatus, StatusChange};
use alerts::{AlertId, HistoryAction, Status};
use market::{Price, Symbol};
use serde_json::{Map, Value, json};
use store::Abort;
use store::model::HistoryRow;

use super::no_such_alert;
use crate::alerts::Alerts;
use accounts::identity::sessions::session_of;
use foundation::account::lock_active_account;
use foundation::request;
use foundation::request::{Field, Line, ObjectBuilder, RefOr, Request, Schema};
use foundation::{Actor, ServiceError};

/// The maximum length of `alert_data`, as JSON in bytes.
const MAX_DATA_BYTES: usize = 16 * 1024;

impl Alerts {
    /// Adds an entry to the history of an alert of the signed-in actor: `{alert_id, symbol, action_type, new_status,
    /// previous_status?, alert_data?, trigger_price?, notification_status?}`. Works for deleted alerts, too.
    ///
    /// # Errors
    /// [`ServiceError::Malformed`] and [`ServiceError::Invalid`] for an invalid body; [`ServiceError::NotFound`] if the
    /// actor does not have the alert; [`ServiceError::Forbidden`] if the actor has not signed in.
    pub async fn record_history(&self, actor: &Actor, body: &Value) -> Result<(), ServiceError> {
        session_of(actor)?;
        let entry = RecordHistoryRequest::read(body)?;
        let inputs = (actor.account, entry, self.ports.clock.now());
        let transaction = self.ports.transaction(inputs, |&(account, ref entry, now), unit| {
            Box::pin(async move {
                lock_active_account(unit, account).await?;
                let symbol = unit.symbol_of_alert(account, entry.alert_id).await?;
                let symbol = symbol.ok_or_else(no_such_alert)?;
                if symbol != entry.symbol {
                    let fault = format!("must be {symbol}, which this alert is about");
                    return Err(Abort::Refused(ServiceError::field("symbol", fault)));
                }
                let row = HistoryRow {
                    alert: entry.alert_id,
                    symbol,
                    entry: StatusChange {
                        action: entry.action_type,
                        previous_status: entry.previous_status,
                        new_status: entry.new_status,
                    },
                    at: now,
                    price: entry.trigger_price,
                    details: Some(entry.details()),
                };
                Ok(unit.append_history(&row).await?)
            })
        });
        transaction.await
    }
}

/// The details of a history entry.
pub struct AlertData(Map<String, Value>);

impl Field for AlertData {
    fn read(value: &Value) -> Result<Self, String> {
        let data = value.as_object();
        let data = data.filter(|data| serde_json::to_string(data).is_ok_and(|text| text.len() <= MAX_DATA_BYTES));
        let data = data.ok_or_else(|| format!("must be an object of at most {MAX_DATA_BYTES} bytes, or null"))?;
        Ok(Self(data.clone()))
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().into()
    }
}

request! {
    /// A history entry written by a first-party client.
    RecordHistoryRequest as "RecordHistory" {
        /// Alert id.
        alert_id: AlertId,
        /// Stock symbol.
        symbol: Symbol = "AAPL",
        /// The action.
        action_type: HistoryAction,
        /// Status before the action.
        previous_status: Option<Status>,
        /// Status after the action.
        new_status: HistoryStatus,
        /// Details, at most 16 KiB.
        alert_data: Option<AlertData>,
        /// Price at which the alert fired.
        trigger_price: Option<Price> = 200.01,
        /// Status of the notification.
        notification_status: Option<Line<64>> = "sent",
    }
}

impl RecordHistoryRequest {
    /// Returns the stored details of the entry: its source and its content.
    fn details(&self) -> Map<String, Value> {
        let mut details = Map::from_iter([("source".to_owned(), json!("client"))]);
        if let Some(data) = &self.alert_data {
            details.insert("alert_data".to_owned(), Value::Object(data.0.clone()));
        }
        if let Some(status) = &self.notification_status {
            details.insert("notification_status".to_owned(), json!(status.0));
        }
        details
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
        match RecordHistoryRequest::read(&body) {
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
        let entry = RecordHistoryRequest::read(&body()).unwrap();
        assert_eq!((entry.previous_status, entry.trigger_price), (None, None));
        assert_eq!(entry.details(), *json!({"source": "client"}).as_object().unwrap());
        assert_eq!(entry.symbol, "AAPL".parse().unwrap());
    }

    #[test]
    fn every_invalid_field_is_reported_once() {
        let Err(ServiceError::Invalid { fields, .. }) = RecordHistoryRequest::read(&json!({})) else {
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
