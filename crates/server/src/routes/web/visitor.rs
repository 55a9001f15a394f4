//! The signed-in visitor of a page.

use std::net::IpAddr;

use accounts::identity::SessionClient;
use axum::extract::{FromRequestParts, OriginalUri};
use foundation::{Actor, ServiceError};
use http::request::Parts;
use http::{Method, Uri};
use url::Url;
use web::form_state::FormState;
use web::layout::{ExampleRule, LiveState, Notice, PageHead, Section, Shell};
use web::return_path::ReturnPath;
use web::screens::alerts::RecentChange;

use super::appearance::page_head;
use super::notice;
use super::response::{HX_REQUEST, HX_TARGET, go_to_page, redirect};
use crate::auth::same_origin;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::pages::link;
use crate::routes::pages::page::{Page, error_page};
use crate::routes::pages::session::{signed_in_actor, signed_in_at};
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
    /// The browser.
    pub(super) client: SessionClient,
    /// The path and query of the request.
    address: String,
    notice: Option<Notice>,
    recent_changes: Vec<RecentChange>,
    live: LiveState,
}

/// Why a request has no visitor.
#[derive(Debug)]
pub(super) enum VisitorRejection {
    /// The browser has no session.
    SignedOut(SignedOut),
    /// The request is refused.
    Refused(Response),
}

/// A browser without a session.
#[derive(Clone, Debug)]
pub(super) struct SignedOut {
    head: PageHead,
    is_part: bool,
    /// The address to return to.
    address: String,
    /// Whether the service has an account.
    has_accounts: bool,
}

impl IntoResponse for VisitorRejection {
    fn into_response(self) -> Response {
        match self {
            Self::SignedOut(signed_out) => signed_out.to_sign_in(None),
            Self::Refused(response) => response,
        }
    }
}

impl FromRequestParts<App> for Visitor {
    type Rejection = VisitorRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, VisitorRejection> {
        use VisitorRejection::Refused;

        let Ok(ClientAddress(client)) = ClientAddress::from_request_parts(parts, app).await;
        if let Some(refusal) = link::rate_limit_page(app, client, RateLimitGroup::Pages).await {
            return Err(Refused(refusal));
        }
        let is_read_only = same_origin::is_read_only(&parts.method);
        if !is_read_only && !same_origin::is_same_origin(&parts.headers, app.own_origins()) {
            let text = "This request does not come from one of this service's own pages. Open the dashboard at its own address, and \
                        try again.";
            let page = Page::message("The request was refused", text);
            return Err(Refused(page.with_status(StatusCode::FORBIDDEN)));
        }
        let Ok(OriginalUri(uri)) = OriginalUri::from_request_parts(parts, app).await;
        let address = path_and_query(&uri);
        let client = session_client(client, &parts.headers);
        let page = address.clone();
        match signed_in_at(app, &parts.headers, Some(client)).await {
            Ok(Some(actor)) => Self::of(
                app,
                actor,
                address,
                client,
                &parts.headers,
                PageFrame {
                    notice: shows_notice(&parts.headers),
                    recent_changes: is_read_only && shows_notice(&parts.headers) && shows_recent_changes(&page),
                },
            )
            .await
            .map_err(|error| Refused(error_page(error))),
            Ok(None) => {
                let has_accounts = app.service().identity.has_accounts().await;
                Err(VisitorRejection::SignedOut(SignedOut {
                    head: page_head(app, &parts.headers),
                    is_part: parts.headers.contains_key(HX_REQUEST),
                    address: page_address(app, &parts.method, &uri, &parts.headers),
                    has_accounts: has_accounts.map_err(|error| Refused(error_page(error)))?,
                }))
            }
            Err(error) => Err(Refused(error_page(error))),
        }
    }
}

