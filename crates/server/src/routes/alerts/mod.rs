//! Alert endpoints.

pub mod activate;
pub mod attach;
pub mod batch;
pub mod create;
pub mod delete;
pub mod explain;
pub mod explanation;
pub mod get;
pub mod history;
pub mod list;
pub mod managed_by;
pub mod members;
pub mod near;
pub mod outcome;
pub mod parse;
pub mod patch;
pub mod pause;
pub mod preview;
pub mod record_history;
pub mod update;
pub mod verify;
pub mod view;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list::list_alerts, create::create_alert))
        .routes(routes!(record_history::record_alert_history))
        .routes(routes!(batch::change_alerts))
        .routes(routes!(near::list_near_alerts))
        .routes(routes!(preview::preview_alert))
        .routes(routes!(parse::parse_alert))
        .routes(routes!(verify::verify_alert))
        .routes(routes!(attach::attach_alert))
        .routes(routes!(
            get::get_alert,
            update::update_alert,
            patch::patch_alert,
            delete::delete_alert
        ))
        .routes(routes!(pause::pause_alert))
        .routes(routes!(activate::activate_alert))
        .routes(routes!(history::list_alert_history))
        .routes(routes!(members::list_alert_members))
        .routes(routes!(outcome::get_alert_outcome))
        .routes(routes!(explain::explain_alert))
}
