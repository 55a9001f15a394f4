//! `POST /alerts/{id}/activate`

use axum::extract::State;
use serde::Serialize;
use service::alerts::AlertDetail;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{AlertsWrite, Allowed};
use crate::body::NoBody;
use crate::error::ApiError;
use crate::query::AlertPath;
use crate::values::price;

/// An alert that is active.
#[derive(Debug, Serialize, ToSchema)]
pub struct ActivatedAlert {
    /// Which one.
    pub alert_id: Uuid,
    /// `active`.
    #[schema(value_type = String, pattern = "^active$", example = "active")]
    pub status: &'static str,
    /// The price that percentages are counted from now on; null until the first current price has come in.
    #[schema(required, example = 189.2)]
    pub initial_price: Option<f64>,
}

impl ActivatedAlert {
    /// As the service shows it.
    #[must_use]
    pub fn of(detail: &AlertDetail) -> Self {
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
/// A paused, inactive or triggered alert becomes active with a new `initial_price`; an active one stays as it is.
/// If the price of its stock is not current, the source of market data is asked for at most three seconds; then `initial_price` is
/// null until the first current price. Without any price of the stock it is 503.
#[utoipa::path(
    post,
    path = "/alerts/{id}/activate",
    tag = "Alerts",
    params(("id" = uuid::Uuid, Path, description = "The alert's id")),
    responses(
        (status = 200, description = "The alert is active", body = Envelope<ActivatedAlert>),
        (status = 404, description = "No such alert"),
        (status = 503, description = "No price of the stock is known, or no current one for a percent change; or the service is not available"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]))
)]
pub(super) async fn activate_alert(
    State(app): State<App>,
    who: Allowed<AlertsWrite>,
    AlertPath(id): AlertPath,
    _body: NoBody,
) -> Result<Reply<ActivatedAlert>, ApiError> {
    let detail = app.service().alerts.activate_alert(&who.actor, id).await?;
    Ok(Reply::ok(ActivatedAlert::of(&detail)))
}
