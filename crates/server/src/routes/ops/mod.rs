//! For operators and their machines: is it alive, is it ready, what has it done.

pub mod healthz;
pub mod metrics;
pub mod readyz;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(crate) fn router() -> OpenApiRouter<App> {
    health().routes(routes!(metrics::get_metrics))
}

/// The checks that are answered even when every other connection is refused.
pub(crate) fn health() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(healthz::get_health))
        .routes(routes!(readyz::get_readiness))
}
