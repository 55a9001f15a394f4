//! `GET /notification-channels/web-push-key`

use foundation::ServiceError;

use crate::routes::prelude::*;

/// The key that browsers subscribe with.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebPushKey {
    /// Public key: an uncompressed point of P-256 in base64url without padding.
    #[schema(
        example = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
        pattern = "^[-_A-Za-z0-9]{87}$"
    )]
    pub public_key: String,
}

/// Get the key for push messages
///
/// Returns the public key of this service for the `applicationServerKey` of `PushManager.subscribe()`. A subscription with another key
/// gets no messages of this service.
#[utoipa::path(
    get,
    path = "/notification-channels/web-push-key",
    tag = "Notification channels",
    responses((status = 200, description = "The public key", body = Envelope<WebPushKey>)),
    security(("ApiKeyHeader" = ["webhooks:read"]))
)]
pub(super) async fn get_web_push_key(
    State(app): State<App>,
    _: Authorized<WebhooksRead>,
) -> Result<ApiResponse<WebPushKey>, ApiError> {
    let key = app.service().notification_channels.client.web_push_public_key();
    let missing = || ServiceError::Unavailable("this program has no key for push messages".to_owned());
    let public_key = key.ok_or_else(missing)?;
    Ok(ApiResponse::ok(WebPushKey { public_key }))
}
