//! `GET /assets/{digest}/{path}`: styles, scripts and pictures of the pages.

use axum::extract::Path;
use http::HeaderName;
use web::assets;

use crate::error::ApiErrorCode;
use crate::routes::prelude::*;

/// The digest in the address changes with the files, so browsers keep them.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Returns an embedded file. The digest of another version of the program is not found.
pub(super) async fn get_asset(Path((digest, path)): Path<(String, String)>) -> Response {
    let found = (digest == assets::digest()).then(|| assets::file(&path)).flatten();
    let Some(asset) = found else {
        return ApiError::new(ApiErrorCode::NotFound, "there is no such file; reload the page").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type)),
        (header::CACHE_CONTROL, FOREVER),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("same-origin"),
        ),
    ];
    (headers, asset.bytes.into_owned()).into_response()
}
