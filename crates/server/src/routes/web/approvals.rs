//! `GET|POST /approvals`: the owner decides on changes requested by agents. Opening the page changes nothing.

use alerts::AlertId;
use foundation::{MadeBy, ServiceError};
use service::approvals::{Approval, ApprovalId, ApprovalStatus};
use web::layout::Notice;
use web::screens::approvals::{ApprovalsPage, PendingApproval};

use super::notice;
use super::response::{redirect, rendered};
use super::visitor::Visitor;
use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;

/// Shows the pending approvals.
pub(super) async fn show_approvals(State(app): State<App>, visitor: Visitor) -> Response {
    let now = app.now();
    let approvals = match app.service().approvals.approvals(&visitor.actor).await {
        Ok((_, approvals)) => approvals,
        Err(error) => return error_page(error),
    };
    let is_pending = |approval: &Approval| approval.status == ApprovalStatus::Pending && now < approval.expires_at;
    let mut pending = Vec::new();
    for approval in approvals.into_iter().filter(is_pending) {
        let before = present_alert(&app, &visitor, &approval).await;
        pending.push(pending_approval(approval, before));
    }
    let page = ApprovalsPage {
        pending,
        shell: visitor.shell(&app, None),
    };
    visitor.after_notice(rendered(&page))
}

/// Approves or denies a change.
pub(super) async fn decide(State(app): State<App>, visitor: Visitor, form: FormFields) -> Response {
    let decided = apply_decision(&app, &visitor, form_field(&form, "decision"), form_field(&form, "id")).await;
    let notice = match decided {
        Ok(text) => Notice {
            text: text.to_owned(),
            is_error: false,
            undo: None,
        },
        Err(error @ (ServiceError::Internal(_) | ServiceError::StorageUnavailable(_))) => return error_page(error),
        Err(error) => Notice {
            text: error.to_string(),
            is_error: true,
            undo: None,
        },
    };
    let mut response = redirect(&visitor.head.link("/approvals"));
    notice::set(&mut response, &notice);
    response
}

async fn apply_decision(app: &App, visitor: &Visitor, decision: &str, id: &str) -> Result<&'static str, ServiceError> {
    let malformed = || ServiceError::Malformed("the form is invalid; reload the page".to_owned());
    let id = ApprovalId(uuid(id).ok_or_else(malformed)?);
    let approvals = &app.service().approvals;
    match decision {
        "approve" => approvals
            .approve(&visitor.actor, id)
            .await
            .map(|_| "The change was made."),
        "deny" => approvals
            .deny(&visitor.actor, id)
            .await
            .map(|_| "The change was denied."),
        _ => Err(malformed()),
    }
}

/// Returns the alert that a change is about as a sentence; `None` if it is about no alert that exists.
async fn present_alert(app: &App, visitor: &Visitor, approval: &Approval) -> Option<String> {
    let id = approval.arguments.get("alert_id")?.as_str().and_then(uuid)?;
    let detail = app.service().alerts.alert(&visitor.actor, AlertId(id)).await.ok()?;
    let alert = detail.stored.alert;
    let sentence = alerts::sentence::sentence(&alert.condition, alert.initial_price);
    Some(format!("{}: {sentence}", alert.symbol))
}

fn pending_approval(approval: Approval, before: Option<String>) -> PendingApproval {
    PendingApproval {
        before,
        id: approval.id.0.to_string(),
        preview: approval.preview,
        asked_by: match MadeBy::from_text(&approval.asked_by) {
            MadeBy::Key(name) => format!("a client with the API key “{name}”"),
            MadeBy::App(name) => format!("an app named “{name}”"),
            MadeBy::Person | MadeBy::Analyst | MadeBy::Guest => "an unknown client".to_owned(),
        },
        created_at: approval.created_at,
    }
}
