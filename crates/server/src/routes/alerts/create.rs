//! `POST /alerts`

use alerts::Channel;
use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::Value;
use service::alerts::Created;

use super::view::Alert;
use crate::answer::{Envelope, NotificationQuota, Reply};
use crate::app::App;
use crate::auth::{AlertsWrite, AllowedOrGuest};
use crate::body::JsonObject;
use crate::document::alert_body::CreateAlert;
use crate::error::{ApiError, Code};
use crate::layers::client::ClientAddress;
use crate::layers::limit;

/// Create an alert
///
/// Makes an active alert of the account. If it has an equivalent one already (same symbol, condition, threshold and
/// parameters; active, paused or inactive), that one is answered unchanged, with 200 instead of 201.
///
/// The answer to an alert by `sms` says in `meta.notification_quota` how many text messages are left this month. When none is,
/// alerts come by mail.
///
/// An unknown symbol is 404. Without any price of the stock a percent change is 503; all others are made with
/// `initial_price` null. Unknown members are ignored; a member that appears twice is 400.
///
/// Without an account it takes an `email`, and makes an inactive alert; a link is mailed there that makes it active
/// (`POST /alerts/verify`). Guests have price and time alerts by email. The same again before it is verified is 200, and the
/// link is mailed again after ten minutes at the earliest. What is answered says nothing of whether the address has an
/// account. Within an hour 5 such alerts are made for a client's address, within a day 5 links are mailed to an address;
/// then it is 429.
#[utoipa::path(
    post,
    path = "/alerts",
    tag = "Alerts",
    request_body(content = CreateAlert, description = "What to wait for, and how to tell"),
    responses(
        (status = 201, description = "A new alert; a guest's is inactive", body = Envelope<Alert>),
        (status = 200, description = "There was an equivalent alert already; it is unchanged", body = Envelope<Alert>),
        (status = 401, description = "Nothing shows who asks, nor is there an `email`; or what is shown is not known"),
        (status = 404, description = "No such stock"),
        (status = 503, description = "A percent change without a price of the stock; or the service is not available"),
    ),
    security(("ApiKeyHeader" = ["alerts:write"]), ())
)]
pub(super) async fn create_alert(
    State(app): State<App>,
    who: AllowedOrGuest<AlertsWrite>,
    address: ClientAddress,
    body: Result<JsonObject, ApiError>,
) -> Result<Response, ApiError> {
    let Some(actor) = who.actor else {
        return create_as_guest(&app, address, body).await;
    };
    let JsonObject(body) = body?;
    let created = app.service().alerts.create_alert(&actor, &body).await?;
    let (Created::New(detail) | Created::Existing(detail)) = &created;
    let quota = match detail.stored.alert.notification {
        // The alert exists already: without its quota the answer is still true.
        Channel::Sms => app
            .service()
            .account_settings
            .sms_quota(&actor)
            .await
            .ok()
            .map(NotificationQuota::of_sms),
        Channel::Email => None,
    };
    Ok(answer(created).with_notification_quota(quota).into_response())
}

fn answer(created: Created) -> Reply<Alert> {
    match created {
        Created::New(detail) => Reply::with(StatusCode::CREATED, Alert::of(*detail)),
        Created::Existing(detail) => Reply::ok(Alert::of(*detail)),
    }
}

async fn create_as_guest(
    app: &App,
    ClientAddress(address): ClientAddress,
    body: Result<JsonObject, ApiError>,
) -> Result<Response, ApiError> {
    let body = match body {
        Ok(JsonObject(body)) => body,
        // Whoever sends no address is nobody, whatever else they send or do not.
        Err(error) if matches!(error.code(), Code::BadRequest | Code::UnsupportedMediaType) => Value::Null,
        Err(error) => return Err(error),
    };
    let wish = app.service().guest_alerts.guest_wish(&body)?;
    // What cannot be had is refused by now: it costs nothing but the request.
    let counted = app.limiter().count_guest_alert(address, app.now());
    let rate_limit = Extension(counted.rate_limit);
    if !counted.is_allowed {
        return Ok((rate_limit, limit::used_up(limit::Group::GuestAlerts, &counted)).into_response());
    }
    Ok(match app.service().guest_alerts.create_guest_alert(wish).await {
        Ok(created) => (rate_limit, answer(created)).into_response(),
        Err(refusal) => (rate_limit, ApiError::from(refusal)).into_response(),
    })
}
