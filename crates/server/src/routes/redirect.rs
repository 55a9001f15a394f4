//! `GET /redirect`

use http::HeaderName;

use crate::routes::prelude::*;

/// Maximum length of a signed URL.
const MAX_ADDRESS_CHARS: usize = 2048;
/// Maximum length of a signature.
const MAX_SIGNATURE_CHARS: usize = 64;

const REFERRER_POLICY: HeaderName = HeaderName::from_static("referrer-policy");

/// Query parameters: target URL and signature.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct RedirectParams {
    /// Target URL.
    #[param(required, max_length = 2048, example = "https://example.com/")]
    u: String,
    /// The service's signature of the target URL.
    #[param(required, max_length = 64, example = "6n1JmXb0Pj6Cq5vVw3d9qjVZ0m1m4Yh2m8oXl1y7C9A")]
    sig: String,
}

/// A redirect's target.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Redirected)]
pub struct RedirectResponse {
    /// Target URL, same as `Location`.
    #[schema(format = "uri", example = "https://example.com/")]
    pub location: String,
}

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(redirect))
}

/// Follow a link
///
/// Redirects only to URLs that this service has signed, so it is not an open redirect.
#[utoipa::path(
    get,
    path = "/redirect",
    tag = "Utilities",
    params(RedirectParams),
    responses(
        (status = 302, description = "The target URL", body = Envelope<RedirectResponse>,
         headers(("Location" = String, description = "The target URL"))),
        (status = 400, description = "The signature is missing or invalid"),
    ),
    security(())
)]
pub(super) async fn redirect(State(app): State<App>, mut query: Query) -> Result<Response, ApiError> {
    let target = query.text("u", MAX_ADDRESS_CHARS).unwrap_or_default();
    let signature = query.text("sig", MAX_SIGNATURE_CHARS).unwrap_or_default();
    let location = app.service().redirects.redirect_target(&target, &signature)?;
    let header = HeaderValue::try_from(&location).map_err(ApiError::internal)?;
    let mut response = ApiResponse::with(StatusCode::FOUND, RedirectResponse { location }).into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, header);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}
