//! Operations endpoints: health, readiness and metrics.

pub mod healthz;
pub mod metrics;
pub mod readyz;

use crate::routes::prelude::*;

pub(crate) fn router() -> OpenApiRouter<App> {
    health().routes(routes!(metrics::get_metrics))
}

/// Returns the health checks, which respond even when all other connections are refused.
pub(crate) fn health() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(healthz::get_health))
        .routes(routes!(readyz::get_readiness))
}
