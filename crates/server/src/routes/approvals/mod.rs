//! Approval endpoints: the account owner's decisions on changes requested by agents.

pub mod decide;
pub mod list;
pub mod view;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::App;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list::list_approvals, decide::decide_approval))
}
