//! `GET|POST /settings`: name, time zone, quiet hours and notices.

use foundation::ServiceError;
use serde_json::{Value, json};
use web::form_state::FormState;
use web::layout::Section;
use web::screens::settings::ProfilePage;
use web::texts;

use super::{FormResult, after_form};
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::user::preferences::QuietHoursView;
use crate::routes::web::form_value::{is_checked, optional_text};
use crate::routes::web::response::{after_change, rendered};
use crate::routes::web::visitor::Visitor;

/// Shows the profile.
pub(in crate::routes::web) async fn show_profile(State(app): State<App>, visitor: Visitor) -> Response {
    page(&app, &visitor, FormState::default()).await
}

/// Changes the profile.
pub(in crate::routes::web) async fn change_profile(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let changed = change(&app, &visitor, &form).await;
    match FormResult::of(&form, changed.map(|()| texts::text("settings-saved"))) {
        FormResult::Done(text) => after_change(&visitor.head, "/settings", Ok(text)),
        FormResult::Refused(state) => page(&app, &visitor, *state).await,
        FormResult::Failed(error) => error_page(error),
    }
}

async fn change(app: &App, visitor: &Visitor, form: &FormFields) -> Result<(), ServiceError> {
    let (settings, actor) = (&app.service().account_settings, &visitor.actor);
    let quiet_hours = match (form_field(form, "quiet_hours"), form_field(form, "quiet_until")) {
        ("", "") => Value::Null,
        (start, end) => json!({"start": start, "end": end}),
    };
    let preferences = json!({
        "time_zone": form_field(form, "time_zone"),
        "quiet_hours": quiet_hours,
        "notify_blind": is_checked(form, "notify_blind"),
    });
    settings.set_preferences(actor, &preferences).await?;
    let name = json!({"full_name": optional_text(form, "full_name")});
    settings.update_profile(actor, &name).await.map(drop)
}

async fn page(app: &App, visitor: &Visitor, form: FormState) -> Response {
    match profile_page(app, visitor, form).await {
        Ok(page) => after_form(visitor, &page.form, rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn profile_page(app: &App, visitor: &Visitor, form: FormState) -> Result<ProfilePage, ServiceError> {
    let service = app.service();
    let preferences = service.account_settings.preferences(&visitor.actor).await?;
    let (_, account) = service.identity.session(&visitor.actor).await?;
    let quiet = preferences.quiet_hours.map(QuietHoursView::of);
    Ok(ProfilePage {
        shell: visitor.shell_with(app, Some(Section::Settings), &form),
        form,
        full_name: account.full_name.unwrap_or_default(),
        time_zone: preferences.time_zone,
        quiet: quiet.map(|hours| (hours.start, hours.end)).unwrap_or_default(),
        notify_blind: preferences.notify_blind,
    })
}
