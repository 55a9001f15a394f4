//! `GET|POST /oauth/authorize`: somebody is asked what a program may do.
//!
//! Opening it changes nothing. Whoever has not signed in is asked to first, and comes back here with the very parameters that
//! were checked: to this address and no other. Then they decide. What their decision is about comes back with it, sealed for
//! their session; and both forms have to come from our own pages ([`own_page`]): else another site could sign
//! somebody in to *its* account, and have the program write there what was meant for theirs.
//!
//! Neither of the two pages says where its form may lead (`form-action`). Browsers hold all that a form leads on to against it:
//! after a decision the way back to the program, and wherever that leads on to; after signing in this address again, from where
//! the browser may be sent to the program at once.
//!
//! Whoever has not signed in is sent to no host on the web with what is wrong with a request: anybody can register a program, so
//! that a link to here would lead anywhere. They see where it leads, and go there themselves.

use std::net::IpAddr;

use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode, Uri};
use service::ServiceError;
use service::oauth::{Asked, Decision, NotAsked, WayBack};
use url::form_urlencoded;
use utoipa::IntoParams;

use super::{consent_page, sign_in_page};
use crate::app::App;
use crate::auth::own_page;
use crate::layers::client::ClientAddress;
use crate::layers::limit::Group;
use crate::routes::messages::form::FormFields;
use crate::routes::pages::link;
use crate::routes::pages::page::{Leads, Page};
use crate::routes::pages::visitor::{self, failed, led_to, who};

/// What says that somebody wants to sign in, whoever has signed in before.
const PROMPT: &str = "prompt";
const SIGN_IN: &str = "login";

/// What a program wants.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the service reads them")]
pub(super) struct AuthorizeParams {
    /// Always `code`.
    response_type: Option<String>,
    /// What the program goes by: the id that it was given when it registered, or the URL of a document about it.
    client_id: Option<String>,
    /// Where the browser goes back to: one that the program has registered, character by character. On the person's own machine
    /// any port will do.
    redirect_uri: Option<String>,
    /// Comes back as it is, at most 4096 characters.
    state: Option<String>,
    /// The SHA-256 of a text that the program keeps to itself, in base64url.
    code_challenge: Option<String>,
    /// Always `S256`.
    code_challenge_method: Option<String>,
    /// What it wants, separated by spaces; all there is if it names nothing.
    scope: Option<String>,
    /// The MCP endpoint; nothing else can be asked for.
    resource: Option<String>,
    /// `login` to have somebody sign in, whoever has signed in before.
    prompt: Option<String>,
}

