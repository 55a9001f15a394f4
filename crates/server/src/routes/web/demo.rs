//! `GET /demo`: signs a browser in to the account of the demo.
//!
//! Only the demo has this link, and only for requests to the listener's own name on the same machine: a page of another site whose
//! name resolves to this machine (DNS rebinding) sends its own name as the host.

use http::request::Parts;

use super::appearance::page_head;
use super::response::redirect;
use crate::auth::local_request::is_local;
use crate::routes::pages::page::{Page, error_page};
use crate::routes::prelude::*;

/// Starts a session and leads to the dashboard.
pub(super) async fn start_demo(State(app): State<App>, parts: Parts) -> Response {
    let Some(email) = app.settings().demo_account.as_deref() else {
        return refusal(
            "Only the demo has this page. Sign in to see your dashboard.",
            StatusCode::NOT_FOUND,
        );
    };
    if !is_local(&app, &parts) {
        return refusal(
            "Open this link on the machine that runs the demo, as it was printed.",
            StatusCode::FORBIDDEN,
        );
    }
    match app.service().identity.start_session(email).await {
        Ok(signed_in) => {
            let mut response = redirect(&page_head(&app, &parts.headers).link("/"));
            SessionCookie::of(app.service()).set(&signed_in, response.headers_mut());
            response
        }
        Err(error) => error_page(error),
    }
}

fn refusal(text: &str, status: StatusCode) -> Response {
    Page::message("Not available", text)
        .with_link("sign-in", "Sign in")
        .with_status(status)
}
