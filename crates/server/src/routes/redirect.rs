//! `GET /redirect`

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::error::ApiError;
use crate::query::Query;

/// No address that is signed is longer.
const MAX_ADDRESS_CHARS: usize = 2048;
/// No signature is longer.
const MAX_SIGNATURE_CHARS: usize = 64;

const REFERRER_POLICY: HeaderName = HeaderName::from_static("referrer-policy");

/// Where to, signed.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct RedirectParams {
    /// Where the link leads.
    #[param(required, max_length = 2048, example = "https://example.com/")]
    u: String,
    /// The service's signature of it.
    #[param(required, max_length = 64, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    sig: String,
}

/// Where a link leads.
#[derive(Debug, Serialize, ToSchema)]
pub struct Redirected {
    /// The address, as `Location` has it.
    #[schema(format = "uri", example = "https://example.com/")]
    pub location: String,
}

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(redirect))
}

/// Follow a link
///
/// Only links lead on that this service has made itself: nobody else can use its name to send people elsewhere.
#[utoipa::path(
    get,
    path = "/redirect",
    tag = "Utilities",
    params(RedirectParams),
    responses(
        (status = 302, description = "Where the link leads", body = Envelope<Redirected>,
         headers(("Location" = String, description = "Where the link leads"))),
        (status = 400, description = "This service has not made the link, or it was changed"),
    ),
    security(())
)]
pub(super) async fn redirect(State(app): State<App>, mut query: Query) -> Result<Response, ApiError> {
    let target = query.text("u", MAX_ADDRESS_CHARS).unwrap_or_default();
    let signature = query.text("sig", MAX_SIGNATURE_CHARS).unwrap_or_default();
    let location = app.service().redirects.redirect_target(&target, &signature)?;
    let header = HeaderValue::try_from(&location).map_err(ApiError::internal)?;
    let mut response = Reply::with(StatusCode::FOUND, Redirected { location }).into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, header);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}
