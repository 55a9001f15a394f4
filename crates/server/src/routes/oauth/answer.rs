//! Answers to programs, as the RFCs have them.

use axum::extract::Request;
use axum::extract::{FromRequest, FromRequestParts};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use service::oauth::{ErrorCode, OAuthError};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Identity;
use crate::error::{ApiError, Code};
use crate::layers::client::ClientAddress;
use crate::layers::limit::Group;
use crate::routes::messages::form::FormFields;

/// Why a program is refused (RFC 6749, 5.2).
#[derive(Debug, Serialize, ToSchema)]
pub struct OAuthRefusal {
    /// For programs.
    #[schema(example = "invalid_grant")]
    pub error: &'static str,
    /// For those who write them.
    pub error_description: String,
}

/// An answer that nobody keeps.
pub(super) fn answer(status: StatusCode, body: impl Serialize) -> Response {
    let mut response = (status, axum::Json(body)).into_response();
    unkept(response.headers_mut());
    response
}

fn unkept(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
}

/// The answer to a program that is refused.
pub(super) fn refused(error: OAuthError) -> Response {
    match error {
        OAuthError::Refused { code, description } => {
            let status = match code {
                ErrorCode::InvalidClient => StatusCode::UNAUTHORIZED,
                ErrorCode::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::ServerError => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::BAD_REQUEST,
            };
            let mut response = refusal(status, code, description);
            if status == StatusCode::UNAUTHORIZED {
                let challenge = HeaderValue::from_static("Basic realm=\"OAuth clients\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            response
        }
        OAuthError::Failed(failure) => failed(&failure.into()),
    }
}

/// The answer when something else stands in the way.
fn failed(error: &ApiError) -> Response {
    let code = match error.code() {
        Code::RateLimited | Code::ServiceUnavailable => ErrorCode::TemporarilyUnavailable,
        Code::InternalError => ErrorCode::ServerError,
        _ => ErrorCode::InvalidRequest,
    };
    let status = match code {
        ErrorCode::InvalidRequest => StatusCode::BAD_REQUEST,
        _ => error.status(),
    };
    // Nothing is quoted in a description (RFC 6749, 5.2).
    let mut response = refusal(status, code, error.message().replace(['"', '\\'], "'"));
    if let Some(seconds) = error.retry_after_s() {
        let after = HeaderValue::from(seconds);
        response.headers_mut().insert(header::RETRY_AFTER, after);
    }
    response
}

fn refusal(status: StatusCode, code: ErrorCode, error_description: String) -> Response {
    let error = code.name();
    answer(
        status,
        OAuthRefusal {
            error,
            error_description,
        },
    )
}

/// What a program sends as a form, unless there is too much of it from its address.
pub(super) struct ProgramsForm(pub(super) Vec<(String, String)>);

impl FromRequest<App> for ProgramsForm {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        count(&mut parts, app, Group::Token).await?;
        if parts.headers.contains_key(header::AUTHORIZATION) {
            let error_description =
                "clients have no secrets here; send client_id in the form and no Authorization".to_owned();
            return Err(refused(OAuthError::Refused {
                code: ErrorCode::InvalidClient,
                description: error_description,
            }));
        }
        let form = FormFields::from_request(Request::from_parts(parts, body), app).await;
        form.map(|form| Self(form.0)).map_err(|error| failed(&error))
    }
}

/// Counts a request, and answers the one that is too much.
pub(super) async fn count(parts: &mut Parts, app: &App, group: Group) -> Result<(), Response> {
    // Whose address it is can always be told.
    let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, app).await;
    let counted = app.limiter().count(&Identity::Nobody, group, address, app.now());
    if counted.is_allowed {
        return Ok(());
    }
    let error = ApiError::new(
        Code::RateLimited,
        format!(
            "too much was asked for from this address; try again in {} s",
            counted.retry_after_s
        ),
    );
    Err(failed(&error.retry_after(counted.retry_after_s)))
}

/// The answer for a body that is none.
pub(super) fn unreadable(error: &ApiError, code: ErrorCode) -> Response {
    match error.code() {
        Code::RateLimited | Code::ServiceUnavailable | Code::InternalError => failed(error),
        _ => refused(OAuthError::Refused {
            code,
            description: error.message().replace(['"', '\\'], "'"),
        }),
    }
}
