//! `GET /quotes`

use evaluation::stocks::QuoteView;

use crate::routes::prelude::*;

/// Query parameters: symbols.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameters; the handler reads them")]
pub struct QuoteParams {
    /// 1 to 100 comma-separated symbols.
    #[param(inline, style = Form, explode = false, min_items = 1, max_items = 100, value_type = Vec<crate::document::names::SymbolText>, example = json!(["AAPL", "MSFT"]))]
    symbols: String,
}

/// A stock's last quote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Quote)]
pub struct QuoteResponse {
    /// Stock symbol.
    #[schema(example = "AAPL")]
    pub symbol: String,
    /// Last price; null until one is known.
    #[schema(required, example = 189.2)]
    pub price: Option<f64>,
    /// Close of the session before the current (or last) one.
    #[schema(required, example = 187.15)]
    pub previous_close: Option<f64>,
    /// Price minus previous close.
    #[schema(required, example = 2.05)]
    pub change: Option<f64>,
    /// Change in percent of the previous close.
    #[schema(required, example = 1.095_378)]
    pub change_percent: Option<f64>,
    /// Volume of the session so far, in shares.
    #[schema(required, minimum = 0, example = 51_234_000)]
    pub volume: Option<i64>,
    /// Time of the price.
    #[schema(required, format = DateTime, example = "2026-03-02T15:04:00.000Z")]
    pub time: Option<String>,
}

impl QuoteResponse {
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
/// Returns the last quotes of the given stocks. Unknown stocks are omitted.
#[utoipa::path(
    get,
    path = "/quotes",
    tag = "Market",
    params(QuoteParams),
    responses((status = 200, description = "The quotes", body = Envelope<Vec<QuoteResponse>>)),
    security(("ApiKeyHeader" = ["stocks:read"]))
)]
pub(super) async fn list_quotes(
    State(app): State<App>,
    _caller: Authorized<StocksRead>,
    mut query: Query,
) -> Result<ApiResponse<Vec<QuoteResponse>>, ApiError> {
    let symbols = query.symbols("symbols");
    query.finish()?;
    let quotes = app.service().stocks.quotes(&symbols).await;
    Ok(ApiResponse::ok(quotes.into_iter().map(QuoteResponse::of).collect()))
}
