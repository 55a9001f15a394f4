//! `POST /alerts/undo`: restores the alerts of the last change.

use foundation::ServiceError;
use service::alerts::UndoId;
use web::layout::Notice;
use web::screens::alerts::BulkAction;

use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::notice;
use crate::routes::web::response::{is_failure, see_other};
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
        Ok(result) => (BulkAction::Undo.notice(result.restored, 0, ""), false),
        Err(error) if is_failure(&error) => return error_page(error),
        Err(error) => (error.to_string(), true),
    };
    let mut response = see_other(&visitor.head, form_field(&form, "next"));
    let undo = None;
    notice::set(&mut response, &Notice { text, is_error, undo });
    response
}
