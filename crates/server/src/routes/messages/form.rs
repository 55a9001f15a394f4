//! Bodies that are forms, as browsers and providers send them.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use url::form_urlencoded;

use crate::app::App;
use crate::body::collect;
use crate::error::{ApiError, Code};

/// A form has at most so many bytes.
const MAX_BYTES: usize = 64 * 1024;

/// A body of `application/x-www-form-urlencoded`: its fields in their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormFields(pub Vec<(String, String)>);

impl FromRequest<App> for FormFields {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let (headers, body) = read(request, app).await?;
        if !is_form(&headers) {
            return Err(ApiError::new(
                Code::UnsupportedMediaType,
                "the body must be a form; send Content-Type: application/x-www-form-urlencoded",
            ));
        }
        Ok(Self(form_urlencoded::parse(&body).into_owned().collect()))
    }
}

/// A body of which nothing is needed, whatever it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnyBody;

impl FromRequest<App> for AnyBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        read(request, app).await.map(|_| Self)
    }
}

async fn read(request: Request, app: &App) -> Result<(HeaderMap, Bytes), ApiError> {
    let (parts, body) = request.into_parts();
    let time = app.settings().timeouts.body;
    let bytes = collect(&parts.headers, body, MAX_BYTES, time).await?;
    Ok((parts.headers, bytes))
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let essence = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")
}