impl Visitor {
    /// Reads what the frame of each page shows, and what is left of earlier changes if the page shows notices.
    async fn of(
        app: &App,
        actor: Actor,
        address: String,
        client: SessionClient,
        headers: &HeaderMap,
        frame: PageFrame,
    ) -> Result<Self, ServiceError> {
        let live = live_state(app, &actor).await?;
        let notice = frame.notice.then(|| notice::read(headers)).flatten();
        let recent_changes = match frame.recent_changes {
            true => app.service().alerts.recent_changes(&actor).await?,
            false => Vec::new(),
        };
        let noticed = notice.as_ref().and_then(|notice| notice.undo.as_deref());
        Ok(Self {
            recent_changes: recent_changes
                .iter()
                .map(RecentChange::of)
                .filter(|change| Some(change.undo.as_str()) != noticed)
                .collect(),
            actor,
            head: page_head(app, headers),
            is_part: headers.contains_key(HX_REQUEST),
            client,
            address,
            notice,
            live,
        })
    }

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
            recent_changes: self.recent_changes.clone(),
            example: example_rule(app),
            live: self.live.clone(),
        }
    }

    /// Returns the frame of a page that shows a form again: the error of no field is its notice.
    pub(super) fn shell_with(&self, app: &App, section: Option<Section>, form: &FormState) -> Shell {
        let refusal = form.error.as_ref().map(|error| Notice {
            text: error.clone(),
            is_error: true,
            undo: None,
        });
        let shell = self.shell(app, section);
        Shell {
            notice: refusal.or(shell.notice),
            ..shell
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

/// The parts of a page's frame about earlier changes that are shown.
#[derive(Clone, Copy, Default)]
struct PageFrame {
    /// The notice about the last change.
    notice: bool,
    /// The changes that can be undone.
    recent_changes: bool,
}

/// Returns whether the response is a page, or replaces the main part of one, where the notice is. A live redraw of another part must
/// not take the notice from the page that follows a change.
fn shows_notice(headers: &HeaderMap) -> bool {
    headers.get(HX_TARGET).is_none_or(|target| target == "main#main")
}

/// Returns whether the page at an address shows the recent changes of alerts.
fn shows_recent_changes(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let sections = ["/alerts", "/stocks/", "/fired", "/watchlist"];
    path == "/" || sections.iter().any(|section| path.starts_with(section))
}

fn example_rule(app: &App) -> Option<ExampleRule> {
    let (symbol, price) = app.service().stocks.example()?;
    Some(ExampleRule::new(symbol, price))
}

/// Returns the path and query of this service's page that sent a form, without the path of the service; else the start page.
fn referring_page(app: &App, headers: &HeaderMap) -> String {
    let referrer = headers.get(header::REFERER).and_then(|value| value.to_str().ok());
    let page = referrer.and_then(|text| Url::parse(text).ok());
    let page = page.filter(|page| app.own_origins().contains(&page.origin().ascii_serialization()));
    let address = page.map(|page| page[url::Position::BeforePath..url::Position::AfterQuery].to_owned());
    let base = page_head(app, headers).base;
    let address = address.and_then(|address| address.strip_prefix(&base).map(str::to_owned));
    address.unwrap_or_else(|| "/".to_owned())
}

/// Returns the address of the page that a browser shows. A write cannot be repeated by following a link, so it is the page with the
/// form.
pub(in crate::routes) fn page_address(app: &App, method: &Method, uri: &Uri, headers: &HeaderMap) -> String {
    match same_origin::is_read_only(method) {
        true => path_and_query(uri),
        false => referring_page(app, headers),
    }
}

fn path_and_query(uri: &Uri) -> String {
    uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string)
}

/// Returns the frame of an error page for a browser's account; `None` without a session, or if the account cannot be read.
pub(in crate::routes) async fn error_page_shell(
    app: &App,
    client: IpAddr,
    headers: &HeaderMap,
    address: String,
) -> Option<Shell> {
    let actor = signed_in_actor(app, headers).await.ok()??;
    let client = session_client(client, headers);
    let visitor = Visitor::of(app, actor, address, client, headers, PageFrame::default())
        .await
        .ok()?;
    Some(visitor.shell(app, None))
}

fn session_client(address: IpAddr, headers: &HeaderMap) -> SessionClient {
    let user_agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    SessionClient::of(address, user_agent.unwrap_or_default())
}

/// Reads the position before the page reads anything else, so that the page's stream repeats a firing rather than omit it.
async fn live_state(app: &App, actor: &Actor) -> Result<LiveState, ServiceError> {
    let alerts = &app.service().alerts;
    Ok(LiveState {
        account: actor.account.0.to_string(),
        position: alerts.event_position().await?,
        unseen: alerts.unseen_firings(actor).await?,
    })
}

impl SignedOut {
    /// Leads to the sign-in page, which returns to `address`, or else to the requested one; to the first account of a service that has
    /// none.
    pub(super) fn to_sign_in(&self, address: Option<&str>) -> Response {
        let next = ReturnPath::parse(address.unwrap_or(&self.address));
        let location = match next {
            _ if !self.has_accounts => self.head.link("/first-account"),
            Some(next) if next.as_str() != "/" => next.sign_in(&self.head.base),
            Some(_) | None => self.head.link("/sign-in"),
        };
        match self.is_part {
            true => go_to_page(redirect(&location)),
            false => redirect(&location),
        }
    }
}
