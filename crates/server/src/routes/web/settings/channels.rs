//! `GET|POST /settings/channels`: the phone number for text messages, and tests of the channels.

use alerts::Channel;
use delivery::messages::MessageId;
use foundation::ServiceError;
use serde_json::json;
use web::form_state::FormState;
use web::layout::Section;
use web::screens::settings::{ChannelsPage, MessageTestReceipt};
use web::texts;

use super::{FormResult, after_form};
use crate::query::uuid;
use crate::routes::pages::link::form_field;
use crate::routes::pages::page::error_page;
use crate::routes::prelude::*;
use crate::routes::web::form_value::is_checked;
use crate::routes::web::response::{after_change, rendered, see_other};
use crate::routes::web::visitor::Visitor;

/// The length of an id, in characters.
const ID_CHARS: usize = 36;

/// Shows the channels, with the receipt of a test.
pub(in crate::routes::web) async fn show_channels(
    State(app): State<App>,
    visitor: Visitor,
    mut query: Query,
) -> Response {
    let test = query.text("test", ID_CHARS).and_then(|id| uuid(&id));
    match channels_page(&app, &visitor, FormState::default(), None).await {
        Ok(page) => match receipt(&app, &visitor, test.map(MessageId)).await {
            Ok(receipt) => visitor.after_notice(rendered(&ChannelsPage { receipt, ..page })),
            Err(error) => error_page(error),
        },
        Err(error) => error_page(error),
    }
}

async fn receipt(
    app: &App,
    visitor: &Visitor,
    id: Option<MessageId>,
) -> Result<Option<MessageTestReceipt>, ServiceError> {
    let Some(id) = id else { return Ok(None) };
    match app.service().channel_tests.receipt(&visitor.actor, id).await {
        Ok(receipt) => Ok(Some(MessageTestReceipt::of(&receipt))),
        // Old messages are deleted.
        Err(ServiceError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sends a test message, and leads to its receipt.
async fn send_test(app: &App, visitor: &Visitor, form: &FormFields) -> Response {
    let channel = Channel::from_name(form_field(form, "channel"));
    let sent = match channel {
        Some(channel) => app.service().channel_tests.send_test(&visitor.actor, channel).await,
        None => Err(ServiceError::NotFound("channel")),
    };
    match sent {
        Ok(MessageId(id)) => see_other(&visitor.head, &format!("/settings/channels?test={id}")),
        Err(error) => after_change(&visitor.head, "/settings/channels", Err(error)),
    }
}

/// Sends a code to a phone number, verifies the code, or sends a test message.
pub(in crate::routes::web) async fn change_channels(
    State(app): State<App>,
    visitor: Visitor,
    form: FormFields,
) -> Response {
    if form_field(&form, "action") == "test" {
        return send_test(&app, &visitor, &form).await;
    }
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
        receipt: None,
    })
}
