//! `GET|POST /approvals`: the page on which the account's owner decides on changes requested by agents.
//!
//! Opening the page changes nothing. Without a session it shows a sign-in form. Both forms are protected by [`csrf`].

use std::net::IpAddr;

use askama::Template;
use foundation::MadeBy;
use foundation::{Actor, ServiceError};
use service::approvals::{Approval, ApprovalId, ApprovalStatus};

use super::link;
use super::page::{self, FormTarget, STYLE, error_page};
use super::session::{self, signed_in_actor};
use crate::auth::csrf;
use crate::query::uuid;
use crate::rate_limiter::RateLimitGroup;
use crate::routes::prelude::*;

/// A pending approval, formatted for the page.
struct PendingApproval {
    id: String,
    preview: String,
    asked_by: String,
    created_at: String,
}

impl PendingApproval {
    fn of(approval: Approval) -> Self {
        Self {
            id: approval.id.0.to_string(),
            preview: approval.preview,
            asked_by: match MadeBy::from_text(&approval.asked_by) {
                MadeBy::Key(name) => format!("a client with the API key “{name}”"),
                MadeBy::App(name) => format!("an app named “{name}”"),
                MadeBy::Person | MadeBy::Analyst | MadeBy::Guest => "an unknown client".to_owned(),
            },
            created_at: timestamp(approval.created_at),
        }
    }
}

#[derive(Template)]
#[template(path = "approvals.html")]
struct ApprovalsTemplate<'a> {
    style: &'static str,
    form: &'a str,
    /// Result of the last decision or sign-in.
    message: Option<String>,
    /// Email address of the signed-in account.
    email: Option<&'a str>,
    pending: Vec<PendingApproval>,
}

/// Show the approvals page
///
/// Shows pending approvals with buttons to approve or deny them; without a session, shows a sign-in form.
#[utoipa::path(
    get,
    path = "/approvals",
    tag = "Pages",
    responses(
        (status = 200, description = "The page", content_type = "text/html", body = String),
        (status = 429, description = "Error page: too many requests; it says when to try again", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn show_approvals(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
) -> Response {
    if let Some(refusal) = link::rate_limit_page(&app, address, RateLimitGroup::Authorize) {
        return refusal;
    }
    match signed_in_actor(&app, &headers).await {
        Ok(actor) => render(&app, &headers, actor.as_ref(), StatusCode::OK, None).await,
        Err(error) => error_page(error),
    }
}

/// Submit the approvals page
///
/// Approves or denies a change, or signs in. Only forms from this page are accepted.
#[utoipa::path(
    post,
    path = "/approvals",
    tag = "Pages",
    request_body(
        content = String,
        content_type = "application/x-www-form-urlencoded",
        description = "`id` and `decision` (`approve` or `deny`), or `email` and `password`; and the hidden fields of the form",
    ),
    responses(
        (status = 200, description = "The page again, with the result", content_type = "text/html", body = String),
        (status = 303, description = "Signed in; redirect to the page"),
        (status = 400, description = "Error page", content_type = "text/html", body = String),
        (status = 401, description = "The page again: address or password is wrong", content_type = "text/html", body = String),
        (status = 403,
         description = "The form does not come from this page, or the change is not allowed",
         content_type = "text/html", body = String),
        (status = 409, description = "The page again: the approval is already decided", content_type = "text/html", body = String),
        (status = 422, description = "The page again: the change was refused", content_type = "text/html", body = String),
        (status = 429, description = "Error page: too many requests; it says when to try again", content_type = "text/html", body = String),
        (status = 503, description = "The page again: the service is not available", content_type = "text/html", body = String),
    ),
    security(())
)]
pub(super) async fn decide_on_page(
    State(app): State<App>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    form: FormFields,
) -> Response {
    if let Some(refusal) = session::reject_form(&app, address, &headers, &form, "Load the page again") {
        return refusal;
    }
    let decision = link::form_field(&form, "decision");
    if decision.is_empty() {
        return sign_in(&app, &headers, address, &form).await;
    }
    let actor = match signed_in_actor(&app, &headers).await {
        Ok(Some(actor)) => actor,
        Ok(None) => return render(&app, &headers, None, StatusCode::UNAUTHORIZED, None).await,
        Err(error) => return error_page(error),
    };
    let (status, message) = match apply_decision(&app, &actor, decision, link::form_field(&form, "id")).await {
        Ok(message) => (StatusCode::OK, message.to_owned()),
        Err(error) => {
            let error = ApiError::from(error);
            (error.status(), error.message().to_owned())
        }
    };
    render(&app, &headers, Some(&actor), status, Some(message)).await
}

async fn apply_decision(app: &App, actor: &Actor, decision: &str, id: &str) -> Result<&'static str, ServiceError> {
    let malformed = || ServiceError::Malformed("the form is invalid; reload the page".to_owned());
    let id = ApprovalId(uuid(id).ok_or_else(malformed)?);
    let approvals = &app.service().approvals;
    match decision {
        "approve" => approvals.approve(actor, id).await.map(|_| "The change was made."),
        "deny" => approvals.deny(actor, id).await.map(|_| "The change was denied."),
        _ => Err(malformed()),
    }
}

async fn sign_in(app: &App, headers: &HeaderMap, address: IpAddr, form: &FormFields) -> Response {
    // The redirect makes reloading the page safe: it does not submit the form again.
    match session::sign_in(app, address, form, "approvals").await {
        Ok(response) => response,
        Err(error @ (ServiceError::Internal(_) | ServiceError::StorageUnavailable(_) | ServiceError::Malformed(_))) => {
            error_page(error)
        }
        Err(error) => {
            let message = Some(error.to_string());
            session::sign_in_failed(render(app, headers, None, StatusCode::OK, message).await, error)
        }
    }
}

async fn render(
    app: &App,
    headers: &HeaderMap,
    actor: Option<&Actor>,
    status: StatusCode,
    message: Option<String>,
) -> Response {
    let now = app.now();
    let pending = match actor {
        Some(actor) => match app.service().approvals.approvals(actor).await {
            Ok((_, mut approvals)) => {
                approvals.retain(|approval| approval.status == ApprovalStatus::Pending && now < approval.expires_at);
                approvals.into_iter().map(PendingApproval::of).collect()
            }
            Err(error) => return error_page(error),
        },
        None => Vec::new(),
    };
    let form = csrf::CsrfToken::of(app, headers);
    let template = ApprovalsTemplate {
        style: STYLE,
        form: form.text(),
        message,
        email: actor.map(|actor| actor.email.as_str()),
        pending,
    };
    let mut page = page::response(&template, FormTarget::SameOrigin);
    *page.status_mut() = status;
    form.with_cookie(page)
}
