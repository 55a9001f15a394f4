//! `GET /firings`

use service::firings::{EventId, FiringFilter};

use super::view::FiringView;
use crate::routes::prelude::*;

type FiringPage = ListParams<EventId, 50, 200>;

/// Query parameters: the filter.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct FiringParams {
    /// Only firings that were committed at this instant or later.
    #[param(format = DateTime, example = "2026-03-02T15:04:00Z")]
    since: Option<String>,
    /// Only firings without an acknowledgement.
    unacknowledged: Option<bool>,
    /// Only firings of this alert, or of the stocks of an alert over many stocks.
    alert_id: Option<Uuid>,
}

/// List firings
///
/// Returns the firings of all alerts, newest first, also of deleted ones, each with the time of each step and the messages about it.
#[utoipa::path(
    get,
    path = "/firings",
    tag = "Firings",
    params(FiringPage, FiringParams),
    responses(
        (status = 200, description = "A page of firings", body = Envelope<Vec<FiringView>>),
        (status = 404, description = "Alert not found"),
    ),
    security(("ApiKeyHeader" = ["alerts:read"]))
)]
pub(super) async fn list_firings(
    State(app): State<App>,
    caller: Authorized<AlertsRead>,
    mut query: Query,
) -> Result<ApiResponse<Vec<FiringView>>, ApiError> {
    let request = FiringPage::read(&mut query);
    let filter = FiringFilter {
        alert: query.alert_id("alert_id"),
        since: query.instant("since"),
        unacknowledged: query.flag("unacknowledged"),
    };
    query.finish()?;
    let page = app.service().firings.firings(&caller.actor, filter, request).await?;
    Ok(ApiResponse::page(ListPage::of(page, request, FiringView::of)))
}
