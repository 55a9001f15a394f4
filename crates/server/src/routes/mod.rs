//! The endpoints: one file each, with its types, its documentation, its handler and its tests.

pub mod alerts;
pub mod docs;
pub mod market;
pub mod ops;
pub mod stocks;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The API, without its prefix.
pub(crate) fn api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(alerts::router())
        .merge(stocks::router())
        .merge(market::router())
}
