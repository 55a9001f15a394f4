//! Approval endpoints: the account owner's decisions on changes requested by agents.

pub mod decide;
pub mod list;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list::list_approvals, decide::decide_approval))
}
