//! `GET|POST /approvals`: the owner decides on changes requested by agents. Opening the page changes nothing.

mod requested_alert;

use foundation::{MadeBy, ServiceError};
use service::approvals::{Approval, ApprovalId, ApprovalStatus};
use web::screens::approvals::{ApprovalsPage, PendingApproval};
use web::wording;

use self::requested_alert::RequestedAlert;
use super::response::{after_change, rendered};
use super::visitor::Visitor;
use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;

/// The number of changes with a preview; the others are shown in words.
const MAX_PREVIEWS: usize = 10;

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
        let requested = match pending.len() < MAX_PREVIEWS {
            true => RequestedAlert::of(&app, &visitor, &approval).await,
            false => Ok(RequestedAlert::default()),
        };
        match requested {
            Ok(requested) => pending.push(pending_approval(approval, requested)),
            Err(error) => return error_page(error),
        }
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
    after_change(&visitor.head, "/approvals", decided.map(str::to_owned))
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

fn pending_approval(approval: Approval, requested: RequestedAlert) -> PendingApproval {
    let sentence = requested.check.as_ref().and_then(|check| check.sentence.as_deref());
    PendingApproval {
        preview: wording::of_change(&approval.preview, sentence),
        before: requested.before,
        check: requested.check,
        id: approval.id.0.to_string(),
        asked_by: match MadeBy::from_text(&approval.asked_by) {
            MadeBy::Key(name) => format!("a client with the API key “{name}”"),
            MadeBy::App(name) => format!("an app named “{name}”"),
            MadeBy::Person | MadeBy::Analyst | MadeBy::Guest => "an unknown client".to_owned(),
        },
        created_at: approval.created_at,
    }
}