/// Ask somebody what a program may do
///
/// A page that asks them to sign in, or, if they have, what of it they allow. What is wrong with a request the program is told, by
/// sending the browser back with `error`, `state` and `iss`; unless it is not known who asks, or whether the browser may be sent
/// there: then only the person is told. Whoever has not signed in is sent to no host on the web by that: they see a page with a
/// link that leads there.
#[utoipa::path(
    get,
    path = "/oauth/authorize",
    tag = "OAuth",
    params(AuthorizeParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 302, description = "Back to the program, with what is wrong",
         headers(("Location" = String, description = "The redirect URI with `error`, `error_description`, `state` and `iss`"))),
        (status = 400, description = "A page that says what is wrong, and may have a link back to the program",
         content_type = "text/html", body = String),
        (status = 429, description = "A page that says when to try again", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_authorize(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    if let Some(refusal) = link::refuse_beyond(&app, address, Group::Authorize) {
        return refusal;
    }
    let params = params(&uri);
    let asked = match app.service().oauth.check_authorization(&params, address).await {
        Ok(asked) => asked,
        Err(refusal) => return not_asked(&app, &headers, refusal).await,
    };
    let form = own_page::Nonce::of(&app, &headers);
    // Whoever signs in is asked as whom they have signed in then.
    let wants_to_sign_in = params.iter().any(|(name, value)| name == PROMPT && value == SIGN_IN);
    let query = query(&params);
    let page = match who(&app, &headers).await {
        Ok(Some(actor)) if !wants_to_sign_in => match app.service().oauth.ask_consent(&actor, &asked) {
            Ok(sealed) => consent_page::show(&asked, &actor, &sealed, &query, form.text()),
            Err(error) => failed(error),
        },
        Ok(_) => sign_in_page::show(&asked, &query, form.text(), None),
        Err(error) => failed(error),
    };
    form.given_to(page)
}

/// Sign in, or decide what a program may do
///
/// For the pages' buttons. Forms that do not come from the pages are refused.
#[utoipa::path(
    post,
    path = "/oauth/authorize",
    tag = "OAuth",
    params(AuthorizeParams),
    request_body(
        content = String,
        content_type = "application/x-www-form-urlencoded",
        description = "`decision` (`allow` or `deny`) with a `scope` for each that is allowed, or `email` and `password`; and what \
                       the page's form brings besides",
    ),
    responses(
        (status = 303, description = "Back to the program with a `code`, or with `error`; or, after signing in, to the page again",
         headers(("Location" = String, description = "The redirect URI with `code` or `error`, `state` and `iss`; or the page"))),
        (status = 400, description = "A page that says what is wrong", content_type = "text/html", body = String),
        (status = 401, description = "The page again: address and password do not belong together, or the session is over",
         content_type = "text/html", body = String),
        (status = 403, description = "A page that says that the form came from elsewhere, or that the account is deactivated",
         content_type = "text/html", body = String),
        (status = 429, description = "A page that says when to try again", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn authorize(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    uri: Uri,
    form: FormFields,
) -> Response {
    let again = "Go back to the app and connect it again";
    if let Some(refusal) = visitor::refuse_form(&app, address, &headers, &form, again) {
        return refusal;
    }
    let decision = link::field(&form, "decision");
    if decision.is_empty() {
        return sign_in(&app, address, &headers, &params(&uri), &form).await;
    }
    decide(&app, &headers, decision, &form).await
}

async fn decide(app: &App, headers: &HeaderMap, decision: &str, form: &FormFields) -> Response {
    let decision = match decision {
        "allow" => {
            let ticked = form.0.iter().filter(|(name, _)| name == "scope");
            Decision::Allow(ticked.map(|(_, scope)| scope.clone()).collect())
        }
        "deny" => Decision::Deny,
        _ => return failed(ServiceError::Malformed("decision must be allow or deny".to_owned())),
    };
    let actor = match who(app, headers).await {
        Ok(Some(actor)) => actor,
        Ok(None) => {
            let message = "you are not signed in any more; go back to the app and connect it again";
            return failed(ServiceError::Unauthenticated(message.to_owned()));
        }
        Err(error) => return failed(error),
    };
    let decided = app
        .service()
        .oauth
        .decide(&actor, link::field(form, "request"), decision);
    match decided.await {
        Ok(location) => led_to(StatusCode::SEE_OTHER, &location),
        Err(error) => failed(error),
    }
}

async fn sign_in(
    app: &App,
    address: IpAddr,
    headers: &HeaderMap,
    params: &[(String, String)],
    form: &FormFields,
) -> Response {
    // Nobody signs in for what could not be asked afterwards.
    let asked = match app.service().oauth.check_authorization(params, address).await {
        Ok(asked) => asked,
        Err(refusal) => return not_asked(app, headers, refusal).await,
    };
    // To this page again, wherever it is seen from, with what was checked.
    let here = format!("authorize?{}", query(params));
    let signed_in = visitor::sign_in(app, address, form, &here).await;
    signed_in.unwrap_or_else(|error| refused_to_sign_in(error, &asked, params, form))
}

/// The page again, with what was wrong.
fn refused_to_sign_in(error: ServiceError, asked: &Asked, params: &[(String, String)], form: &FormFields) -> Response {
    let fault = match &error {
        ServiceError::Unauthenticated(_) => sign_in_page::WRONG.to_owned(),
        ServiceError::Invalid { .. }
        | ServiceError::TooMany { .. }
        | ServiceError::Unavailable(_)
        | ServiceError::Overloaded { .. } => error.to_string(),
        _ => return failed(error),
    };
    let page = sign_in_page::show(asked, &query(params), link::field(form, "form"), Some(fault));
    visitor::not_signed_in(page, error)
}

fn params(uri: &Uri) -> Vec<(String, String)> {
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// What was asked, to be asked again after signing in.
fn query(params: &[(String, String)]) -> String {
    let asked = params.iter().filter(|(name, _)| name != PROMPT);
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(asked)
        .finish()
}

async fn not_asked(app: &App, headers: &HeaderMap, refusal: NotAsked) -> Response {
    match refusal {
        NotAsked::Shown(why) => {
            let text = format!("Nothing was allowed to anybody: {why}.");
            Page::saying("This app cannot be connected", text).with(StatusCode::BAD_REQUEST)
        }
        NotAsked::Sent(way) if !way.is_on_the_web => led_to(StatusCode::FOUND, &way.location),
        NotAsked::Sent(way) => match who(app, headers).await {
            Ok(Some(_)) => led_to(StatusCode::FOUND, &way.location),
            Ok(None) => way_back(way),
            Err(error) => failed(error),
        },
        NotAsked::Failed(error) => failed(error),
    }
}

/// Where a program would be told what is wrong, for the person to go there.
fn way_back(way: WayBack) -> Response {
    let text = format!(
        "Nothing was allowed to anybody: {}. The app can be told so, which takes you to {}, away from here. Go there only if you \
         came from there.",
        way.why, way.leads_to
    );
    let label = format!("Go to {}", way.leads_to);
    let page = Page::saying("This app cannot be connected", text).leading(way.location, label);
    page.with_leads(StatusCode::BAD_REQUEST, Leads::Anywhere)
}
