//! `POST /fired/seen`: records that the account has seen its firings.

use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::response::see_other;
use crate::routes::web::visitor::Visitor;

/// Records the position of the page, so that a firing after it stays unseen.
pub(in crate::routes::web) async fn mark_seen(State(app): State<App>, visitor: Visitor, form: FormFields) -> Response {
    let position = form_field(&form, "position").parse().unwrap_or_default();
    match app.service().alerts.mark_firings_seen(&visitor.actor, position).await {
        Ok(()) => see_other(&visitor.head, form_field(&form, "next")),
        Err(error) => error_page(error),
    }
}
