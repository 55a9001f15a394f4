//! `POST /alerts`

use alerts::Channel;
use axum::Extension;
use serde_json::Value;
use service::alerts::Created;

use super::view::AlertView;
use crate::auth::AuthorizedOrGuest;
use crate::document::alert_body::CreateAlert;
use crate::error::ApiErrorCode;
use crate::layers::rate_limit;
use crate::rate_limiter::RateLimitGroup;
use crate::response::NotificationQuota;
use crate::routes::prelude::*;

/// Create an alert
///
/// Creates an active alert for the account. If the account has an equivalent alert (same symbol, condition, threshold and
/// parameters; active, paused or inactive), returns that alert unchanged with 200 instead of 201.
///
/// For an alert with `sms`, `meta.notification_quota` contains the number of text messages left this month. When none are left,
/// alerts are sent by email.
///
/// `note` is shown in every notification; `tags` filter lists. An equivalent alert keeps its own. Guests can have neither.
///
/// With `scope` in place of `symbol`, the alert watches many stocks, each with its own state (`GET /alerts/{id}/members`), and counts
/// as many as these against the plan's limit.
///
/// Returns 404 for an unknown symbol. If no price of the stock is known, a percent change returns 503; all other alerts are
/// created with a null `initial_price`. Unknown fields are ignored; a duplicate field returns 400.
///
/// Without authentication, `email` is required. The alert is created inactive, and a verification link is mailed to the address
/// (`POST /alerts/verify`). Guests can use price and time alerts by email. Repeating the request before verification returns
/// 200 and mails the link again, at most once every ten minutes. The response does not reveal whether the address has an
/// account. Limits: 5 guest alerts per hour and client address, 5 links per day and email address; beyond them the response
/// is 429.
#[utoipa::path(
    post,
    path = "/alerts",
    tag = "Alerts",
    request_body(content = CreateAlert, description = "The alert's condition and notification channel"),
    responses(
        (status = 201, description = "The alert was created; a guest's alert is inactive", body = Envelope<AlertView>),
        (status = 200, description = "An equivalent alert exists and is unchanged", body = Envelope<AlertView>),
        (status = 401, description = "Neither credentials nor `email` were sent, or the credentials are invalid"),
        (status = 404, description = "Stock not found"),
        (status = 503, description = "A percent change has no price of the stock, or the service is not available"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]), ())
)]
pub(super) async fn create_alert(
    State(app): State<App>,
    caller: AuthorizedOrGuest<AlertsWrite>,
    address: ClientAddress,
    body: Result<JsonObject, ApiError>,
) -> Result<Response, ApiError> {
    let Some(actor) = caller.actor else {
        return create_as_guest(&app, address, body).await;
    };
    let JsonObject(body) = body?;
    let created = app.service().alerts.create_alert(&actor, &body).await?;
    let (Created::New(detail) | Created::Existing(detail)) = &created;
    let quota = match detail.stored.alert.notification {
        // The alert already exists: if the quota cannot be read, the response omits it.
        Channel::Sms => app
            .service()
            .account_settings
            .sms_quota(&actor)
            .await
            .ok()
            .map(NotificationQuota::of_sms),
        Channel::Email => None,
    };
    Ok(created_response(created).with_notification_quota(quota).into_response())
}

fn created_response(created: Created) -> ApiResponse<AlertView> {
    match created {
        Created::New(detail) => ApiResponse::with(StatusCode::CREATED, AlertView::of(*detail)),
        Created::Existing(detail) => ApiResponse::ok(AlertView::of(*detail)),
    }
}

async fn create_as_guest(
    app: &App,
    ClientAddress(address): ClientAddress,
    body: Result<JsonObject, ApiError>,
) -> Result<Response, ApiError> {
    let body = match body {
        Ok(JsonObject(body)) => body,
        // Without an email address the request is unauthenticated, so an unreadable body becomes 401.
        Err(error)
            if matches!(
                error.code(),
                ApiErrorCode::BadRequest | ApiErrorCode::UnsupportedMediaType
            ) =>
        {
            Value::Null
        }
        Err(error) => return Err(error),
    };
    let guest_request = app.service().guest_alerts.guest_alert_request(&body)?;
    // Invalid requests are refused above and do not count against the guest limit.
    let counted = app.rate_limiter().count_guest_alert(address, app.now()).await?;
    let rate_limit = Extension(counted.rate_limit);
    if !counted.is_allowed {
        return Ok((
            rate_limit,
            rate_limit::limit_exceeded(RateLimitGroup::GuestAlerts, &counted),
        )
            .into_response());
    }
    Ok(
        match app.service().guest_alerts.create_guest_alert(guest_request).await {
            Ok(created) => (rate_limit, created_response(created)).into_response(),
            Err(refusal) => (rate_limit, ApiError::from(refusal)).into_response(),
        },
    )
}
