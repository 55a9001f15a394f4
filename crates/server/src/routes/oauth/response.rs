//! OAuth responses to clients, in the format of the RFCs.

use accounts::oauth::{OAuthError, OAuthErrorCode};
use axum::extract::Request;
use axum::extract::{FromRequest, FromRequestParts};
use http::request::Parts;

use crate::auth::Identity;
use crate::error::ApiErrorCode;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::prelude::*;

/// An OAuth error response (RFC 6749, 5.2).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OAuthRefusal)]
pub struct OAuthErrorResponse {
    /// Error code.
    #[schema(example = "invalid_grant")]
    pub error: &'static str,
    /// Description for client developers.
    pub error_description: String,
}

/// Creates a JSON response that must not be cached.
pub(super) fn json_no_store(status: StatusCode, body: impl Serialize) -> Response {
    let mut response = (status, axum::Json(body)).into_response();
    set_no_store(response.headers_mut());
    response
}

fn set_no_store(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
}

/// Converts an OAuth error to a response.
pub(super) fn error_response(error: OAuthError) -> Response {
    match error {
        OAuthError::Refused { code, description } => {
            let status = match code {
                OAuthErrorCode::InvalidClient => StatusCode::UNAUTHORIZED,
                OAuthErrorCode::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
                OAuthErrorCode::ServerError => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::BAD_REQUEST,
            };
            let mut response = oauth_error(status, code, description);
            if status == StatusCode::UNAUTHORIZED {
                let challenge = HeaderValue::from_static("Basic realm=\"OAuth clients\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            response
        }
        OAuthError::Failed(failure) => api_error_response(&failure.into()),
    }
}

/// Converts an API error to an OAuth error response.
fn api_error_response(error: &ApiError) -> Response {
    let code = match error.code() {
        ApiErrorCode::RateLimited | ApiErrorCode::ServiceUnavailable => OAuthErrorCode::TemporarilyUnavailable,
        ApiErrorCode::InternalError => OAuthErrorCode::ServerError,
        _ => OAuthErrorCode::InvalidRequest,
    };
    let status = match code {
        OAuthErrorCode::InvalidRequest => StatusCode::BAD_REQUEST,
        _ => error.status(),
    };
    // A description must not contain quotes or backslashes (RFC 6749, 5.2).
    let mut response = oauth_error(status, code, error.message().replace(['"', '\\'], "'"));
    if let Some(seconds) = error.retry_after_s() {
        let after = HeaderValue::from(seconds);
        response.headers_mut().insert(header::RETRY_AFTER, after);
    }
    response
}

fn oauth_error(status: StatusCode, code: OAuthErrorCode, error_description: String) -> Response {
    let error = code.name();
    json_no_store(
        status,
        OAuthErrorResponse {
            error,
            error_description,
        },
    )
}

/// Extractor: the form fields of an OAuth request, after the rate limit check.
pub(super) struct OAuthForm(pub(super) Vec<(String, String)>);

impl FromRequest<App> for OAuthForm {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        check_rate_limit(&mut parts, app, RateLimitGroup::Token).await?;
        if parts.headers.contains_key(header::AUTHORIZATION) {
            let error_description =
                "only public clients are supported; send client_id in the form and no Authorization header".to_owned();
            return Err(error_response(OAuthError::Refused {
                code: OAuthErrorCode::InvalidClient,
                description: error_description,
            }));
        }
        let form = FormFields::from_request(Request::from_parts(parts, body), app).await;
        form.map(|form| Self(form.0))
            .map_err(|error| api_error_response(&error))
    }
}

/// Counts a request against the rate limit of its client address.
///
/// # Errors
/// The 429 response if the limit is exceeded.
pub(super) async fn check_rate_limit(parts: &mut Parts, app: &App, group: RateLimitGroup) -> Result<(), Response> {
    // Reading the client address cannot fail.
    let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, app).await;
    let counted = app
        .rate_limiter()
        .count(&Identity::Anonymous, group, address, app.now())
        .await
        .map_err(|error| api_error_response(&ApiError::from(error)))?;
    if counted.is_allowed {
        return Ok(());
    }
    let error = ApiError::new(
        ApiErrorCode::RateLimited,
        format!(
            "too many requests from this address; try again in {} s",
            counted.retry_after_s
        ),
    );
    Err(api_error_response(&error.retry_after(counted.retry_after_s)))
}

/// Converts an error while reading a body to an OAuth error response with the given code.
pub(super) fn body_error_response(error: &ApiError, code: OAuthErrorCode) -> Response {
    match error.code() {
        ApiErrorCode::RateLimited | ApiErrorCode::ServiceUnavailable | ApiErrorCode::InternalError => {
            api_error_response(error)
        }
        _ => error_response(OAuthError::Refused {
            code,
            description: error.message().replace(['"', '\\'], "'"),
        }),
    }
}
