//! The event that a test sends: one that looks like any other, so that a receiver's own code is what is tested.

use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::instant;

/// `data` of a test event: an alert that was never set on a stock at a made-up price. `"test": true` tells it apart.
#[must_use]
pub fn test_data(alert: Uuid, at: Timestamp) -> String {
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
