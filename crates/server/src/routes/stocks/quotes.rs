//! `GET /quotes`

use axum::extract::State;
use serde::Serialize;
use service::stocks::QuoteView;
use utoipa::{IntoParams, ToSchema};

use crate::answer::{Envelope, Reply};
use crate::app::App;
use crate::auth::{Allowed, StocksRead};
use crate::error::ApiError;
use crate::query::Query;
use crate::values::{decimal, price, timestamp};

/// Whose prices.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct QuoteParams {
    /// 1 to 100 symbols with commas between them.
    #[param(inline, style = Form, explode = false, min_items = 1, max_items = 100, value_type = Vec<crate::document::names::SymbolText>, example = json!(["AAPL", "MSFT"]))]
    symbols: String,
}

/// A stock's last price.
#[derive(Debug, Serialize, ToSchema)]
pub struct Quote {
    /// The stock.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// The last price; null until one is known.
    #[schema(required, example = 189.2)]
    pub price: Option<f64>,
    /// The close of the session before the running (or last) one.
    #[schema(required, example = 187.15)]
    pub previous_close: Option<f64>,
    /// Price − previous close.
    #[schema(required, example = 2.05)]
    pub change: Option<f64>,
    /// The same in percent of the previous close.
    #[schema(required, example = 1.095_378)]
    pub change_percent: Option<f64>,
    /// The session's shares so far.
    #[schema(required, minimum = 0, example = 51_234_000)]
    pub volume: Option<i64>,
    /// When the price was observed.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub time: Option<String>,
}

impl Quote {
    pub(crate) fn of(quote: QuoteView) -> Self {
        Self {
            symbol: quote.symbol.to_string(),
            price: quote.price.map(price),
            previous_close: quote.previous_close.map(price),
            change: quote.change.map(decimal),
            change_percent: quote.change_percent.map(decimal),
            volume: quote.volume,
            time: quote.at.map(timestamp),
        }
    }
}

/// List quotes
///
/// The last prices of some stocks; one that is not known is left out.
#[utoipa::path(
    get,
    path = "/quotes",
    tag = "Market",
    params(QuoteParams),
    responses((status = 200, description = "The last prices", body = Envelope<Vec<Quote>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_quotes(
    State(app): State<App>,
    _who: Allowed<StocksRead>,
    mut query: Query,
) -> Result<Reply<Vec<Quote>>, ApiError> {
    let symbols = query.symbols("symbols");
    query.finish()?;
    let quotes = app.service().stocks.quotes(&symbols).await;
    Ok(Reply::ok(quotes.into_iter().map(Quote::of).collect()))
}
