//! `GET|POST /settings/channels`: the phone number for text messages.

use foundation::ServiceError;
use serde_json::json;
use web::form_state::FormState;
use web::layout::Section;
use web::screens::settings::ChannelsPage;
use web::texts;

use super::{FormResult, after_form};
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::form_value::is_checked;
use crate::routes::web::response::{after_change, rendered};
use crate::routes::web::visitor::Visitor;

/// Shows the channels.
pub(in crate::routes::web) async fn show_channels(State(app): State<App>, visitor: Visitor) -> Response {
    page(&app, &visitor, FormState::default(), None).await
}

/// Sends a code to a phone number, or verifies the code.
pub(in crate::routes::web) async fn change_channels(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    let phone = form_field(&form, "phone").trim().to_owned();
    let is_verification = form_field(&form, "action") == "verify";
    let settings = &app.service().account_settings;
    let result = if is_verification {
        let body = json!({"phone": phone, "token": form_field(&form, "token").trim()});
        let verified = settings.verify_phone(&visitor.actor, &body).await;
        verified.map(|_| texts::text("phone-verified"))
    } else {
        let body = json!({"phone": phone, "sms_consent": is_checked(&form, "sms_consent")});
        let requested = settings.request_phone(&visitor.actor, &body).await;
        requested.map(|phone| texts::text_with("phone-code-sent", [("phone", phone.into())]))
    };
    match FormResult::of(&form, result) {
        FormResult::Done(text) if is_verification => after_change(&visitor.head, "/settings/channels", Ok(text)),
        // The field for the code belongs to this number.
        FormResult::Done(_) => page(&app, &visitor, FormState::default(), Some(phone)).await,
        FormResult::Refused(state) => page(&app, &visitor, *state, is_verification.then_some(phone)).await,
        FormResult::Failed(error) => error_page(error),
    }
}

async fn page(app: &App, visitor: &Visitor, form: FormState, awaited_phone: Option<String>) -> Response {
    match channels_page(app, visitor, form, awaited_phone).await {
        Ok(page) => after_form(visitor, &page.form, rendered(&page)),
        Err(error) => error_page(error),
    }
}

async fn channels_page(
    app: &App,
    visitor: &Visitor,
    form: FormState,
    awaited_phone: Option<String>,
) -> Result<ChannelsPage, ServiceError> {
    let (_, account) = app.service().identity.session(&visitor.actor).await?;
    Ok(ChannelsPage {
        shell: visitor.shell_with(app, Some(Section::Settings), &form),
        form,
        phone: account.profile.phone.map(|phone| (phone.number, phone.verified_at)),
        awaited_phone,
    })
}
