//! `GET /watchlist`: the items, the paper trades and their performance.

use foundation::ServiceError;
use service::PageRequest;
use watchlist::PerformanceRange;
use web::layout::Section;
use web::screens::watchlist::{PerformanceChart, TradeLine, WatchedLine, WatchlistPage};

use crate::routes::pages::page::{api_error_page, error_page};
use crate::routes::prelude::*;
use crate::routes::watchlist::performance::PERFORMANCE_RANGES;
use crate::routes::web::response::rendered;
use crate::routes::web::visitor::Visitor;

/// The trades on the page.
const LAST_TRADES: PageRequest = PageRequest { page: 1, limit: 100 };

/// Shows the watchlist.
pub(in crate::routes::web) async fn show_watchlist(State(app): State<App>, visitor: Visitor, query: Query) -> Response {
    let mut query = query.without_empty();
    let range = query.choice("range", PERFORMANCE_RANGES).unwrap_or_default();
    if let Err(error) = query.finish() {
        return api_error_page(&error);
    }
    match watchlist_page(&app, &visitor, range).await {
        Ok(page) => visitor.after_notice(rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn watchlist_page(app: &App, visitor: &Visitor, range: PerformanceRange) -> Result<WatchlistPage, ServiceError> {
    let (watchlists, actor) = (&app.service().watchlists, &visitor.actor);
    let items = watchlists.watchlist(actor).await?;
    let trades = watchlists.paper_trades(actor, LAST_TRADES).await?;
    let performance = watchlists.paper_performance(actor, range).await?;
    Ok(WatchlistPage {
        items: items.iter().map(WatchedLine::of).collect(),
        trades: trades.items.iter().map(TradeLine::of).collect(),
        performance: PerformanceChart::of(&performance),
        shell: visitor.shell(app, Some(Section::Watchlist)),
    })
}
