//! `GET /webhooks/{id}/deliveries`

use axum::extract::State;
use service::webhooks::DeliveryStatus;
use utoipa::IntoParams;

use super::view::WebhookDelivery;
use crate::answer::{Envelope, Pagination, Reply};
use crate::app::App;
use crate::auth::{Allowed, WebhooksRead};
use crate::document::names::DeliveryStatusName;
use crate::error::ApiError;
use crate::query::{Query, WebhookPath};

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;

/// The statuses that deliveries can be asked for by.
pub(crate) const STATUSES: &[(&str, DeliveryStatus)] = &[
    (DeliveryStatus::Pending.name(), DeliveryStatus::Pending),
    (DeliveryStatus::Delivered.name(), DeliveryStatus::Delivered),
    (DeliveryStatus::Failed.name(), DeliveryStatus::Failed),
];

/// Which deliveries.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct DeliveriesParams {
    /// The page, from 1.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_294_u64, default = 1)]
    page: Option<u32>,
    /// How many a page has; more than 200 are cut to 200.
    #[param(value_type = Option<u64>, minimum = 1, default = 50)]
    limit: Option<u32>,
    /// Only those of this status.
    #[param(inline, value_type = Option<DeliveryStatusName>)]
    status: Option<String>,
}

/// List a webhook's deliveries
///
/// What was sent, is being sent or could not be sent, newest first, with every attempt.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/deliveries",
    tag = "Webhooks",
    params(("id" = uuid::Uuid, Path, description = "The webhook's id"), DeliveriesParams),
    responses(
        (status = 200, description = "A page of the webhook's deliveries", body = Envelope<Vec<WebhookDelivery>>),
        (status = 404, description = "No such webhook"),
    ),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn list_webhook_deliveries(
    State(app): State<App>,
    who: Allowed<WebhooksRead>,
    WebhookPath(id): WebhookPath,
    mut query: Query,
) -> Result<Reply<Vec<WebhookDelivery>>, ApiError> {
    let request = query.page(DEFAULT_LIMIT, MAX_LIMIT);
    let status = query.word("status", STATUSES);
    query.finish()?;
    let page = app
        .service()
        .webhooks
        .deliveries(&who.actor, id, status, request)
        .await?;
    let pagination = Pagination::of(request, page.total);
    let items = page.items.into_iter().map(WebhookDelivery::of);
    Ok(Reply::page(items.collect(), pagination))
}
