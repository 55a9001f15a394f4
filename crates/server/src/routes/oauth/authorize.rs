//! `GET|POST /oauth/authorize`: the OAuth authorization endpoint with sign-in and consent pages.
//!
//! Opening the page changes nothing. A user without a session signs in first and is redirected back here with exactly the
//! parameters that were checked. Then the user decides. The consent form contains the request, sealed for the user's session.
//! Both forms must come from the service's own pages ([`csrf`]); otherwise another site could sign the user in to *its*
//! account, and the client would write the user's data there.
//!
//! Neither page restricts `form-action` in its content security policy, because browsers apply it to redirects after a form
//! submission too: a decision redirects to the client and possibly further, and a sign-in redirects here and possibly to the
//! client.
//!
//! For a user without a session, request errors never redirect to a web host: anyone can register a client, so this endpoint
//! would be an open redirect. The user sees the target and follows a link.

use std::net::IpAddr;

use accounts::oauth::{AuthorizationError, AuthorizationRequest, ConsentDecision, RedirectTarget};
use foundation::ServiceError;
use http::Uri;
use url::form_urlencoded;

use super::{consent_page, sign_in_page};
use crate::auth::csrf;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::pages::link;
use crate::routes::pages::page::{Page, error_page};
use crate::routes::pages::session::{self, redirect_to, signed_in_actor};
use crate::routes::prelude::*;
use crate::routes::web::appearance::page_head;
use web::layout::PageHead;

/// The parameter and value that force a new sign-in.
const PROMPT_PARAMETER: &str = "prompt";
const PROMPT_LOGIN: &str = "login";

/// Query parameters of an authorization request.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the service reads them")]
pub(super) struct AuthorizeParams {
    /// Always `code`.
    response_type: Option<String>,
    /// Client id: the id from the registration, or the URL of a client metadata document.
    client_id: Option<String>,
    /// Redirect URI. It must match a registered URI exactly; for loopback addresses the port may differ.
    redirect_uri: Option<String>,
    /// Opaque value that is returned unchanged, at most 4096 characters.
    state: Option<String>,
    /// PKCE code challenge: SHA-256 of the code verifier, base64url.
    code_challenge: Option<String>,
    /// Always `S256`.
    code_challenge_method: Option<String>,
    /// Requested scopes, separated by spaces; defaults to all supported scopes.
    scope: Option<String>,
    /// The resource; only the MCP endpoint is supported.
    resource: Option<String>,
    /// `login` forces a new sign-in.
    prompt: Option<String>,
}

