//! Feedback endpoints: feature requests and bug reports, visible to all accounts.

pub mod give;
pub mod like;
pub mod list;
pub mod view;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::App;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list_feedback, give::give_feedback))
        .routes(routes!(like::like_feedback))
}
