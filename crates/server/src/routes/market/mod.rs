//! Market endpoints, including the ingest endpoint for market data.

pub mod dividend_dates;
pub mod earnings;
pub mod indices;
pub mod ingest;
pub mod performance;
pub mod sentiment;
pub mod status;
pub mod top_movers;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(status::get_market_status))
        .routes(routes!(indices::list_indices))
        .routes(routes!(top_movers::list_top_movers))
        .routes(routes!(sentiment::get_market_sentiment))
        .routes(routes!(dividend_dates::list_dividend_dates))
        .routes(routes!(earnings::list_earnings))
        .routes(routes!(performance::list_performance))
        .routes(routes!(ingest::ingest_market_data))
}
