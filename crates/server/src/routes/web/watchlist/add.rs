//! `POST /watchlist`: adds a stock.

use serde_json::json;
use web::screens::watchlist::WatchlistForm;
use web::texts;

use super::show::show_refusal;
use crate::routes::pages::link::form_field;
use crate::routes::prelude::*;
use crate::routes::web::form_value::optional_number;
use crate::routes::web::response::after_change;
use crate::routes::web::visitor::Visitor;

/// Adds the stock with its intention.
pub(in crate::routes::web) async fn add_item(State(app): State<App>, visitor: Visitor, form: FormFields) -> Response {
    let symbol = form_field(&form, "symbol").trim().to_ascii_uppercase();
    let body = json!({
        "stock_symbol": symbol,
        "intention": form_field(&form, "intention"),
        "target_price": optional_number(&form, "target"),
    });
    let added = app.service().watchlists.add_to_watchlist(&visitor.actor, &body).await;
    match added {
        Ok(_) => {
            let text = texts::text_with("item-added", [("symbol", symbol.into())]);
            after_change(&visitor.head, "/watchlist", Ok(text))
        }
        Err(error) => show_refusal(&app, &visitor, &form, WatchlistForm::Add, error).await,
    }
}
