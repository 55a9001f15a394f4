//! `POST /alerts/{id}/activate`

use service::alerts::AlertDetail;

use crate::routes::prelude::*;

/// An activated alert.
#[derive(Debug, Serialize, ToSchema)]
pub struct ActivatedAlert {
    /// Unique id.
    pub alert_id: Uuid,
    /// Always `active`.
    #[schema(value_type = String, pattern = "^active$", example = "active")]
    pub status: &'static str,
    /// Base price for percent changes from now on; null until the first current price arrives.
    #[schema(required, example = 189.2)]
    pub initial_price: Option<f64>,
}

impl ActivatedAlert {
    pub(crate) fn of(detail: &AlertDetail) -> Self {
        let alert = &detail.stored.alert;
        Self {
            alert_id: alert.id.0,
            status: alert.status.name(),
            initial_price: alert.initial_price.map(price),
        }
    }
}

/// Activate an alert
///
/// Activates a paused, inactive or triggered alert with a new `initial_price`. An active alert stays unchanged.
/// If the stock's price is not current, the request waits up to three seconds for the market data source. After that,
/// `initial_price` is null until the first current price arrives. Returns 503 if no price of the stock is known.
#[utoipa::path(
    post,
    path = "/alerts/{id}/activate",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "Alert id")),
    responses(
        (status = 200, description = "The alert is active", body = Envelope<ActivatedAlert>),
        (status = 404, description = "Alert not found"),
        (status = 503,
         description = "No price of the stock is known, a percent change has no current price, or the service is not available"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn activate_alert(
    State(app): State<App>,
    caller: Authorized<AlertsWrite>,
    AlertPath(id): AlertPath,
    _body: IgnoredJsonBody,
) -> Result<ApiResponse<ActivatedAlert>, ApiError> {
    let detail = app.service().alerts.activate_alert(&caller.actor, id).await?;
    Ok(ApiResponse::ok(ActivatedAlert::of(&detail)))
}
