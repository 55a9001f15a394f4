//! Authentication of MCP requests: an API key, or the access token of an authorized OAuth client. Cookies are ignored, because
//! browsers send them automatically, and so are tokens of the REST API.

use std::net::IpAddr;
use std::sync::Arc;

use accounts::oauth::MCP_SCOPES;
use foundation::{Actor, Scope, ServiceError};
use http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use serde_json::json;

use super::error::{JsonRpcError, JsonRpcErrorKind};
use crate::auth::credentials::{self, Credential};
use crate::error::ApiError;
use crate::fixed_window::RateLimitDecision;
use crate::state::App;

/// Authenticates a request.
///
/// # Errors
/// 401 for missing or invalid credentials, 429 after too many unknown keys and tokens from this address, 500 if the database
/// fails.
pub(super) async fn authenticate(
    app: &App,
    headers: &HeaderMap,
    address: IpAddr,
    now: Timestamp,
) -> Result<Arc<Actor>, JsonRpcError> {
    let credential = match credentials::header_credential(headers) {
        Ok(Some(credential)) => credential,
        Ok(None) => return Err(unauthorized(app, None)),
        Err(error) => return Err(unauthorized(app, Some(error.message()))),
    };
    let (Credential::ApiKey(secret) | Credential::BearerToken(secret)) = credential;
    let failed_auth = app.rate_limiter().failed_mcp_auth();
    failed_auth
        .check(secret, address, now)
        .map_err(|counted| too_many(&counted, "unknown keys and tokens from this address"))?;
    let found = match credential {
        Credential::ApiKey(key) => app.service().authenticator.authenticate_key(key).await,
        Credential::BearerToken(token) => app.service().authenticator.authenticate_grant(token).await,
    };
    match found {
        Ok(actor) => {
            failed_auth.record_success(secret);
            Ok(Arc::new(actor))
        }
        Err(error @ ServiceError::Unauthenticated(_)) => {
            failed_auth.record_failure(secret, address, now);
            Err(unauthorized(app, Some(&error.to_string())))
        }
        Err(error) => Err(internal(error)),
    }
}

/// Returns 401 with a challenge. The challenge has an error only if the request had credentials.
fn unauthorized(app: &App, error: Option<&str>) -> JsonRpcError {
    let mut challenge = challenge(app, MCP_SCOPES);
    if error.is_some() {
        challenge.push_str(", error=\"invalid_token\"");
    }
    let message = error.unwrap_or(
        "this requires an API key (Authorization: Bearer sk_…, or X-API-Key) or an OAuth access token; the WWW-Authenticate \
         header has the metadata URL",
    );
    JsonRpcError::new(StatusCode::UNAUTHORIZED, JsonRpcErrorKind::Unauthorized, message)
        .header(header::WWW_AUTHENTICATE, challenge)
}

/// Returns 403 with the scope that the call needs.
pub(super) fn insufficient_scope(app: &App, needed: Scope, message: &str) -> JsonRpcError {
    let challenge = format!("{}, error=\"insufficient_scope\"", challenge(app, &[needed]));
    JsonRpcError::new(StatusCode::FORBIDDEN, JsonRpcErrorKind::Forbidden, message)
        .data(json!({"reason": "scope", "required": needed.name()}))
        .header(header::WWW_AUTHENTICATE, challenge)
}

fn challenge(app: &App, scopes: &[Scope]) -> String {
    let public_url = app.service().identity.public_url();
    let names: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
    let scope = names.join(" ");
    format!("Bearer resource_metadata=\"{public_url}/.well-known/oauth-protected-resource/mcp\", scope=\"{scope}\"")
}

/// Returns 429 with the time until the next attempt.
pub(super) fn too_many(counted: &RateLimitDecision, what: &str) -> JsonRpcError {
    let (limit, seconds) = (counted.rate_limit.limit, counted.retry_after_s);
    let message = format!("the limit of {limit} {what} in this window is exceeded; try again in {seconds} s");
    JsonRpcError::new(StatusCode::TOO_MANY_REQUESTS, JsonRpcErrorKind::TooMany, message)
        .data(json!({"retry_after_s": seconds}))
        .header(header::RETRY_AFTER, seconds)
}

/// Returns 503 if the database is unavailable, otherwise 500. The cause is logged.
pub(super) fn internal(error: ServiceError) -> JsonRpcError {
    let error = ApiError::from(error);
    let refusal = JsonRpcError::new(error.status(), JsonRpcErrorKind::Internal, error.message());
    match error.retry_after_s() {
        Some(seconds) => refusal.header(header::RETRY_AFTER, seconds),
        None => refusal,
    }
}