/// Show the authorization page
///
/// Shows a sign-in page or, with a session, a consent page. Request errors are reported to the client by redirecting with
/// `error`, `state` and `iss`. If the client is unknown or the redirect URI is not registered, only the user sees the error.
/// Without a session, errors do not redirect to a web host; the page shows a link to it instead.
#[utoipa::path(
    get,
    path = "/oauth/authorize",
    tag = "OAuth",
    params(AuthorizeParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 302, description = "Redirect to the client with the error",
         headers(("Location" = String, description = "The redirect URI with `error`, `error_description`, `state` and `iss`"))),
        (status = 400, description = "Error page, possibly with a link to the client",
         content_type = "text/html", body = String),
        (status = 429, description = "Error page: too many requests; it says when to try again", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_authorize(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    if let Some(refusal) = link::rate_limit_page(&app, address, RateLimitGroup::Authorize).await {
        return refusal;
    }
    let params = params(&uri);
    let authorization = match app.service().oauth.check_authorization(&params, address).await {
        Ok(authorization) => authorization,
        Err(refusal) => return authorization_error(&app, &headers, refusal).await,
    };
    let form = csrf::CsrfToken::of(&app, &headers);
    // After a forced sign-in the consent page applies to the new session.
    let wants_to_sign_in = params
        .iter()
        .any(|(name, value)| name == PROMPT_PARAMETER && value == PROMPT_LOGIN);
    let query = query(&params);
    let head = page_head(&app, &headers);
    let page = match signed_in_actor(&app, &headers).await {
        Ok(Some(actor)) if !wants_to_sign_in => match app.service().oauth.consent_token(&actor, &authorization) {
            Ok(sealed) => consent_page::show(head, &authorization, &actor, &sealed, &query, form.text()),
            Err(error) => error_page(error),
        },
        Ok(_) => sign_in_page::show(head, &authorization, &query, form.text(), None),
        Err(error) => error_page(error),
    };
    form.with_cookie(page)
}

/// Submit the authorization page
///
/// Signs in or records the decision. Only forms from the service's own pages are accepted.
#[utoipa::path(
    post,
    path = "/oauth/authorize",
    tag = "OAuth",
    params(AuthorizeParams),
    request_body(
        content = String,
        content_type = "application/x-www-form-urlencoded",
        description = "`decision` (`allow` or `deny`) with a `scope` for each granted scope, or `email` and `password`; and the \
                       hidden fields of the form",
    ),
    responses(
        (status = 303, description = "Redirect to the client with `code` or `error`; after signing in, redirect to the page",
         headers(("Location" = String, description = "The redirect URI with `code` or `error`, `state` and `iss`; or the page"))),
        (status = 400, description = "Error page", content_type = "text/html", body = String),
        (status = 401, description = "The page again: address or password is wrong, or the session has ended",
         content_type = "text/html", body = String),
        (status = 403, description = "Error page: the form does not come from this service, or the account is deactivated",
         content_type = "text/html", body = String),
        (status = 429, description = "Error page: too many requests; it says when to try again", content_type = "text/html", body = String),
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
    let retry_hint = "Go back to the app and connect it again";
    if let Some(refusal) = session::reject_form(&app, address, &headers, &form, retry_hint).await {
        return refusal;
    }
    let decision = link::form_field(&form, "decision");
    if decision.is_empty() {
        return sign_in(&app, address, &headers, &params(&uri), &form).await;
    }
    decide(&app, &headers, decision, &form).await
}

async fn decide(app: &App, headers: &HeaderMap, decision: &str, form: &FormFields) -> Response {
    let decision = match decision {
        "allow" => {
            let ticked = form.0.iter().filter(|(name, _)| name == "scope");
            ConsentDecision::Allow(ticked.map(|(_, scope)| scope.clone()).collect())
        }
        "deny" => ConsentDecision::Deny,
        _ => return error_page(ServiceError::Malformed("decision must be allow or deny".to_owned())),
    };
    let actor = match signed_in_actor(app, headers).await {
        Ok(Some(actor)) => actor,
        Ok(None) => {
            let message = "you are no longer signed in; go back to the app and connect it again";
            return error_page(ServiceError::Unauthenticated(message.to_owned()));
        }
        Err(error) => return error_page(error),
    };
    let decided = app
        .service()
        .oauth
        .decide(&actor, link::form_field(form, "request"), decision);
    match decided.await {
        Ok(location) => redirect_to(StatusCode::SEE_OTHER, &location),
        Err(error) => error_page(error),
    }
}

async fn sign_in(
    app: &App,
    address: IpAddr,
    headers: &HeaderMap,
    params: &[(String, String)],
    form: &FormFields,
) -> Response {
    // Checks the request first: signing in for an invalid request would be pointless.
    let authorization = match app.service().oauth.check_authorization(params, address).await {
        Ok(authorization) => authorization,
        Err(refusal) => return authorization_error(app, headers, refusal).await,
    };
    // A relative URL, so that the redirect also works behind a proxy with a path prefix.
    let here = format!("authorize?{}", query(params));
    let signed_in = session::sign_in(app, address, form, &here).await;
    signed_in.unwrap_or_else(|error| sign_in_error(page_head(app, headers), error, &authorization, params, form))
}

/// Returns the sign-in page with an error message.
fn sign_in_error(
    head: PageHead,
    error: ServiceError,
    authorization: &AuthorizationRequest,
    params: &[(String, String)],
    form: &FormFields,
) -> Response {
    let message = match &error {
        ServiceError::Unauthenticated(_) => sign_in_page::WRONG_CREDENTIALS.to_owned(),
        ServiceError::Invalid { .. }
        | ServiceError::RateLimited { .. }
        | ServiceError::Unavailable(_)
        | ServiceError::Overloaded { .. } => error.to_string(),
        _ => return error_page(error),
    };
    let page = sign_in_page::show(
        head,
        authorization,
        &query(params),
        link::form_field(form, "form"),
        Some(message),
    );
    session::sign_in_failed(page, error)
}

fn params(uri: &Uri) -> Vec<(String, String)> {
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// Returns the query string without `prompt`, for the redirect after signing in.
fn query(params: &[(String, String)]) -> String {
    let pairs = params.iter().filter(|(name, _)| name != PROMPT_PARAMETER);
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

async fn authorization_error(app: &App, headers: &HeaderMap, refusal: AuthorizationError) -> Response {
    match refusal {
        AuthorizationError::ShowToUser(why) => {
            let text = format!("No access was granted: {why}.");
            Page::message("This app cannot be connected", text).with_status(StatusCode::BAD_REQUEST)
        }
        AuthorizationError::RedirectToClient(way) if !way.is_web_host => redirect_to(StatusCode::FOUND, &way.location),
        AuthorizationError::RedirectToClient(way) => match signed_in_actor(app, headers).await {
            Ok(Some(_)) => redirect_to(StatusCode::FOUND, &way.location),
            Ok(None) => error_redirect_page(way),
            Err(error) => error_page(error),
        },
        AuthorizationError::Failed(error) => error_page(error),
    }
}

/// Returns an error page with a link to the client's redirect target.
fn error_redirect_page(way: RedirectTarget) -> Response {
    let text = format!(
        "No access was granted: {}. You can report this to the app, which takes you to {}, away from this site. Continue only if you \
         came from there.",
        way.reason, way.destination
    );
    let label = format!("Go to {}", way.destination);
    let page = Page::message("This app cannot be connected", text).with_link(way.location, label);
    page.with_status(StatusCode::BAD_REQUEST)
}
