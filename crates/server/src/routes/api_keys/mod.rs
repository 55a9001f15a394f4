//! API key endpoints. All require a session.

pub mod create;
pub mod delete;
pub mod list;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list_api_keys, create::create_api_key))
        .routes(routes!(delete::delete_api_key))
}
