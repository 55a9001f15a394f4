//! Watchlist endpoints: items, paper trades and their performance.

pub mod create;
pub mod delete;
pub mod list;
pub mod order;
pub mod paper_trades;
pub mod performance;
pub mod update;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list_watchlist, create::create_watchlist_item))
        .routes(routes!(order::swap_watchlist_item))
        .routes(routes!(paper_trades::list_paper_trades))
        .routes(routes!(performance::get_performance))
        .routes(routes!(update::update_watchlist_item, delete::delete_watchlist_item))
}
