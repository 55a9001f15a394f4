//! `GET|POST /approvals`: what agents want to change, and the owner's yes or no.
//!
//! Opening it changes nothing. Whoever has not signed in is asked to first. Both forms have to come from this page ([`own_page`]).

use std::net::IpAddr;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use service::alerts::MadeBy;
use service::approvals::{Approval, ApprovalId, ApprovalStatus};
use service::{Actor, ServiceError};

use super::link;
use super::page::{self, Leads, STYLE};
use super::visitor::{self, failed, who};
use crate::app::App;
use crate::auth::own_page;
use crate::error::ApiError;
use crate::layers::client::ClientAddress;
use crate::layers::limit::Group;
use crate::query::uuid;
use crate::routes::messages::form::FormFields;
use crate::values::timestamp;

/// What waits, as people read it.
struct Wish {
    id: String,
    preview: String,
    asked_by: String,
    created_at: String,
}

impl Wish {
    fn of(approval: Approval) -> Self {
        Self {
            id: approval.id.0.to_string(),
            preview: approval.preview,
            asked_by: match MadeBy::from_text(&approval.asked_by) {
                MadeBy::Key(name) => format!("whoever shows the API key “{name}”"),
                MadeBy::App(name) => format!("an app that calls itself “{name}”"),
                MadeBy::Person | MadeBy::Analyst | MadeBy::Guest => "somebody".to_owned(),
            },
            created_at: timestamp(approval.created_at),
        }
    }
}

#[derive(Template)]
#[template(path = "approvals.html")]
struct Html<'a> {
    style: &'static str,
    form: &'a str,
    /// What came of what was pressed.
    said: Option<String>,
    /// Of whoever has signed in.
    email: Option<&'a str>,
    wishes: Vec<Wish>,
}

/// Show what agents want
///
/// What waits for the account's owner, each with a button for yes and one for no; or, for whoever has not signed in, a form to do so.
#[utoipa::path(
    get,
    path = "/approvals",
    tag = "Pages",
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 429, description = "A page that says when to try again", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_approvals(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
) -> Response {
    if let Some(refusal) = link::refuse_beyond(&app, address, Group::Authorize) {
        return refusal;
    }
    match who(&app, &headers).await {
        Ok(actor) => shown(&app, &headers, actor.as_ref(), StatusCode::OK, None).await,
        Err(error) => failed(error),
    }
}

/// Say yes or no to what an agent wants, or sign in
///
/// For the page's buttons. Forms that do not come from the page are refused.
#[utoipa::path(
    post,
    path = "/approvals",
    tag = "Pages",
    request_body(
        content = String,
        content_type = "application/x-www-form-urlencoded",
        description = "`id` and `decision` (`approve` or `deny`), or `email` and `password`; and what the page's form brings besides",
    ),
    responses(
        (status = 200, description = "The page again, with what came of it", content_type = "text/html", body = String),
        (status = 303, description = "Signed in; to the page again"),
        (status = 400, description = "A page that says what is wrong", content_type = "text/html", body = String),
        (status = 401, description = "The page again: address and password do not belong together", content_type = "text/html", body = String),
        (status = 403, description = "The form came from elsewhere, or it is not allowed", content_type = "text/html", body = String),
        (status = 409, description = "The page again: it is decided already", content_type = "text/html", body = String),
        (status = 422, description = "The page again: the change is refused now", content_type = "text/html", body = String),
        (status = 429, description = "A page that says when to try again", content_type = "text/html", body = String),
        (status = 503, description = "The page again: it cannot be done now", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn decide_on_page(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    form: FormFields,
) -> Response {
    if let Some(refusal) = visitor::refuse_form(&app, address, &headers, &form, "Load the page again") {
        return refusal;
    }
    let decision = link::field(&form, "decision");
    if decision.is_empty() {
        return sign_in(&app, &headers, address, &form).await;
    }
    let actor = match who(&app, &headers).await {
        Ok(Some(actor)) => actor,
        Ok(None) => return shown(&app, &headers, None, StatusCode::UNAUTHORIZED, None).await,
        Err(error) => return failed(error),
    };
    let (status, said) = match decided(&app, &actor, decision, link::field(&form, "id")).await {
        Ok(said) => (StatusCode::OK, said.to_owned()),
        Err(error) => {
            let error = ApiError::from(error);
            (error.status(), error.message().to_owned())
        }
    };
    shown(&app, &headers, Some(&actor), status, Some(said)).await
}

async fn decided(app: &App, actor: &Actor, decision: &str, id: &str) -> Result<&'static str, ServiceError> {
    let malformed = || ServiceError::Malformed("this page's form was changed; load the page again".to_owned());
    let id = ApprovalId(uuid(id).ok_or_else(malformed)?);
    match decision {
        "approve" => app.service().approvals.approve(actor, id).await.map(|_| "It is done."),
        "deny" => app
            .service()
            .approvals
            .deny(actor, id)
            .await
            .map(|_| "It will not be done."),
        _ => Err(malformed()),
    }
}

async fn sign_in(app: &App, headers: &HeaderMap, address: IpAddr, form: &FormFields) -> Response {
    // Loaded again, it asks for nothing.
    match visitor::sign_in(app, address, form, "approvals").await {
        Ok(response) => response,
        Err(error @ (ServiceError::Internal(_) | ServiceError::StorageUnavailable(_) | ServiceError::Malformed(_))) => {
            failed(error)
        }
        Err(error) => {
            let said = Some(error.to_string());
            visitor::not_signed_in(shown(app, headers, None, StatusCode::OK, said).await, error)
        }
    }
}

async fn shown(
    app: &App,
    headers: &HeaderMap,
    actor: Option<&Actor>,
    status: StatusCode,
    said: Option<String>,
) -> Response {
    let now = app.now();
    let wishes = match actor {
        Some(actor) => match app.service().approvals.approvals(actor).await {
            Ok((_, mut approvals)) => {
                approvals.retain(|approval| approval.status == ApprovalStatus::Pending && now < approval.expires_at);
                approvals.into_iter().map(Wish::of).collect()
            }
            Err(error) => return failed(error),
        },
        None => Vec::new(),
    };
    let form = own_page::Nonce::of(app, headers);
    let html = Html {
        style: STYLE,
        form: form.text(),
        said,
        email: actor.map(|actor| actor.email.as_str()),
        wishes,
    };
    // Writing into a string cannot fail, and the template has no other fault.
    let mut page = page::response(html.render().unwrap_or_default(), Leads::Home);
    *page.status_mut() = status;
    form.given_to(page)
}
