//! The watchlist.

mod analyst;
mod items;
mod performance;
mod races;

use foundation::{Actor, ServiceError};
use serde_json::{Value, json};
use service::cron::Job;
use watchlist::{ItemView, TradeView};

use crate::support::{ALL, TestApp};

impl TestApp {
    /// Adds a stock with a price and some history.
    async fn watched_stock(&self, symbol: &str, price: f64) {
        self.deliver(json!({
            "stocks": [{"symbol": symbol, "name": format!("{symbol} Inc.")}],
            "bars": history(symbol, price),
            "quotes": [{"symbol": symbol, "price": price}],
        }))
        .await;
    }

    async fn watch(&self, actor: &Actor, symbol: &str, intention: &str) -> ItemView {
        let body = json!({"stock_symbol": symbol, "intention": intention});
        self.service.watchlists.add_to_watchlist(actor, &body).await.unwrap()
    }

    async fn swap(&self, actor: &Actor, item: &ItemView, intention: &str) -> Result<(ItemView, usize), ServiceError> {
        let id = item.listed.item.id.0;
        let body = json!({"item_id": id, "new_intention": intention, "stock_symbol": item.stock.symbol.as_str()});
        let swapped = self.service.watchlists.swap_watchlist_item(actor, &body).await?;
        Ok((swapped.item, swapped.deleted_alerts))
    }

    async fn change(&self, actor: &Actor, item: &ItemView, body: Value) -> ItemView {
        let id = item.listed.item.id;
        self.service
            .watchlists
            .update_watchlist_item(actor, id, &body)
            .await
            .unwrap()
    }

    async fn item(&self, actor: &Actor, symbol: &str) -> ItemView {
        let items = self.service.watchlists.watchlist(actor).await.unwrap();
        items
            .into_iter()
            .find(|item| item.stock.symbol.as_str() == symbol)
            .unwrap()
    }

    /// Returns all paper trades, the last opened first.
    async fn trades(&self, actor: &Actor) -> Vec<TradeView> {
        self.service.watchlists.paper_trades(actor, ALL).await.unwrap().items
    }

    /// Runs all requested analyses.
    async fn analyse(&self) {
        self.service.jobs.run_job(Job::Analyst).await.unwrap();
    }
}

/// Returns bars of 300 sessions that swing around a price, the last of them on the day before
/// [`crate::support::OPEN`].
fn history(symbol: &str, price: f64) -> Value {
    let calendar = market::Calendar::nyse();
    let (first, last) = (jiff::civil::date(2022, 12, 27), jiff::civil::date(2024, 3, 7));
    let bars = calendar.sessions(first, last).enumerate().map(|(day, session)| {
        let volume = day * 997 % 300_000;
        let day = f64::from(u32::try_from(day).unwrap());
        let close = price * (1.0 + 0.06 * (day / 7.0).sin() + 0.03 * (day / 2.3).cos());
        let round = |price: f64| (price * 100.0).round() / 100.0;
        json!({
            "symbol": symbol, "date": session.date, "open": round(close), "high": round(close * 1.01),
            "low": round(close * 0.99), "close": round(close), "volume": 1_000_000 + volume,
        })
    });
    bars.collect()
}
