//! For operators and their machines: is it alive, is it ready, what has it done.

pub mod healthz;
pub mod metrics;
pub mod readyz;

use axum::Router;
use axum::routing::get;

use crate::app::App;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/healthz", get(healthz::get_health))
        .route("/readyz", get(readyz::get_readiness))
        .route("/metrics", get(metrics::get_metrics))
}
