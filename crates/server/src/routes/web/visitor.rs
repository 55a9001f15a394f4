//! The signed-in visitor of a page.

use axum::extract::{FromRequestParts, OriginalUri};
use foundation::Actor;
use http::request::Parts;
use web::layout::{Notice, PageHead, Section, Shell};
use web::return_path::ReturnPath;

use super::appearance::page_head;
use super::notice;
use super::response::{HX_REDIRECT, HX_REQUEST, redirect};
use crate::auth::same_origin;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::pages::link;
use crate::routes::pages::page::{Page, error_page};
use crate::routes::pages::session::signed_in_actor;
use crate::routes::prelude::*;

/// Extractor: the signed-in visitor of a page.
///
/// Without a session it redirects to the sign-in page, which leads back. A write must come from one of this service's own pages.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    /// The account and its session.
    pub(super) actor: Actor,
    /// The head of the page.
    pub(super) head: PageHead,
    /// Whether htmx asks for a part of the page.
    pub(super) is_part: bool,
    /// The path and query of the request.
    address: String,
    notice: Option<Notice>,
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, app).await;
        if let Some(refusal) = link::rate_limit_page(app, address, RateLimitGroup::Pages) {
            return Err(refusal);
        }
        let is_read_only = same_origin::is_read_only(&parts.method);
        if !is_read_only && !same_origin::is_same_origin(&parts.headers, app.own_origins()) {
            let text = "This request does not come from one of this service's own pages. Open the dashboard at its own address, and \
                        try again.";
            return Err(Page::message("The request was refused", text).with_status(StatusCode::FORBIDDEN));
        }
        let uri = OriginalUri::from_request_parts(parts, app).await.map(|uri| uri.0);
        let address = uri
            .ok()
            .and_then(|uri| uri.path_and_query().map(ToString::to_string))
            .unwrap_or_else(|| "/".to_owned());
        let head = page_head(app, &parts.headers);
        let is_part = parts.headers.contains_key(HX_REQUEST);
        match signed_in_actor(app, &parts.headers).await {
            Ok(Some(actor)) => Ok(Self {
                actor,
                notice: notice::read(&parts.headers),
                head,
                is_part,
                address,
            }),
            Ok(None) => Err(to_sign_in(app, &head, is_part, if is_read_only { &address } else { "/" }).await),
            Err(error) => Err(error_page(error)),
        }
    }
}

impl Visitor {
    /// Returns the frame of a page in a section.
    pub(super) fn shell(&self, app: &App, section: Option<Section>) -> Shell {
        Shell {
            head: self.head.clone(),
            section,
            address: self.address.clone(),
            email: self.actor.email.clone(),
            is_operator: self.actor.is_operator,
            zone: self.actor.time_zone.clone(),
            now: app.now(),
            notice: self.notice.clone(),
        }
    }

    /// Forgets the notice that a page has shown.
    pub(super) fn after_notice(&self, mut page: Response) -> Response {
        if self.notice.is_some() {
            notice::clear(page.headers_mut());
        }
        page
    }
}

/// Leads to the sign-in page, or to the first account of a service that has none.
async fn to_sign_in(app: &App, head: &PageHead, is_part: bool, address: &str) -> Response {
    let next = ReturnPath::parse(address);
    let location = match app.service().identity.has_accounts().await {
        Ok(false) => head.link("/first-account"),
        Ok(true) => match next {
            Some(next) if next.as_str() != "/" => next.sign_in(&head.base),
            Some(_) | None => head.link("/sign-in"),
        },
        Err(error) => return error_page(error),
    };
    let mut response = redirect(&location);
    if is_part && let Ok(location) = HeaderValue::try_from(location) {
        // A fetch would follow a redirect and put the sign-in page into a part of the page.
        *response.status_mut() = StatusCode::NO_CONTENT;
        response.headers_mut().remove(header::LOCATION);
        response.headers_mut().insert(HX_REDIRECT, location);
    }
    response
}
