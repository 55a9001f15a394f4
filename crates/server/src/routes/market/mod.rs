//! The market as a whole, and the door for data about it.

pub mod ingest;
pub mod status;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(status::get_market_status))
        .routes(routes!(ingest::ingest_market_data))
}
