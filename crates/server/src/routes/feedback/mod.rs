//! Feedback endpoints: feature requests and bug reports, visible to all accounts.

pub mod give;
pub mod like;
pub mod list;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list_feedback, give::give_feedback))
        .routes(routes!(like::like_feedback))
}
