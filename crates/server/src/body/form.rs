//! Form bodies, as sent by browsers and providers.

use axum::extract::{FromRequest, Request};
use http::{HeaderMap, header};
use url::form_urlencoded;

use super::read;
use crate::error::{ApiError, ApiErrorCode};
use crate::state::App;

/// Maximum size of a form, in bytes.
const MAX_FORM_BYTES: usize = 64 * 1024;

/// Extractor: the fields of an `application/x-www-form-urlencoded` body, in their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormFields(pub Vec<(String, String)>);

impl FromRequest<App> for FormFields {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let (headers, body) = read(request, app, MAX_FORM_BYTES).await?;
        if !is_form(&headers) {
            return Err(ApiError::new(
                ApiErrorCode::UnsupportedMediaType,
                "the body must be a form; send Content-Type: application/x-www-form-urlencoded",
            ));
        }
        Ok(Self(form_urlencoded::parse(&body).into_owned().collect()))
    }
}

/// Extractor: reads a body of any type and discards it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiscardedBody;

impl FromRequest<App> for DiscardedBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        read(request, app, MAX_FORM_BYTES).await.map(|_| Self)
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let essence = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")
}
