//! `GET /docs`: the API documentation as an HTML page.
//!
//! The page loads `/openapi.json` and renders it. It uses no third-party resources; its three files are embedded in the binary.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::entity_tag::EntityTag;
use crate::error::{ApiError, ApiErrorCode};

#[derive(RustEmbed)]
#[folder = "assets/docs"]
struct Assets;

/// Allows only resources of this origin.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Read the API documentation
///
/// This document as an HTML page.
#[utoipa::path(
    get,
    path = "/docs",
    tag = "Description",
    responses((status = 200, description = "The page", content_type = "text/html", body = String)),
    security(())
)]
pub(super) async fn get_docs(headers: HeaderMap) -> Response {
    asset("index.html", &headers)
}

/// Get the documentation page's stylesheet
#[utoipa::path(
    get,
    path = "/docs/docs.css",
    tag = "Description",
    responses((status = 200, description = "The stylesheet", content_type = "text/css", body = String)),
    security(())
)]
pub(super) async fn get_docs_style(headers: HeaderMap) -> Response {
    asset("docs.css", &headers)
}

/// Get the documentation page's script
#[utoipa::path(
    get,
    path = "/docs/docs.js",
    tag = "Description",
    responses((status = 200, description = "The script", content_type = "text/javascript", body = String)),
    security(())
)]
pub(super) async fn get_docs_script(headers: HeaderMap) -> Response {
    asset("docs.js", &headers)
}

fn asset(name: &str, request: &HeaderMap) -> Response {
    let Some(file) = Assets::get(name) else {
        return ApiError::new(ApiErrorCode::NotFound, "file not found; the documentation is at /docs").into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "text/html; charset=utf-8",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    let tag = EntityTag::of(&[&file.data]);
    let mut response = tag.respond(request, || file.data.into_response());
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_and_its_files_are_embedded() {
        for (name, kind) in [
            ("index.html", "text/html"),
            ("docs.css", "text/css"),
            ("docs.js", "text/javascript"),
        ] {
            let response = asset(name, &HeaderMap::new());
            assert_eq!(response.status(), 200, "{name}");
            let found = response.headers()[header::CONTENT_TYPE].to_str().unwrap();
            assert!(found.starts_with(kind), "{name}: {found}");
        }
        assert_eq!(asset("../Cargo.toml", &HeaderMap::new()).status(), 404);
    }

    #[test]
    fn page_loads_nothing_external_and_runs_nothing_inline() {
        let html = Assets::get("index.html").unwrap();
        let html = std::str::from_utf8(&html.data).unwrap().to_owned();
        assert!(!html.contains("http://") && !html.contains("https://"), "{html}");
        assert!(!html.contains("<style") && !html.contains("onclick"), "{html}");
        assert_eq!(html.matches("<script").count(), html.matches("<script src=").count());
    }
}
