//! `POST /alerts/parse`

use serde_json::{Map, Value};
use service::alerts::{ParseAlertRequest, ParsedAlert};

use crate::routes::prelude::*;

/// An alert that was read from a text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ParsedAlert)]
pub struct ParsedAlertResponse {
    /// The body of `POST /alerts` that creates the alert.
    #[schema(value_type = Object, example = json!({
        "symbol": "AAPL", "condition": "expression", "parameters": {"when": "price < 180 and rsi(14) < 30"},
        "notification": "sms", "options": {"repeat": "each_time", "expires_at": "2030-01-31"},
    }))]
    pub alert: Map<String, Value>,
    /// The alert as a plain sentence, which is read as the same alert.
    #[schema(example = "AAPL falls below 180.00 while its 14-day RSI is under 30 each time until 2030-01-31 to sms")]
    pub sentence: String,
}

/// Read an alert from text
///
/// Reads an alert as people write it, and returns the body that creates it, and a plain sentence. Nothing is stored. The text is
/// a stock symbol, an expression in operators or in words (`AAPL < 180` means the price), then options and the channel in any order:
///
/// `each time`, `once per day`, `once`, `up to 5 times`, `cooldown 1h` or `at most every 1h`, `again after cooldown`, `within 15m`,
/// `within the session`, `re-arm at 190`, `re-arm after 2%`, `for 15m` or `holding 15m`, `until 2030-01-31`, `notify on expiry`,
/// `snoozed until 2030-01-31T09:30:00-05:00`, `in extended hours`, `on two lasts`, `on the close` (`bid`, `ask`, `mid`),
/// `since the previous close`, `since the open`, `to email`, `to sms`.
///
/// The alert has one of the conditions of the API where it means exactly the same as the text, otherwise `expression`. An error has
/// the position in characters from 1, what was expected, and suggestions. The plan's features are checked when the alert is created.
#[utoipa::path(
    post,
    path = "/alerts/parse",
    tag = "Alerts",
    request_body(content = ParseAlertRequest, description = "The text"),
    responses(
        (status = 200, description = "The alert", body = Envelope<ParsedAlertResponse>),
        (status = 503, description = "No source answers for an unknown symbol, or the service is not available"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn parse_alert(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    JsonObject(body): JsonObject,
) -> Result<ApiResponse<ParsedAlertResponse>, ApiError> {
    let ParsedAlert { alert, sentence } = app.service().alerts.parse_alert_text(&caller.actor, &body).await?;
    Ok(ApiResponse::ok(ParsedAlertResponse {
        alert: alerts::json::in_javascript_order(alert),
        sentence,
    }))
}
