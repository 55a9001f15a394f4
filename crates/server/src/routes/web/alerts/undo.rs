//! `POST /alerts/undo`: restores the alerts of the last change.

use foundation::ServiceError;
use service::alerts::UndoId;
use web::layout::Notice;
use web::screens::alerts::{BulkAction, ChangeCounts};

use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::notice;
use crate::routes::web::response::{error_text, go_to_page, is_failure, see_other};
use crate::routes::web::visitor::Visitor;

/// Restores the former states.
pub(in crate::routes::web) async fn undo_change(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let undone = match uuid(form_field(&form, "undo")) {
        Some(id) => app.service().alerts.undo_change(&visitor.actor, UndoId(id)).await,
        None => Err(ServiceError::field("undo", "must be the id of a change")),
    };
    let (text, is_error) = match undone {
        Ok(result) if result.restored == 0 => {
            let text =
                "Nothing is left to undo: the change is older than ten minutes, or the alerts have changed since.";
            (text.to_owned(), true)
        }
        Ok(result) => {
            let counts = ChangeCounts {
                changed: result.restored,
                ..ChangeCounts::default()
            };
            (BulkAction::Undo.notice(counts, "", ""), false)
        }
        Err(error) if is_failure(&error) => return error_page(error),
        Err(error) => (error_text(error), true),
    };
    let next = form_field(&form, "next");
    // Only the list has a part that takes the place of its former contents.
    let is_list = next == "/alerts" || next.starts_with("/alerts?");
    let mut response = see_other(&visitor.head, next);
    if visitor.is_part && !is_list {
        response = go_to_page(response);
    }
    let undo = None;
    notice::set(&mut response, &Notice { text, is_error, undo });
    response
}
