//! `GET|POST /unsubscribe`, `POST /subscribe`: what the link under each mail about an alert leads to.
//!
//! Opening it shows a page and changes nothing: programs that look at mail open links, too. What changes something is a POST,
//! sent by the page's button or, in one click, by the mail program (RFC 8058). That one comes from elsewhere, without a
//! cookie, and with a body that nothing is needed of.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use service::ServiceError;
use service::messages::MailingState;
use utoipa::IntoParams;

use super::form::AnyBody;
use crate::app::App;
use crate::error::ApiError;
use crate::query::Query;
use crate::routes::pages::page::{self, Leads, STYLE};

const PAGE: &str = include_str!("../../../assets/messages/unsubscribe.html");
/// A token with an address of 254 bytes has 360.
const MAX_TOKEN_CHARS: usize = 500;

/// Which address.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handlers read them")]
pub struct TokenParams {
    /// What the link in the mail has. It stands for the address it was sent to.
    token: String,
}

/// Ask whether mail about alerts is to end
///
/// The page that the link in a mail opens. It changes nothing.
#[utoipa::path(
    get,
    path = "/unsubscribe",
    tag = "Messages",
    params(TokenParams),
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is none", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_unsubscribe(State(app): State<App>, query: Query) -> Result<Response, ApiError> {
    let Some(token) = token(query) else {
        return Ok(no_link());
    };
    let state = app.service().account_settings.mailing_state(&token).await;
    shown(state, |state| {
        if state.is_subscribed {
            ask(state, &token)
        } else {
            ended(state, &token)
        }
    })
}

/// End mail about alerts
///
/// For mail programs (RFC 8058, `List-Unsubscribe-Post`) and for the page's button. Mail about the account itself still comes.
#[utoipa::path(
    post,
    path = "/unsubscribe",
    tag = "Messages",
    params(TokenParams),
    responses(
        (status = 200, description = "No more mail about alerts is sent there", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is none", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn unsubscribe(State(app): State<App>, query: Query, _: AnyBody) -> Result<Response, ApiError> {
    let Some(token) = token(query) else {
        return Ok(no_link());
    };
    shown(
        app.service().account_settings.set_mailing(&token, false).await,
        |state| ended(state, &token),
    )
}

/// Begin mail about alerts again
///
/// For the button of the page that says that it has ended.
#[utoipa::path(
    post,
    path = "/subscribe",
    tag = "Messages",
    params(TokenParams),
    responses(
        (status = 200, description = "Mail about alerts is sent there again", content_type = "text/html", body = String),
        (status = 400, description = "A page that says that the link is none", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn subscribe_again(State(app): State<App>, query: Query, _: AnyBody) -> Result<Response, ApiError> {
    let Some(token) = token(query) else {
        return Ok(no_link());
    };
    shown(
        app.service().account_settings.set_mailing(&token, true).await,
        |state| {
            let text = format!("Mail about alerts goes to {} again.", state.address);
            show(StatusCode::OK, "Mail about alerts has begun again", &text, None)
        },
    )
}

fn token(mut query: Query) -> Option<String> {
    query.text("token", MAX_TOKEN_CHARS)
}

fn shown(
    state: Result<MailingState, ServiceError>,
    show: impl FnOnce(&MailingState) -> Response,
) -> Result<Response, ApiError> {
    match state {
        Ok(state) => Ok(show(&state)),
        Err(ServiceError::Invalid { .. }) => Ok(no_link()),
        Err(error) => Err(error.into()),
    }
}

fn ask(state: &MailingState, token: &str) -> Response {
    let text = format!(
        "Mail about alerts goes to {}. Alerts stay as they are; what they fire is just not mailed any more. Mail about the \
         account itself still comes.",
        state.address
    );
    let button = Button {
        path: "unsubscribe",
        token,
        label: "No more mail about alerts",
    };
    show(StatusCode::OK, "No more mail about alerts?", &text, Some(button))
}

fn ended(state: &MailingState, token: &str) -> Response {
    let text = format!("No mail about alerts goes to {} any more.", state.address);
    let button = Button {
        path: "subscribe",
        token,
        label: "Send it again",
    };
    show(StatusCode::OK, "Mail about alerts has ended", &text, Some(button))
}

fn no_link() -> Response {
    let text = "This link is none of this service, or was cut off. Open the whole link as the mail has it.";
    show(StatusCode::BAD_REQUEST, "This link does not work", text, None)
}

struct Button<'a> {
    path: &'static str,
    token: &'a str,
    label: &'static str,
}

fn show(status: StatusCode, title: &str, text: &str, button: Option<Button<'_>>) -> Response {
    let form = button.map(|button| {
        format!(
            "<form method=\"post\" action=\"/{}?token={}\"><button type=\"submit\">{}</button></form>",
            button.path,
            escaped(button.token),
            escaped(button.label)
        )
    });
    let html = PAGE
        .replace("{{style}}", STYLE)
        .replace("{{title}}", &escaped(title))
        .replace("{{form}}", &form.unwrap_or_default())
        .replace("{{text}}", &escaped(text));
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        // Nothing but the style that all pages have, and the form.
        (header::CONTENT_SECURITY_POLICY, page::policy(Leads::Home)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // The address of the page is what ends mail; it is told to nobody else.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, html).into_response()
}

/// A text as it stands in HTML. A token that is ours has no character that would have to be escaped in a URL.
fn escaped(text: &str) -> String {
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
