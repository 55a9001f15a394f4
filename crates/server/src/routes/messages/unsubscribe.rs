//! `GET|POST /unsubscribe`, `POST /subscribe`: the unsubscribe link in alert emails.
//!
//! Opening the link shows a page and changes nothing, because mail scanners open links too. A POST makes the change. It comes
//! from the page's button or from the mail client (one-click unsubscribe, RFC 8058). The mail client sends no cookie, and its
//! body is ignored.

use delivery::messages::EmailSubscription;
use foundation::ServiceError;

use crate::routes::pages::page::{Form, Page, invalid_link_page};
use crate::routes::prelude::*;

/// Maximum length of a token. A token for an address of 254 bytes has 360 characters.
const MAX_TOKEN_CHARS: usize = 500;

/// Query parameters: the token.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handlers read them")]
pub struct TokenParams {
    /// Token from the link in the email. It identifies the recipient's address.
    token: String,
}

/// Show the unsubscribe page
///
/// The page behind the unsubscribe link in an email. It changes nothing.
#[utoipa::path(
    get,
    path = "/unsubscribe",
    tag = "Messages",
    params(TokenParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is malformed", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_unsubscribe(State(app): State<App>, query: Query) -> Result<Response, ApiError> {
    let Some(token) = token(query) else {
        return Ok(invalid_link_page());
    };
    let state = app.service().email_subscriptions.read(&token).await;
    render_state(state, |state| {
        if state.is_subscribed {
            confirmation_page(state, &token)
        } else {
            unsubscribed_page(state, &token)
        }
    })
}

/// Unsubscribe from alert emails
///
/// For mail clients (RFC 8058, `List-Unsubscribe-Post`) and the page's button. Emails about the account itself are still sent.
#[utoipa::path(
    post,
    path = "/unsubscribe",
    tag = "Messages",
    params(TokenParams),
    responses(
        (status = 200, description = "The address receives no more alert emails", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is malformed", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn unsubscribe(State(app): State<App>, query: Query, _: DiscardedBody) -> Result<Response, ApiError> {
    let Some(token) = token(query) else {
        return Ok(invalid_link_page());
    };
    let state = app.service().email_subscriptions.set(&token, false).await;
    render_state(state, |state| unsubscribed_page(state, &token))
}

/// Subscribe to alert emails again
///
/// For the button on the unsubscribe confirmation page.
#[utoipa::path(
    post,
    path = "/subscribe",
    tag = "Messages",
    params(TokenParams),
    responses(
        (status = 200, description = "The address receives alert emails again", content_type = "text/html", body = String),
        (status = 400, description = "Error page: the link is malformed", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn subscribe_again(
    State(app): State<App>,
    query: Query,
    _: DiscardedBody,
) -> Result<Response, ApiError> {
    let Some(token) = token(query) else {
        return Ok(invalid_link_page());
    };
    render_state(app.service().email_subscriptions.set(&token, true).await, |state| {
        let text = format!("Alert emails go to {} again.", state.address);
        Page::message("You are subscribed again", text)
    })
}

fn token(mut query: Query) -> Option<String> {
    query.text("token", MAX_TOKEN_CHARS)
}

fn render_state(
    state: Result<EmailSubscription, ServiceError>,
    show: impl FnOnce(&EmailSubscription) -> Page,
) -> Result<Response, ApiError> {
    match state {
        Ok(state) => Ok(show(&state).ok()),
        Err(ServiceError::Invalid { .. }) => Ok(invalid_link_page()),
        Err(error) => Err(error.into()),
    }
}

fn confirmation_page(state: &EmailSubscription, token: &str) -> Page {
    let text = format!(
        "Alert emails go to {}. After you unsubscribe, your alerts stay active, but are no longer sent by email. Emails about \
         your account are still sent.",
        state.address
    );
    let button = form("unsubscribe", token, "Unsubscribe from alert emails");
    Page::with_form("Unsubscribe from alert emails?", text, button)
}

fn unsubscribed_page(state: &EmailSubscription, token: &str) -> Page {
    let text = format!("{} no longer receives alert emails.", state.address);
    Page::with_form(
        "You are unsubscribed",
        text,
        form("subscribe", token, "Subscribe again"),
    )
}

/// Returns a form with one button. A valid token contains no characters that need escaping in a URL.
fn form(path: &str, token: &str, button: &'static str) -> Form {
    Form {
        action: format!("/{path}?token={token}").into(),
        button,
        ..Form::default()
    }
}
