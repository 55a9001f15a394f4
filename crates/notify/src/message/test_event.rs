//! The event of a test delivery. It looks like a real event, so that it tests the code of the receiver.

use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::instant;

/// Returns the `data` of a test event, with a fictitious alert and price. It is marked by `"test": true`.
#[must_use]
pub fn test_event_data(alert: Uuid, at: Timestamp) -> String {
    alerts::json::text(&json!({
        "alert": {
            "id": alert.to_string(),
            "symbol": "AAPL",
            "condition": "price_above",
            "threshold": 200,
            "status": "triggered",
            "notification": "email",
            "triggered_at": instant(at),
            "triggered_value": 201.5,
            "initial_price": 189.25,
            "parameters": null,
        },
        "stock": {"symbol": "AAPL", "price": 201.5, "change": 3.25, "change_percent": 1.64},
        "company_name": "Apple Inc.",
        "reason": "This is a test: no alert has fired, and the figures are made up.",
        "test": true,
    }))
}
