//! `GET /alerts/{id}/members`

use alerts::Status;
use market::Symbol;
use service::alerts::AlertMember;

use crate::document::names::StatusName;
use crate::routes::prelude::*;

/// Pagination of the members.
pub(crate) type MembersPage = ListParams<Symbol, 100, 500>;

/// A stock of an alert over many stocks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlertMember)]
pub struct MemberView {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// State of the alert on this stock.
    #[schema(value_type = StatusName)]
    pub state: &'static str,
    /// Price when the alert was created, activated, or extended to this stock; null while no price was available.
    #[schema(required, example = 189.2)]
    pub initial_price: Option<f64>,
    /// Percentage by which the metric must move to reach the threshold; 0 once reached; null if it has none.
    #[schema(required, example = 5.7)]
    pub distance_pct: Option<f64>,
    /// Time of the last firing on this stock.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub last_triggered_at: Option<String>,
}

impl MemberView {
    fn of(member: AlertMember) -> Self {
        let alert = member.stored.alert;
        Self {
            symbol: alert.symbol.to_string(),
            state: Status::name(alert.status),
            initial_price: alert.initial_price.map(price),
            distance_pct: member.distance_pct.map(decimal),
            last_triggered_at: alert.triggered_at.map(timestamp),
        }
    }
}

/// List the stocks of an alert
///
/// Returns the stocks of an alert over many stocks (`scope`), each with its own state, in the order of their symbols. An
/// alert on one stock has that one.
#[utoipa::path(
    get,
    path = "/alerts/{id}/members",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id"), MembersPage),
    responses(
        (status = 200, description = "A page of the alert's stocks", body = Envelope<Vec<MemberView>>),
        (status = 404, description = "Alert not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn list_alert_members(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    AlertPath(id): AlertPath,
    ListParams(request): MembersPage,
) -> Result<ApiResponse<Vec<MemberView>>, ApiError> {
    let page = app.service().alerts.alert_members(&caller.actor, id, request).await?;
    Ok(ApiResponse::page(ListPage::of(page, request, MemberView::of)))
}
