//! `GET /alerts/{id}/history`

use axum::extract::State;
use serde::Serialize;
use serde_json::{Map, Value};
use service::{HistoryRow, Page, PageRequest};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::answer::{Envelope, Pagination, Reply};
use crate::app::App;
use crate::auth::{AlertsRead, Allowed};
use crate::document::names::{ActionName, HistoryStatusName, StatusName};
use crate::error::ApiError;
use crate::query::{AlertPath, Query};
use crate::values::{price, timestamp};

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;

/// Which page.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct HistoryParams {
    /// The page, from 1.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_294_u64, default = 1)]
    page: Option<u32>,
    /// How many a page has; more than 200 are cut to 200.
    #[param(value_type = Option<u64>, minimum = 1, default = 50)]
    limit: Option<u32>,
}

/// Something that happened to an alert.
#[derive(Debug, Serialize, ToSchema)]
pub struct HistoryEntry {
    /// The alert.
    pub alert_id: Uuid,
    /// Its stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// What happened.
    #[schema(value_type = ActionName)]
    pub action_type: &'static str,
    /// When.
    #[schema(format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub action_timestamp: String,
    /// The alert's status before; null for its creation.
    #[schema(required, value_type = Option<StatusName>)]
    pub previous_status: Option<&'static str>,
    /// The alert's status afterwards.
    #[schema(value_type = HistoryStatusName)]
    pub new_status: &'static str,
    /// The price at which it fired.
    #[schema(required, example = 200.01)]
    pub trigger_price: Option<f64>,
    /// More about it, such as the reason of a firing; of one that came late also `late` and `crossed_at`, when it crossed.
    #[schema(required, value_type = Option<Object>)]
    pub details: Option<Map<String, Value>>,
}

impl HistoryEntry {
    fn of(row: HistoryRow) -> Self {
        Self {
            alert_id: row.alert.0,
            symbol: row.symbol.to_string(),
            action_type: row.entry.action.name(),
            action_timestamp: timestamp(row.at),
            previous_status: row.entry.previous_status.map(alerts::Status::name),
            new_status: row.entry.new_status.name(),
            trigger_price: row.price.map(price),
            details: row.details.map(alerts::json::in_javascript_order),
        }
    }
}

/// List an alert's history
///
/// What happened to the alert, newest first; also of one that was deleted.
#[utoipa::path(
    get,
    path = "/alerts/{id}/history",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "The alert's id"), HistoryParams),
    responses(
        (status = 200, description = "A page of the alert's history", body = Envelope<Vec<HistoryEntry>>),
        (status = 404, description = "No such alert"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn list_alert_history(
    State(app): State<App>,
    who: Allowed<AlertsRead>,
    AlertPath(id): AlertPath,
    mut query: Query,
) -> Result<Reply<Vec<HistoryEntry>>, ApiError> {
    let request = read_page(&mut query);
    query.finish()?;
    let page = app.service().alerts.alert_history(&who.actor, id, request).await?;
    let (entries, pagination) = shown(page, request);
    Ok(Reply::page(entries, pagination))
}

/// Reads `page` and `limit`.
pub(crate) fn read_page(query: &mut Query) -> PageRequest {
    query.page(DEFAULT_LIMIT, MAX_LIMIT)
}

/// A page of a history as answers show it.
pub(crate) fn shown(page: Page<HistoryRow>, request: PageRequest) -> (Vec<HistoryEntry>, Pagination) {
    let pagination = Pagination::of(request, page.total);
    (page.items.into_iter().map(HistoryEntry::of).collect(), pagination)
}
