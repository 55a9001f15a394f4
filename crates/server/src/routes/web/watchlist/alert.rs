//! `POST /watchlist/alert`: creates one alert over the stocks of the watchlist.

use serde_json::json;
use service::alerts::Created;
use web::screens::watchlist::WatchlistForm;

use super::show::show_refusal;
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::response::redirect;
use crate::routes::web::visitor::Visitor;

/// Creates the alert and leads to it.
pub(in crate::routes::web) async fn create_alert(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let body = json!({
        "scope": {"watchlist": form_field(&form, "part")},
        "condition": "expression",
        "parameters": {"when": form_field(&form, "when")},
    });
    match app.service().alerts.create_alert(&visitor.actor, &body).await {
        Ok(Created::New(alert) | Created::Existing(alert)) => {
            let id = alert.stored.alert.id;
            redirect(&visitor.head.link(&format!("/alerts/{id}")))
        }
        Err(error) => show_refusal(&app, &visitor, &form, WatchlistForm::OverAll, error).await,
    }
}
