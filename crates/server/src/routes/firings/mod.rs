//! Firing endpoints: fired alerts with the time of each step, their messages, and acknowledgements.

pub mod acknowledge;
pub mod get;
pub mod list;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list_firings))
        .routes(routes!(get::get_firing))
        .routes(routes!(acknowledge::acknowledge_firing))
}
