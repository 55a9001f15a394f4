//! `GET /docs`: the API reference as an HTML page.
//!
//! The page shows `/openapi.json` with Swagger UI (`assets/docs/swagger-ui`). It uses no third-party resources; its three files are
//! embedded in the binary.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::document::served_document::ServedDocument;
use crate::error::{ApiError, ApiErrorCode};

static PAGE: LazyLock<ServedDocument> = LazyLock::new(|| {
    let html = include_bytes!("../../../assets/docs/index.html");
    ServedDocument::new("text/html; charset=utf-8", html.as_slice().into())
});
static STYLE: LazyLock<Option<ServedDocument>> = LazyLock::new(|| {
    let style = include_bytes!("../../../assets/docs/swagger-ui/docs.css.br");
    ServedDocument::from_brotli("text/css; charset=utf-8", style).ok()
});
static SCRIPT: LazyLock<Option<ServedDocument>> = LazyLock::new(|| {
    let script = include_bytes!("../../../assets/docs/swagger-ui/docs.js.br");
    ServedDocument::from_brotli("text/javascript; charset=utf-8", script).ok()
});

/// Allows only resources of this origin, and the icons within the stylesheet.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
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
    respond(Some(&PAGE), &headers)
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
    respond(STYLE.as_ref(), &headers)
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
    respond(SCRIPT.as_ref(), &headers)
}

fn respond(file: Option<&ServedDocument>, request: &HeaderMap) -> Response {
    let Some(file) = file else {
        return ApiError::new(ApiErrorCode::NotFound, "file not found; the documentation is at /docs").into_response();
    };
    let mut response = file.answer(request);
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    const INITIALIZER: &[u8] = include_bytes!("../../../assets/docs/initializer.js");

    fn text(file: &ServedDocument) -> &str {
        std::str::from_utf8(file.whole()).unwrap()
    }

    #[test]
    fn page_and_its_files_are_embedded() {
        for (file, kind) in [
            (Some(&*PAGE), "text/html"),
            (STYLE.as_ref(), "text/css"),
            (SCRIPT.as_ref(), "text/javascript"),
        ] {
            let response = respond(file, &HeaderMap::new());
            assert_eq!(response.status(), 200, "{kind}");
            let found = response.headers()[header::CONTENT_TYPE].to_str().unwrap();
            assert!(found.starts_with(kind), "{kind}: {found}");
        }
    }

    #[test]
    fn page_loads_nothing_external_and_runs_nothing_inline() {
        let html = text(&PAGE);
        assert!(!html.contains("http://") && !html.contains("https://"), "{html}");
        assert!(!html.contains("<style") && !html.contains("onclick"), "{html}");
        assert_eq!(html.matches("<script").count(), html.matches("<script src=").count());
        // The validator is the only third-party service that Swagger UI knows.
        let initializer = str::from_utf8(INITIALIZER).unwrap();
        assert!(
            initializer.contains("validatorUrl: null") && !initializer.contains("://"),
            "{initializer}"
        );
        let style = text(STYLE.as_ref().unwrap());
        for (start, _) in style.match_indices("url(") {
            let address = style[start + 4..].trim_start_matches('"');
            assert!(address.starts_with("data:"), "{}", &address[..40]);
        }
        assert!(!style.contains("@import"));
    }

    #[test]
    fn files_have_the_content_that_the_readme_names() {
        let readme = include_str!("../../../assets/docs/swagger-ui/README.md");
        let script = SCRIPT.as_ref().unwrap().whole();
        let bundle = script
            .strip_suffix(INITIALIZER)
            .and_then(|bundle| bundle.strip_suffix(b"\n"));
        let bundle = bundle.expect("docs.js.br ends with initializer.js; run scripts/update-api-reference");
        for vendored in [bundle, STYLE.as_ref().unwrap().whole()] {
            let sum: String = Sha256::digest(vendored)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert!(readme.contains(&sum), "{sum} is not in the README.md");
        }
    }
}
