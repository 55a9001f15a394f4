//! `GET /watchlist`: the items, the paper trades and their performance.

use foundation::ServiceError;
use service::PageRequest;
use watchlist::{PerformanceRange, WatchlistItemId};
use web::layout::{Section, Shell};
use web::screens::watchlist::{
    MadeAlert, PerformanceChart, RefusedForm, TradeLine, WatchedLine, WatchlistForm, WatchlistPage,
};

use super::proposals::proposals;
use crate::query::uuid;
use crate::routes::pages::page::{api_error_page, error_page};
use crate::routes::prelude::*;
use crate::routes::watchlist::performance::PERFORMANCE_RANGES;
use crate::routes::web::response::{is_failure, rendered};
use crate::routes::web::settings::{after_form, refused_form};
use crate::routes::web::visitor::Visitor;

/// The trades on the page.
const LAST_TRADES: PageRequest = PageRequest { page: 1, limit: 100 };

const ID_CHARS: usize = 36;

/// Shows the watchlist.
pub(in crate::routes::web) async fn show_watchlist(State(app): State<App>, visitor: Visitor, query: Query) -> Response {
    let mut query = query.without_empty();
    let range = query.choice("range", PERFORMANCE_RANGES).unwrap_or_default();
    let asked = query
        .text("proposals", ID_CHARS)
        .and_then(|id| uuid(&id))
        .map(WatchlistItemId);
    if let Err(error) = query.finish() {
        return api_error_page(&error);
    }
    show_page(&app, &visitor, (range, asked), RefusedForm::default()).await
}

/// Shows the page with the errors of a refused form at its inputs.
pub(super) async fn show_refusal(
    app: &App,
    visitor: &Visitor,
    form: &FormFields,
    kind: WatchlistForm,
    error: ServiceError,
) -> Response {
    let error = match error {
        error if is_failure(&error) => return error_page(error),
        // Both are about the stock that was entered.
        error @ (ServiceError::UnknownStock { .. } | ServiceError::Conflict(_)) if kind == WatchlistForm::Add => {
            ServiceError::field("stock_symbol", error.to_string())
        }
        error => error,
    };
    let state = refused_form(form, error);
    show_page(
        app,
        visitor,
        (PerformanceRange::default(), None),
        RefusedForm { kind, state },
    )
    .await
}

async fn show_page(
    app: &App,
    visitor: &Visitor,
    shown: (PerformanceRange, Option<WatchlistItemId>),
    refused: RefusedForm,
) -> Response {
    match watchlist_page(app, visitor, shown, refused).await {
        Ok(page) => after_form(visitor, &page.refused.state, rendered(&page)),
        Err(error) => error_page(error),
    }
}

/// Returns the page with the performance of a range and the proposals for an item.
async fn watchlist_page(
    app: &App,
    visitor: &Visitor,
    (range, asked): (PerformanceRange, Option<WatchlistItemId>),
    refused: RefusedForm,
) -> Result<WatchlistPage, ServiceError> {
    let (watchlists, actor) = (&app.service().watchlists, &visitor.actor);
    let items = watchlists.watchlist(actor).await?;
    let trades = watchlists.paper_trades(actor, LAST_TRADES).await?;
    let performance = watchlists.paper_performance(actor, range).await?;
    let made = watchlists.made_alerts(actor).await?;
    let mut lines = Vec::with_capacity(items.len());
    for view in &items {
        let (mut line, item) = (WatchedLine::of(view), &view.listed.item);
        let on_stock = made.iter().filter(|stored| stored.alert.symbol == item.symbol);
        line.made = on_stock.filter_map(|stored| MadeAlert::of(stored, item.id)).collect();
        if asked == Some(item.id) {
            line.proposals = Some(proposals(app, visitor, item).await?);
        }
        lines.push(line);
    }
    Ok(WatchlistPage {
        items: lines,
        trades: trades.items.iter().map(TradeLine::of).collect(),
        performance: PerformanceChart::of(&performance),
        shell: Shell {
            address: "/watchlist".to_owned(),
            ..visitor.shell_with(app, Some(Section::Watchlist), &refused.state)
        },
        refused,
    })
}
