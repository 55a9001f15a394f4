//! `GET /webhooks/{id}/deliveries`

use delivery::webhooks::DeliveryStatus;

use super::view::WebhookDelivery;
use crate::document::names::DeliveryStatusName;
use crate::routes::prelude::*;

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;

/// API names of delivery statuses.
pub(crate) const DELIVERY_STATUSES: &[(&str, DeliveryStatus)] = &[
    (DeliveryStatus::Pending.name(), DeliveryStatus::Pending),
    (DeliveryStatus::Delivered.name(), DeliveryStatus::Delivered),
    (DeliveryStatus::Failed.name(), DeliveryStatus::Failed),
];

/// Query parameters: pagination and status.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct DeliveriesParams {
    /// Page number, starting at 1.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_294_u64, default = 1)]
    page: Option<u32>,
    /// Items per page. Values above 200 are clamped to 200.
    #[param(value_type = Option<u64>, minimum = 1, default = 50)]
    limit: Option<u32>,
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
    params(("id" = uuid::Uuid, Path, description = "Webhook id"), DeliveriesParams),
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
    let request = query.page(DEFAULT_LIMIT, MAX_LIMIT);
    let status = query.choice("status", DELIVERY_STATUSES);
    query.finish()?;
    let page = app
        .service()
        .webhooks
        .deliveries(&caller.actor, id, status, request)
        .await?;
    let pagination = Pagination::of(request, page.total);
    let items = page.items.into_iter().map(WebhookDelivery::of);
    Ok(ApiResponse::page(items.collect(), pagination))
}
