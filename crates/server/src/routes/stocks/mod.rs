//! Stock, quote and analysis endpoints.

pub mod analysis;
pub mod analysis_events;
pub mod candles;
pub mod get;
pub mod quotes;
pub mod search;
pub mod view;

use utoipa::OpenApi;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(analysis::AnalysisEventSchemas::openapi())
        .routes(routes!(search::search_stocks))
        .routes(routes!(get::get_stock))
        .routes(routes!(candles::list_candles))
        .routes(routes!(quotes::list_quotes))
        .routes(routes!(analysis::stream_analysis))
}
