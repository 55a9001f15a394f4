//! Firing endpoints: fired alerts with the time of each step, their messages, and acknowledgements.

pub mod acknowledge;
pub mod get;
pub mod list;
pub mod stream;
pub mod view;

use utoipa::OpenApi;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(stream::FiringEventSchemas::openapi())
        .routes(routes!(list::list_firings))
        .routes(routes!(stream::stream_firings))
        .routes(routes!(get::get_firing))
        .routes(routes!(acknowledge::acknowledge_firing))
}
