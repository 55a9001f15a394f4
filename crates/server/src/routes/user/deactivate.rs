//! `POST /user/account/deactivate`, `POST /user/account/reactivate`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::WithSession;
use crate::body::NoBody;
use crate::document::names::SubscriptionStatusName;
use crate::error::ApiError;

/// An account that rests.
#[derive(Debug, Serialize, ToSchema)]
pub struct Deactivated {
    /// `deactivated`.
    #[schema(value_type = SubscriptionStatusName, example = "deactivated")]
    pub status: &'static str,
    /// How many alerts were paused for it just now.
    #[schema(example = 3)]
    pub paused_alerts: usize,
}

/// An account that is awake.
#[derive(Debug, Serialize, ToSchema)]
pub struct Reactivated {
    /// `active`.
    #[schema(value_type = SubscriptionStatusName, example = "active")]
    pub status: &'static str,
}

/// Deactivate the account
///
/// Its active alerts are paused, and nothing can be made or set going in its name (403, `deactivated`) until it is reactivated.
/// It can be read, and its owner can sign in.
#[utoipa::path(
    post,
    path = "/user/account/deactivate",
    tag = "User",
    responses((status = 200, description = "The account rests", body = Envelope<Deactivated>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn deactivate_account(
    State(app): State<App>,
    who: WithSession,
    _body: NoBody,
) -> Result<Reply<Deactivated>, ApiError> {
    let paused_alerts = app.service().account_settings.deactivate_account(&who.actor).await?;
    Ok(Reply::ok(Deactivated {
        status: "deactivated",
        paused_alerts,
    }))
}

/// Reactivate the account
///
/// Its alerts stay paused until they are activated.
#[utoipa::path(
    post,
    path = "/user/account/reactivate",
    tag = "User",
    responses((status = 200, description = "The account is awake", body = Envelope<Reactivated>)),
    security(("SessionCookie" = []))
)]
pub(super) async fn reactivate_account(
    State(app): State<App>,
    who: WithSession,
    _body: NoBody,
) -> Result<Reply<Reactivated>, ApiError> {
    app.service().account_settings.reactivate_account(&who.actor).await?;
    Ok(Reply::ok(Reactivated { status: "active" }))
}
