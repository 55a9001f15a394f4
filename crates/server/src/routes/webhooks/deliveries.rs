//! `GET /webhooks/{id}/deliveries`

use delivery::webhooks::{DeliveryId, DeliveryStatus};

use super::view::WebhookDelivery;
use crate::document::names::DeliveryStatusName;
use crate::routes::prelude::*;

type DeliveriesPage = ListParams<DeliveryId, 50, 200>;

/// API names of delivery statuses.
pub(crate) const DELIVERY_STATUSES: &[(&str, DeliveryStatus)] = &[
    (DeliveryStatus::Pending.name(), DeliveryStatus::Pending),
    (DeliveryStatus::Delivered.name(), DeliveryStatus::Delivered),
    (DeliveryStatus::Failed.name(), DeliveryStatus::Failed),
];

/// Query parameters: the status.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct DeliveriesParams {
    /// Only deliveries with this status.
    #[param(inline, value_type = Option<DeliveryStatusName>)]
    status: Option<String>,
}

/// List a webhook's deliveries
///
/// Returns pending, delivered and failed deliveries, newest first, with their attempts.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/deliveries",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "Webhook id"), DeliveriesPage, DeliveriesParams),
    responses(
        (status = 200, description = "A page of the webhook's deliveries", body = Envelope<Vec<WebhookDelivery>>),
        (status = 404, description = "Webhook not found"),
    ),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn list_webhook_deliveries(
    State(app): State<App>,
    caller: Authorized<WebhooksRead>,
    WebhookPath(id): WebhookPath,
    mut query: Query,
) -> Result<ApiResponse<Vec<WebhookDelivery>>, ApiError> {
    let request = DeliveriesPage::read(&mut query);
    let status = query.choice("status", DELIVERY_STATUSES);
    query.finish()?;
    let page = app
        .service()
        .webhooks
        .deliveries(&caller.actor, id, status, request)
        .await?;
    Ok(ApiResponse::page(ListPage::of(page, request, WebhookDelivery::of)))
}
