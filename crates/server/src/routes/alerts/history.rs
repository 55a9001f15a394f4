//! `GET /alerts/{id}/history`

use alerts::scope::shown_symbol;
use serde_json::{Map, Value};
use service::{HistoryPosition, ListedHistoryRow};

use crate::document::names::{ActionName, HistoryStatusName, StatusName};
use crate::routes::firings::view::FiringReceiptView;
use crate::routes::prelude::*;

/// Pagination of the history.
pub(crate) type HistoryPage = ListParams<HistoryPosition, 50, 200>;

/// An entry of an alert's history.
#[derive(Debug, Serialize, ToSchema)]
pub struct HistoryEntry {
    /// Position of the entry in the order of all entries, for `after`.
    #[schema(pattern = "^[1-9][0-9]{0,18}$", example = "4711")]
    pub position: String,
    /// Alert id.
    pub alert_id: Uuid,
    /// Stock symbol; null for a change of an alert over many stocks as a whole.
    #[schema(required, example = "AAPL")]
    pub symbol: Option<String>,
    /// The action.
    #[schema(value_type = ActionName)]
    pub action_type: &'static str,
    /// Time of the action.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub action_timestamp: String,
    /// Status before the action; null for the creation.
    #[schema(required, value_type = Option<StatusName>)]
    pub previous_status: Option<&'static str>,
    /// Status after the action.
    #[schema(value_type = HistoryStatusName)]
    pub new_status: &'static str,
    /// Price at which the alert fired.
    #[schema(required, example = 200.01)]
    pub trigger_price: Option<f64>,
    /// Details, such as the reason of a firing. A late firing also has `late` and `crossed_at`, the time of the crossing. A change has
    /// `rearmed: false` if the alert was not armed anew, `snoozed_until` while the alert is snoozed, and after an undo `undo`, and with
    /// `armed_at` and `last_fired_at` the state to which the alert returned.
    #[schema(required, value_type = Option<Object>)]
    pub details: Option<Map<String, Value>>,
    /// The receipt of a firing: its messages and its acknowledgement. Only in the agents' list of firings; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub firing: Option<FiringReceiptView>,
}

impl HistoryEntry {
    pub(crate) fn of(ListedHistoryRow { position, row }: ListedHistoryRow) -> Self {
        Self {
            position: position.0.to_string(),
            alert_id: row.alert.0,
            symbol: shown_symbol(row.symbol).map(|symbol| symbol.to_string()),
            action_type: row.entry.action.name(),
            action_timestamp: timestamp(row.at),
            previous_status: row.entry.previous_status.map(alerts::Status::name),
            new_status: row.entry.new_status.name(),
            trigger_price: row.price.map(price),
            details: row.details.map(alerts::json::in_javascript_order),
            firing: None,
        }
    }
}

/// List an alert's history
///
/// Returns the alert's history, newest first. Also works for deleted alerts.
#[utoipa::path(
    get,
    path = "/alerts/{id}/history",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id"), HistoryPage),
    responses(
        (status = 200, description = "A page of the alert's history", body = Envelope<Vec<HistoryEntry>>),
        (status = 404, description = "Alert not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn list_alert_history(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    AlertPath(id): AlertPath,
    ListParams(request): HistoryPage,
) -> Result<ApiResponse<Vec<HistoryEntry>>, ApiError> {
    let alerts = &app.service().alerts;
    let page = alerts.alert_history_since(&caller.actor, id, None, request).await?;
    Ok(ApiResponse::page(ListPage::of(page, request, HistoryEntry::of)))
}
