//! Who asks: an API key, or the access token of an app that somebody let in. Nothing else counts here: no cookie, which
//! browsers send by themselves, and no token that was made for the REST API.

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use serde_json::json;
use service::oauth::SCOPES;
use service::{Actor, Scope, ServiceError};

use super::refusal::{Kind, Refusal};
use crate::app::App;
use crate::auth::credentials::{self, Credential};
use crate::error::ApiError;
use crate::layers::windows::Counted;

/// Finds out who asks.
///
/// # Errors
/// 401 if that is not known, 429 if this address has shown too much that is not known, 500 if the database fails.
pub(super) async fn identify(
    app: &App,
    headers: &HeaderMap,
    address: IpAddr,
    now: Timestamp,
) -> Result<Arc<Actor>, Refusal> {
    let shown = match credentials::shown(headers) {
        Ok(Some(shown)) => shown,
        Ok(None) => return Err(unauthorized(app, None)),
        Err(error) => return Err(unauthorized(app, Some(error.message()))),
    };
    let (Credential::Key(secret) | Credential::Token(secret)) = shown;
    let look_ups = app.limiter().mcp_look_ups();
    look_ups
        .admit(secret, address, now)
        .map_err(|counted| too_many(&counted, "unknown keys and tokens were shown from this address"))?;
    let found = match shown {
        Credential::Key(key) => app.service().authenticator.authenticate_key(key).await,
        Credential::Token(token) => app.service().authenticator.authenticate_grant(token).await,
    };
    match found {
        Ok(actor) => {
            look_ups.found(secret);
            Ok(Arc::new(actor))
        }
        Err(error @ ServiceError::Unauthenticated(_)) => {
            look_ups.missed(secret, address, now);
            Err(unauthorized(app, Some(&error.to_string())))
        }
        Err(error) => Err(internal(error)),
    }
}

/// 401, saying how to be let in. An error is named only to those who have shown something.
fn unauthorized(app: &App, fault: Option<&str>) -> Refusal {
    let mut challenge = challenge(app, SCOPES);
    if fault.is_some() {
        challenge.push_str(", error=\"invalid_token\"");
    }
    let message = fault.unwrap_or(
        "this needs an API key (Authorization: Bearer sk_…, or X-API-Key) or an access token that OAuth gives; the header \
         WWW-Authenticate says where that begins",
    );
    Refusal::new(StatusCode::UNAUTHORIZED, Kind::Unauthorized, message).header(header::WWW_AUTHENTICATE, challenge)
}

/// 403, naming every scope that the call needs.
pub(super) fn insufficient_scope(app: &App, needed: Scope, message: &str) -> Refusal {
    let challenge = format!("{}, error=\"insufficient_scope\"", challenge(app, &[needed]));
    Refusal::new(StatusCode::FORBIDDEN, Kind::Forbidden, message)
        .data(json!({"reason": "scope", "required": needed.name()}))
        .header(header::WWW_AUTHENTICATE, challenge)
}

fn challenge(app: &App, scopes: &[Scope]) -> String {
    let public_url = app.service().identity.public_url();
    let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
    let scope = names.join(" ");
    format!("Bearer resource_metadata=\"{public_url}/.well-known/oauth-protected-resource/mcp\", scope=\"{scope}\"")
}

/// 429, saying when to come again.
pub(super) fn too_many(counted: &Counted, what: &str) -> Refusal {
    let (limit, seconds) = (counted.rate_limit.limit, counted.retry_after_s);
    let message = format!("{limit} {what} in this window; try again in {seconds} s");
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, Kind::TooMany, message)
        .data(json!({"retry_after_s": seconds}))
        .header(header::RETRY_AFTER, seconds)
}

/// 503 if the database is not available, else 500. The cause is logged.
pub(super) fn internal(error: ServiceError) -> Refusal {
    let error = ApiError::from(error);
    let refusal = Refusal::new(error.status(), Kind::Internal, error.message());
    match error.retry_after_s() {
        Some(seconds) => refusal.header(header::RETRY_AFTER, seconds),
        None => refusal,
    }
}
