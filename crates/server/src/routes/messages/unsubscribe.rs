//! `GET|POST /unsubscribe`, `POST /subscribe`: the unsubscribe link in alert emails.
//!
//! Opening the link shows a page and changes nothing, because mail scanners open links too. A POST makes the change. It comes
//! from the page's button or from the mail client (one-click unsubscribe, RFC 8058). The mail client sends no cookie, and its
//! body is ignored.

use delivery::messages::EmailSubscription;
use foundation::ServiceError;

use crate::routes::pages::page::{self, FormTarget, STYLE};
use crate::routes::prelude::*;

const PAGE_TEMPLATE: &str = include_str!("../../../assets/messages/unsubscribe.html");
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
        render(StatusCode::OK, "You are subscribed again", &text, None)
    })
}

fn token(mut query: Query) -> Option<String> {
    query.text("token", MAX_TOKEN_CHARS)
}

fn render_state(
    state: Result<EmailSubscription, ServiceError>,
    show: impl FnOnce(&EmailSubscription) -> Response,
) -> Result<Response, ApiError> {
    match state {
        Ok(state) => Ok(show(&state)),
        Err(ServiceError::Invalid { .. }) => Ok(invalid_link_page()),
        Err(error) => Err(error.into()),
    }
}

fn confirmation_page(state: &EmailSubscription, token: &str) -> Response {
    let text = format!(
        "Alert emails go to {}. After you unsubscribe, your alerts stay active, but are no longer sent by email. Emails about \
         your account are still sent.",
        state.address
    );
    let button = Button {
        path: "unsubscribe",
        token,
        label: "Unsubscribe from alert emails",
    };
    render(StatusCode::OK, "Unsubscribe from alert emails?", &text, Some(button))
}

fn unsubscribed_page(state: &EmailSubscription, token: &str) -> Response {
    let text = format!("{} no longer receives alert emails.", state.address);
    let button = Button {
        path: "subscribe",
        token,
        label: "Subscribe again",
    };
    render(StatusCode::OK, "You are unsubscribed", &text, Some(button))
}

fn invalid_link_page() -> Response {
    let text = "The link is incomplete or does not belong to this service. Open the complete link from the email.";
    render(StatusCode::BAD_REQUEST, "This link does not work", text, None)
}

struct Button<'a> {
    path: &'static str,
    token: &'a str,
    label: &'static str,
}

fn render(status: StatusCode, title: &str, text: &str, button: Option<Button<'_>>) -> Response {
    let form = button.map(|button| {
        format!(
            "<form method=\"post\" action=\"/{}?token={}\"><button type=\"submit\">{}</button></form>",
            button.path,
            escape_html(button.token),
            escape_html(button.label)
        )
    });
    let html = PAGE_TEMPLATE
        .replace("{{style}}", STYLE)
        .replace("{{title}}", &escape_html(title))
        .replace("{{form}}", &form.unwrap_or_default())
        .replace("{{text}}", &escape_html(text));
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        // Allows only the shared page style and the form.
        (header::CONTENT_SECURITY_POLICY, page::policy(FormTarget::SameOrigin)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // The page's URL contains the unsubscribe token, so it must not leak to other sites.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, html).into_response()
}

/// Escapes a text for HTML. A valid token contains no characters that need escaping in a URL.
fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
