//! `GET /docs`: the description for a person.
//!
//! A page of our own with nothing from elsewhere: it reads `/openapi.json` and shows it. Its three files are in the
//! program.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::entity_tag::EntityTag;
use crate::error::{ApiError, Code};

#[derive(RustEmbed)]
#[folder = "assets/docs"]
struct Assets;

/// Nothing but this page's own files may run, load or be asked for.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Read the description
///
/// This document as a page for people.
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

/// Get the page's style
#[utoipa::path(
    get,
    path = "/docs/docs.css",
    tag = "Description",
    responses((status = 200, description = "The style", content_type = "text/css", body = String)),
    security(())
)]
pub(super) async fn get_docs_style(headers: HeaderMap) -> Response {
    asset("docs.css", &headers)
}

/// Get the page's script
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
        return ApiError::new(Code::NotFound, "there is no such file; the page is at /docs").into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "text/html; charset=utf-8",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    let tag = EntityTag::of(&[&file.data]);
    let mut response = tag.answer(request, || file.data.into_response());
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_its_files_are_in_the_program() {
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
    fn the_page_loads_nothing_from_elsewhere_and_runs_nothing_inline() {
        let html = Assets::get("index.html").unwrap();
        let html = std::str::from_utf8(&html.data).unwrap().to_owned();
        assert!(!html.contains("http://") && !html.contains("https://"), "{html}");
        assert!(!html.contains("<style") && !html.contains("onclick"), "{html}");
        assert_eq!(html.matches("<script").count(), html.matches("<script src=").count());
    }
}
