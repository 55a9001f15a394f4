//! `POST /watchlist/change`: changes or removes a stock of the watchlist.

use foundation::ServiceError;
use serde_json::json;
use watchlist::WatchlistItemId;
use web::screens::watchlist::WatchlistForm;
use web::texts;

use super::show::show_refusal;
use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::form_value::{is_checked, optional_number, optional_text};
use crate::routes::web::response::after_change;
use crate::routes::web::visitor::Visitor;

/// Applies the form.
pub(in crate::routes::web) async fn change_item(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let symbol = form_field(&form, "symbol").to_owned();
    match change(&app, &visitor, &form).await {
        Ok(text) => {
            let text = texts::text_with(text, [("symbol", symbol.into())]);
            after_change(&visitor.head, "/watchlist", Ok(text))
        }
        Err(error) => {
            let item = WatchlistForm::Item(form_field(&form, "id").to_owned());
            show_refusal(&app, &visitor, &form, item, error).await
        }
    }
}

/// Returns the id of the notice's text.
async fn change(app: &App, visitor: &Visitor, form: &FormFields) -> Result<&'static str, ServiceError> {
    let (watchlists, actor) = (&app.service().watchlists, &visitor.actor);
    let no_such_item = || ServiceError::NotFound("watchlist item");
    let id = WatchlistItemId(uuid(form_field(form, "id")).ok_or_else(no_such_item)?);
    if form_field(form, "action") == "remove" {
        watchlists.delete_watchlist_item(actor, id).await?;
        return Ok("item-removed");
    }
    let current = watchlists.watchlist_item(actor.account, id).await?.listed.item;
    let mut changed = json!({
        "target_price": optional_number(form, "target"),
        "notes": optional_text(form, "notes"),
        "auto_alerts_enabled": is_checked(form, "auto"),
    });
    // To activate an active item again would begin its paper trade anew.
    if is_checked(form, "active") != current.is_active {
        changed["is_active"] = json!(!current.is_active);
    }
    watchlists.update_watchlist_item(actor, id, &changed).await?;
    if form_field(form, "intention") != current.intention.name() {
        let swap = json!({
            "item_id": id.0,
            "new_intention": form_field(form, "intention"),
            "stock_symbol": current.symbol.as_str(),
        });
        watchlists.swap_watchlist_item(actor, &swap).await?;
    }
    Ok("item-changed")
}
