//! Account endpoints: profile, preferences, email address, phone, password, export and deletion.

pub mod deactivate;
pub mod delete;
pub mod email;
pub mod export;
pub mod password;
pub mod phone;
pub mod preferences;
pub mod session;
pub mod subscription;

use crate::routes::prelude::*;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(subscription::get_subscription))
        .routes(routes!(session::get_user_session, session::update_user_session))
        .routes(routes!(preferences::get_preferences, preferences::set_preferences))
        .routes(routes!(email::change_email))
        .routes(routes!(email::confirm_email))
        .routes(routes!(phone::request_phone))
        .routes(routes!(phone::verify_phone))
        .routes(routes!(password::change_password))
        .routes(routes!(deactivate::deactivate_account))
        .routes(routes!(deactivate::reactivate_account))
        .routes(routes!(delete::delete_account))
        .routes(routes!(export::export_account))
}
