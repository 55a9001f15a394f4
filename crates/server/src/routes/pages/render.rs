//! The layer that renders pages with a message.
//!
//! An error page of a signed-in account has the navigation and the search box of every page, and a link to continue. Other pages with
//! a message stand alone: they belong to links in emails, to apps that connect, or to browsers without a session.

use std::net::IpAddr;

use axum::body::Body;
use axum::extract::Request;
use http::HeaderName;
use web::layout::{PageHead, Section, Shell};
use web::message_page::{MessagePage, PageLink};
use web::texts;

use super::page::{FormTarget, UnrenderedPage, api_error_page, protect};
use crate::layers::chain::Next;
use crate::layers::client::address_of;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::prelude::*;
use crate::routes::web::appearance::page_head;
use crate::routes::web::response::{HX_REQUEST, HX_TARGET};
use crate::routes::web::visitor::{error_page_shell, page_address};

/// The header by which htmx leaves the page as it is.
const HX_RESWAP: HeaderName = HeaderName::from_static("hx-reswap");

/// The browser, as it is known before its request is handled.
struct BrowserRequest {
    head: PageHead,
    client: IpAddr,
    headers: HeaderMap,
    /// The page to return to.
    address: String,
    /// Whether an app that connects has opened the page.
    is_of_app: bool,
}

/// Renders pages with a message, and the errors of forms and addresses that only browsers use.
pub(crate) async fn layer(app: App, request: Request, next: Next) -> Response {
    if RateLimitGroup::of(request.uri().path()).is_some() {
        // The API has no pages.
        return next.run(request).await;
    }
    let is_for_browser = is_for_browser(request.headers());
    let browser = BrowserRequest {
        head: page_head(&app, request.headers()),
        address: page_address(&app, request.method(), request.uri(), request.headers()),
        client: address_of(request.extensions(), request.headers(), &app),
        headers: request.headers().clone(),
        is_of_app: request.uri().path().starts_with("/oauth/"),
    };
    let mut response = next.run(request).await;
    if let Some(error) = response
        .extensions_mut()
        .remove::<ApiError>()
        .filter(|_| is_for_browser)
    {
        let allow = response.headers_mut().remove(header::ALLOW);
        response = api_error_page(&error);
        if let Some(allow) = allow {
            response.headers_mut().insert(header::ALLOW, allow);
        }
    }
    if let Some(UnrenderedPage(page)) = response.extensions_mut().remove() {
        browser.fill(&app, &mut response, *page).await;
    }
    response
}

/// Returns whether a person reads the response.
pub(crate) fn is_for_browser(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|value| value.contains("text/html"))
}

impl BrowserRequest {
    async fn fill(self, app: &App, response: &mut Response, page: MessagePage) {
        let status = response.status();
        let is_error = status.is_client_error() || status.is_server_error();
        if is_error && self.headers.contains_key(HX_REQUEST) {
            self.fill_part(response, page);
        } else if is_error && let Some(shell) = self.error_shell(app, status).await {
            *response.body_mut() = Body::from(with_next_step(page).framed_html(&shell));
            protect(response.headers_mut(), FormTarget::SameOrigin);
        } else {
            *response.body_mut() = Body::from(page.html(&self.head));
            protect(response.headers_mut(), FormTarget::SameOrigin);
            // Addresses of these pages contain tokens.
            let policy = HeaderValue::from_static("no-referrer");
            response.headers_mut().insert(header::REFERRER_POLICY, policy);
        }
    }

    /// Returns the frame of an error page.
    async fn error_shell(&self, app: &App, status: StatusCode) -> Option<Shell> {
        // The frame needs the database, which a limit protects, or which is not available.
        let is_without_frame = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&status);
        match self.is_of_app || is_without_frame {
            true => None,
            false => error_page_shell(app, self.client, &self.headers, self.address.clone()).await,
        }
    }

    /// Replaces the main part of the page. Any other part stays, because it is right as far as it goes.
    fn fill_part(&self, response: &mut Response, page: MessagePage) {
        *response.body_mut() = Body::from(with_next_step(page).main_html(&self.head));
        protect(response.headers_mut(), FormTarget::SameOrigin);
        let target = self.headers.get(HX_TARGET);
        if target.is_some_and(|target| target != "main#main") {
            response
                .headers_mut()
                .insert(HX_RESWAP, HeaderValue::from_static("none"));
        }
    }
}

/// Adds links to the start page and to the alerts.
fn with_next_step(mut page: MessagePage) -> MessagePage {
    for section in [Section::Today, Section::Alerts] {
        if page.links.iter().all(|link| link.to != section.path()) {
            page.links.push(PageLink {
                to: section.path().into(),
                label: texts::text(section.text()).into(),
            });
        }
    }
    page
}
